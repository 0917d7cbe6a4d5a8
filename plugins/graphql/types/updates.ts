/** `mutation { update_album(where: { id: { _eq: 1 } }, _inc: { sold: 1 }) { affected_rows } update_album_by_pk(…) { id
 *  } update_album_many(…) { … } }`: adds updates as root fields. @rule G-ROOT-10 … G-ROOT-12 G-ROOT-15 G-INP-15 …
 *  G-INP-22 */
import { GraphQLList, type GraphQLInputObjectType } from "graphql";
import { definePlugin, type UpdateOperatorSpec } from "../../../core/index.ts";
import { getRoleTable, type RoleColumn } from "./role-table.ts";
import { formatName } from "./names.ts";
import {
  buildBoolExpType,
  buildKeyPart,
  buildMutationResponseType,
  quoteTableName,
  forEachTable,
  buildRowType,
} from "./type-names.ts";
import { argument, buildEntry, collectFields, forTable, tapFields } from "./field-taps.ts";
import { wrapList, wrapNonNull } from "./non-null-list.ts";
import { buildOperatorFields, acceptsColumn, buildUpdatesInputType } from "./write-inputs.ts";
import { withPart } from "../plan-parts.ts";
import type { GqlBuild, GqlField } from "../field-types.ts";
import type { GqlValueType } from "../value-types.ts";
import type { GqlTable } from "../catalog-types.ts";

const WHERE = "filter the rows which have to be updated";

const findOperandValue = (
  build: GqlBuild,
  operator: UpdateOperatorSpec,
  { column, value }: RoleColumn,
): GqlValueType | undefined =>
  operator.operandType === undefined ? value : build.valueType(operator.operandType, !column.notNull);

const buildInputFields = forTable((build, table, { fn }) => {
  const operator = build.schema.registry.updateOperators.find(({ name }) => name === fn);
  if (operator === undefined) return {};
  return collectFields(
    getRoleTable(build, table)
      .updatable.filter((roleColumn) => acceptsColumn(operator, roleColumn))
      .map((roleColumn) => {
        const value = findOperandValue(build, operator, roleColumn);
        if (value === undefined) return undefined;
        return buildEntry(
          roleColumn.name,
          build.valueInput(value),
          { kind: "update-column", column: roleColumn.column, relation: table.relation, value },
          { description: roleColumn.comment },
        );
      }),
  );
});

const convertToArguments = (fields: readonly (readonly [string, GqlField])[]) =>
  Object.fromEntries(
    fields.map(([name, { config, toPlan }]) => [
      name,
      { type: config.type as GraphQLInputObjectType, description: config.description, extensions: withPart(toPlan) },
    ]),
  ); // `buildOperatorFields` returns only input objects

const buildRootFields = forEachTable((build, table) => {
  const { rights, hasKey } = getRoleTable(build, table);
  const where = rights.update === undefined ? undefined : buildBoolExpType(build, table);
  const type = where && buildMutationResponseType(build, table);
  if (where === undefined || type === undefined) return {};
  const operators = convertToArguments(buildOperatorFields(build, table));
  const row = hasKey ? buildRowType(build, table) : undefined;
  const key = row && buildKeyInput(build, table);
  const updates = buildUpdatesInputType(build, table);
  return {
    update: {
      kind: "update",
      type,
      args: { ...operators, where: argument(wrapNonNull(where), { kind: "argument", name: "where" }, WHERE) },
      description: `update data of the table: ${quoteTableName(table)}`,
    },
    update_by_pk: row &&
      key && {
        kind: "update-by-pk",
        type: row,
        args: {
          ...operators,
          [build.fieldName("pk_columns")]: argument(wrapNonNull(key), { kind: "argument", name: "pk_columns" }),
        },
        description: `update single row of the table: ${quoteTableName(table)}`,
      },
    update_many: updates && {
      kind: "update-many",
      type: new GraphQLList(type),
      args: {
        updates: argument(
          wrapNonNull(wrapList(updates)),
          { kind: "argument", name: "updates" },
          "updates to execute, in order",
        ),
      },
      description: `update multiples rows of table: ${quoteTableName(table)}`,
    },
  };
});

const buildKeyInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  build.inputObject({
    name: build.typeName(table.namePart, "pk_columns_input"),
    scope: "pk_columns",
    relation: table.relation,
    description: `primary key columns input for table: ${formatName(table.relation)}`,
  });

const buildKeyFields = forTable((build, table) =>
  collectFields(
    getRoleTable(build, table).key.map((column) =>
      buildEntry(column.name, wrapNonNull(build.valueInput(column.value)), buildKeyPart(table, column), {
        description: column.comment,
      }),
    ),
  ),
);

const buildUpdatesFields = forTable((build, table) => {
  const where = buildBoolExpType(build, table);
  if (where === undefined) return {};
  return collectFields([
    ...buildOperatorFields(build, table),
    buildEntry("where", wrapNonNull(where), { kind: "argument", name: "where" }, { description: WHERE }),
  ]);
});

/** Adds the root fields that update rows. */
export const graphqlUpdates = definePlugin({
  name: "graphql-updates",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-updates", {
      mutation_root: buildRootFields,
      update_input: buildInputFields,
      pk_columns: buildKeyFields,
      updates: buildUpdatesFields,
    }),
});
