/** Builds one statement over many subscribers. The values of a program's slots become columns of a row set, and the
 *  program becomes a lateral subquery over it. Only results whose hash differs from the last one are returned. */
import {
  createProgram,
  trustedSql,
  flattenFragment,
  empty,
  quoteIdentifier,
  joinSql,
  quoteLiteral,
  bindSlot,
  sql,
  compileSql,
  trimEndCharacter,
  type Program,
  type ProgramStatement,
  type QualifiedName,
  type Slot,
  type Sql,
} from "../../../core/index.ts";

/** The separator of results in a text, which cannot occur unescaped in JSON text. */
export const RESULT_SEPARATOR = "\u001e";

/** The alias of the rows of subscribers. It is longer than the aliases that the compiler derives from relation
 *  names. */
const SUBSCRIBERS = "_relapi_subscribers";
const VALUES = "_relapi_values";

/** Returns whether the program is a single statement with a JSON body and no checks. */
export const isMultiplexable = (program: Program): boolean => {
  const [statement] = program.statements;
  return (
    program.statements.length === 1 &&
    program.checks.length === 0 &&
    statement?.fragment !== undefined &&
    statement.isMultiRow !== true &&
    statement.columns.includes("body")
  );
};

/** Returns whether a value has no cast. The database then infers the type of the value from the context. */
export const needsTypes = (program: Program): boolean => {
  const chunks = listChunks(program);
  return chunks.some(
    (chunk, i) => typeof chunk !== "string" && isPerSubscriber(chunk.slot) && findCast(chunks[i + 1]) === undefined,
  );
};

const isPerSubscriber = (source: Slot): boolean => !("fixed" in source);

