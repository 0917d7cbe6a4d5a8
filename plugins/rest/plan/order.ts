/** Terms of an order, on columns of the level's own rows and of rows embedded in it. */
import { baseTypeOf, columnOf, matchesType, type Column, type Expression, type OrderBy } from "../../../core/index.ts";
import type { Grammar, OrderTerm, SelectItem } from "../request.ts";
import { bind, buildField, buildPath, type Row } from "./conditions.ts";
import { joinedRow, type Level } from "./levels.ts";

/** @rule R-ORD-1 R-ORD-3 R-ORD-4 */
export const buildOrder = (row: Row, level: Level, term: OrderTerm, orderings: Grammar["orderings"]): OrderBy => {
  const { embed, field, direction, nulls } = term;
  const of: Expression =
    embed === undefined
      ? buildField(row, field)
      : {
          kind: "embedded",
          embed,
          name: field.name,
          path: field.path.length === 0 ? undefined : buildPath(row.values, field.path),
          row: joinedRow(level, embed),
        };
  return { by: buildOrdering(row, of, level, term, orderings), direction, nulls };
};

/** The ordering for the column's type; for other types the database judges the first. @rule X-ORD-2 */
const buildOrdering = (
  { model, values }: Row,
  of: Expression,
  level: Level,
  term: OrderTerm,
  orderings: Grammar["orderings"],
): Expression => {
  const { ordering } = term;
  const specs = (ordering && orderings.get(ordering.name)) ?? [];
  const column = ordering && orderedColumn(level, term);
  const type = column && baseTypeOf(model, column.type);
  const spec = specs.find((one) => matchesType(one, type)) ?? specs[0];
  if (ordering === undefined || spec === undefined) return of;
  return {
    kind: "ordering",
    ordering: spec.name,
    of,
    operands: ordering.operands.map((text) => bind(values, text)),
  };
};

/** The column that a term sorts by: in a related order, the one under the output key of that name. */
const orderedColumn = (level: Level, { embed, field }: OrderTerm): Column | undefined => {
  const { relation, node } =
    embed === undefined
      ? level
      : (level.embeds.find(({ id }) => id === embed) ?? { relation: undefined, node: undefined });
  if (relation === undefined || field.path.length > 0) return undefined;
  const isKeyed = (item: SelectItem): boolean =>
    item.kind === "field" && (item.alias ?? item.field.name) === field.name;
  const item = embed === undefined ? undefined : node?.items.find(isKeyed);
  if (item?.kind !== "field") return columnOf(relation, field.name);
  const isPlain = item.field.path.length === 0 && item.aggregate === undefined && item.cast === undefined;
  return isPlain ? columnOf(relation, item.field.name) : undefined;
};
