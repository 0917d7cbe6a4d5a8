/** `order_by: { place: { _distance: { from: "(1,2)", order: desc } } }`: orderings that plugins declare. @rule X-ORD-3 */
import type { GraphQLInputType } from "graphql";
import { matchesType, type OrderingSpec } from "../../../core/index.ts";
import { DIRECTION, orderingName } from "../part-names.ts";
import { orderDirection } from "./shapes.ts";
import { argument, fieldsOf } from "./tap.ts";
import { required } from "./wrap.ts";
import type { GqlBuild, GqlFieldContext, GqlFields } from "../parts.ts";
import type { GqlValueType } from "../value-types.ts";

const offered = ({ schema }: GqlBuild, value: GqlValueType): readonly OrderingSpec[] =>
  schema.registry.orderings.filter(
    (spec) =>
      value.enumTable === undefined &&
      orderingName(spec) !== undefined &&
      (spec.extension === undefined || schema.model.extensions.has(spec.extension)) &&
      matchesType(spec, value.type),
  );

/** What a column of the type takes in `order_by`: a direction, or with orderings an object. */
export const columnOrder = (
  build: GqlBuild,
  value: GqlValueType,
  direction: GraphQLInputType,
): GraphQLInputType | undefined =>
  build.schema.registry.orderings.length === 0 || offered(build, value).length === 0
    ? direction
    : build.inputObject({
        name: build.sharedTypeName(value.type.name, "column_order_by"),
        scope: "column_order_by",
        value,
        description: `ordering options of columns of type "${value.type.name}"`,
      });

export const columnOrderFields = ({ build, value }: GqlFieldContext): GqlFields => {
  const direction = orderDirection(build);
  if (value === undefined || direction === undefined) return {};
  return fieldsOf([
    [build.fieldName("_value"), { config: { type: direction }, toPlan: { kind: "ordered-value" } }],
    ...offered(build, value).map((ordering) => {
      const type = build.inputObject({
        name: build.sharedTypeName(value.type.name, ordering.name, "ordering"),
        scope: "ordering",
        value,
        fn: ordering.name,
        isOptional: true,
      });
      const config = type && { type, description: ordering.description ?? null };
      const name = orderingName(ordering);
      return config && name !== undefined
        ? ([build.fieldName(name), { config, toPlan: { kind: "ordering", ordering } }] as const)
        : undefined;
    }),
  ]);
};

/** Operands by their names, all required, and the direction. */
export const orderingFields = ({ build, value, fn }: GqlFieldContext): GqlFields => {
  const ordering = value && offered(build, value).find(({ name }) => name === fn);
  const direction = orderDirection(build);
  if (value === undefined || ordering === undefined || direction === undefined) return {};
  const operands = ordering.operands.map(({ name, type }) => {
    const own = type === undefined ? { ...value, isNullable: false } : build.valueType(type, false);
    return (
      own &&
      ([
        name,
        { config: { type: required(build.valueInput(own)) }, toPlan: { kind: "operand-field", name, value: own } },
      ] as const)
    );
  });
  if (operands.includes(undefined)) return {};
  const order = argument(direction, { kind: "argument", name: "order_by" });
  return fieldsOf([...operands, [DIRECTION, { config: order, toPlan: { kind: "argument", name: "order_by" } }]]);
};
