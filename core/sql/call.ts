/** Function calls. */
import { nameKey, relationOf, type Routine } from "../model/model.ts";
import type { RoutineArgument, RoutineCall } from "../plan/plan.ts";
import { catalogText, ident, integer, join, sql, type Sql } from "./fragment.ts";
import { columnTypesOf } from "./read.ts";
import { noEmbeds, planFault, qualified, type Compiler, type Scope } from "./scope.ts";
import { compileValue } from "./value.ts";

/** `row, $1, "b" => $2, variadic "c" => $3`. `row`: goes first unless an argument says it is the row. */
export const routineArguments = (compiler: Compiler, given: readonly RoutineArgument[], row?: Sql): Sql => {
  const parts = given.map((argument) => {
    const argumentValue = argument.isRow === true && row !== undefined ? row : compileValue(compiler, argument.value);
    const named = argument.name === undefined ? argumentValue : sql`${ident(argument.name)} => ${argumentValue}`;
    return argument.variadic === true ? sql`variadic ${named}` : named;
  });
  return join(row === undefined || given.some((argument) => argument.isRow) ? parts : [row, ...parts]);
};

const routineOf = (compiler: Compiler, call: RoutineCall): Routine => {
  const routine = compiler.model.routines.get(nameKey(call.routine))?.find((one) => one.oid === call.oid);
  if (routine === undefined) throw planFault(`no function ${call.routine.schema}.${call.routine.name}`);
  return routine;
};

/** The call, and where its arguments come from when they come as one JSON text. @rule R-SQL-14 */
export const compileCall = (compiler: Compiler, call: RoutineCall): { readonly call: Sql; readonly from: Sql | undefined } => {
  const routine = routineOf(compiler, call);
  compiler.seen.isOpenEnded = true;
  compiler.seen.relations.add(`${routine.schema}.${routine.name}`);
  const { payload } = call;
  if (payload === undefined || payload.names.length === 0) return { call: sql`${qualified(routine)}(${routineArguments(compiler, call.arguments)})`, from: undefined };
  const row = compiler.alias("_p");
  const taken = routine.parameters.filter((parameter) => payload.names.includes(parameter.name));
  const columns = join(taken.map((parameter) => sql`${ident(parameter.name)} ${catalogText(parameter.sqlType)}`));
  const passed = taken.map((parameter) => sql`${parameter.mode === "variadic" ? sql`variadic ` : sql``}${ident(parameter.name)} => ${ident(row, parameter.name)}`);
  const json = compileValue(compiler, { ...payload.json, type: "json" });
  const from =
    payload.shape === "object"
      ? sql`pg_catalog.json_to_record(${json}) as ${ident(row)}(${columns})`
      : sql`(select * from pg_catalog.json_to_recordset(${json}) as ${ident(row)}(${columns}) limit ${integer(1)}) as ${ident(row)}`;
  return { call: sql`${qualified(routine)}(${join(passed)})`, from };
};

/** A function's rows as a FROM item. */
export const compileCallSource = (compiler: Compiler, call: RoutineCall): { readonly from: Sql; readonly scope: Scope } => {
  const routine = routineOf(compiler, call);
  const compiled = compileCall(compiler, call);
  const row = compiler.alias(routine.name);
  const relation = routine.returns.relation === undefined ? undefined : relationOf(compiler.model, routine.returns.relation);
  const scope: Scope = { row, relation, columns: columnTypesOf(compiler, routine.returns.columns), isRecord: false, root: undefined, embeds: noEmbeds };
  const from = compiled.from === undefined ? sql`${compiled.call} as ${ident(row)}` : sql`${compiled.from}, lateral ${compiled.call} as ${ident(row)}`;
  return { from, scope };
};
