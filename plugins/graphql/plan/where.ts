/** Plans `where`: boolean expressions, and conditions on whole related sets. @rule G-BEXP-1 … G-BEXP-7 G-AGP-1 …
 *  G-AGP-7 */
import { getQualifiedName, type Expression, type Predicate } from "../../../core/index.ts";
import { graphqlLimitExceeded, validationFailed } from "../errors.ts";
import { getFieldPart, type GqlPart } from "../plan-parts.ts";
import { checkConditions, countCondition, planComparison } from "./comparison.ts";
import { buildComputedExpression, buildDefaultArguments } from "./computed-fields.ts";
import {
  readBoolean,
  readEnum,
  visitInputItems,
  visitInputFields,
  type FieldInput,
  type LocatedInput,
} from "./input.ts";
import type { Planner } from "./planner.ts";

export const combinePredicates = (parts: readonly Predicate[]): Predicate =>
  parts.length === 1 ? (parts[0] as Predicate) : { kind: "and", predicates: parts };

/** Returns the predicate, or undefined if it always holds. */
export const omitTrue = (predicate: Predicate): Predicate | undefined =>
  predicate.kind === "and" && predicate.predicates.length === 0 ? undefined : predicate;

/** Runs `plan` for the rows of a relationship. @rule G-LIM-4 */
const planWithinBudget = <Result>({ budget, schema: { options } }: Planner, plan: () => Result): Result => {
  if (--budget.relatedConditions < 0)
    throw graphqlLimitExceeded(options, "maxRelatedConditions", "relationships in its conditions");
  if (--budget.relationLevels < 0)
    throw graphqlLimitExceeded(options, "maxRelationDepth", "levels of relationships in a condition");
  const result = plan();
  budget.relationLevels++;
  return result;
};

/** Plans the argument `where`. */
export const planWhere = (planner: Planner, locatedInput: LocatedInput): Predicate => {
  countCondition(planner);
  const parts: Predicate[] = [];
  visitInputFields(planner, locatedInput, (member) => {
    const part = getFieldPart(member.field);
    if (part !== undefined) parts.push(...planBoolExpField(planner, member, part));
  });
  return combinePredicates(parts);
};

const planBoolExpField = (planner: Planner, member: FieldInput, part: GqlPart): readonly Predicate[] => {
  switch (part.kind) {
    case "and":
    case "or": {
      const items = visitInputItems(planner, member, (count) => checkConditions(planner, count));
      return [
        {
          kind: part.kind,
          predicates: items.map((item) => planWhere(planner, item)),
        },
      ];
    }
    case "not":
      return [{ kind: "not", predicate: planWhere(planner, member) }];
    case "column":
      return planComparison(planner, member, { kind: "column", name: part.column.name }, part.value);
    case "expression":
      return planComparison(planner, member, part.expression, part.value);
    case "members":
      return [planWhere(planner, member)];
    case "computed": {
      if (part.value !== undefined)
        return planComparison(planner, member, buildComputedExpression(part.field), part.value);
      const { routine, target } = part.field;
      if (target === undefined) return [];
      const where = omitTrue(planWithinBudget(planner, () => planWhere(planner, member)));
      return [
        {
          kind: "computed-rows",
          routine: getQualifiedName(routine),
          target: getQualifiedName(target),
          ...buildDefaultArguments(part.field),
          ...(where && { where }),
        },
      ];
    }
    case "relationship": {
      const where = omitTrue(planWithinBudget(planner, () => planWhere(planner, member)));
      return [{ kind: "related", relationship: part.relationship.id, ...(where && { where }) }];
    }
    case "relationship-aggregate":
      return [planWithinBudget(planner, () => planAggregatePredicate(planner, member, part.relationship.id))];
    default:
      return [];
  }
};

/** Plans a condition on a related set, such as `albums_aggregate: { count: { predicate: { _gt: 1 } } }`. @rule G-AGP-1
 *  … G-AGP-7 */
const planAggregatePredicate = (planner: Planner, locatedInput: LocatedInput, relationship: string): Predicate => {
  const members: FieldInput[] = [];
  visitInputFields(planner, locatedInput, (field) => members.push(field));
  const [member] = members;
  const part = member && getFieldPart(member.field);
  if (member === undefined || members.length > 1 || part?.kind !== "predicate")
    throw validationFailed("exactly one predicate should be specified", locatedInput.path);

  let expressions: readonly Expression[] = [];
  let isDistinct = false;
  let where: Predicate | undefined;
  let compare: ((leftOperand: Expression) => readonly Predicate[]) | undefined;
  visitInputFields(planner, member, (argument) => {
    const name = getFieldPart(argument.field);
    if (name?.kind !== "argument") return;
    if (name.name === "arguments") expressions = planColumns(planner, argument, part.columns);
    else if (name.name === "distinct") isDistinct = readBoolean(planner, argument);
    else if (name.name === "filter") where = omitTrue(planWhere(planner, argument));
    // `predicate` is the last of the four fields in name order, so the left side is complete.
    else if (name.name === "predicate")
      compare = (leftOperand) => planComparison(planner, argument, leftOperand, part.value);
  });
  const relatedAggregate: Expression = {
    kind: "related-aggregate",
    relationship,
    fn: part.fn,
    expressions,
    ...(isDistinct ? { distinct: true } : {}),
    ...(where === undefined ? {} : { where }),
  };
  return combinePredicates(compare?.(relatedAggregate) ?? []);
};

/** Reads the columns of a function: any number as a list, one column, or X and Y. */
const planColumns = (planner: Planner, locatedInput: LocatedInput, columns: "any" | 1 | 2): readonly Expression[] => {
  const readColumn = (column: LocatedInput): Expression[] => {
    const part = getFieldPart(readEnum(planner, column));
    return part?.kind === "column" ? [{ kind: "column", name: part.column.name }] : [];
  };
  if (columns === "any") return visitInputItems(planner, locatedInput).flatMap(readColumn);
  if (columns === 1) return readColumn(locatedInput);
  const expressions: Expression[] = [];
  visitInputFields(planner, locatedInput, (column) => expressions.push(...readColumn(column)));
  return expressions;
};
