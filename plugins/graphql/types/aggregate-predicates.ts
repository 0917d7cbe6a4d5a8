/** `{ artist(where: { albums_aggregate: { count: { predicate: { _gt: 1 } } } }) { … } }`: adds conditions on a whole
 *  related set. @rule G-INP-6 … G-INP-10 G-ENU-6 G-AGP-1 G-AGP-2 G-AGP-6 */
import { GraphQLBoolean, type GraphQLEnumType, type GraphQLInputType } from "graphql";
import { definePlugin, type AggregateSpec, type Registry } from "../../../core/index.ts";
import { getAggregateName } from "../part-names.ts";
import { getRoleTable, type RoleColumn } from "./role-table.ts";
import {
  buildAggregateBoolExpType,
  buildBoolExpType,
  listColumnValues,
  filterEnumerable,
  quoteTableName,
  buildSelectColumnEnum,
} from "./type-names.ts";
import { buildEntry, collectFields, forTable, tapFields } from "./field-taps.ts";
import { wrapList, wrapNonNull } from "./non-null-list.ts";
import type { GqlArgumentName } from "../part-kinds.ts";
import type { GqlBuild, GqlFieldContext } from "../field-types.ts";
import type { GqlTable, GqlNamePart } from "../catalog-types.ts";

interface PredicateFunction {
  readonly fn: string;
  /** The GraphQL name of the function. */
  readonly aggregateName: string;
  readonly predicate: NonNullable<AggregateSpec["predicate"]>;
}

const listPredicateFunctions = ({ aggregates }: Registry): readonly PredicateFunction[] =>
  [...aggregates.values()].flatMap((spec) => {
    const aggregateName = getAggregateName(spec);
    const { name, predicate } = spec;
    return aggregateName === undefined || predicate === undefined ? [] : [{ fn: name, aggregateName, predicate }];
  });

/** Builds the name part of a function, which naming conventions do not split: `bool_and`, `Bool_and`. @rule G-NAM-8 */
const buildFunctionPart = (fn: string): GqlNamePart => ({ text: fn, isCustom: true });

const findPredicateFunction = ({ build, fn }: GqlFieldContext): PredicateFunction | undefined =>
  listPredicateFunctions(build.schema.registry).find((predicateFunction) => predicateFunction.fn === fn);

const findArgumentColumns = (build: GqlBuild, table: GqlTable, takes: string): readonly RoleColumn[] =>
  filterEnumerable(
    getRoleTable(build, table).readable.filter(
      ({ value }) => value.enumTable === undefined && value.type.name === takes,
    ),
  );

/** Returns the enum of the columns that the function accepts as arguments. @rule G-ENU-6 */
const listArgumentColumns = (
  build: GqlBuild,
  table: GqlTable,
  { aggregateName, predicate: { type = "" } }: PredicateFunction,
): GraphQLEnumType | undefined => {
  const columns = findArgumentColumns(build, table, type);
  if (columns.length === 0) return undefined;
  const argumentParts = [
    table.namePart,
    "aggregate_bool_exp",
    buildFunctionPart(aggregateName),
    "arguments_columns",
  ] as const;
  return build.enumeration({
    name: build.typeName(table.namePart, "select_column", ...argumentParts),
    relation: table.relation,
    description: `select "${build.fieldName(...argumentParts)}" columns of table ${quoteTableName(table)}`,
    values: () => listColumnValues(columns),
  });
};

/** Returns the conditions on aggregates of the table's array relationships. @rule G-AGP-6 */
const buildBoolExpFields = forTable((build, table) =>
  collectFields(
    getRoleTable(build, table).relationships.map((relationshipField) => {
      if (relationshipField.relationship.isToOne || !getRoleTable(build, relationshipField.table).mayAggregate)
        return undefined;
      const { name, table: targetTable, relationship, target } = relationshipField;
      return buildEntry(
        build.fieldName({ text: name, isCustom: true }, "aggregate"),
        buildAggregateBoolExpType(build, targetTable),
        { kind: "relationship-aggregate", relationship, target },
      );
    }),
  ),
);

const buildFunctionFields = forTable((build, table) =>
  collectFields(
    listPredicateFunctions(build.schema.registry).map(({ fn, aggregateName, predicate }) => {
      const { type: takes, result, columns = 1 } = predicate;
      const value = build.valueType(result);
      if (value === undefined || (takes !== undefined && findArgumentColumns(build, table, takes).length === 0))
        return undefined;
      const type = build.inputObject({
        name: build.predicateTypeName(table.namePart, "aggregate_bool_exp", buildFunctionPart(aggregateName)),
        scope: "predicate",
        relation: table.relation,
        fn,
      });
      const takenColumns = takes === undefined ? "any" : columns;
      return buildEntry(aggregateName, type, { kind: "predicate", fn, value, columns: takenColumns });
    }),
  ),
);

const buildArgumentsType = (
  build: GqlBuild,
  table: GqlTable,
  predicate: PredicateFunction,
): GraphQLInputType | undefined => {
  if (predicate.predicate.type === undefined) {
    const columns = buildSelectColumnEnum(build, table);
    return columns && wrapList(columns);
  }
  const columns = listArgumentColumns(build, table, predicate);
  const type =
    predicate.predicate.columns === 2
      ? build.inputObject({
          name: build.predicateTypeName(
            table.namePart,
            "aggregate_bool_exp",
            buildFunctionPart(predicate.aggregateName),
            "arguments",
          ),
          scope: "predicate_arguments",
          relation: table.relation,
          fn: predicate.fn,
          isOptional: true,
        })
      : columns;
  return type && wrapNonNull(type);
};

const buildPartFields = forTable((build, table, context) => {
  const predicate = findPredicateFunction(context);
  const value = predicate && build.valueType(predicate.predicate.result);
  const comparison = value && build.comparison(value);
  if (predicate === undefined || comparison === undefined) return {};
  const part = (name: GqlArgumentName, type: GraphQLInputType | undefined) =>
    buildEntry(name, type, { kind: "argument", name });
  return collectFields([
    part("arguments", buildArgumentsType(build, table, predicate)),
    part("distinct", GraphQLBoolean),
    part("filter", buildBoolExpType(build, table)),
    part("predicate", wrapNonNull(comparison)),
  ]);
});

const buildArgumentFields = forTable((build, table, context) => {
  const predicate = findPredicateFunction(context);
  const columns = predicate && listArgumentColumns(build, table, predicate);
  if (columns === undefined) return {};
  return collectFields(
    (["X", "Y"] as const).map((name) => buildEntry(name, wrapNonNull(columns), { kind: "argument", name })),
  );
});

/** Adds conditions on aggregates of related rows to `where`. */
export const aggregatePredicates = definePlugin({
  name: "aggregate-predicates",
  requires: ["graphql-aggregates", "graphql-relationships"],
  apply: (hooks) =>
    tapFields(hooks, "aggregate-predicates", {
      bool_exp: buildBoolExpFields,
      aggregate_bool_exp: buildFunctionFields,
      predicate: buildPartFields,
      predicate_arguments: buildArgumentFields,
    }),
});
