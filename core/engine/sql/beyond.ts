/** Rows behind a place in an order. */
import type { Predicate } from "../plan/plan.ts";
import { compileExpression, hasPath, isNeverNull } from "./expression.ts";
import { join, sql, type Sql } from "./fragment.ts";
import type { Compiler, Scope } from "./scope.ts";
import { compileValue } from "./value.ts";

/** What conditions are made of here. */
export const COMPARISONS: readonly string[] = ["<", "<=", "=", ">", ">="];

interface Term {
  readonly by: Sql;
  /** Undefined: null. */
  readonly value: Sql | undefined;
  readonly isDescending: boolean;
  /** Rows whose term is null come behind the value. */
  readonly nullsFollow: boolean;
}

/** `(a, b)`, `(a, b) > ($1, $2)`. */
const tuple = (terms: readonly Term[], of: (term: Term) => Sql | undefined): Sql => {
  const parts = terms.flatMap((term) => of(term) ?? []);
  return parts.length === 1 ? sql`${join(parts)}` : sql`(${join(parts)})`;
};

const compared = (terms: readonly Term[], operator: Sql): Sql =>
  sql`${tuple(terms, ({ by }) => by)} ${operator} ${tuple(terms, ({ value }) => value)}`;

const behind = ({ isDescending }: Term): Sql => (isDescending ? sql`<` : sql`>`);

const all = (parts: readonly Sql[]): Sql => (parts.length === 1 ? join(parts) : sql`(${join(parts, " and ")})`);

/** Terms from the first on that one comparison of rows is for. */
const comparableTerms = (terms: readonly Term[]): readonly Term[] => {
  const end = terms.findIndex(
    ({ value, nullsFollow, isDescending }) =>
      value === undefined || nullsFollow || isDescending !== terms[0]?.isDescending,
  );
  return end === -1 ? terms : terms.slice(0, end);
};

/** One comparison of rows where all terms go one way and none can be null behind the place: an index on them begins
 *  there. Else the comparison of the first such terms, which says nothing new, stands in front of the cases. @rule
 *  X-PLN-9 */
export const compileBeyond = (
  compiler: Compiler,
  { order, values }: Extract<Predicate, { readonly kind: "beyond" }>,
  scope: Scope,
): Sql => {
  const terms = order.map((term, i): Term & { readonly nullsPrecede: boolean } => {
    const by = compileExpression(compiler, term.by, scope);
    if (hasPath(term.by)) compiler.seen.plansEachTime = true;
    const ref = values[i] ?? null;
    const isDescending = term.direction === "desc";
    const areNullsLast = (term.nulls ?? (isDescending ? "first" : "last")) === "last";
    return {
      by: by.sql,
      value: ref === null ? undefined : compileValue(compiler, ref),
      isDescending,
      nullsFollow: ref !== null && areNullsLast && !isNeverNull(compiler, by, scope),
      nullsPrecede: !areNullsLast,
    };
  });
  const [first] = terms;
  if (first === undefined) return sql`false`;
  const run = comparableTerms(terms);
  if (run.length === terms.length) return sql`(${compared(run, behind(first))})`;
  const known: Sql[] = []; // equal so far
  const cases: Sql[] = [];
  for (const term of terms) {
    const { by, value, nullsFollow, nullsPrecede } = term;
    if (value !== undefined) cases.push(all([...known, sql`${by} ${behind(term)} ${value}`]));
    else if (nullsPrecede) cases.push(all([...known, sql`${by} is not null`]));
    if (nullsFollow) cases.push(all([...known, sql`${by} is null`]));
    known.push(value === undefined ? sql`${by} is null` : sql`${by} = ${value}`);
  }
  const bound = run.length === 0 ? [] : [compared(run, sql`${behind(first)}=`)];
  const either = cases.length === 0 ? sql`false` : sql`(${join(cases, " or ")})`;
  return all([...bound, either]);
};
