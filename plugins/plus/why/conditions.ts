/** Formats the conditions of a plan for people: `owner eq "Bo"`, `some tracks: (name like "A%")`. */
import type {
  BoundValue,
  Comparison,
  Expression,
  Operand,
  PathKey,
  Predicate,
  Session,
  ValueRef,
} from "../../../core/index.ts";

/** The values of a plan. */
interface KnownValues {
  readonly values: readonly BoundValue[];
  readonly session: Session;
}

const MAX_LENGTH = 200;

const formatBound = (boundValue: BoundValue | undefined): string => {
  if (boundValue === undefined || boundValue === null) return "null";
  if (typeof boundValue !== "string") return `${boundValue.length} bytes`;
  return JSON.stringify(boundValue.length > MAX_LENGTH ? `${boundValue.slice(0, MAX_LENGTH)}…` : boundValue);
};

export const formatValue = (ref: ValueRef, { values, session }: KnownValues): string => {
  if ("param" in ref) return formatBound(values[ref.param]);
  if ("constant" in ref) return formatBound(ref.constant);
  if ("step" in ref) return `${ref.column} of step ${ref.step + 1}`;
  if (ref.session === true) return "the session";
  return `${ref.session} (${formatBound(session.variables[ref.session])})`;
};

const formatKey = ({ arrow, key }: PathKey, knownValues: KnownValues): string =>
  `${arrow}${formatValue(key, knownValues).replace(/^"(.*)"$/, "$1")}`;

const formatPath = (path: readonly PathKey[] | undefined, knownValues: KnownValues): string =>
  (path ?? []).map((step) => formatKey(step, knownValues)).join("");

const formatExpression = (expression: Expression, knownValues: KnownValues): string => {
  switch (expression.kind) {
    case "output":
      return expression.as;
    case "column":
    case "embedded":
      return `${expression.name}${formatPath(expression.path, knownValues)}`;
    case "computed":
      return `${expression.routine.name}${formatPath(expression.path, knownValues)}`;
    case "cast":
      return `${formatExpression(expression.value, knownValues)}::${expression.type}`;
    case "apply":
      return `${expression.function}(${formatExpression(expression.value, knownValues)})`;
    case "ordering":
      return `${formatExpression(expression.value, knownValues)}.${expression.ordering}`;
    case "aggregate":
      return `${expression.fn}(${expression.expressions.map((argument) => formatExpression(argument, knownValues)).join(", ")})`;
    case "masked":
      return formatExpression(expression.value, knownValues);
    case "related":
      return `${expression.relationship}.${formatExpression(expression.value, knownValues)}`;
    case "related-aggregate":
      return `${expression.fn} of ${expression.relationship}`;
    case "computed-aggregate":
      return `${expression.fn} of ${expression.routine.name}`;
  }
};

const formatOperand = (operand: Operand, knownValues: KnownValues): string => {
  if ("expression" in operand) return formatExpression(operand.expression, knownValues);
  if ("items" in operand) return `(${operand.items.map((item) => formatOperand(item, knownValues)).join(", ")})`;
  if (!("fields" in operand)) return formatValue(operand, knownValues);
  const fields = Object.entries(operand.fields).map(([name, part]) => `${name}: ${formatOperand(part, knownValues)}`);
  return `{ ${fields.join(", ")} }`;
};

const formatComparison = (comparison: Comparison, knownValues: KnownValues): string => {
  const { left: leftOperand, operator, quantifier, option, operand, keyword } = comparison;
  const operatorArgument = quantifier ?? (option === undefined ? undefined : formatValue(option, knownValues));
  const right = operand === undefined ? keyword : formatOperand(operand, knownValues);
  return [
    formatExpression(leftOperand, knownValues),
    operatorArgument === undefined ? operator : `${operator}(${operatorArgument})`,
    ...(right === undefined ? [] : [right]),
  ].join(" ");
};

const formatOptionalCondition = (where: Predicate | undefined, knownValues: KnownValues): string =>
  where === undefined ? "" : `: (${formatCondition(where, knownValues)})`;

export const formatCondition = (predicate: Predicate, knownValues: KnownValues): string => {
  switch (predicate.kind) {
    case "and":
    case "or": {
      const [first] = predicate.predicates;
      if (first === undefined) return predicate.kind === "and" ? "true" : "false";
      if (predicate.predicates.length === 1) return formatCondition(first, knownValues);
      return predicate.predicates
        .map((part) => (isAndOr(part) ? `(${formatCondition(part, knownValues)})` : formatCondition(part, knownValues)))
        .join(` ${predicate.kind} `);
    }
    case "not":
      return `not (${formatCondition(predicate.predicate, knownValues)})`;
    case "compare":
      return formatComparison(predicate, knownValues);
    case "related":
      return `some ${predicate.relationship}${formatOptionalCondition(predicate.where, knownValues)}`;
    case "computed-rows":
      return `some ${predicate.routine.name}${formatOptionalCondition(predicate.where, knownValues)}`;
    case "exists":
      return `some row of ${predicate.from.schema}.${predicate.from.name}${formatOptionalCondition(predicate.where, knownValues)}`;
    case "embedded":
      return `${predicate.embed} is ${predicate.isNull ? "" : "not "}null`;
    case "keyset": {
      const position = predicate.order.map(({ expression }, i) => {
        const ref = predicate.values[i] ?? null;
        return `${formatExpression(expression, knownValues)} ${ref === null ? "null" : formatValue(ref, knownValues)}`;
      });
      return `behind (${position.join(", ")})`;
    }
    case "keys":
      return `(${predicate.columns.join(", ")}) is one of ${predicate.values.length} ${predicate.values.length === 1 ? "key" : "keys"}`;
    case "written":
      return `it belongs to a row of step ${predicate.step + 1}`;
  }
};

const isAndOr = ({ kind }: Predicate): boolean => kind === "and" || kind === "or";

/** Returns the conditions that must all hold. */
export const listConjuncts = (where: Predicate | undefined): readonly Predicate[] =>
  where === undefined
    ? []
    : where.kind === "and" && where.isRoot !== true
      ? where.predicates.flatMap(listConjuncts)
      : [where];
