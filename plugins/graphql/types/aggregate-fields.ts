/** Aggregate functions as the schema has them: which columns they take, and what they give. @rule G-OUT-3 G-OUT-8 G-OUT-9 */
import { GraphQLFloat, GraphQLString, type GraphQLObjectType, type GraphQLOutputType } from "graphql";
import {
  baseTypeOf,
  matchesType,
  memoize,
  type AggregateSpec,
  type Model,
  type PgType,
  type Registry,
} from "../../../core/index.ts";
import { aggregateName } from "../part-names.ts";
import { quoted } from "./shapes.ts";
import type { GqlBuild } from "../parts.ts";
import type { GqlTable } from "../served.ts";
import type { GqlValueType } from "../value-types.ts";

/** Functions that the role's schema names, by their GraphQL names. */
export const functionsOf = memoize(({ aggregates }: Registry) =>
  [...aggregates.values()].flatMap((spec) => {
    const word = aggregateName(spec);
    return word === undefined || spec.types === undefined ? [] : [{ spec, word }];
  }),
);

/** Whether the aggregate takes a column of this type. @rule G-OUT-8 G-OUT-9 */
export const takes = (build: GqlBuild, fn: string, value: GqlValueType): boolean => {
  const spec = build.schema.registry.aggregates.get(fn);
  return spec !== undefined && isTaken(build, spec, value);
};

const matcherOf = memoize(({ types = [], exceptTypes = [] }: AggregateSpec) =>
  memoize((type: PgType) => matchesType({ types, exceptTypes }, type)),
);

/** PostgreSQL finds out when it runs that an array's elements have no order. */
const isOrdered = (model: Model, type: PgType | undefined): boolean => {
  if (type === undefined) return false;
  if (type.kind === "array") return isOrdered(model, elementOf(model, type));
  const group = POLYMORPHIC.get(type.kind);
  return model.orderedTypes.has(group ?? type.name);
};

const elementOf = (model: Model, { element }: PgType): PgType | undefined =>
  element === undefined ? undefined : baseTypeOf(model, element);

/** What stands for all types of a kind. */
const POLYMORPHIC: ReadonlyMap<PgType["kind"], string> = new Map([
  ["array", "anyarray"],
  ["enum", "anyenum"],
  ["range", "anyrange"],
  ["multirange", "anymultirange"],
  ["composite", "record"],
]);

const OF_ANY_TYPE = ["any", "anyelement", "anycompatible"] as const;

/** The database has such a function. */
const hasFunction = (model: Model, { name }: AggregateSpec, type: PgType): boolean => {
  const taken = model.aggregatedTypes.get(name);
  if (taken === undefined) return false;
  if (taken.has(type.name) || OF_ANY_TYPE.some((any) => taken.has(any))) return true;
  if (!taken.has(POLYMORPHIC.get(type.kind) ?? "")) return false;
  return type.kind !== "array" || isOrdered(model, type);
};

export const isTaken = ({ schema: { model } }: GqlBuild, spec: AggregateSpec, value: GqlValueType): boolean => {
  const { enumTable, type } = value;
  return (
    enumTable === undefined && matcherOf(spec)(type) && (spec.compile !== undefined || hasFunction(model, spec, type))
  );
};

/** What the aggregate of such values is. */
export const aggregatedType = (build: GqlBuild, fn: string, value: GqlValueType): GraphQLOutputType => {
  const result = build.schema.registry.aggregates.get(fn)?.result;
  if (result === "Float") return GraphQLFloat;
  const own = result === undefined ? value : build.valueType(result);
  return own === undefined ? GraphQLString : build.valueOutput(own);
};

/** @rule G-OUT-3 */
export const aggregateFieldsType = (build: GqlBuild, table: GqlTable): GraphQLObjectType | undefined =>
  build.object({
    name: build.typeName(table.word, "aggregate_fields"),
    scope: "aggregate_fields",
    relation: table.relation,
    description: `aggregate fields of ${quoted(table)}`,
  });

/** For comparisons of what they give. A Float is compared as one. */
export const aggregateFunctionsOf = (build: GqlBuild): ReturnType<GqlBuild["aggregateFunctions"]> =>
  functionsOf(build.schema.registry).map(({ spec, word }) => ({
    fn: spec.name,
    name: build.fieldName(word),
    of: (value) => {
      if (!isTaken(build, spec, value)) return undefined;
      const { result } = spec;
      return result === undefined
        ? { ...value, isNullable: true }
        : build.valueType(result === "Float" ? "float8" : result);
    },
  }));
