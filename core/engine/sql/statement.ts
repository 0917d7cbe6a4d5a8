/** Builds the parts of compiled programs: statements, and the columns that they select. */
import type { Envelope, Read } from "../plan/plan.ts";
import { compileAggregateRead } from "./aggregate-read.ts";
import type { EnvelopeColumn } from "./envelope.ts";
import { empty, ident, join, sql, toStatement, type Sql } from "./fragment.ts";
import { compileArrayQuery, compileObjectQuery } from "./json-rows.ts";
import type { ReadOptions } from "./from-clause.ts";
import { createProgram, type Program, type ProgramCheck, type ProgramStatement } from "./program.ts";
import { badPlan, type Compiler } from "./scope.ts";

export const compileSelectList = (columns: readonly EnvelopeColumn[]): Sql =>
  join(columns.map((column) => sql`${column.sql} as ${ident(column.name)}`));

export const buildProgram = (
  compiler: Compiler,
  statements: readonly ProgramStatement[],
  main: number,
  checks: readonly ProgramCheck[] = [],
): Program => createProgram(statements, { ...compiler.dependencies, main, checks });

export const buildStatement = (fragment: Sql, columns: readonly EnvelopeColumn[]): ProgramStatement => ({
  ...toStatement(fragment),
  columns: columns.map((column) => column.name),
  fragment,
});

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
  const declared = compiler.registry.wrappers.get(wrapper.name);
  if (declared === undefined) throw badPlan(`no plugin declares the wrapper "${wrapper.name}"`);
  return { ...toStatement(declared.compile(fragment, wrapper.options)), columns: ["body"], isMultiRow: true };
};

export const compileReadJson = (
  compiler: Compiler,
  read: Read,
  isOne: boolean,
  options: ReadOptions = {},
  affected?: Sql,
): Sql => {
  if (read.shape === "aggregate") return compileAggregateRead(compiler, read, options, affected);
  return isOne ? compileObjectQuery(compiler, read, options) : compileArrayQuery(compiler, read, options);
};

/** Builds the statement of a check. @rule G-PRM-19 */
export const checkStatement = (name: string, check: Sql): ProgramStatement =>
  buildStatement(sql`select ${check} as ${ident(name)}`, [{ name, sql: empty }]);
