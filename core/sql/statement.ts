/** Builds the parts of compiled programs: statements, and the columns that they select. */
import type { Envelope, Read } from "../plan/plan.ts";
import { compileAggregateRead } from "./aggregate-read.ts";
import type { EnvelopeColumn } from "./envelope.ts";
import { empty, quoteIdentifier, joinSql, sql, compileSql, type Sql } from "./fragment.ts";
import { compileArrayQuery, compileObjectQuery } from "./json-rows.ts";
import type { ReadOptions } from "./from-clause.ts";
import { createProgram, type Program, type ProgramCheck, type ProgramStatement } from "./program.ts";
import { planInvalid, type Compiler } from "./scope.ts";

/** Compiles `… as "name"` for each column, separated by commas. */
export const compileSelectList = (columns: readonly EnvelopeColumn[]): Sql =>
  joinSql(columns.map((column) => sql`${column.sql} as ${quoteIdentifier(column.name)}`));

/** Builds a program with the dependencies that the compiler has found. `main` is the index of the statement whose row
 *  is the result. */
export const buildProgram = (
  compiler: Compiler,
  statements: readonly ProgramStatement[],
  main: number,
  checks: readonly ProgramCheck[] = [],
): Program => createProgram(statements, { ...compiler.dependencies, main, checks });

/** Builds a statement from a complete fragment, whose result columns have the names of `columns`. */
export const buildStatement = (fragment: Sql, columns: readonly EnvelopeColumn[]): ProgramStatement => ({
  ...compileSql(fragment),
  columns: columns.map((column) => column.name),
  fragment,
});

/** Compiles a program of one statement: `head`, the select list, and `from`. Each fragment may be
 *  empty. `head` ends with a blank, and `from` begins with one. */
export const compileSingleStatement = (
  compiler: Compiler,
  columns: readonly EnvelopeColumn[],
  head: Sql,
  from: Sql,
  envelope: Envelope = {},
): Program => {
  const fragment = sql`${head}select ${compileSelectList(columns)}${from}`;
  return buildProgram(compiler, [wrapStatement(compiler, fragment, columns, envelope)], 0);
};

/** Compiles the statement of a plan with the wrapper of its envelope. @rule X-MED-2 */
export const wrapStatement = (
  compiler: Compiler,
  fragment: Sql,
  columns: readonly EnvelopeColumn[],
  { wrapper }: Envelope,
): ProgramStatement => {
  if (wrapper === undefined) return buildStatement(fragment, columns);
  const spec = compiler.registry.wrappers.get(wrapper.name);
  if (spec === undefined) throw planInvalid(`no plugin declares the wrapper "${wrapper.name}"`);
  return { ...compileSql(spec.compile(fragment, wrapper.options)), columns: ["body"], isMultiRow: true };
};

/** Compiles a scalar subquery with the JSON of a read: an aggregate object, one row as an object, or an array of all
 *  rows. `affectedCount` is the number of written rows, for aggregates. */
export const compileReadJson = (
  compiler: Compiler,
  read: Read,
  isOne: boolean,
  options: ReadOptions = {},
  affectedCount?: Sql,
): Sql => {
  if (read.shape === "aggregate") return compileAggregateRead(compiler, read, options, affectedCount);
  return isOne ? compileObjectQuery(compiler, read, options) : compileArrayQuery(compiler, read, options);
};

/** Builds the statement of a check. @rule G-PRM-19 */
export const checkStatement = (name: string, check: Sql): ProgramStatement =>
  buildStatement(sql`select ${check} as ${quoteIdentifier(name)}`, [{ name, sql: empty }]);
