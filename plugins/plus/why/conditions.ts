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
export interface KnownValues {
  readonly values: readonly BoundValue[];
  readonly session: Session;
}

const MAX_LENGTH = 200;

const shown = (bound: BoundValue | undefined): string => {
  if (bound === undefined || bound === null) return "null";
  if (typeof bound !== "string") return `${bound.length} bytes`;
  return JSON.stringify(bound.length > MAX_LENGTH ? `${bound.slice(0, MAX_LENGTH)}…` : bound);
};

export const valueText = (ref: ValueRef, { values, session }: KnownValues): string => {
  if ("param" in ref) return shown(values[ref.param]);
  if ("constant" in ref) return shown(ref.constant);
  if ("step" in ref) return `${ref.column} of step ${ref.step + 1}`;
  if (ref.session === true) return "the session";
  return `${ref.session} (${shown(session.variables[ref.session])})`;
};

const keyText = ({ arrow, key }: PathKey, given: KnownValues): string =>
  `${arrow}${valueText(key, given).replace(/^"(.*)"$/, "$1")}`;

const pathText = (path: readonly PathKey[] | undefined, given: KnownValues): string =>
  (path ?? []).map((step) => keyText(step, given)).join("");

export const expressionText = (expression: Expression, given: KnownValues): string => {
  switch (expression.kind) {
    case "output":
      return expression.as;
    case "column":
    case "embedded":
      return `${expression.name}${pathText(expression.path, given)}`;
    case "computed":
      return `${expression.routine.name}${pathText(expression.path, given)}`;
    case "cast":
      return `${expressionText(expression.of, given)}::${expression.type}`;
    case "apply":
      return `${expression.function}(${expressionText(expression.of, given)})`;
    case "ordering":
      return `${expressionText(expression.of, given)}.${expression.ordering}`;
    case "aggregate":
      return `${expression.fn}(${expression.of.map((one) => expressionText(one, given)).join(", ")})`;
    case "masked":
      return expressionText(expression.of, given);
    case "related":
      return `${expression.relationship}.${expressionText(expression.value, given)}`;
    case "related-aggregate":
      return `${expression.fn} of ${expression.relationship}`;
    case "computed-aggregate":
      return `${expression.fn} of ${expression.routine.name}`;
  }
};

const operandText = (operand: Operand, given: KnownValues): string => {
  if ("expression" in operand) return expressionText(operand.expression, given);
  if ("items" in operand) return `(${operand.items.map((item) => operandText(item, given)).join(", ")})`;
  if (!("fields" in operand)) return valueText(operand, given);
  const fields = Object.entries(operand.fields).map(([name, part]) => `${name}: ${operandText(part, given)}`);
  return `{ ${fields.join(", ")} }`;
};

const comparisonText = (comparison: Comparison, given: KnownValues): string => {
  const { left, operator, quantifier, option, operand, keyword } = comparison;
  const more = quantifier ?? (option === undefined ? undefined : valueText(option, given));
  const right = operand === undefined ? keyword : operandText(operand, given);
  return [
    expressionText(left, given),
    more === undefined ? operator : `${operator}(${more})`,
    ...(right === undefined ? [] : [right]),
  ].join(" ");
};

const conditionOrTrue = (where: Predicate | undefined, given: KnownValues): string =>
  where === undefined ? "" : `: (${conditionText(where, given)})`;

export const conditionText = (predicate: Predicate, given: KnownValues): string => {
  switch (predicate.kind) {
    case "and":
    case "or": {
      const [only] = predicate.of;
      if (only === undefined) return predicate.kind === "and" ? "true" : "false";
      if (predicate.of.length === 1) return conditionText(only, given);
      return predicate.of
        .map((part) => (isList(part) ? `(${conditionText(part, given)})` : conditionText(part, given)))
        .join(` ${predicate.kind} `);
    }
    case "not":
      return `not (${conditionText(predicate.of, given)})`;
    case "compare":
      return comparisonText(predicate, given);
    case "related":
      return `some ${predicate.relationship}${conditionOrTrue(predicate.where, given)}`;
    case "computed-rows":
      return `some ${predicate.routine.name}${conditionOrTrue(predicate.where, given)}`;
    case "exists":
      return `some row of ${predicate.from.schema}.${predicate.from.name}${conditionOrTrue(predicate.where, given)}`;
    case "embedded":
      return `${predicate.embed} is ${predicate.isNull ? "" : "not "}null`;
    case "beyond": {
      const place = predicate.order.map(({ by }, i) => {
        const ref = predicate.values[i] ?? null;
        return `${expressionText(by, given)} ${ref === null ? "null" : valueText(ref, given)}`;
      });
      return `behind (${place.join(", ")})`;
    }
    case "keys":
      return `(${predicate.columns.join(", ")}) is one of ${predicate.values.length} keys`;
    case "written":
      return `it belongs to a row of step ${predicate.step + 1}`;
  }
};

const isList = ({ kind }: Predicate): boolean => kind === "and" || kind === "or";

/** The conditions that must all hold. */
export const conjunctsOf = (where: Predicate | undefined): readonly Predicate[] =>
  where === undefined ? [] : where.kind === "and" && where.isRoot !== true ? where.of.flatMap(conjunctsOf) : [where];
