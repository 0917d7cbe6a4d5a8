/** `{ album_aggregate { aggregate { count sum { sold } } nodes { id } } }`, `albums_aggregate` in rows and in
 *  `order_by`. @rule G-OUT-2 … G-OUT-9 G-OUT-11 G-INP-4 G-INP-5 G-ROOT-2 G-REL-2 */
import { GraphQLBoolean, GraphQLFloat, GraphQLInt, type GraphQLOutputType } from "graphql";
import { definePlugin } from "../../../core/index.ts";
import { hasEmbed, lensOf, type Lens, type LensColumn } from "./lens.ts";
import { onceFor } from "./once.ts";
import { isRootShown } from "./queries.ts";
import {
  aggregateOrderBy,
  aggregateType,
  listArguments,
  orderDirection,
  quoted,
  rootComment,
  rootNameOf,
  rowType,
  selectColumn,
} from "./shapes.ts";
import { argument, fieldsOf, inBothReadRoots, tableAt, tapFields } from "./tap.ts";
import { isComparable, isNumeric } from "./values.ts";
import { list, required, requiredList } from "./wrap.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields, GqlValueType } from "../parts.ts";

/** Folds of numbers whose result is a Float; `sum`, `max` and `min` have the type of the column. */
const FLOAT_FUNCTIONS = ["avg", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "variance"] as const;
const FUNCTIONS: readonly string[] = [...FLOAT_FUNCTIONS, "sum", "max", "min"];
const FLOATS: ReadonlySet<string> = new Set(FLOAT_FUNCTIONS);

const isOrdering = (fn: string): boolean => fn === "max" || fn === "min";

/** Whether the aggregate takes a column of this type. */
export const takes = (fn: string, value: GqlValueType): boolean =>
  isOrdering(fn) ? isComparable(value) : isNumeric(value);

/** What the aggregate of such values is. */
export const aggregatedType = (build: GqlBuild, fn: string, value: GqlValueType): GraphQLOutputType =>
  FLOATS.has(fn) ? GraphQLFloat : build.valueOutput(value);

/** Types of several functions have the same fields: one object for them. */
const columnFields = (lens: Lens, fn: string): GqlFields =>
  FLOATS.has(fn) ? floatColumns(lens) : isOrdering(fn) ? comparableColumns(lens) : numericColumns(lens);

const floatColumns = onceFor(({ numeric }: Lens): GqlFields =>
  fieldsOf(
    numeric.map((each) => [
      each.name,
      { config: { type: GraphQLFloat, description: each.comment }, toPlan: each.part },
    ]),
  ),
);

const ownColumns = (build: GqlBuild, columns: readonly LensColumn[]): GqlFields =>
  fieldsOf(
    columns.map((each) => [
      each.name,
      { config: { type: build.valueOutput(each.value), description: each.comment }, toPlan: each.part },
    ]),
  );

const numericColumns = onceFor(({ build, numeric }: Lens) => ownColumns(build, numeric));
const comparableColumns = onceFor(({ build, comparable }: Lens) => ownColumns(build, comparable));

const ordered = (build: GqlBuild, columns: readonly LensColumn[]): GqlFields => {
  const direction = orderDirection(build);
  return direction === undefined
    ? {}
    : fieldsOf(columns.map((each) => [each.name, { config: { type: direction }, toPlan: each.part }]));
};

const orderedNumbers = onceFor(({ build, numeric }: Lens) => ordered(build, numeric));
const orderedValues = onceFor(({ build, comparable }: Lens) => ordered(build, comparable));

const rootFields = ({ build, scope }: GqlFieldContext): GqlFields =>
  fieldsOf(
    build.source.tables.map((table) => {
      const lens = lensOf(build, table);
      const type =
        lens.mayAggregate && isRootShown(lens, scope, "select_aggregate") ? aggregateType(build, table) : undefined;
      return (
        type &&
        ([
          rootNameOf(build, table, "select_aggregate", table.word, "aggregate"),
          {
            config: {
              type: required(type),
              get args() {
                return listArguments(build, table);
              },
              description: rootComment(
                table,
                "select_aggregate",
                `fetch aggregated fields from the table: ${quoted(table)}`,
              ),
            },
            toPlan: { kind: "aggregate", relation: table.relation },
          },
        ] as const)
      );
    }),
  );

