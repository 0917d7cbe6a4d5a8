/** Plans `order_by`. @rule G-ORD-1 … G-ORD-8 */
import {
  getQualifiedName,
  type Expression,
  type OrderBy,
  type OrderingSpec,
  type ValueRef,
} from "../../../core/index.ts";
import { buildComputedExpression, buildDefaultArguments } from "./computed-fields.ts";
import { graphqlLimitExceeded } from "../errors.ts";
import {
  isNull,
  openVariable,
  readEnum,
  visitInputItems,
  visitInputFields,
  type FieldInput,
  type LocatedInput,
} from "./input.ts";
import { bindColumn, type Planner } from "./planner.ts";
import { getFieldPart, type GqlPart } from "../plan-parts.ts";

/** Converts an expression over a related row to an expression over the current row. */
type LiftExpression = (inner: Expression) => Expression;

const keepExpression: LiftExpression = (inner) => inner;

/** Plans the argument `order_by`. */
export const planOrderBy = (planner: Planner, locatedInput: LocatedInput): readonly OrderBy[] => {
  if (isNull(openVariable(planner, locatedInput))) return [];
  const { options } = planner.schema;
  const items = visitInputItems(planner, locatedInput, (count) => {
    if (count > options.maxOrderTerms) throw graphqlLimitExceeded(options, "maxOrderTerms", "terms in an order_by");
  });
  return items.flatMap((item) => planTerms(planner, item, keepExpression));
};

const planTerms = (planner: Planner, locatedInput: LocatedInput, lift: LiftExpression): readonly OrderBy[] =>
  planInRequestOrder(planner, locatedInput, (member, part) => planTerm(planner, member, part, lift));

/** Validates the fields in name order, and applies them in the order of the request. @rule G-ORD-2 G-DOC-14 */
const planInRequestOrder = (
  planner: Planner,
  locatedInput: LocatedInput,
  plan: (member: FieldInput, part: GqlPart) => readonly OrderBy[],
): readonly OrderBy[] => {
  const terms = new Map<string, readonly OrderBy[]>();
  const writtenNames = visitInputFields(planner, locatedInput, (member) => {
    const part = getFieldPart(member.field);
    if (part !== undefined) terms.set(member.field.name, plan(member, part));
  });
  return writtenNames.flatMap((name) => terms.get(name) ?? []);
};

const planTerm = (planner: Planner, member: FieldInput, part: GqlPart, lift: LiftExpression): readonly OrderBy[] => {
  // An ordering that is null counts as omitted. @rule G-ORD-4
  if (isNull(openVariable(planner, member))) return [];
  switch (part.kind) {
    case "column":
      return [planDirection(planner, member, lift({ kind: "column", name: part.column.name }))];
    case "ordering":
      return [planOrdering(planner, member, part.ordering, { kind: "column", name: part.column.name }, lift)];
    case "expression":
      return [planDirection(planner, member, lift(part.expression))];
    case "members":
      return planTerms(planner, member, lift);
    case "relationship":
      return planTerms(planner, member, (value) =>
        lift({ kind: "related", relationship: part.relationship.id, value }),
      );
    case "relationship-aggregate":
      return planAggregateTerms(planner, member, (fn, expressions) =>
        lift({ kind: "related-aggregate", relationship: part.relationship.id, fn, expressions }),
      );
    case "computed": {
      const { field } = part;
      if (field.target === undefined) return [planDirection(planner, member, lift(buildComputedExpression(field)))];
      const { routine, target } = { routine: getQualifiedName(field.routine), target: getQualifiedName(field.target) };
      return planAggregateTerms(planner, member, (fn, expressions) =>
        lift({ kind: "computed-aggregate", routine, ...buildDefaultArguments(field), target, fn, expressions }),
      );
    }
    default:
      return [];
  }
};

/** Plans an ordering of the column with operands, for example by distance. @rule X-ORD-3 */
const planOrdering = (
  planner: Planner,
  ordering: FieldInput,
  { name, operands }: OrderingSpec,
  expression: Expression,
  lift: LiftExpression,
): OrderBy => {
  const valuesByName = new Map<string, ValueRef>();
  let order: OrderBy | undefined;
  const buildExpression = (): Expression =>
    lift({
      kind: "ordering",
      ordering: name,
      value: expression,
      operands: operands.map((operand) => valuesByName.get(operand.name) ?? { constant: null }),
    });
  visitInputFields(planner, ordering, (member) => {
    const part = getFieldPart(member.field);
    if (part?.kind === "operand-field") valuesByName.set(part.name, bindColumn(planner, member, part.value));
    else if (part?.kind === "argument" && !isNull(openVariable(planner, member)))
      order = planDirection(planner, member, expression);
  });
  return order === undefined
    ? { expression: buildExpression(), direction: "asc", nulls: "last" }
    : { ...order, expression: buildExpression() };
};

/** Plans orderings by aggregates of related rows. @rule G-ORD-6 */
const planAggregateTerms = (
  planner: Planner,
  locatedInput: LocatedInput,
  aggregate: (fn: string, expressions: readonly Expression[]) => Expression,
): readonly OrderBy[] =>
  planInRequestOrder(planner, locatedInput, (member, part) => {
    if (part.kind === "count")
      return isNull(openVariable(planner, member)) ? [] : [planDirection(planner, member, aggregate("count", []))];
    if (part.kind !== "aggregate-function") return [];
    return planInRequestOrder(planner, member, (column, columnPart) => {
      if (columnPart.kind !== "column" || isNull(openVariable(planner, column))) return [];
      return [planDirection(planner, column, aggregate(part.fn, [{ kind: "column", name: columnPart.column.name }]))];
    });
  });

/** Plans a direction with the position of nulls. @rule G-ORD-3 */
const planDirection = (planner: Planner, locatedInput: LocatedInput, expression: Expression): OrderBy => {
  const part = getFieldPart(readEnum(planner, locatedInput));
  return part?.kind === "direction" ? { expression, direction: part.direction, nulls: part.nulls } : { expression };
};
