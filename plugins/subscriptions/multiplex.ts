/** One statement over many subscribers: the values of a program's slots become columns of a row set, and the program a
 *  lateral subquery over it. Only results whose hash differs from the last one are returned. */
import {
  catalogText,
  chunksOf,
  empty,
  ident,
  join,
  literal,
  slot,
  sql,
  toStatement,
  type Program,
  type ProgramStatement,
  type QualifiedName,
  type Slot,
  type Sql,
} from "../../core/index.ts";

/** Cannot occur unescaped in JSON text. */
export const ANSWER_SEPARATOR = "\u001e";

/** Longer than any alias the compiler takes from a relation's name by chance. */
const SUBSCRIBERS = "_relapi_subscribers";

/** A single statement with a JSON body and no checks. */
export const isMultiplexable = (program: Program): boolean => {
  const [only] = program.statements;
  return (
    program.statements.length === 1 &&
    program.checks.length === 0 &&
    only?.fragment !== undefined &&
    only.isMultiRow !== true &&
    only.columns.includes("body")
  );
};

/** Whether some value's type is left to the database to infer from its place: a column has to be cast to that type
 *  instead. */
export const needsTypes = (program: Program): boolean => {
  const chunks = chunksOfProgram(program);
  return chunks.some((chunk, i) => typeof chunk !== "string" && isPerSubscriber(chunk.slot) && !isCast(chunks[i + 1]));
};

const isPerSubscriber = (source: Slot): boolean => !("fixed" in source);

const isCast = (chunk: unknown): boolean => typeof chunk === "string" && chunk.startsWith("::");

/** Asks the database which types it infers. `name`: name of a prepared statement that nothing else uses. `types` of the
 *  row: a JSON array of type names, one per parameter. */
export const typesProgram = (program: Program, name: string): Program => {
  const text = program.statements[0]?.text ?? "";
  const prepared = ident(name);
  const plain = (fragment: Sql, columns: readonly string[] = []): ProgramStatement => ({
    ...toStatement(fragment),
    columns,
  });
  return {
    statements: [
      plain(sql`prepare ${prepared} as ${catalogText(text)}`),
      plain(
        sql`select pg_catalog.array_to_json(parameter_types::text[])::text from pg_catalog.pg_prepared_statements where name = ${literal(name)}`,
        ["types"],
      ),
      plain(sql`deallocate ${prepared}`),
    ],
    main: 1,
    checks: [],
    relations: program.relations,
    isOpenEnded: program.isOpenEnded,
    isProven: program.isProven,
  };
};

/** The slots that `p0`, `p1`, … of its rows fill. */
export const subscriberSlots = (program: Program): readonly Slot[] => {
  const slots = new Map<string, Slot>();
  for (const { slot: source } of slotChunks(program)) if (isPerSubscriber(source)) slots.set(slotKey(source), source);
  return [...slots.values()];
};

const slotKey = (source: Slot): string => JSON.stringify(source);

const slotChunks = (program: Program) => chunksOfProgram(program).filter((chunk) => typeof chunk !== "string");

const chunksOfProgram = ({ statements: [only] }: Program) =>
  only?.fragment === undefined ? [] : chunksOf(only.fragment);

/** Whether the rows of one of the tables may now differ between callers, because row policies were enabled or the name
 *  belongs to another relation. The statement that reads the tables checks it, so that nothing can happen in between.
 *  @rule G-SUB-11 */
const haveChanged = (tables: readonly QualifiedName[]): Sql => {
  const oids = tables.map(
    ({ schema, name }) => sql`${literal(toStatement(ident(schema, name)).text)}::pg_catalog.regclass`,
  );
  return sql`(select pg_catalog.bool_or(_t.relkind not in ('r', 'p') or pg_catalog.row_security_active(_t.oid)) from pg_catalog.pg_class as _t where _t.oid in (${join(oids)}))`;
};

/** The program over many subscribers. Its one value is their JSON, `[{"id":0,"hash":"…","p0":"5"}]`. Its column
 *  `answers` holds `<id> <hash> <body>` per result, joined by `ANSWER_SEPARATOR`; NULL if no result differs. `types`:
 *  types of the program's parameters, in order; required if `needsTypes`. `tables`: tables that must stay plain; a
 *  second column `changed` says whether one has not. */
export const multiplex = (
  program: Program,
  types: readonly string[] = [],
  tables: readonly QualifiedName[] = [],
): Program => {
  const [only] = program.statements;
  if (only?.fragment === undefined) throw new TypeError("only a statement with its fragment can be multiplexed");
  const row = ident(SUBSCRIBERS);
  const slots = subscriberSlots(program);
  const columns = new Map(slots.map((source, i) => [slotKey(source), `p${i}`]));
  const chunks = chunksOf(only.fragment);
  let at = 0;
  const parts = chunks.map((chunk, i): Sql => {
    if (typeof chunk === "string") return catalogText(chunk);
    const type = types[at++];
    const source = chunk.slot;
    if (!isPerSubscriber(source)) return slot(source);
    const value = ident(SUBSCRIBERS, columns.get(slotKey(source)) ?? "");
    return isCast(chunks[i + 1]) || type === undefined ? value : sql`${value}::${catalogText(type)}`;
  });
  const declared = join([sql`id int`, sql`hash text`, ...slots.map((_, i) => sql`${ident(`p${i}`)} text`)]);
  // `offset 0` keeps the planner from pulling the subqueries up, which would compute the body once for each mention
  const fragment = sql`select pg_catalog.string_agg(${row}.id::text || ' ' || _b.hash || ' ' || _b.body, pg_catalog.chr(30))${tables.length === 0 ? empty : sql`, ${haveChanged(tables)}`} from pg_catalog.json_to_recordset(${slot({ param: 0 })}::json) as ${row}(${declared}) cross join lateral (select _a.body, pg_catalog.hashtextextended(_a.body, 0)::text || '.' || pg_catalog.hashtextextended(_a.body, 1)::text as hash from (select coalesce(_m.body::text, 'null') as body from (${join(parts, "")}) as _m offset 0) as _a offset 0) as _b where _b.hash is distinct from ${row}.hash`;
  const statement: ProgramStatement = {
    ...toStatement(fragment),
    columns: ["answers", ...(tables.length === 0 ? [] : ["changed"])],
    ...(only.path === undefined ? {} : { path: only.path }),
  };
  return { ...program, statements: [statement] };
};
