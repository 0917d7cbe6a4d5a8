/** Compiles plans to programs. */
import type { RelApiHooks } from "../hooks.ts";
import type { Model, Relation } from "../model/model.ts";
import type { Visibility } from "../model/visibility.ts";
import type { Bundle, Call, Delete, Envelope, Insert, Plan, Read, Update, ValueRef } from "../plan/plan.ts";
import { findReadRelation } from "../plan/walk.ts";
import type { PlanProof, Registry } from "../plugin.ts";
import { usesOnlyBuiltIns } from "./built-in.ts";
import { compileCall, compileCallSource, requireRoutine } from "./call.ts";
import {
  compileBody,
  compileResultColumns,
  compileInsertedCount,
  compileLocation,
  listOutputNames,
  compileTotal,
  type EnvelopeColumn,
} from "./envelope.ts";
import { createCompiler } from "./compiler.ts";
import {
  empty,
  quoteIdentifier,
  isEmpty,
  joinSql,
  quoteLiteral,
  bindSlot,
  sql,
  compileSql,
  type Sql,
} from "./fragment.ts";
import { buildObjectText } from "./json.ts";
import { explainStatement, type Program, type ProgramCheck, type ProgramStatement } from "./program.ts";
import type { ReadOptions } from "./from-clause.ts";
import { convertToShownValue, compileCountRows, compileRows, compileWindow, type CompiledRows } from "./read.ts";
import { planInvalid, type Compiler, type JsonStyle } from "./scope.ts";
import { compileSequence } from "./sequence.ts";
import {
  compileReadJson,
  checkStatement,
  buildProgram,
  compileSelectList,
  compileSingleStatement,
  buildStatement,
  wrapStatement,
} from "./statement.ts";
import { compileValue } from "./value.ts";
import { compileWrite } from "./write.ts";

interface CompileParts {
  readonly model: Model;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  /** Decides whether a plan is proven. Undefined if no plan counts as proven. */
  readonly proof?: PlanProof | undefined;
  readonly visibility?: () => Visibility;
}

/** A media type that core compiles itself: the rows, or the aggregate object, as compact JSON that surfaces can
 *  splice. */
const DOCUMENT = "document";
/** A media type that core compiles itself: the first row as compact JSON, or null. */
const DOCUMENT_ONE = "document-one";
/** The media types that core compiles itself. */
export const CORE_MEDIA: ReadonlySet<string> = new Set([DOCUMENT, DOCUMENT_ONE]);

const isDocument = ({ media }: Envelope): boolean => media !== undefined && CORE_MEDIA.has(media);

const chooseJsonStyle = (plan: Plan, envelope: Envelope): JsonStyle =>
  plan.kind === "bundle" || plan.kind === "sequence" || isDocument(envelope) ? "compact" : "spaced";

/** Compiles a plan and its envelope to a program. @rule R-SQL-1 */
export const compilePlan = (plan: Plan, envelope: Envelope, parts: CompileParts): Program => {
  const isProven = parts.proof?.isProven(plan, envelope, parts.model) === true;
  const compiledProgram = compileAny(plan, envelope, parts, isProven);
  const program: Program = { ...compiledProgram, isProven };
  if (plan.kind === "read" || plan.kind === "bundle") return { ...program, plan };
  if (plan.kind !== "insert") return program;
  for (const spec of parts.registry.rowSources) {
    const source = spec.prepare(plan, parts.model);
    if (source === undefined) continue;
    const params = compiledProgram.statements.flatMap(({ slots }) =>
      slots.map((statementSlot) => ("param" in statementSlot ? statementSlot.param : 0)),
    );
    const first = 1 + Math.max(...params);
    const rowsFrom = (row: Sql): Sql => source.compile(row, (i, type) => bindSlot({ param: first + i }, type));
    const isKnown = isProven && usesOnlyBuiltIns(spec, parts.model);
    const programFromRows = compileWritePlan(
      createPlanCompiler(plan, envelope, parts),
      plan,
      envelope,
      isKnown,
      rowsFrom,
    );
    return { ...program, withRows: { ...source, first, program: { ...programFromRows, isProven: isKnown } } };
  }
  return program;
};

const createPlanCompiler = (plan: Plan, envelope: Envelope, parts: CompileParts): Compiler =>
  createCompiler({ ...parts, style: chooseJsonStyle(plan, envelope), showsStored: envelope.domains === "stored" });

