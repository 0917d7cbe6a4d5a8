/** `order_by`. @rule G-ORD-1 … G-ORD-8 */
import { type Expression, type OrderBy, type OrderingSpec, type ValueRef } from "../../../core/index.ts";
import { computedExpression, rowArguments } from "./computed.ts";
import { tooMany } from "../errors.ts";
import {
  isNull,
  itemPosition,
  open,
  positionOf,
  readEnum,
  readList,
  readObject,
  type FieldInput,
  type Input,
  type InputPosition,
} from "./input.ts";
import { bindColumn, type Planner } from "./planner.ts";
import { nameOf } from "./where.ts";
import { gqlPart, type GqlPart } from "../parts.ts";

/** Converts an expression over a related row to an expression over the current row. */
type LiftExpression = (inner: Expression) => Expression;

const unchanged: LiftExpression = (inner) => inner;

export const planOrderBy = (planner: Planner, input: Input, place: InputPosition, path: string): readonly OrderBy[] => {
  if (isNull(open(planner, input, place, path))) return [];
  const { options } = planner.schema;
  const items = readList(planner, input, place, path, (count) => {
    if (count > options.maxOrderTerms) throw tooMany(options, "maxOrderTerms", "terms in an order_by");
  });
  return items.flatMap((item) => planTerms(planner, item.input, itemPosition(place), unchanged, item.path));
};

const planTerms = (
  planner: Planner,
  input: Input,
  place: InputPosition,
  lift: LiftExpression,
  path: string,
): readonly OrderBy[] =>
  inWrittenOrder(planner, input, place, path, (given, part) => planTerm(planner, given, part, lift));

/** Validates the fields in name order, and applies them in the order of the request. @rule G-ORD-2 G-DOC-14 */
const inWrittenOrder = (
  planner: Planner,
  input: Input,
  place: InputPosition,
  path: string,
  plan: (given: FieldInput, part: GqlPart) => readonly OrderBy[],
): readonly OrderBy[] => {
  const terms = new Map<string, readonly OrderBy[]>();
  const written = readObject(planner, input, place, path, (given) => {
    const part = gqlPart(given.field);
    if (part !== undefined) terms.set(given.field.name, plan(given, part));
  });
  return written.flatMap((name) => terms.get(name) ?? []);
};

const planTerm = (planner: Planner, given: FieldInput, part: GqlPart, lift: LiftExpression): readonly OrderBy[] => {
  const { input, path } = given;
  const place = positionOf(given.field);
  // @rule G-ORD-4
  if (isNull(open(planner, input, place, path))) return [];
  switch (part.kind) {
    case "column":
      return [planDirection(planner, given, lift({ kind: "column", name: part.column.name }))];
    case "ordering":
      return [planOrdering(planner, given, part.ordering, { kind: "column", name: part.column.name }, lift)];
    case "expression":
      return [planDirection(planner, given, lift(part.expression))];
    case "members":
      return planTerms(planner, input, place, lift, path);
    case "relationship":
      return planTerms(
        planner,
        input,
        place,
        (value) => lift({ kind: "related", relationship: part.relationship.id, value }),
        path,
      );
    case "relationship-aggregate":
      return planAggregateTerms(
        planner,
        input,
        place,
        (fn, of) => lift({ kind: "related-aggregate", relationship: part.relationship.id, fn, of }),
        path,
      );
    case "computed": {
      const { field } = part;
      if (field.target === undefined) return [planDirection(planner, given, lift(computedExpression(field)))];
      const { routine, target } = { routine: nameOf(field.routine), target: nameOf(field.target) };
      return planAggregateTerms(
        planner,
        input,
        place,
        (fn, of) => lift({ kind: "computed-aggregate", routine, ...rowArguments(field), target, fn, of }),
        path,
      );
    }
    default:
      return [];
  }
};

/** Plans an ordering of the column with operands, for example by distance. @rule X-ORD-3 */
const planOrdering = (
  planner: Planner,
  { field, input, path }: FieldInput,
  { name, operands }: OrderingSpec,
  of: Expression,
  lift: LiftExpression,
): OrderBy => {
  const given = new Map<string, ValueRef>();
  let order: OrderBy | undefined;
  const by = (): Expression =>
    lift({
      kind: "ordering",
      ordering: name,
      of,
      operands: operands.map((operand) => given.get(operand.name) ?? { constant: null }),
    });
  readObject(planner, input, positionOf(field), path, (member) => {
    const part = gqlPart(member.field);
    const place = positionOf(member.field);
    if (part?.kind === "operand-field")
      given.set(part.name, bindColumn(planner, member.input, place, part.value, member.path));
    else if (part?.kind === "argument" && !isNull(open(planner, member.input, place, member.path)))
      order = planDirection(planner, member, of);
  });
  return order === undefined ? { by: by(), direction: "asc", nulls: "last" } : { ...order, by: by() };
};

/** @rule G-ORD-6 */
const planAggregateTerms = (
  planner: Planner,
  input: Input,
  place: InputPosition,
  aggregate: (fn: string, of: readonly Expression[]) => Expression,
  path: string,
): readonly OrderBy[] =>
  inWrittenOrder(planner, input, place, path, (given, part) => {
    if (part.kind === "count")
      return isNull(open(planner, given.input, positionOf(given.field), given.path))
        ? []
        : [planDirection(planner, given, aggregate("count", []))];
    if (part.kind !== "aggregate-function") return [];
    return inWrittenOrder(planner, given.input, positionOf(given.field), given.path, (column, columnPart) => {
      if (columnPart.kind !== "column" || isNull(open(planner, column.input, positionOf(column.field), column.path)))
        return [];
      return [planDirection(planner, column, aggregate(part.fn, [{ kind: "column", name: columnPart.column.name }]))];
    });
  });

/** @rule G-ORD-3 */
const planDirection = (planner: Planner, { field, input, path }: FieldInput, by: Expression): OrderBy => {
  const part = gqlPart(readEnum(planner, input, positionOf(field), path));
  return part?.kind === "direction" ? { by, direction: part.direction, nulls: part.nulls } : { by };
};
