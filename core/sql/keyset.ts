/** Compiles the condition that a row comes after a position in an order (keyset pagination). */
import type { PgType } from "../model/model.ts";
import type { Predicate, ValueRef } from "../plan/plan.ts";
import { compileExpression, hasPath, isNeverNull } from "./expression.ts";
import { quoteIdentifier, joinSql, sql, type Sql } from "./fragment.ts";
import type { CompiledValue, Compiler, Scope } from "./scope.ts";
import { compileValue } from "./value.ts";

/** The operators that keyset conditions use. */
export const COMPARISONS: readonly string[] = ["<", "<=", "=", ">", ">="];

/** The operators by which a type orders its values. */
interface Comparisons {
  readonly less: Sql;
  readonly equal: Sql;
  readonly greater: Sql;
}

const DEFAULT_COMPARISONS: Comparisons = { less: sql`<`, equal: sql`=`, greater: sql`>` };

/** The ordering operators of `hstore`, which have other names than those of all other types. */
const NAMES_OF_HSTORE = { less: sql`#<#`, equal: sql`=`, greater: sql`#>#` };

/** Returns qualified operators for the type of an extension, whose schema need not be in the search path. Without the
 *  schema, PostgreSQL may choose other operators, such as the `text` operators for `citext`. `order by` needs no search
 *  path. */
const findComparisons = (type: PgType | undefined): Comparisons => {
  if (type === undefined || type.kind !== "base" || type.schema === "pg_catalog") return DEFAULT_COMPARISONS;
  const { less, equal, greater } = type.name === "hstore" ? NAMES_OF_HSTORE : DEFAULT_COMPARISONS;
  const qualifyOperator = (name: Sql): Sql => sql`operator(${quoteIdentifier(type.schema)}.${name})`;
  return { less: qualifyOperator(less), equal: qualifyOperator(equal), greater: qualifyOperator(greater) };
};

/** Adds the type to a composite value, because PostgreSQL does not infer a composite type from the position. */
const addType = (ref: ValueRef, type: PgType | undefined): ValueRef =>
  // TypeScript cannot see that a reference with an additional `type` remains a reference.
  type?.kind === "composite" ? ({ type: type.sqlName, ...ref } as ValueRef) : ref;

/** Returns null tests that treat a row of nulls as a value, as the order does. `is null` would be true for such a
 *  row. */
const compileNullTests = ({ sql: expression, type }: CompiledValue): Pick<KeysetTerm, "isNull" | "isNotNull"> =>
  type?.kind === "composite"
    ? { isNull: sql`${expression} is not distinct from null`, isNotNull: sql`${expression} is distinct from null` }
    : { isNull: sql`${expression} is null`, isNotNull: sql`${expression} is not null` };

interface KeysetTerm {
  readonly expression: Sql;
  /** The value of the position. Undefined if the term is null there. */
  readonly value: Sql | undefined;
  readonly isDescending: boolean;
  readonly comparison: Comparisons;
  readonly isNull: Sql;
  readonly isNotNull: Sql;
  /** True if rows whose term is null come after the value. */
  readonly nullsFollow: boolean;
}

/** Compiles one side of a row comparison such as `(a, b) > ($1, $2)`. */
const compileTuple = (terms: readonly KeysetTerm[], compileTerm: (term: KeysetTerm) => Sql | undefined): Sql => {
  const parts = terms.flatMap((term) => compileTerm(term) ?? []);
  return parts.length === 1 ? sql`${joinSql(parts)}` : sql`(${joinSql(parts)})`;
};

const compileRowComparison = (terms: readonly KeysetTerm[], operator: Sql): Sql =>
  sql`${compileTuple(terms, ({ expression }) => expression)} ${operator} ${compileTuple(terms, ({ value }) => value)}`;

const chooseFollowingOperator = ({ isDescending, comparison }: KeysetTerm): Sql =>
  isDescending ? comparison.less : comparison.greater;

const joinConditions = (parts: readonly Sql[]): Sql =>
  parts.length === 1 ? joinSql(parts) : sql`(${joinSql(parts, " and ")})`;

/** Returns the leading terms that one row comparison can cover. */
const takeComparableTerms = (terms: readonly KeysetTerm[]): readonly KeysetTerm[] => {
  const end = terms.findIndex(
    ({ value, nullsFollow, isDescending, comparison }) =>
      value === undefined ||
      nullsFollow ||
      comparison !== DEFAULT_COMPARISONS ||
      isDescending !== terms[0]?.isDescending,
  );
  return end === -1 ? terms : terms.slice(0, end);
};

/** Compiles the condition to one row comparison if all terms have the same direction and none can be null after the
 *  position. An index scan can start there. Otherwise, a redundant comparison of the leading terms that meet these
 *  conditions precedes the cases. @rule X-PLN-9 */
export const compileKeysetCondition = (
  compiler: Compiler,
  { order, values }: Extract<Predicate, { readonly kind: "keyset" }>,
  scope: Scope,
): Sql => {
  const terms = order.map((term, i): KeysetTerm & { readonly nullsPrecede: boolean } => {
    const expression = compileExpression(compiler, term.expression, scope);
    if (hasPath(term.expression)) compiler.dependencies.plansEachTime = true;
    const ref = values[i] ?? null;
    const isDescending = term.direction === "desc";
    const areNullsLast = (term.nulls ?? (isDescending ? "first" : "last")) === "last";
    return {
      expression: expression.sql,
      value: ref === null ? undefined : compileValue(compiler, addType(ref, expression.type)),
      isDescending,
      comparison: findComparisons(expression.type),
      ...compileNullTests(expression),
      nullsFollow: ref !== null && areNullsLast && !isNeverNull(compiler, expression, scope),
      nullsPrecede: !areNullsLast,
    };
  });
  const [first] = terms;
  if (first === undefined) return sql`false`;
  const leadingTerms = takeComparableTerms(terms);
  if (leadingTerms.length === terms.length)
    return sql`(${compileRowComparison(leadingTerms, chooseFollowingOperator(first))})`;
  const equalities: Sql[] = []; // one condition for each previous term: the term equals its value at the position
  const cases: Sql[] = [];
  for (const term of terms) {
    const { expression, value, nullsFollow, nullsPrecede, comparison, isNull, isNotNull } = term;
    if (value !== undefined)
      cases.push(joinConditions([...equalities, sql`${expression} ${chooseFollowingOperator(term)} ${value}`]));
    else if (nullsPrecede) cases.push(joinConditions([...equalities, isNotNull]));
    if (nullsFollow) cases.push(joinConditions([...equalities, isNull]));
    equalities.push(value === undefined ? isNull : sql`${expression} ${comparison.equal} ${value}`);
  }
  const rowBounds =
    leadingTerms.length === 0 ? [] : [compileRowComparison(leadingTerms, sql`${chooseFollowingOperator(first)}=`)];
  const alternatives = cases.length === 0 ? sql`false` : sql`(${joinSql(cases, " or ")})`;
  return joinConditions([...rowBounds, alternatives]);
};
