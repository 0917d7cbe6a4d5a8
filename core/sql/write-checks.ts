/** Compiles the checks of permissions on the rows that a write has written. @rule G-PRM-9 */
import type { Relation } from "../model/model.ts";
import type { Insert, Predicate, Update } from "../plan/plan.ts";
import { createPlannerLevel } from "./exists.ts";
import { quoteIdentifier, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { compilePredicate } from "./predicate.ts";
import { quoteQualifiedName, type Compiler, type Scope } from "./scope.ts";

export interface WriteChecks {
  /** A boolean expression over the written rows, in the same statement. Undefined if the write's statement has no
   *  check. */
  readonly check: Sql | undefined;
  /** The check that a separate statement makes after the write. */
  readonly checkAfter?: CheckAfter;
}

interface CheckAfter {
  /** An expression in the write's statement that stores the written rows. Its value is true. */
  readonly storesRows: Sql;
  readonly check: Sql;
}

/** Compiles a check that is true if every written row satisfies its condition. A condition that evaluates to NULL
 *  fails. @rule G-PRM-9 */
const compileCheck = (
  compiler: Compiler,
  relation: Relation,
  cte: Sql,
  check: Predicate | undefined,
  updatedRows?: { readonly check: Predicate | undefined },
): Sql => {
  const row = compiler.alias(relation.name);
  const scope: Scope = {
    row,
    relation,
    isRecord: true,
    level: createPlannerLevel(),
  };
  const compileCondition = (predicate: Predicate | undefined): Sql =>
    predicate === undefined ? sql`true` : compilePredicate(compiler, predicate, scope);
  const compileAllPass = (condition: Sql, from: Sql): Sql =>
    sql`(select coalesce(bool_and(coalesce(${condition}, false)), true) from ${from})`;
  if (updatedRows === undefined) return compileAllPass(compileCondition(check), sql`${cte} as ${quoteIdentifier(row)}`);
  // The row has only the columns of the relation, because functions of the row accept no others.
  const upsertedRow = compiler.alias("_u");
  const columns = joinSql(relation.columns.map(({ name }) => quoteIdentifier(upsertedRow, name)));
  return compileAllPass(
    sql`case when ${quoteIdentifier(upsertedRow, "_is_new")} then ${compileCondition(check)} else ${compileCondition(updatedRows.check)} end`,
    sql`${cte} as ${quoteIdentifier(upsertedRow)} cross join lateral (select ${columns}) as ${quoteIdentifier(row)}`,
  );
};

export const NO_CHECK: WriteChecks = { check: undefined };

/** The settings that store rows for the statement that checks them: inserted or updated rows, and the rows that an
 *  upsert has updated. */
const CHECKED_ROWS = "relapi.checked";
const CHECKED_UPDATES = "relapi.checked_updates";

/** Compiles the checks of the rows in `cte`. `updatedRows` has the check of the rows that an upsert has updated, which the
 *  column `_is_new` distinguishes. With `checksAfter`, a separate statement makes the checks. @rule G-PRM-9 G-PRM-19 */
export const compileChecks = (
  compiler: Compiler,
  relation: Relation,
  cte: Sql,
  { check, checksAfter }: Insert | Update,
  updatedRows?: { readonly check: Predicate | undefined },
): WriteChecks => {
  if (check === undefined && updatedRows === undefined) return NO_CHECK;
  if (checksAfter !== true) return { check: compileCheck(compiler, relation, cte, check, updatedRows) };
  const columns = joinSql(relation.columns.map((column) => quoteIdentifier(column.name)));
  const storeRows = (setting: string, from: Sql): Sql => {
    const row = quoteIdentifier(compiler.alias("_s"));
    return sql`pg_catalog.set_config(${quoteLiteral(setting)}, (select coalesce(array_agg((${row}.*)::${quoteQualifiedName(relation)})::text, '{}') from ${from} as ${row}), true) is not null`;
  };
  const readStoredRows = (setting: string): Sql =>
    sql`pg_catalog.unnest(pg_catalog.current_setting(${quoteLiteral(setting)})::${quoteQualifiedName(relation)}[])`;
  if (updatedRows === undefined)
    return {
      check: undefined,
      checkAfter: {
        storesRows: storeRows(CHECKED_ROWS, cte),
        check: compileCheck(compiler, relation, readStoredRows(CHECKED_ROWS), check),
      },
    };
  const selectWrittenRows = (isNew: Sql): Sql => sql`(select ${columns} from ${cte} where ${isNew})`;
  return {
    check: undefined,
    checkAfter: {
      storesRows: sql`${storeRows(CHECKED_ROWS, selectWrittenRows(sql`"_is_new"`))} and ${storeRows(CHECKED_UPDATES, selectWrittenRows(sql`not "_is_new"`))}`,
      check: sql`(${compileCheck(compiler, relation, readStoredRows(CHECKED_ROWS), check)} and ${compileCheck(compiler, relation, readStoredRows(CHECKED_UPDATES), updatedRows.check)})`,
    },
  };
};
