/** `{ artist(where: { albums_aggregate: { count: { predicate: { _gt: 1 } } } }) { … } }`: conditions on a whole related
 *  set. @rule G-INP-6 … G-INP-10 G-ENU-6 G-AGP-1 G-AGP-2 G-AGP-6 */
import { GraphQLBoolean, type GraphQLEnumType, type GraphQLInputType } from "graphql";
import { definePlugin } from "../../../core/index.ts";
import { lensOf, type LensColumn } from "./lens.ts";
import { boolExp, columnValues, enumerable, quoted, selectColumn } from "./shapes.ts";
import { fieldsOf, tableAt, tapFields } from "./tap.ts";
import { list, required } from "./wrap.ts";
import type { GqlArgumentName, GqlBuild, GqlFieldContext, GqlFields } from "../parts.ts";
import type { GqlTable, GqlWord } from "../served.ts";

interface PredicateFunction {
  readonly fn: string;
  /** `typname` of the columns it takes; absent: any, and none is needed. */
  readonly takes?: string;
  /** GraphQL scalar of its result. */
  readonly result: string;
  /** X and Y. */
  readonly isOfTwo?: boolean;
}

const FUNCTIONS: readonly PredicateFunction[] = [
  { fn: "count", result: "Int" },
  ...["bool_and", "bool_or"].map((fn) => ({ fn, takes: "bool", result: "Boolean" })),
  ...["avg", "max", "min", "sum", "stddev_samp", "var_samp"].map((fn) => ({ fn, takes: "float8", result: "float8" })),
  ...["corr", "covar_samp"].map((fn) => ({ fn, takes: "float8", result: "float8", isOfTwo: true })),
];

/** Not split by a naming convention: `bool_and`, `Bool_and`. @rule G-NAM-8 */
const functionWord = (fn: string): GqlWord => ({ text: fn, isCustom: true });

const functionNamed = (name: string | undefined): PredicateFunction | undefined =>
  FUNCTIONS.find(({ fn }) => fn === name);

const columnsFor = (build: GqlBuild, table: GqlTable, takes: string): readonly LensColumn[] =>
  enumerable(
    lensOf(build, table).readable.filter(({ value }) => value.enumTable === undefined && value.type.name === takes),
  );

/** @rule G-ENU-6 */
const argumentColumns = (
  build: GqlBuild,
  table: GqlTable,
  { fn, takes = "" }: PredicateFunction,
): GraphQLEnumType | undefined => {
  const columns = columnsFor(build, table, takes);
  if (columns.length === 0) return undefined;
  const words = [table.word, "aggregate_bool_exp", functionWord(fn), "arguments_columns"] as const;
  return build.enumeration({
    name: build.typeName(table.word, "select_column", ...words),
    relation: table.relation,
    description: `select "${build.fieldName(...words)}" columns of table ${quoted(table)}`,
    values: () => columnValues(columns),
  });
};

/** @rule G-AGP-6 */
const boolExpFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  if (table === undefined) return {};
  return fieldsOf(
    lensOf(build, table).relationships.map((each) => {
      if (each.relationship.isToOne || !lensOf(build, each.table).mayAggregate) return undefined;
      const { relationship, target } = each;
      const type = build.inputObject({
        name: build.typeName(each.table.word, "aggregate_bool_exp"),
        scope: "aggregate_bool_exp",
        relation: target,
      });
      return (
        type &&
        ([
          build.fieldName({ text: each.name, isCustom: true }, "aggregate"),
          { config: { type }, toPlan: { kind: "relationship-aggregate", relationship, target } },
        ] as const)
      );
    }),
  );
};

const functionFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  if (table === undefined) return {};
  return fieldsOf(
    FUNCTIONS.map(({ fn, takes, result }) => {
      const value = build.valueType(result);
      if (value === undefined || (takes !== undefined && columnsFor(build, table, takes).length === 0))
        return undefined;
      const type = build.inputObject({
        name: build.predicateTypeName(table.word, "aggregate_bool_exp", functionWord(fn)),
        scope: "predicate",
        relation: table.relation,
        fn,
      });
      return type && ([fn, { config: { type }, toPlan: { kind: "predicate", fn, value } }] as const);
    }),
  );
};

const argumentsType = (
  build: GqlBuild,
  table: GqlTable,
  predicate: PredicateFunction,
): GraphQLInputType | undefined => {
  if (predicate.takes === undefined) {
    const columns = selectColumn(build, table);
    return columns && list(columns);
  }
  const columns = argumentColumns(build, table, predicate);
  const type = predicate.isOfTwo
    ? build.inputObject({
        name: build.predicateTypeName(table.word, "aggregate_bool_exp", functionWord(predicate.fn), "arguments"),
        scope: "predicate_arguments",
        relation: table.relation,
        fn: predicate.fn,
        isOptional: true,
      })
    : columns;
  return type && required(type);
};

const partFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  const predicate = functionNamed(context.fn);
  const value = predicate && build.valueType(predicate.result);
  const comparison = value && build.comparison(value);
  if (table === undefined || predicate === undefined || comparison === undefined) return {};
  const part = (name: GqlArgumentName, type: GraphQLInputType | undefined) =>
    type && ([name, { config: { type }, toPlan: { kind: "argument", name } }] as const);
  return fieldsOf([
    part("arguments", argumentsType(build, table, predicate)),
    part("distinct", GraphQLBoolean),
    part("filter", boolExp(build, table)),
    part("predicate", required(comparison)),
  ]);
};

const argumentFields = (context: GqlFieldContext): GqlFields => {
  const { build } = context;
  const table = tableAt(context);
  const predicate = functionNamed(context.fn);
  const columns = table && predicate && argumentColumns(build, table, predicate);
  if (columns === undefined) return {};
  const config = { type: required(columns) };
  return fieldsOf((["X", "Y"] as const).map((name) => [name, { config, toPlan: { kind: "argument", name } }]));
};

export const aggregatePredicates = definePlugin({
  name: "aggregate-predicates",
  requires: ["graphql-aggregates", "graphql-relationships"],
  apply: (hooks) =>
    tapFields(hooks, "aggregate-predicates", {
      bool_exp: boolExpFields,
      aggregate_bool_exp: functionFields,
      predicate: partFields,
      predicate_arguments: argumentFields,
    }),
});