const compileAny = (plan: Plan, envelope: Envelope, parts: CompileParts, isProven: boolean): Program => {
  const compiler = createPlanCompiler(plan, envelope, parts);
  switch (plan.kind) {
    case "read":
      return compileRead(compiler, plan, envelope, () => createCompiler({ ...parts, style: compiler.style }));
    case "bundle":
      return compileSingleStatement(compiler, [{ name: "body", sql: compileBundleText(compiler, plan) }], empty, empty);
    case "call":
      return compileCallPlan(compiler, plan, envelope);
    case "sequence":
      return compileSequence(compiler, plan);
    default:
      return compileWritePlan(compiler, plan, envelope, isProven);
  }
};

const selectsAllColumns = (read: Read): boolean => read.output.length === 1 && read.output[0]?.kind === "all";

const describeRows = (read: Read, { names }: CompiledRows, relation: Relation | undefined) => ({
  outputs: names ?? listOutputNames(read, relation),
  areOutputsNamed: names !== undefined,
  relation,
  isWholeRow: selectsAllColumns(read),
});

const compileRead = (
  compiler: Compiler,
  read: Read,
  envelope: Envelope,
  createCountCompiler: () => Compiler,
): Program => {
  if (isDocument(envelope) || read.shape === "aggregate") {
    const body = compileReadJson(compiler, read, envelope.media === DOCUMENT_ONE);
    // The server sends json as text, and a cast would make two more copies.
    return compileSingleStatement(compiler, [{ name: "body", sql: body }], empty, empty, envelope);
  }
  const row = compiler.alias("_rows");
  const rows = compileRows(compiler, read, { showsText: envelope.domains === "text" });
  const relation = findReadRelation(read, compiler.model);
  const total = compileTotal(compiler, read, envelope);
  const parts: Sql[] = [];
  const compileRowPart = (outputs: readonly string[]): Sql => {
    const part = quoteIdentifier(compiler.alias("_part"));
    parts.push(
      sql` cross join lateral (select ${joinSql(outputs.map((name) => quoteIdentifier(row, name)))}) as ${part}`,
    );
    return sql`${part}.*`;
  };
  const columns: EnvelopeColumn[] = [
    ...(total === undefined ? [] : [{ name: "total", sql: total }]),
    { name: "page_total", sql: sql`count(*)` },
    {
      name: "body",
      sql: compileBody(compiler, envelope, {
        rowAlias: row,
        returns: "rows",
        ...describeRows(read, rows, relation),
        page: { read, buildRow: compileRowPart },
      }),
    },
    ...compileResultColumns(compiler),
  ];
  const fragment = sql`select ${compileSelectList(columns)} from (${rows.sql}) as ${quoteIdentifier(row)}${joinSql(parts, "")}`;
  const main = wrapStatement(compiler, fragment, columns, envelope);
  if (envelope.count !== "planned" && envelope.count !== "estimated") return buildProgram(compiler, [main], 0);
  // The planner's number comes from an EXPLAIN of the query that would count the rows (R-CNT-2).
  const plan = explainStatement(compileCountRows(createCountCompiler(), read), "format json");
  return buildProgram(compiler, [main, { ...compileSql(plan), columns: ["count_plan"], isMultiRow: true }], 0);
};

const compileBundleText = (compiler: Compiler, bundle: Bundle): Sql =>
  buildObjectText(
    bundle.fields.map((field) => {
      if ("value" in field) return { as: field.as, text: quoteLiteral(JSON.stringify(field.value)) };
      if ("bundle" in field) return { as: field.as, text: compileBundleText(compiler, field.bundle) };
      const json =
        "statement" in field
          ? sql`to_json(${compileStatement(compiler, field.statement, field.arguments)})`
          : compileReadJson(compiler, field.read, field.isOne === true);
      return { as: field.as, text: sql`coalesce(${json}::text, 'null')` };
    }),
  );

/** Compiles a declared statement. The statement's relations are unknown, so the program is open-ended. @rule X-GQL-3 */
const compileStatement = (compiler: Compiler, name: string, args: Readonly<Record<string, ValueRef>>): Sql => {
  const spec = compiler.registry.statements.get(name);
  if (spec === undefined) throw planInvalid(`no plugin declares the statement "${name}"`);
  compiler.dependencies.isOpenEnded = true;
  const compileStatementArgument = (name: string, type: string): Sql =>
    compileValue(compiler, { ...(args[name] ?? { constant: null }), type });
  return sql`(${spec.compile(compileStatementArgument, compiler.model)})`;
};

