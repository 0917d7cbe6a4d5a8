/** Compiles function calls. */
import { findBaseType, buildNameKey, findRelation, type Routine } from "../model/model.ts";
import type { RoutineArgument, RoutineCall } from "../plan/plan.ts";
import { trustedSql, empty, quoteIdentifier, inlineInteger, joinSql, sql, type Sql } from "./fragment.ts";
import { findHstoreType, compileHstoreFromJson } from "./hstore.ts";
import { planInvalid, quoteQualifiedName, type Compiler, type Scope } from "./scope.ts";
import { compileJson, compileValue } from "./value.ts";

/** Compiles the arguments `row, $1, "b" => $2`. `row` is the first argument, unless an argument is marked as the
 *  row. */
export const compileRoutineArguments = (compiler: Compiler, args: readonly RoutineArgument[], row?: Sql): Sql => {
  const parts = args.map((argument) => {
    const argumentValue = argument.isRow === true && row !== undefined ? row : compileValue(compiler, argument.value);
    return argument.name === undefined ? argumentValue : sql`${quoteIdentifier(argument.name)} => ${argumentValue}`;
  });
  return joinSql(row === undefined || args.some((argument) => argument.isRow) ? parts : [row, ...parts]);
};

/** Returns the overload that a call names by its oid. */
export const requireRoutine = (compiler: Compiler, call: RoutineCall): Routine => {
  const routine = compiler.model.routines
    .get(buildNameKey(call.routine))
    ?.find((overload) => overload.oid === call.oid);
  if (routine === undefined) throw planInvalid(`no function ${call.routine.schema}.${call.routine.name}`);
  return routine;
};

/** Compiles the arguments `"b" => $2, variadic "c" => $3`. PostgreSQL finds a variadic function only if all parameters
 *  are named, so the arguments include the defaults. @rule R-RPC-5 R-SQL-14 */
const compileNamedArguments = (routine: Routine, args: ReadonlyMap<string, Sql>): Sql =>
  joinSql(
    routine.parameters.flatMap(({ name, mode, default: default_ }) => {
      const argument = args.get(name) ?? (default_ === undefined ? undefined : sql`(${trustedSql(default_)})`);
      return argument === undefined
        ? []
        : [sql`${mode === "variadic" ? sql`variadic ` : empty}${quoteIdentifier(name)} => ${argument}`];
    }),
  );

const isNamed = (argument: RoutineArgument): argument is RoutineArgument & { readonly name: string } =>
  argument.name !== undefined;

/** Compiles a call, and the FROM item of the call's arguments if one JSON text contains them. @rule R-SQL-14 */
export const compileCall = (
  compiler: Compiler,
  call: RoutineCall,
): { readonly call: Sql; readonly from: Sql | undefined } => {
  const routine = requireRoutine(compiler, call);
  compiler.dependencies.isOpenEnded = true;
  compiler.dependencies.relations.add(`${routine.schema}.${routine.name}`);
  const { payload } = call;
  if (payload === undefined || payload.names.length === 0) {
    const argumentList = call.arguments.every(isNamed)
      ? compileNamedArguments(
          routine,
          new Map(call.arguments.map(({ name, value }) => [name, compileValue(compiler, value)])),
        )
      : compileRoutineArguments(compiler, call.arguments);
    return { call: sql`${quoteQualifiedName(routine)}(${argumentList})`, from: undefined };
  }
  const row = compiler.alias("_p");
  const payloadParameters = routine.parameters.filter((parameter) => payload.names.includes(parameter.name));
  const hstores = new Map(payloadParameters.map(({ name, type }) => [name, findHstoreType(compiler.model, type)]));
  const columns = joinSql(
    payloadParameters.map(
      ({ name, sqlType }) =>
        sql`${quoteIdentifier(name)} ${hstores.get(name) === undefined ? trustedSql(sqlType) : sql`json`}`,
    ),
  );
  const compileArgument = ({ name }: { readonly name: string }): Sql => {
    const hstore = hstores.get(name);
    return hstore === undefined
      ? quoteIdentifier(row, name)
      : compileHstoreFromJson(hstore, quoteIdentifier(row, name));
  };
  const argumentList = compileNamedArguments(
    routine,
    new Map(payloadParameters.map((parameter) => [parameter.name, compileArgument(parameter)])),
  );
  const json = compileJson(compiler, payload.json, "json");
  const from =
    payload.shape === "object"
      ? sql`pg_catalog.json_to_record(${json}) as ${quoteIdentifier(row)}(${columns})`
      : sql`(select * from pg_catalog.json_to_recordset(${json}) as ${quoteIdentifier(row)}(${columns}) limit ${inlineInteger(1)}) as ${quoteIdentifier(row)}`;
  return { call: sql`${quoteQualifiedName(routine)}(${argumentList})`, from };
};

/** Compiles the rows that a function returns as a FROM item. */
export const compileCallSource = (
  compiler: Compiler,
  call: RoutineCall,
): { readonly from: Sql; readonly scope: Scope } => {
  const routine = requireRoutine(compiler, call);
  const compiledCall = compileCall(compiler, call);
  const row = compiler.alias(routine.name);
  const relation =
    routine.returns.relation === undefined ? undefined : findRelation(compiler.model, routine.returns.relation);
  const columns = new Map(routine.returns.columns.map(({ name, type }) => [name, type]));
  const rowType = relation === undefined ? findBaseType(compiler.model, routine.returns.type) : undefined;
  const scope: Scope = {
    row,
    relation,
    columns,
    routine,
    rowTypeName: rowType?.kind === "composite" ? rowType : undefined,
  };
  const from =
    compiledCall.from === undefined
      ? sql`${compiledCall.call} as ${quoteIdentifier(row)}`
      : sql`${compiledCall.from}, lateral ${compiledCall.call} as ${quoteIdentifier(row)}`;
  return { from, scope };
};
