/** `order_by: { place_distance: { from: "(1,2)", order: desc } }`: adds the orderings that plugins declare.
 *  @rule X-ORD-3 */
import { matchesType, type OrderingSpec } from "../../../core/index.ts";
import { DIRECTION, getOrderingName } from "../part-names.ts";
import { buildOrderDirectionEnum } from "./type-names.ts";
import { argument, buildEntry, collectFields } from "./field-taps.ts";
import { wrapNonNull } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../field-types.ts";
import type { RoleColumn } from "./role-table.ts";
import type { GqlValueType } from "../value-types.ts";

const findOrderings = ({ schema }: GqlBuild, value: GqlValueType): readonly OrderingSpec[] =>
  schema.registry.orderings.filter(
    (spec) =>
      value.enumTable === undefined &&
      getOrderingName(spec) !== undefined &&
      (spec.extension === undefined || schema.model.extensions.has(spec.extension)) &&
      matchesType(spec, value.type),
  );

/** Returns a field for each ordering of each column. The type of the columns' own fields stays `order_by`. */
export const listOrderingEntries = (
  build: GqlBuild,
  columns: readonly RoleColumn[],
): readonly (readonly [string, GqlField] | undefined)[] =>
  build.schema.registry.orderings.length === 0
    ? []
    : columns.flatMap(({ name, column, value }) =>
        findOrderings(build, value).map((ordering) => {
          const type = build.inputObject({
            name: build.sharedTypeName(value.type.name, ordering.name, "ordering"),
            scope: "ordering",
            value,
            fn: ordering.name,
            isOptional: true,
          });
          const suffix = getOrderingName(ordering);
          if (suffix === undefined) return undefined;
          const field = build.fieldName({ text: name, isCustom: true }, suffix);
          const description = ordering.description ?? null;
          return buildEntry(field, type, { kind: "ordering", ordering, column }, { description });
        }),
      );

/** Returns the operands by their names, all required, and the direction. */
export const buildOrderingFields = ({ build, value, fn }: GqlFieldContext): GqlFields => {
  const ordering = value && findOrderings(build, value).find(({ name }) => name === fn);
  const direction = buildOrderDirectionEnum(build);
  if (value === undefined || ordering === undefined || direction === undefined) return {};
  const operands = ordering.operands.map(({ name, type }) => {
    const operandType = type === undefined ? { ...value, isNullable: false } : build.valueType(type, false);
    return (
      operandType &&
      buildEntry(name, wrapNonNull(build.valueInput(operandType)), { kind: "operand-field", name, value: operandType })
    );
  });
  if (operands.includes(undefined)) return {};
  const order = argument(direction, { kind: "argument", name: "order_by" });
  return collectFields([...operands, [DIRECTION, { config: order, toPlan: { kind: "argument", name: "order_by" } }]]);
};
