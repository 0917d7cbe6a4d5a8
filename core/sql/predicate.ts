import type { FilterContext } from "../hooks.ts";
import type { OperatorSpec } from "../plugin.ts";
import type { Comparison, Operand, Predicate, ValueRef } from "../plan/plan.ts";
import { compileRoutineArguments } from "./call.ts";
import { compileKeysetCondition } from "./keyset.ts";
import { compileExists } from "./exists.ts";
import { compileExpression, hasPath } from "./expression.ts";
import { empty, quoteIdentifier, joinSql, sql, type Sql } from "./fragment.ts";
import { findHstoreType, compileHstoreFromText } from "./hstore.ts";
import { compileRelatedRows } from "./related-rows.ts";
import {
  openScope,
  planInvalid,
  quoteQualifiedName,
  compileRow,
  type CompiledValue,
  type Compiler,
  type Scope,
} from "./scope.ts";
import { compileHasKey } from "./keys.ts";
import { compileIsAmongRows } from "./step-rows.ts";
import { compileJson, compileValue } from "./value.ts";

/** Compiles a condition on the current row, in parentheses where precedence requires them. */
export const compilePredicate = (compiler: Compiler, predicate: Predicate, scope: Scope): Sql => {
  switch (predicate.kind) {
    case "and":
    case "or": {
      const [first] = predicate.predicates;
      if (first === undefined) return predicate.kind === "and" ? sql`true` : sql`false`;
      const innerScope: Scope = predicate.isRoot === true ? { ...scope, root: undefined } : scope;
      if (predicate.predicates.length === 1) return compilePredicate(compiler, first, innerScope);
      if (predicate.kind === "or") {
        // PostgreSQL plans each part of an `or` separately, so its conditions do not become joins.
        const parts = predicate.predicates.map((part) => compilePredicate(compiler, part, withoutJoins(innerScope)));
        return sql`(${joinSql(parts, " or ")})`;
      }
      const parts = predicate.predicates.map((part) => compilePredicate(compiler, part, innerScope));
      return sql`(${joinSql(parts, " and ")})`;
    }
    case "not":
      return sql`not (${compilePredicate(compiler, predicate.predicate, isExistence(predicate.predicate) ? scope : withoutJoins(scope))})`;
    case "compare":
      return compileComparison(compiler, predicate, scope);
    case "related": {
      const rows = compileRelatedRows(compiler, scope, predicate.relationship);
      return compileRowsExist(scope, rows.from, rows.on, compiler, predicate.where, rows.scope);
    }
    case "computed-rows": {
      const inner = openScope(compiler, scope, predicate.target);
      compiler.dependencies.isOpenEnded = true;
      return compileRowsExist(
        scope,
        sql`${quoteQualifiedName(predicate.routine)}(${compileRoutineArguments(compiler, predicate.arguments ?? [], compileRow(scope))}) as ${quoteIdentifier(inner.row)}`,
        undefined,
        compiler,
        predicate.where,
        inner,
      );
    }
    case "exists": {
      const inner = openScope(compiler, scope, predicate.from);
      return compileRowsExist(
        scope,
        sql`${quoteQualifiedName(predicate.from)} as ${quoteIdentifier(inner.row)}`,
        undefined,
        compiler,
        predicate.where,
        inner,
      );
    }
    case "embedded": {
      const embed = scope.embeds?.get(predicate.embed);
      if (embed === undefined) throw planInvalid(`no embed "${predicate.embed}"`);
      // The test concerns the existence of the row, so that a row of nulls counts as present (R-EMB-15).
      return predicate.isNull ? sql`not ${embed.exists(scope)}` : embed.exists(scope);
    }
    case "keyset":
      return compileKeysetCondition(compiler, predicate, scope);
    case "written":
      return compileIsAmongRows(compiler, predicate.step, predicate.columns, scope.row);
    case "keys":
      return compileHasKey(compiler, predicate, scope);
  }
};

/** Returns a scope whose conditions do not become joins of the level. */
export const withoutJoins = (scope: Scope): Scope => (scope.isBelowOr === true ? scope : { ...scope, isBelowOr: true });

const isExistence = ({ kind }: Predicate): boolean =>
  kind === "related" || kind === "computed-rows" || kind === "exists" || kind === "embedded";

const compileRowsExist = (
  position: Scope,
  from: Sql,
  on: Sql | undefined,
  compiler: Compiler,
  where: Predicate | undefined,
  scope: Scope,
): Sql =>
  compileExists(position, (level) => {
    const conditions = on === undefined ? [] : [on];
    if (where !== undefined) conditions.push(compilePredicate(compiler, where, { ...scope, level }));
    return conditions.length === 0
      ? sql`select 1 from ${from}`
      : sql`select 1 from ${from} where ${joinSql(conditions, " and ")}`;
  });

