/** Compiles the terms of orders. */
import { findRelation } from "../model/model.ts";
import type { Expression, OrderBy } from "../plan/plan.ts";
import { tryAddJoin, createPlannerLevel } from "./exists.ts";
import { compileExpression, hasPath, isNeverNull } from "./expression.ts";
import { empty, sql, type Sql } from "./fragment.ts";
import { withoutJoins } from "./predicate.ts";
import { requireRelationship, compileRelatedRows } from "./related-rows.ts";
import type { CompiledValue, Compiler, RelatedValue, Scope } from "./scope.ts";

/** The related rows that the orders of a level have joined. */
export interface JoinedRows {
  readonly joins: Sql[];
  readonly scopes: Map<string, Scope>;
}

/** Compiles a term of an order. `existingValue` is the term's value, if the level already has the value under a name
 *  or as an output. */
export const compileOrder = (
  compiler: Compiler,
  term: OrderBy,
  scope: Scope,
  existingValue: Sql | undefined,
  joinedRows: JoinedRows,
): Sql => {
  const joinedValue =
    existingValue === undefined ? compileJoinedValue(compiler, term.expression, scope, joinedRows) : undefined;
  if (hasPath(term.expression)) compiler.dependencies.plansEachTime = true;
  const direction = term.direction === undefined ? empty : term.direction === "asc" ? sql` asc` : sql` desc`;
  const nulls =
    term.nulls === undefined || (joinedValue !== undefined && isNeverNull(compiler, joinedValue, scope))
      ? empty
      : term.nulls === "first"
        ? sql` nulls first`
        : sql` nulls last`;
  return sql`${existingValue ?? joinedValue?.sql ?? empty}${direction}${nulls}`;
};

/** Compiles a value. If the value belongs to the one related row, that row is joined, so that PostgreSQL can look up,
 *  hash or merge the rows. @rule X-PLN-7 */
export const compileJoinedValue = (
  compiler: Compiler,
  expression: Expression,
  scope: Scope,
  joinedRows: JoinedRows,
): CompiledValue => {
  const target =
    scope.compileGroupKey === undefined &&
    expression.kind === "related" &&
    isNullOfNull(expression.value) &&
    isOneRow(compiler, scope, expression.relationship)
      ? joinRow(compiler, expression, scope, joinedRows)
      : undefined;
  if (expression.kind !== "related" || target === undefined) return compileExpression(compiler, expression, scope);
  return { ...compileJoinedValue(compiler, expression.value, target, joinedRows), column: undefined };
};

/** Joins the related row, and returns its scope. Returns undefined if the level has reached its limit of joins. */
const joinRow = (
  compiler: Compiler,
  expression: RelatedValue,
  scope: Scope,
  { joins, scopes }: JoinedRows,
): Scope | undefined => {
  const key = JSON.stringify([scope.row, expression.relationship, expression.where]);
  const existingScope = scopes.get(key);
  if (existingScope !== undefined) return existingScope;
  const { level = createPlannerLevel() } = scope;
  if (!tryAddJoin(level)) return undefined;
  const { scope: inner, from, on } = compileRelatedRows(compiler, scope, expression.relationship);
  const target = { ...inner, level };
  const where =
    expression.where === undefined
      ? on
      : sql`${on} and ${compiler.compilePredicate(expression.where, withoutJoins(target))}`;
  joins.push(sql`left join ${from} on ${where}`);
  scopes.set(key, target);
  return target;
};

/** Returns whether the value is NULL if there is no row. A function of the row may return another value. */
const isNullOfNull = (value: Expression): boolean => {
  if (value.kind === "column") return value.scope !== "root";
  if (value.kind === "masked") return isNullOfNull(value.value);
  return value.kind === "related" && isNullOfNull(value.value);
};

/** Returns whether a unique key guarantees that the relationship has at most one row. The keys of a table with children
 *  cover only its own rows. */
const isOneRow = (compiler: Compiler, scope: Scope, id: string): boolean => {
  const { columns, target: name, junction, routine } = requireRelationship(scope, id);
  const target = findRelation(compiler.model, name);
  if (junction !== undefined || routine !== undefined || target?.mayHideNulls === true) return false;
  const comparedColumns = new Set(columns.map(([, column]) => column));
  return target?.uniqueKeys.some((key) => key.columns.every((column) => comparedColumns.has(column))) === true;
};
