/** `{ person { person_title person_age_in(args: { year: 2030 }) person_peers(limit: 2) { name } } }`: adds functions of
 *  a row as its fields. @rule G-CF-1 … G-CF-8 G-OUT-10 G-INP-1 G-INP-3 */
import type { GraphQLOutputType } from "graphql";
import { definePlugin } from "../../../core/index.ts";
import { isJson } from "../coerce/columns.ts";
import { findResultType, acceptsType } from "./aggregate-fields.ts";
import { argsArgument, functionArgumentFields } from "./function-arguments.ts";
import { hasEmbed, getRoleTable, listOwnParameters, type RoleComputedField } from "./role-table.ts";
import { pathArgument } from "./queries.ts";
import { aggregateOrderBy, boolExp, listArguments, orderDirection, quoteTableName, rowType } from "./type-names.ts";
import { collectFields, findTable, tapFields } from "./field-taps.ts";
import { wrapList } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../build.ts";
import type { GqlComputedField } from "../value-types.ts";
import type { GqlTable } from "../catalog-types.ts";

const buildArgs = (build: GqlBuild, table: GqlTable, field: GqlComputedField) =>
  argsArgument(build, {
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
      build.rights(target).select === undefined ||
      rights.select?.computedFields.has(field.name) !== true
    )
      return [];
    return [{ field, target, isPlain: listOwnParameters(field).length === 0 }];
  });
};

const scalarPart = (table: GqlTable, { field, value }: RoleComputedField) =>
  ({ kind: "computed", field, relation: table.relation, value }) as const;
const rowsPart = (table: GqlTable, { field }: RowsField) =>
  ({ kind: "computed", field, relation: table.relation }) as const;

const scalarField = (
  build: GqlBuild,
  table: GqlTable,
  each: RoleComputedField,
  type = build.valueOutput(each.value),
): GqlField => ({
  config: {
    type,
    args: { ...buildArgs(build, table, each.field), ...(isJson(each.value) ? pathArgument : {}) },
    description: each.field.comment,
  },
  toPlan: scalarPart(table, each),
});

const rowFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = findTable(context);
  if (table === undefined) return {};
  return collectFields([
    ...getRoleTable(build, table).computed.map(
      (each) => [build.fieldName(each.field.name), scalarField(build, table, each)] as const,
    ),
    ...(hasEmbed(build, "nest") ? listRowsFields(build, table) : []).map((each) => {
      const row = rowType(build, each.target);
      return (
        row &&
        ([
          build.fieldName(each.field.name),
          {
            config: {
              type: wrapList(row),
              args: { ...buildArgs(build, table, each.field), ...listArguments(build, each.target) },
              description: each.field.comment,
            },
            toPlan: rowsPart(table, each),
          },
        ] as const)
      );
    }),
  ]);
};

const boolExpFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = findTable(context);
  if (table === undefined) return {};
  return collectFields([
    ...getRoleTable(build, table)
      .computed.filter(({ isPlain }) => isPlain)
      .map((each) => {
        const type = build.comparison(each.value);
        return (
          type && ([build.fieldName(each.field.name), { config: { type }, toPlan: scalarPart(table, each) }] as const)
        );
      }),
    ...listRowsFields(build, table)
      .filter(({ isPlain }) => isPlain)
      .map((each) => {
        const type = boolExp(build, each.target);
        return (
          type && ([build.fieldName(each.field.name), { config: { type }, toPlan: rowsPart(table, each) }] as const)
        );
      }),
  ]);
};

const orderByFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = findTable(context);
  const direction = orderDirection(build);
  if (table === undefined || direction === undefined) return {};
  return collectFields([
    ...getRoleTable(build, table)
      .computed.filter(({ isPlain }) => isPlain)
      .map(
        (each) =>
          [build.fieldName(each.field.name), { config: { type: direction }, toPlan: scalarPart(table, each) }] as const,
      ),
    ...listRowsFields(build, table)
      .filter((each) => each.isPlain && build.schema.registry.has("graphql-aggregates"))
      .map((each) => {
        const type = aggregateOrderBy(build, each.target);
        return (
          type &&
          ([
            build.fieldName(each.field.name, "aggregate"),
            { config: { type }, toPlan: { ...rowsPart(table, each), isAggregate: true } },
          ] as const)
        );
      }),
  ]);
};

/** Returns the type of an aggregated computed field. Functions that return a Float for columns return the type of the
 *  field, as in the dialect. */
const aggregateColumnType = (build: GqlBuild, fn: string, { value }: RoleComputedField): GraphQLOutputType =>
  build.schema.registry.aggregates.get(fn)?.result === "Float"
    ? build.valueOutput(value)
    : findResultType(build, fn, value);

/** Returns the computed fields that the aggregate accepts. @rule G-OUT-10 */
const aggregateColumns = (context: GqlFieldContext): GqlFields => {
  const { build, fn = "" } = context;
  const table = findTable(context);
  if (table === undefined) return {};
  return collectFields(
    getRoleTable(build, table)
      .computed.filter(({ value }) => acceptsType(build, fn, value))
      .map(
        (each) =>
          [
            build.fieldName(each.field.name),
            scalarField(build, table, each, aggregateColumnType(build, fn, each)),
          ] as const,
      ),
  );
};

/** Adds functions of a row as fields of the row. */
export const graphqlComputedFields = definePlugin({
  name: "graphql-computed-fields",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-computed-fields", {
      row: rowFields,
      bool_exp: boolExpFields,
      order_by: orderByFields,
      aggregate_columns: aggregateColumns,
      function_args: (context) => (context.computedField === undefined ? {} : functionArgumentFields(context)),
    }),
});