const compileWritePlan = (
  compiler: Compiler,
  plan: Insert | Update | Delete,
  envelope: Envelope,
  isProven: boolean,
  rowsFrom?: (row: Sql) => Sql,
): Program => {
  const write = compileWrite(compiler, plan, {
    columns: envelope.location ?? [],
    countInserted: envelope.countInserted === true,
    rowsFrom,
  });
  const { check, checkAfter } = write;
  const checks: readonly ProgramCheck[] =
    check === undefined && checkAfter === undefined
      ? []
      : [{ statement: checkAfter === undefined ? 0 : 1, column: "check", kind: "permission", message: "" }];
  const extra: EnvelopeColumn[] = check === undefined ? [] : [{ name: "check", sql: check }];
  if (checkAfter !== undefined) extra.push({ name: "kept", sql: checkAfter.storesRows });
  if (envelope.location !== undefined && envelope.location.length > 0)
    extra.push({ name: "location", sql: compileLocation(compiler, write, envelope.location) });
  if (envelope.countInserted === true) extra.push(compileInsertedCount());
  const read = plan.returning;
  const isSeparate = isProven || needsOwnStatement(write.relation, plan);
  if (isSeparate && extra.length === 0 && envelope.wrapper === undefined && write.standalone !== undefined) {
    const bodyOfCount = buildCountedBody(read, envelope);
    if (bodyOfCount !== undefined)
      return compileStandalone(compiler, write.standalone, bodyOfCount, read === undefined);
  }
  const readOptions: ReadOptions = { writeName: write.name, returnedColumns: write.returnedColumns };
  let columns: EnvelopeColumn[];
  let from = empty;
  if (read === undefined) {
    columns = [
      { name: "page_total", sql: sql`(select count(*) from ${write.name} as _c)` },
      { name: "body", sql: sql`''` },
      ...extra,
      ...compileResultColumns(compiler),
    ];
  } else if (read.shape === "aggregate" || isDocument(envelope)) {
    const body = compileReadJson(compiler, read, envelope.media === DOCUMENT_ONE, readOptions);
    columns = [
      { name: "page_total", sql: sql`(select count(*) from ${write.name} as _c)` },
      { name: "body", sql: sql`${body}::text` },
      ...extra,
    ];
  } else {
    const row = compiler.alias("_rows");
    const rows = compileRows(compiler, read, { ...readOptions, showsText: envelope.domains === "text" });
    columns = [
      { name: "page_total", sql: sql`count(*)` },
      {
        name: "body",
        sql: compileBody(compiler, envelope, {
          ...describeRows(read, rows, write.relation),
          rowAlias: row,
          returns: "rows",
        }),
      },
      ...extra,
      ...compileResultColumns(compiler),
    ];
    from = sql` from (${rows.sql}) as ${quoteIdentifier(row)}`;
  }
  const fragment = sql`with ${write.cte} select ${compileSelectList(columns)}${from}`;
  const statements = [wrapStatement(compiler, fragment, columns, envelope)];
  if (checkAfter !== undefined) statements.push(checkStatement("check", checkAfter.check));
  return buildProgram(compiler, statements, 0, checks);
};

/** Returns whether a rule would make the write fail as a part of another statement. @rule R-WRT-7 */
const needsOwnStatement = ({ rules }: Relation, { kind }: Insert | Update | Delete): boolean =>
  rules?.[kind] === "separate" || rules?.[kind] === "nothing";

/** The properties that a read of all rows has. */
const ALL_ROWS = ["kind", "from", "shape", "output"] as const satisfies readonly (keyof Read)[];

/** Returns a function from the number of rows to the body. Undefined if the body depends on anything else. */
const buildCountedBody = (read: Read | undefined, { media }: Envelope): ((count: string) => string) | undefined => {
  if (read === undefined) return () => "";
  // A read without other properties does not select among the rows.
  if (read.shape !== "aggregate" || media !== DOCUMENT || Object.keys(read).length > ALL_ROWS.length) return undefined;
  const members: (readonly [before: string, value: string | undefined])[] = [];
  for (const output of read.output) {
    if (output.kind !== "affected" && output.kind !== "constant") return undefined;
    members.push([
      `${JSON.stringify(output.as)}:`,
      output.kind === "constant" ? JSON.stringify(output.value) : undefined,
    ]);
  }
  return (count) => `{${members.map(([before, value = count]) => before + value).join(",")}}`;
};

/** Compiles a write whose rows are only counted, as a statement without a CTE. The server reports the number of written
 *  rows, unless a rule changes that number. @rule R-SQL-16 */
const compileStandalone = (
  compiler: Compiler,
  standalone: Sql,
  buildBody: (count: string) => string,
  isDeclared: boolean,
): Program => {
  const writeStatement: ProgramStatement = {
    ...compileSql(standalone),
    columns: ["page_total", "body"],
    buildRow: (count) => [count, buildBody(count)],
    fragment: standalone,
  };
  const columns = isDeclared ? compileResultColumns(compiler) : [];
  return buildProgram(
    compiler,
    columns.length === 0
      ? [writeStatement]
      : [writeStatement, buildStatement(sql`select ${compileSelectList(columns)}`, columns)],
    0,
  );
};