/** Matches a cast at the end, such as `integer[]`, `timestamp with time zone` or `"public"."mood"`. */
const CAST =
  /^::((?:double precision|(?:character|bit) varying|time(?:stamp)? with(?:out)? time zone|(?:(?:\w+|"(?:[^"]|"")+")\.)?(?:\w+|"(?:[^"]|"")+"))(?:\[\])*)$/;

const findCast = (chunk: unknown): string | undefined =>
  typeof chunk === "string" ? CAST.exec(chunk)?.[1] : undefined;

/** Returns whether the value after this text is an argument of a function, as in `f(`. `any(` is not a function. */
const beginsArgument = (before: string): boolean => {
  const callee = trimEndCharacter(before, "(");
  return callee !== before && /[\w"]/.test(callee.slice(-1)) && !/^\W?any$/i.test(callee.slice(-4));
};

/** Returns whether the text after a value casts it again, as in `($1::text)::jsonpath`. */
const castsAgain = (after: string): boolean => /^(?:::[\w". [\]]+)?\)+::/.test(after);

/** Returns whether the planner may evaluate values: the pattern of a regular expression, or an expression of values
 *  only. An invalid value is then an error even without rows, whereas a statement over many subscribers only fails at
 *  the first row. */
export const mayPlannerReadValues = (program: Program): boolean => {
  if (program.plansEachTime === true) return true;
  /** The texts before, between and after the values. */
  const texts = [""];
  for (const chunk of listChunks(program))
    if (typeof chunk === "string") texts.push((texts.pop() ?? "") + chunk);
    else if (isPerSubscriber(chunk.slot)) texts.push("");
  return texts.some((text, i) => (i < texts.length - 1 && beginsArgument(text)) || (i > 0 && castsAgain(text)));
};

/** Builds a program that queries the types that the database infers. `name` must be unique among prepared statements.
 *  The column `types` of the row is a JSON array of type names, one for each parameter. */
export const buildTypesProgram = (program: Program, name: string): Program => {
  const text = program.statements[0]?.text ?? "";
  const statementName = quoteIdentifier(name);
  const buildPlainStatement = (fragment: Sql, columns: readonly string[] = []): ProgramStatement => ({
    ...compileSql(fragment),
    columns,
  });
  return createProgram(
    [
      buildPlainStatement(sql`prepare ${statementName} as ${trustedSql(text)}`),
      buildPlainStatement(
        sql`select pg_catalog.array_to_json(parameter_types::text[])::text from pg_catalog.pg_prepared_statements where name = ${quoteLiteral(name)}`,
        ["types"],
      ),
      buildPlainStatement(sql`deallocate ${statementName}`),
    ],
    { main: 1, relations: program.relations, isOpenEnded: program.isOpenEnded, isProven: program.isProven },
  );
};

/** Returns the slots whose values are the columns `p0`, `p1`, … of the rows. */
export const listSubscriberSlots = (program: Program): readonly Slot[] => {
  const slots = new Map<string, Slot>();
  for (const { slot: source } of listSlotChunks(program))
    if (isPerSubscriber(source)) slots.set(buildSlotKey(source), source);
  return [...slots.values()];
};

const buildSlotKey = (source: Slot): string => JSON.stringify(source);

const listSlotChunks = (program: Program) => listChunks(program).filter((chunk) => typeof chunk !== "string");

const listChunks = ({ statements: [statement] }: Program) =>
  statement?.fragment === undefined ? [] : flattenFragment(statement.fragment);

/** Builds a check whether the rows of one of the tables may now differ between callers. That is so if row policies were
 *  enabled, or if the name belongs to another relation. The statement that reads the tables makes the check itself, so
 *  that nothing can change in between. @rule G-SUB-11 */
const buildTableCheck = (tables: readonly QualifiedName[]): Sql => {
  const oids = tables.map(
    ({ schema, name }) => sql`${quoteLiteral(compileSql(quoteIdentifier(schema, name)).text)}::pg_catalog.regclass`,
  );
  return sql`(select pg_catalog.bool_or(_t.relkind not in ('r', 'p') or pg_catalog.row_security_active(_t.oid)) from pg_catalog.pg_class as _t where _t.oid in (${joinSql(oids)}))`;
};

/** Selects `<id> <hash> <body>` of the program's rows whose hash is not `knownHash`. `offset 0` keeps the planner from
 *  pulling up the subqueries, which would compute the body once for each reference. */
const selectChangedRows = (
  body: Sql,
  knownHash: Sql,
  id: Sql,
): { readonly resultText: Sql; readonly from: Sql; readonly where: Sql } => ({
  resultText: sql`${id}::text || ' ' || _b.hash || ' ' || _b.body`,
  from: sql`(select _a.body, pg_catalog.hashtextextended(_a.body, 0)::text || '.' || pg_catalog.hashtextextended(_a.body, 1)::text as hash from (select coalesce(_m.body::text, 'null') as body from (${body}) as _m offset 0) as _a offset 0) as _b`,
  where: sql`_b.hash is distinct from ${knownHash}`,
});

const getOnlyStatement = (program: Program): ProgramStatement & { readonly fragment: Sql } => {
  const [statement] = program.statements;
  if (statement?.fragment === undefined) throw new TypeError("only a statement with its fragment can be multiplexed");
  return { ...statement, fragment: statement.fragment };
};

const ANSWERS = "answers";

/** Builds the program over many subscribers. Its only value is the JSON of the subscribers,
 *  `[{"id":0,"hash":"…","p0":"5"}]`. The column `answers` holds `<id> <hash> <body>` for each result, joined by
 *  `RESULT_SEPARATOR`; it is NULL if no result differs. `types` are the types of the program's parameters, in order;
 *  they are required if `needsTypes`. `tables` must stay plain tables, and the column `changed` says whether one of
 *  them has changed. */
export const buildMultiplexedProgram = (
  program: Program,
  types: readonly string[] = [],
  tables: readonly QualifiedName[] = [],
): Program => {
  const { fragment: plain, path } = getOnlyStatement(program);
  const row = quoteIdentifier(SUBSCRIBERS);
  const slots = listSubscriberSlots(program);
  const columns = new Map(slots.map((source, i) => [buildSlotKey(source), `p${i}`]));
  /** The casts of values. They are evaluated before the program, so that an invalid value fails even without rows, like
   *  a bound value. */
  const values = new Map<string, { readonly name: string; readonly value: Sql }>();
  const chunks = flattenFragment(plain);
  let position = 0;
  const parts = chunks.map((chunk, i): Sql => {
    if (typeof chunk === "string") return trustedSql(chunk);
    const type = findCast(chunks[i + 1]) ?? types[position];
    position++;
    const source = chunk.slot;
    if (!isPerSubscriber(source)) return bindSlot(source);
    const column = columns.get(buildSlotKey(source)) ?? "";
    if (type === undefined) return quoteIdentifier(SUBSCRIBERS, column);
    const key = `${column} ${type}`;
    const name = values.get(key)?.name ?? `v${values.size}`;
    values.set(key, { name, value: sql`${quoteIdentifier(SUBSCRIBERS, column)}::${trustedSql(type)}` });
    return quoteIdentifier(VALUES, name);
  });
  const columnDefinitions = joinSql([
    sql`id int`,
    sql`hash text`,
    ...slots.map((_, i) => sql`${quoteIdentifier(`p${i}`)} text`),
  ]);
  const castValues =
    values.size === 0
      ? empty
      : sql` cross join lateral (select ${joinSql([...values.values()].map(({ name, value }) => sql`${value} as ${quoteIdentifier(name)}`))} offset 0) as ${quoteIdentifier(VALUES)}`;
  const { resultText, from, where } = selectChangedRows(joinSql(parts, ""), sql`${row}.hash`, sql`${row}.id`);
  const tableCheck = tables.length === 0 ? empty : sql`, ${buildTableCheck(tables)}`;
  const fragment = sql`select pg_catalog.string_agg(${resultText}, pg_catalog.chr(30))${tableCheck} from pg_catalog.json_to_recordset(${bindSlot({ param: 0 })}::json) as ${row}(${columnDefinitions})${castValues} cross join lateral ${from} where ${where}`;
  const statement: ProgramStatement = {
    ...compileSql(fragment),
    columns: [ANSWERS, ...(tables.length === 0 ? [] : ["changed"])],
    ...(path === undefined ? {} : { path }),
  };
  return { ...program, statements: [statement] };
};

/** Builds the program for one subscriber, with the same `answers`. It binds the values of the program, and the planner
 *  evaluates them. */
export const buildSingleProgram = (program: Program): Program => {
  const { fragment: plain, path } = getOnlyStatement(program);
  const { resultText, from, where } = selectChangedRows(plain, sql`null`, sql`0`);
  const statement: ProgramStatement = {
    ...compileSql(sql`select ${resultText} from ${from} where ${where}`),
    columns: [ANSWERS],
    ...(path === undefined ? {} : { path }),
  };
  return { ...program, statements: [statement], plansEachTime: true };
};
