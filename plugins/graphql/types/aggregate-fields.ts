/** The aggregate functions in the schema, with the columns that they accept and their result types. @rule G-OUT-3
 *  G-OUT-8 G-OUT-9 */
import { GraphQLFloat, GraphQLString, type GraphQLObjectType, type GraphQLOutputType } from "graphql";
import { matchesType, type AggregateSpec, type Registry } from "../../../core/index.ts";
import { getAggregateName } from "../part-names.ts";
import { quoteTableName } from "./type-names.ts";
import type { GqlBuild } from "../field-types.ts";
import type { GqlTable } from "../catalog-types.ts";
import type { GqlValueType } from "../value-types.ts";

/** Returns the aggregate functions of the role's schema, by their GraphQL names. */
export const listAggregateFunctions = ({ aggregates }: Registry) =>
  [...aggregates.values()].flatMap((spec) => {
    const aggregateName = getAggregateName(spec);
    return aggregateName === undefined || spec.types === undefined ? [] : [{ spec, aggregateName }];
  });

/** Returns whether the aggregate accepts a column of this type. @rule G-OUT-8 G-OUT-9 */
export const acceptsType = (build: GqlBuild, fn: string, value: GqlValueType): boolean => {
  const spec = build.schema.registry.aggregates.get(fn);
  return spec !== undefined && acceptsValue(spec, value);
};

export const acceptsValue = (
  { types = [], exceptTypes = [] }: AggregateSpec,
  { enumTable, type }: GqlValueType,
): boolean => enumTable === undefined && matchesType({ types, exceptTypes }, type);

/** Returns the result type of the aggregate for values of this type. */
export const findResultType = (build: GqlBuild, fn: string, value: GqlValueType): GraphQLOutputType => {
  const result = build.schema.registry.aggregates.get(fn)?.result;
  if (result === "Float") return GraphQLFloat;
  const resultType = result === undefined ? value : build.valueType(result);
  return resultType === undefined ? GraphQLString : build.valueOutput(resultType);
};

/** Returns the type `T_aggregate_fields`. @rule G-OUT-3 */
export const buildAggregateFieldsType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({
    name: build.typeName(table.namePart, "aggregate_fields"),
    scope: "aggregate_fields",
    relation: table.relation,
    description: `aggregate fields of ${quoteTableName(table)}`,
  });

/** Returns the aggregate functions with result types for comparisons. A Float result is compared as a Float. */
export const buildAggregateFunctions = (build: GqlBuild): ReturnType<GqlBuild["aggregateFunctions"]> =>
  listAggregateFunctions(build.schema.registry).map(({ spec, aggregateName }) => ({
    fn: spec.name,
    name: build.fieldName(aggregateName),
    findResultType: (value) => {
      if (!acceptsValue(spec, value)) return undefined;
      const { result } = spec;
      return result === undefined
        ? { ...value, isNullable: true }
        : build.valueType(result === "Float" ? "float8" : result);
    },
  }));
