/** Plans `where`: boolean expressions, and conditions on whole related sets. @rule G-BEXP-1 … G-BEXP-7 G-AGP-1 …
 *  G-AGP-7 */
import type { Expression, Predicate } from "../../../core/index.ts";
import { tooMany, validationFailed } from "../errors.ts";
import { getFieldPart, type GqlPart } from "../parts.ts";
import { checkConditions, countCondition, planComparison } from "./comparison.ts";
import { buildComputedExpression, buildDefaultArguments } from "./computed-fields.ts";
import {
  getItemPosition,
  getPosition,
  readBoolean,
  readEnum,
  readList,
  readObject,
  type FieldInput,
  type Input,
  type InputPosition,
} from "./input.ts";
import type { Planner } from "./planner.ts";

export const combinePredicates = (parts: readonly Predicate[]): Predicate =>
  parts.length === 1 ? (parts[0] as Predicate) : { kind: "and", predicates: parts };

/** Returns the predicate, or undefined if it always holds. */
export const omitTrue = (predicate: Predicate): Predicate | undefined =>
  predicate.kind === "and" && predicate.predicates.length === 0 ? undefined : predicate;

/** Runs `plan` for the rows of a relationship. @rule G-LIM-4 */
const planWithinBudget = <Result>({ budget, schema: { options } }: Planner, plan: () => Result): Result => {
  if (--budget.relatedConditions < 0) throw tooMany(options, "maxRelatedConditions", "relationships in its conditions");
  if (--budget.relationLevels < 0) throw tooMany(options, "maxRelationDepth", "levels of relationships in a condition");
  const planned = plan();
  budget.relationLevels++;
  return planned;
};

export const planWhere = (planner: Planner, input: Input, position: InputPosition, path: string): Predicate => {
  countCondition(planner);
  const parts: Predicate[] = [];
  readObject(planner, input, position, path, (member) => {
    const part = getFieldPart(member.field);
    if (part !== undefined) parts.push(...planBoolExpField(planner, member, part));
  });
  return combinePredicates(parts);
};

const planBoolExpField = (planner: Planner, member: FieldInput, part: GqlPart): readonly Predicate[] => {
  const { input, path } = member;
  const position = getPosition(member.field);
  switch (part.kind) {
    case "and":
    case "or": {
      const items = readList(planner, input, position, path, (count) => checkConditions(planner, count));
      return [
        {
          kind: part.kind,
          predicates: items.map((item) => planWhere(planner, item.input, getItemPosition(position), item.path)),
        },
      ];
    }
    case "not":
      return [{ kind: "not", predicate: planWhere(planner, input, position, path) }];
    case "column":
      return planComparison(planner, input, position, { kind: "column", name: part.column.name }, part.value, path);
    case "expression":
      return planComparison(planner, input, position, part.expression, part.value, path);
    case "members":
      return [planWhere(planner, input, position, path)];
    case "computed": {
      if (part.value !== undefined)
        return planComparison(planner, input, position, buildComputedExpression(part.field), part.value, path);
      const { routine, target } = part.field;
      if (target === undefined) return [];
      const where = omitTrue(planWithinBudget(planner, () => planWhere(planner, input, position, path)));
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
      const where = omitTrue(planWithinBudget(planner, () => planWhere(planner, input, position, path)));
      return [{ kind: "related", relationship: part.relationship.id, ...(where && { where }) }];
    }
    case "relationship-aggregate":
      return [
        planWithinBudget(planner, () => planAggregatePredicate(planner, input, position, part.relationship.id, path)),
      ];
    default:
      return [];
  }
};

export const getQualifiedName = ({ schema, name }: { readonly schema: string; readonly name: string }) => ({
  schema,
  name,
});

/** Plans a condition on a related set, such as `albums_aggregate: { count: { predicate: { _gt: 1 } } }`. @rule G-AGP-1
 *  … G-AGP-7 */
const planAggregatePredicate = (
  planner: Planner,
  input: Input,
  position: InputPosition,
  relationship: string,
  path: string,
): Predicate => {
  const members: FieldInput[] = [];
  readObject(planner, input, position, path, (field) => members.push(field));
  const [member] = members;
  const part = member && getFieldPart(member.field);
  if (member === undefined || members.length > 1 || part?.kind !== "predicate")
    throw validationFailed("exactly one predicate should be specified", path);

  let expressions: readonly Expression[] = [];
  let isDistinct = false;
  let where: Predicate | undefined;
  let compare: ((left: Expression) => readonly Predicate[]) | undefined;
  readObject(planner, member.input, getPosition(member.field), member.path, ({ field, input: value, path }) => {
    const name = getFieldPart(field);
    if (name?.kind !== "argument") return;
    if (name.name === "arguments") expressions = planColumns(planner, value, getPosition(field), path, part.columns);
    else if (name.name === "distinct") isDistinct = readBoolean(planner, value, getPosition(field), path);
    else if (name.name === "filter") where = omitTrue(planWhere(planner, value, getPosition(field), path));
    // `predicate` is the last of the four fields in name order, so the left side is complete
    else if (name.name === "predicate")
      compare = (left) => planComparison(planner, value, getPosition(field), left, part.value, path);
  });
  const left: Expression = {
    kind: "related-aggregate",
    relationship,
    fn: part.fn,
    expressions,
    ...(isDistinct ? { distinct: true } : {}),
    ...(where === undefined ? {} : { where }),
  };
  return combinePredicates(compare?.(left) ?? []);
};

/** Reads the columns of a function: any number as a list, one column, or X and Y. */
const planColumns = (
  planner: Planner,
  input: Input,
  position: InputPosition,
  path: string,
  columns: "any" | 1 | 2,
): readonly Expression[] => {
  const readColumn = (value: Input, at: InputPosition, where: string): Expression[] => {
    const part = getFieldPart(readEnum(planner, value, at, where));
    return part?.kind === "column" ? [{ kind: "column", name: part.column.name }] : [];
  };
  if (columns === "any")
    return readList(planner, input, position, path).flatMap((item) =>
      readColumn(item.input, getItemPosition(position), item.path),
    );
  if (columns === 1) return readColumn(input, position, path);
  const expressions: Expression[] = [];
  readObject(planner, input, position, path, ({ field, input: value, path }) =>
    expressions.push(...readColumn(value, getPosition(field), path)),
  );
  return expressions;
};
