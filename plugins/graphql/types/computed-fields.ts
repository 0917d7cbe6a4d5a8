/** `{ person { person_title person_age_in(args: { year: 2030 }) person_peers(limit: 2) { name } } }`: adds functions of
 *  a row as its fields. @rule G-CF-1 … G-CF-8 G-OUT-10 G-INP-1 G-INP-3 */
import type { GraphQLOutputType } from "graphql";
import { definePlugin } from "../../../core/index.ts";
import { isJson } from "../values/columns.ts";
import { findResultType, acceptsType } from "./aggregate-fields.ts";
import { buildArgsArgument, buildFunctionArgumentFields } from "./function-arguments.ts";
import { hasEmbed, getRoleTable, listOwnParameters, type RoleComputedField } from "./role-table.ts";
import { pathArgument } from "./queries.ts";
import {
  buildAggregateOrderByType,
  buildBoolExpType,
  listArguments,
  buildOrderDirectionEnum,
  quoteTableName,
  buildRowType,
} from "./type-names.ts";
import { buildEntry, collectFields, forTable, tapFields } from "./field-taps.ts";
import { wrapList } from "./non-null-list.ts";
import type { GqlBuild, GqlField } from "../field-types.ts";
import type { GqlComputedField } from "../value-types.ts";
import type { GqlTable } from "../catalog-types.ts";

const buildArgs = (build: GqlBuild, table: GqlTable, field: GqlComputedField) =>
  buildArgsArgument(build, {
    name: build.typeName(field.name, table.namePart, "args"),
    relation: table.relation,
    computedField: field,
    argumentDescription: `input parameters for computed field "${field.name}" defined on table ${quoteTableName(table)}`,
  });

interface RowsField {
  readonly field: GqlComputedField;
  readonly target: GqlTable;
  readonly isPlain: boolean;
}

/** Returns the computed fields with rows of a table that the role may read. @rule G-CF-6 */
const listRowsFields = (build: GqlBuild, table: GqlTable): readonly RowsField[] => {
  const { rights } = getRoleTable(build, table);
  return table.computedFields.flatMap((field) => {
    const target = field.target && build.table(field.target);
    if (
      target === undefined ||
      !getRoleTable(build, target).isSelectable ||
      rights.select?.computedFields.has(field.name) !== true
    )
      return [];
    return [{ field, target, isPlain: listOwnParameters(field).length === 0 }];
  });
};

const buildScalarPart = (table: GqlTable, { field, value }: RoleComputedField) =>
  ({ kind: "computed", field, relation: table.relation, value }) as const;
const buildRowsPart = (table: GqlTable, { field }: RowsField) =>
  ({ kind: "computed", field, relation: table.relation }) as const;

const buildScalarField = (
  build: GqlBuild,
  table: GqlTable,
  computedField: RoleComputedField,
  type = build.valueOutput(computedField.value),
): GqlField => ({
  config: {
    type,
    args: { ...buildArgs(build, table, computedField.field), ...(isJson(computedField.value) ? pathArgument : {}) },
    description: computedField.field.comment,
  },
  toPlan: buildScalarPart(table, computedField),
});

const buildRowFields = forTable((build, table) =>
  collectFields([
    ...getRoleTable(build, table).computedFields.map(
      (computedField) => [computedField.field.name, buildScalarField(build, table, computedField)] as const,
    ),
    ...(hasEmbed(build, "nest") ? listRowsFields(build, table) : []).map((rowsField) => {
      const row = buildRowType(build, rowsField.target);
      if (row === undefined) return undefined;
      return buildEntry(rowsField.field.name, wrapList(row), buildRowsPart(table, rowsField), {
        args: { ...buildArgs(build, table, rowsField.field), ...listArguments(build, rowsField.target) },
        description: rowsField.field.comment,
      });
    }),
  ]),
);

const buildBoolExpFields = forTable((build, table) =>
  collectFields([
    ...getRoleTable(build, table)
      .computedFields.filter(({ isPlain }) => isPlain)
      .map((computedField) =>
        buildEntry(
          computedField.field.name,
          build.comparison(computedField.value),
          buildScalarPart(table, computedField),
        ),
      ),
    ...listRowsFields(build, table)
      .filter(({ isPlain }) => isPlain)
      .map((rowsField) =>
        buildEntry(rowsField.field.name, buildBoolExpType(build, rowsField.target), buildRowsPart(table, rowsField)),
      ),
  ]),
);

const buildOrderByFields = forTable((build, table) => {
  const direction = buildOrderDirectionEnum(build);
  if (direction === undefined) return {};
  return collectFields([
    ...getRoleTable(build, table)
      .computedFields.filter(({ isPlain }) => isPlain)
      .map((computedField) => buildEntry(computedField.field.name, direction, buildScalarPart(table, computedField))),
    ...listRowsFields(build, table)
      .filter((rowsField) => rowsField.isPlain && build.schema.registry.has("graphql-aggregates"))
      .map((rowsField) =>
        buildEntry(
          build.fieldName({ text: rowsField.field.name, isCustom: true }, "aggregate"),
          buildAggregateOrderByType(build, rowsField.target),
          { ...buildRowsPart(table, rowsField), isAggregate: true },
        ),
      ),
  ]);
});

/** Returns the type of an aggregated computed field. Functions that return a Float for columns return the type of the
 *  field, as in the dialect. */
const buildAggregateColumnType = (build: GqlBuild, fn: string, { value }: RoleComputedField): GraphQLOutputType =>
  build.schema.registry.aggregates.get(fn)?.result === "Float"
    ? build.valueOutput(value)
    : findResultType(build, fn, value);

/** Returns the computed fields that the aggregate accepts. @rule G-OUT-10 */
const listAggregateColumns = forTable((build, table, { fn = "" }) =>
  collectFields(
    getRoleTable(build, table)
      .computedFields.filter(({ value }) => acceptsType(build, fn, value))
      .map(
        (computedField) =>
          [
            computedField.field.name,
            buildScalarField(build, table, computedField, buildAggregateColumnType(build, fn, computedField)),
          ] as const,
      ),
  ),
);

/** Adds functions of a row as fields of the row. */
export const graphqlComputedFields = definePlugin({
  name: "graphql-computed-fields",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-computed-fields", {
      row: buildRowFields,
      bool_exp: buildBoolExpFields,
      order_by: buildOrderByFields,
      aggregate_columns: listAggregateColumns,
      function_args: (context) => (context.computedField === undefined ? {} : buildFunctionArgumentFields(context)),
    }),
});