/** Array relationships whose rows may be aggregated. */
const aggregated = (context: GqlFieldContext) => {
  const table = tableAt(context);
  if (table === undefined) return [];
  return lensOf(context.build, table).relationships.filter(
    (each) => !each.relationship.isToOne && lensOf(context.build, each.table).mayAggregate,
  );
};

const rowFields = (context: GqlFieldContext): GqlFields =>
  fieldsOf(
    (hasEmbed(context.build, "aggregate") ? aggregated(context) : []).map((each) => {
      const type = aggregateType(context.build, each.table);
      const { relationship, target } = each;
      return (
        type &&
        ([
          context.build.fieldName({ text: each.name, isCustom: true }, "aggregate"),
          {
            config: {
              type: required(type),
              get args() {
                return listArguments(context.build, each.table);
              },
              description: "An aggregate relationship",
            },
            toPlan: { kind: "relationship-aggregate", relationship, target },
          },
        ] as const)
      );
    }),
  );

const aggregateTypeFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  if (table === undefined) return {};
  const row = rowType(build, table);
  const fields = build.object({
    name: build.typeName(table.word, "aggregate_fields"),
    scope: "aggregate_fields",
    relation: table.relation,
    description: `aggregate fields of ${quoted(table)}`,
  });
  return fieldsOf([
    fields && ["aggregate", { config: { type: fields }, toPlan: { kind: "aggregate-fields" } }],
    row && ["nodes", { config: { type: requiredList(row) }, toPlan: { kind: "nodes" } }],
  ]);
};

const aggregateFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  if (table === undefined) return {};
  const columns = selectColumn(build, table);
  const count: GqlField = {
    config: {
      type: required(GraphQLInt),
      args: {
        ...(columns && { columns: argument(list(columns), { kind: "argument", name: "columns" }) }),
        distinct: argument(GraphQLBoolean, { kind: "argument", name: "distinct" }),
      },
    },
    toPlan: { kind: "count" },
  };
  return fieldsOf([
    ["count", count],
    ...FUNCTIONS.map((fn) => {
      const type = build.object({
        name: build.typeName(table.word, `${fn}_fields`),
        scope: "aggregate_columns",
        relation: table.relation,
        fn,
        description: `aggregate ${build.fieldName(fn)} on columns`,
        isOptional: true,
      });
      return type && ([build.fieldName(fn), { config: { type }, toPlan: { kind: "aggregate-function", fn } }] as const);
    }),
  ]);
};

const aggregateColumns = (context: GqlFieldContext): GqlFields => {
  const table = tableAt(context);
  return table === undefined ? {} : columnFields(lensOf(context.build, table), context.fn ?? "");
};

const orderByFields = (context: GqlFieldContext): GqlFields =>
  fieldsOf(
    aggregated(context).map((each) => {
      const type = aggregateOrderBy(context.build, each.table);
      const { relationship, target } = each;
      return (
        type &&
        ([
          context.build.fieldName({ text: each.name, isCustom: true }, "aggregate"),
          { config: { type }, toPlan: { kind: "relationship-aggregate", relationship, target } },
        ] as const)
      );
    }),
  );

const aggregateOrderByFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  const direction = orderDirection(build);
  if (table === undefined || direction === undefined) return {};
  return fieldsOf([
    ["count", { config: { type: direction }, toPlan: { kind: "count" } }],
    ...FUNCTIONS.map((fn) => {
      const type = build.inputObject({
        name: build.typeName(table.word, `${fn}_order_by`),
        scope: "aggregate_order_by_columns",
        relation: table.relation,
        fn,
        description: `order by ${build.fieldName(fn)}() on columns of table ${quoted(table)}`,
        isOptional: true,
      });
      return type && ([build.fieldName(fn), { config: { type }, toPlan: { kind: "aggregate-function", fn } }] as const);
    }),
  ]);
};

const aggregateOrderByColumns = (context: GqlFieldContext): GqlFields => {
  const table = tableAt(context);
  if (table === undefined) return {};
  const lens = lensOf(context.build, table);
  return isOrdering(context.fn ?? "") ? orderedValues(lens) : orderedNumbers(lens);
};

export const graphqlAggregates = definePlugin({
  name: "graphql-aggregates",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-aggregates", {
      ...inBothReadRoots(rootFields),
      row: rowFields,
      aggregate: aggregateTypeFields,
      aggregate_fields: aggregateFields,
      aggregate_columns: aggregateColumns,
      order_by: orderByFields,
      aggregate_order_by: aggregateOrderByFields,
      aggregate_order_by_columns: aggregateOrderByColumns,
    }),
});