/** Compiles the right side of a comparison. */
const compileOperand = (compiler: Compiler, operand: Operand, scope: Scope): Sql => {
  if ("expression" in operand) return compileExpression(compiler, operand.expression, scope).sql;
  if ("items" in operand)
    return sql`array[${joinSql(operand.items.map((item) => compileOperand(compiler, item, scope)))}]`;
  if ("fields" in operand) return empty; // the fields are compiled by `FilterContext.field`
  return compileValue(compiler, operand);
};

const compileComparison = (compiler: Compiler, comparison: Comparison, scope: Scope): Sql => {
  const leftOperand = compileExpression(compiler, comparison.left, scope);
  const { operand } = comparison;
  const spec = compiler.registry.operators.find((candidate) => candidate.name === comparison.operator);
  if (spec?.plansEachTime === true || hasPath(comparison.left)) compiler.dependencies.plansEachTime = true;
  const compileField = (name: string): Sql | undefined => {
    const field = operand !== undefined && "fields" in operand ? operand.fields[name] : undefined;
    return field === undefined ? undefined : compileOperand(compiler, field, scope);
  };
  const context: FilterContext = {
    model: compiler.model,
    column: leftOperand.sql,
    type: leftOperand.type,
    declared: leftOperand.column,
    operand: operand === undefined ? empty : compileRightSide(compiler, comparison, scope, leftOperand, spec),
    field: compileField,
    keyword: comparison.keyword,
    option: comparison.option === undefined ? undefined : compileValue(compiler, comparison.option),
    quantifier: comparison.quantifier,
  };
  const fragment = compiler.hooks.compileFilter.for(comparison.operator).call(comparison, context);
  if (fragment === undefined)
    throw planInvalid(
      `no plugin compiles the operator "${comparison.operator}" for ${leftOperand.type?.name ?? "this type"}`,
    );
  return sql`(${fragment})`;
};

const compileRightSide = (
  compiler: Compiler,
  comparison: Comparison,
  scope: Scope,
  { representedType: declaredType, type }: Pick<CompiledValue, "representedType" | "type">,
  spec: OperatorSpec | undefined,
): Sql => {
  // The caller has checked that there is an operand.
  const operand = comparison.operand as NonNullable<Comparison["operand"]>;
  // PostgreSQL infers the type of the operand, and reads the operand as JSON.
  const isJson =
    type?.schema === "pg_catalog" &&
    type.name === "jsonb" &&
    spec?.takesRepresentation === true &&
    spec.operand !== "list";
  let fragment =
    isJson && "param" in operand && operand.type === undefined
      ? compileJson(compiler, operand, undefined)
      : compileOperand(compiler, operand, scope);
  if (declaredType !== undefined && "param" in operand && operand.type === undefined) {
    const representedOperand = compileRepresentedOperand(compiler, comparison, declaredType, operand);
    if (representedOperand !== undefined) fragment = representedOperand;
  }
  return comparison.quantifier === undefined
    ? fragment
    : comparison.quantifier === "any"
      ? sql`any(${fragment})`
      : sql`all(${fragment})`;
};

/** Returns a function that reads a text as a value of the type. Returns undefined if the database reads the text
 *  itself. @rule R-REP-3 R-BODY-10 */
const findTextReader = ({ model }: Compiler, type: number): ((text: Sql) => Sql) | undefined => {
  const parser = model.representations.get(type)?.fromText;
  if (parser !== undefined) return (text) => sql`${quoteQualifiedName(parser)}(${text})`;
  const hstore = findHstoreType(model, type);
  return hstore && ((text) => compileHstoreFromText(hstore, text));
};

/** Returns the text, converted by the domain's cast from text, or undefined without such a cast. @rule R-REP-3 */
export const compileTextAsType = (compiler: Compiler, type: number, ref: ValueRef): Sql | undefined =>
  findTextReader(compiler, type)?.(compileValue(compiler, { ...ref, type: "text" }));

/** Returns the operand, converted by the domain's cast if the operator takes representations. @rule R-REP-3 */
const compileRepresentedOperand = (
  compiler: Compiler,
  { operator, quantifier }: Comparison,
  declaredType: number,
  ref: ValueRef & { readonly param: number },
): Sql | undefined => {
  const read = findTextReader(compiler, declaredType);
  if (read === undefined) return undefined;
  const spec = compiler.registry.operators.find((candidate) => candidate.name === operator);
  if (spec?.takesRepresentation !== true) return undefined;
  if (spec.operand !== "list" && quantifier === undefined) return compileTextAsType(compiler, declaredType, ref);
  return sql`array(select ${read(sql`item`)} from pg_catalog.unnest(${compileValue(compiler, { ...ref, type: "text[]" })}) as item)`;
};
