/**
 * `?order=place.nearest("(1,2)")&limit=5` and `order_by: { place_nearest: { from: "(1,2)" } }`: orders rows by distance
 * and can return the distance.
 */
import { GraphQLFloat, GraphQLNonNull } from "graphql";
import {
  definePlugin,
  matchesType,
  type Expression,
  type Model,
  type OrderingSpec,
  type Output,
  type Plan,
} from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { extensionTypes, GEOJSON_TYPES, INTERVAL_DISTANCE_TYPES, orderings } from "./orderings.ts";

/** The orderings of distance fields: the first one of each type. */
const distanceOrderings: readonly OrderingSpec[] = orderings.filter(({ name }) => name === "nearest");

/** Adds fields such as `{ shop { name place_distance(from: "(1,2)") } }`. @rule P-NEA-4 */
const addDistanceFields = (fields: GqlFields, { scope, relation, model, build }: GqlFieldContext): GqlFields => {
  const table = scope === "row" && relation !== undefined ? build.table(relation) : undefined;
  if (table === undefined) return fields;
  const readable = build.rights(table).select?.columns;
  const addedFields: Record<string, GqlField> = {};
  for (const tableColumn of table.columns) {
    const { column, name } = tableColumn;
    const value = readable?.has(column.name) === true ? build.columnValue(tableColumn) : undefined;
    if (value === undefined || value.enumTable !== undefined) continue;
    const spec = distanceOrderings.find(
      (ordering) => matchesType(ordering, value.type) && isInstalled(ordering, model),
    );
    const operand = spec?.operands[0];
    const from = operand?.type === undefined ? { ...value, isNullable: false } : build.valueType(operand.type, false);
    const time = INTERVAL_DISTANCE_TYPES.has(value.type.name) ? build.valueType("interval", true) : undefined;
    if (
      spec === undefined ||
      from === undefined ||
      (INTERVAL_DISTANCE_TYPES.has(value.type.name) && time === undefined)
    )
      continue;
    addedFields[build.fieldName({ text: name, isCustom: true }, "distance")] = {
      config: {
        type: time === undefined ? GraphQLFloat : build.valueOutput(time),
        args: { from: { type: new GraphQLNonNull(build.valueInput(from)) } },
        description: `the distance of ${name} from a value`,
      },
      toPlan: {
        kind: "custom",
        output: ({ as }, context) => {
          const isGeo = GEOJSON_TYPES.has(value.type.name);
          const origin = context.argument("from", isGeo ? "text" : from.type.sqlName) ?? { constant: null };
          const operands = [isGeo ? { ...origin, apply: "from-geojson" } : origin];
          const expression: Expression = { kind: "column", name: column.name };
          return {
            kind: "value",
            as,
            value: { kind: "ordering", ordering: spec.name, value: expression, operands },
          };
        },
      },
    };
  }
  return { ...addedFields, ...fields }; // a column of that name takes precedence
};

const isInstalled = ({ extension }: OrderingSpec, model: Model): boolean =>
  extension === undefined || model.extensions.has(extension);

const findDistance = (expression: Expression): { readonly column: string; readonly value: Expression } | undefined =>
  expression.kind === "ordering" && expression.ordering.startsWith("nearest") && expression.value.kind === "column"
    ? { column: expression.value.name, value: expression }
    : undefined;

/** `Prefer: distance=column`: adds each distance that the rows are ordered by, as `<column>_distance`. @rule P-NEA-3 */
const addDistances = (plan: Plan): Plan => {
  if (plan.kind === "call" && plan.result !== undefined) {
    const result = addDistances(plan.result);
    return result.kind === "read" && result !== plan.result ? { ...plan, result } : plan;
  }
  if (plan.kind !== "read" || plan.output.some(({ kind }) => kind === "aggregate")) return plan;
  const usedNames = new Set(plan.output.flatMap((output) => ("as" in output ? [output.as] : [])));
  const addedOutputs: Output[] = [];
  for (const { expression } of plan.orderBy ?? []) {
    const distance = findDistance(expression);
    const as = distance && `${distance.column}_distance`;
    if (distance === undefined || as === undefined || usedNames.has(as)) continue;
    usedNames.add(as);
    addedOutputs.push({ kind: "value", as, value: distance.value });
  }
  return addedOutputs.length === 0 ? plan : { ...plan, output: [...plan.output, ...addedOutputs] };
};

/** Orders rows by their distance from a value. @rule P-NEA-1 … P-NEA-5 */
export const nearest = definePlugin({
  name: "nearest",
  orderings,
  extensionTypes,
  preferences: [{ name: "distance", values: ["column"], example: "distance=column", plan: addDistances }],
  apply: (hooks) => hooks.buildGqlField.tap("nearest", addDistanceFields),
});