/** Compiles a plan that calls a function for its own result. @rule R-SQL-2 R-SQL-14 R-RPC-13 */
const compileCallPlan = (compiler: Compiler, plan: Call, envelope: Envelope): Program => {
  const row = compiler.alias("_rows");
  if (plan.returns === "rows" || plan.returns === "row") {
    const read = plan.result;
    if (read === undefined) throw planInvalid("a call that returns rows needs a result to read them with");
    return compileCallRows(compiler, { ...plan, result: read }, envelope, row);
  }
  const { call, from } = compileCall(compiler, plan.call);
  const shownValue =
    plan.returns === "void"
      ? call
      : convertToShownValue(
          compiler,
          call,
          requireRoutine(compiler, plan.call).returns.type,
          envelope.domains === "text",
        );
  const values = sql`(select ${shownValue} as "value"${from === undefined ? empty : sql` from ${from}`})`;
  const window = plan.result === undefined ? empty : compileWindow(compiler, plan.result);
  const counts = envelope.count === "exact" || envelope.count === "estimated";
  // The function is called only once, although its result is read twice (R-RPC-14).
  const calledRows = counts && !isEmpty(window) ? quoteIdentifier(compiler.alias("_called")) : undefined;
  const head = calledRows === undefined ? empty : sql`with ${calledRows} as materialized ${values} `;
  const limitedRows = calledRows ?? sql`${values} as _v`;
  // Without `offset 0`, the planner would copy the call of a stable function into both places that read it.
  const source = isEmpty(window)
    ? sql`(select * from ${values} as _v offset 0) as ${quoteIdentifier(row)}`
    : sql`(select * from ${limitedRows} ${window}) as ${quoteIdentifier(row)}`;
  const columns: EnvelopeColumn[] = [
    ...(counts
      ? [
          {
            name: "total",
            sql: calledRows === undefined ? sql`count(*)` : sql`(select count(*) from ${calledRows} as _c)`,
          },
        ]
      : []),
    // The count reads the whole row, so that the function is called even if nothing else reads its value.
    { name: "page_total", sql: sql`count(${quoteIdentifier(row)}.*)` },
    {
      name: "body",
      sql:
        plan.returns === "void"
          ? sql`''`
          : compileBody(compiler, envelope, {
              rowAlias: row,
              returns: plan.returns,
              outputs: ["value"],
              areOutputsNamed: true,
              relation: undefined,
              isWholeRow: true,
            }),
    },
    ...compileResultColumns(compiler),
  ];
  return compileSingleStatement(compiler, columns, head, sql` from ${source}`, envelope);
};

const compileCallRows = (
  compiler: Compiler,
  plan: Call & { readonly result: Read },
  envelope: Envelope,
  row: string,
): Program => {
  const read = plan.result;
  const relation = findReadRelation(read, compiler.model);
  const counts = envelope.count === "exact" || envelope.count === "estimated";
  const isLimited = read.limit !== undefined || read.offset !== undefined || read.cap !== undefined;
  let head = empty;
  let options: ReadOptions = {};
  let total: Sql | undefined = counts ? sql`count(*)` : undefined;
  if (counts && isLimited && "call" in read.from) {
    // The function is called only once, although its result is read twice (R-RPC-14).
    const source = compileCallSource(compiler, read.from.call);
    const cte = quoteIdentifier(compiler.alias("_called"));
    head = sql`with ${cte} as materialized (select ${quoteIdentifier(source.scope.row)}.* from ${source.from}) `;
    const buildCteOptions = (): ReadOptions => {
      const name = compiler.alias(source.scope.row);
      return {
        from: { from: sql`${cte} as ${quoteIdentifier(name)}`, scope: { ...source.scope, row: name, isRecord: true } },
      };
    };
    options = buildCteOptions();
    total = sql`(select count(*) from (${compileCountRows(compiler, read, buildCteOptions())}) as _c)`;
  }
  const rows = compileRows(compiler, read, { ...options, showsText: envelope.domains === "text" });
  const columns: EnvelopeColumn[] = [
    ...(total === undefined ? [] : [{ name: "total", sql: total }]),
    { name: "page_total", sql: plan.returns === "row" ? sql`1` : sql`count(*)` },
    {
      name: "body",
      sql: compileBody(compiler, envelope, {
        rowAlias: row,
        returns: plan.returns === "row" ? "row" : "rows",
        ...describeRows(read, rows, relation),
      }),
    },
    ...compileResultColumns(compiler),
  ];
  return compileSingleStatement(compiler, columns, head, sql` from (${rows.sql}) as ${quoteIdentifier(row)}`, envelope);
};
