/** Runs a batch of entries: in one statement over all of them if the program allows it, otherwise one by one. */
import { createHash } from "node:crypto";
import {
  defineCacheQuestion,
  type Ask,
  type Execution,
  memoize,
  type Model,
  type PluginContext,
  type Program,
  type ResultRow,
  type Session,
} from "../../../core/index.ts";
import { costLimitsService } from "../../limits/api.ts";
import type { LiveResult, LiveQuery } from "../api.ts";
import type { Conditions } from "./conditions.ts";
import {
  RESULT_SEPARATOR,
  isMultiplexable,
  mayPlannerReadValues,
  buildMultiplexedProgram,
  needsTypes,
  buildSingleProgram,
  buildTypesProgram,
} from "./multiplex.ts";

/** One of the queries that a run answers. */
export interface Runnable {
  readonly query: LiveQuery;
  /** The row of the query in the statement, such as `,"p0":"5"`. Undefined if the query runs by itself. */
  readonly row: string | undefined;
}

/** The properties that all queries of a cohort share. */
export interface CohortProperties {
  readonly key: string;
  /** The session of one caller. In a cohort that is not shared, all callers have equal sessions. */
  readonly session: Session;
  /** True if the callers may differ in claims and session variables. @rule G-SUB-10 */
  readonly isShared: boolean;
  readonly access: Omit<Execution, "programs" | "end" | "access" | "session">;
  readonly relations: ReadonlySet<string>;
  readonly isOpenEnded: boolean;
  /** The conditions on rows that concern the queries. Undefined if the conditions are unknown. */
  readonly conditions: Conditions | undefined;
}

export interface Runner {
  /** Returns results in the order of the entries, undefined for a result whose hash has not changed. An entry without a
   *  hash always gets its result. @throws RelApiError of the first statement that fails, `SharingEndedError` */
  run(
    properties: CohortProperties,
    entries: readonly Runnable[],
    hashes: readonly (string | undefined)[],
  ): Promise<readonly (LiveResult | undefined)[]>;
}

/** Thrown if callers may no longer share the statement. The results of the run are discarded. @rule G-SUB-11 */
export class SharingEndedError extends Error {}

export const hashResult = (text: string): string => createHash("sha1").update(text).digest("base64url");

const buildResultText = (query: LiveQuery, bodies: readonly string[]): string | Promise<string> =>
  query.complete === undefined ? query.assemble(bodies) : query.complete(bodies);

/** Turns JIT off. The planner would compile a statement over many subscribers because of its estimated cost, which
 *  takes far more time than it saves. */
const NO_JIT = ["jit", "off"] as const;

const buildExecution = ({ access }: CohortProperties, { session, programs }: LiveQuery): Execution => ({
  ...access,
  session,
  access: "read only",
  programs,
  end: "commit",
});

/** The values that determine the statement over all subscribers. */
interface Multiplexing {
  readonly program: Program;
  readonly model: Model;
  readonly databaseRole: string | undefined;
  readonly schema: string;
  readonly keepsLoginPath: boolean | undefined;
}

const PROGRAM = defineCacheQuestion("program", ({ program }: Multiplexing) => program);
const MODEL = defineCacheQuestion("model", ({ model }: Multiplexing) => model);
const DATABASE_ROLE = defineCacheQuestion("database role", ({ databaseRole }: Multiplexing) => databaseRole);
const SCHEMA = defineCacheQuestion("schema", ({ schema }: Multiplexing) => schema);
const KEEPS_LOGIN_PATH = defineCacheQuestion("keeps login path", ({ keepsLoginPath }: Multiplexing) => keepsLoginPath);

/** The estimated size of a statement, which was measured with a small statement. */
const BYTES_PER_STATEMENT = 4000;

/** Creates the runner, which chooses between one statement over all entries and single statements. @rule G-SUB-5
 *  G-SUB-6 */
export const createRunner = (context: PluginContext): Runner => {
  let statementNumber = 0;

  /** Infers the types of values without the session of a caller. Only the role affects names and types, and values do
   *  not matter. */
  const inferTypes = async (ask: Ask<Multiplexing>, program: Program): Promise<readonly string[]> => {
    const databaseRole = ask(DATABASE_ROLE);
    const typesProgram = buildTypesProgram(program, `relapi_live_${process.pid}_${++statementNumber}`);
    const execution: Execution = {
      schema: ask(SCHEMA),
      keepsLoginPath: ask(KEEPS_LOGIN_PATH) ?? false,
      session: {
        role: "",
        isAdmin: false,
        claims: {},
        variables: {},
        ...(databaseRole === undefined ? {} : { databaseRole }),
      },
      access: "read only",
      programs: [{ program: typesProgram, values: [] }],
      end: "commit",
      skipsPreRequest: true,
    };
    const [row] = await context.execute(execution);
    // The catalog wrote the names, so the shape of the JSON is known.
    return JSON.parse(row?.["types"] ?? "[]") as string[];
  };

  const multiplexedPrograms = context.caches.create({
    name: "live statements",
    make: (ask: Ask<Multiplexing>): Promise<Program | undefined> => {
      const program = ask(PROGRAM);
      if (!isMultiplexable(program)) return Promise.resolve(undefined);
      const { relations } = ask(MODEL);
      const tables =
        program.isProven === true
          ? [...relations.values()].filter(({ schema, name }) => program.relations.has(`${schema}.${name}`))
          : undefined;
      return needsTypes(program)
        ? inferTypes(ask, program).then((types) => buildMultiplexedProgram(program, types, tables))
        : Promise.resolve(buildMultiplexedProgram(program, undefined, tables));
    },
    estimateBytes: () => BYTES_PER_STATEMENT,
  });

  const getSingleProgram = memoize(buildSingleProgram);

  /** Finds the program for the first result of each entry, and for the next result after an error. Undefined if the
   *  shared statement fails in the same cases. */
  const findFirstProgram = ({ query }: Runnable): Program | undefined => {
    const program = query.programs[0]?.program;
    if (program === undefined || !mayPlannerReadValues(program)) return undefined;
    return getSingleProgram(program);
  };

  const loadMultiplexedProgram = async (
    properties: CohortProperties,
    { query, row }: Runnable,
  ): Promise<Program | undefined> => {
    const [boundProgram] = query.programs;
    // A query without a row runs by itself (`encodeRow` in live-queries.ts).
    if (boundProgram === undefined || row === undefined) return undefined;
    const { value: multiplexedProgram, commit: keep } = multiplexedPrograms.get({
      program: boundProgram.program,
      model: context.model(),
      databaseRole: properties.session.databaseRole,
      schema: properties.access.schema,
      keepsLoginPath: properties.access.keepsLoginPath,
    });
    const program = await multiplexedProgram;
    keep();
    return program;
  };

  const runMultiplexed = async (
    properties: CohortProperties,
    program: Program,
    entries: readonly Runnable[],
    hashes: readonly (string | undefined)[],
  ): Promise<readonly (LiveResult | undefined)[]> => {
    let rows = "[";
    entries.forEach((entry, i) => {
      const hash = hashes[i];
      // The hash comes from the statement or from `hashResult`, so it needs no escaping.
      rows += `${i === 0 ? "" : ","}{"id":${i}${entry.row}${hash === undefined ? "" : `,"hash":"${hash}"`}}`;
    });
    rows += "]";
    const path = entries[0]?.query.programs[0]?.path;
    const settings = [...(properties.access.settings ?? []), NO_JIT];
    const [row] = await context.execute({
      ...properties.access,
      settings,
      session: properties.session,
      access: "read only",
      programs: [{ program, values: [rows], ...(path === undefined ? {} : { path }) }],
      end: "commit",
    });
    if (properties.isShared && row?.["changed"] === "t") throw new SharingEndedError();
    const results: (LiveResult | undefined)[] = entries.map(() => undefined);
    const text = row?.["answers"];
    if (text === null || text === undefined) return results;
    for (const resultText of text.split(RESULT_SEPARATOR)) await readResult(resultText, entries, results);
    return results;
  };

  const readResult = async (
    resultText: string,
    entries: readonly Runnable[],
    results: (LiveResult | undefined)[],
  ): Promise<void> => {
    const first = resultText.indexOf(" ");
    const second = resultText.indexOf(" ", first + 1);
    const id = Number(resultText.slice(0, first));
    const entry = entries[id];
    if (entry === undefined) return;
    results[id] = {
      hash: resultText.slice(first + 1, second),
      text: await buildResultText(entry.query, [resultText.slice(second + 1)]),
      isError: false,
    };
  };

  /** Runs an entry like the plain query, so that the planner can reject invalid values. */
  const runFirst = async (
    properties: CohortProperties,
    program: Program,
    entry: Runnable,
  ): Promise<LiveResult | undefined> => {
    const { query } = entry;
    const programs = query.programs.map((boundProgram) => ({ ...boundProgram, program }));
    const [row] = await context.execute({ ...buildExecution(properties, query), programs });
    const results: (LiveResult | undefined)[] = [undefined];
    await readResult(row?.["answers"] ?? "", [entry], results);
    return results[0];
  };

  const runEntry = async (
    properties: CohortProperties,
    { query }: Runnable,
    hash: string | undefined,
  ): Promise<LiveResult | undefined> => {
    const rows: readonly ResultRow[] = await context.execute(buildExecution(properties, query));
    const bodies = rows.map((row) => row["body"] ?? null);
    const text = query.assemble(bodies);
    const newHash = hashResult(text);
    return newHash === hash
      ? undefined
      : { hash: newHash, text: (await query.complete?.(bodies)) ?? text, isError: false };
  };

  return {
    run: async (properties, entries, hashes) => {
      const [first] = entries;
      if (first === undefined) return [];
      const limits = context.use(costLimitsService)?.current();
      // Each entry is checked by itself, because the statement over all entries costs as much as their sum.
      if (limits !== undefined)
        for (const [i, { query }] of entries.entries())
          if (hashes[i] === undefined) await limits.check(buildExecution(properties, query));
      const multiplexedProgram = await loadMultiplexedProgram(properties, first);
      const results: (LiveResult | undefined)[] = entries.map(() => undefined);
      if (multiplexedProgram === undefined) {
        for (const [i, entry] of entries.entries()) results[i] = await runEntry(properties, entry, hashes[i]);
        return results;
      }
      const firstProgram = findFirstProgram(first);
      if (firstProgram === undefined) return runMultiplexed(properties, multiplexedProgram, entries, hashes);
      const otherIndexes: number[] = [];
      for (const [i, entry] of entries.entries())
        if (hashes[i] === undefined) results[i] = await runFirst(properties, firstProgram, entry);
        else otherIndexes.push(i);
      if (otherIndexes.length === 0) return results;
      // The indexes exist, because they are indexes of `entries`.
      const [otherEntries, otherHashes] = [otherIndexes.map((i) => entries[i]!), otherIndexes.map((i) => hashes[i])];
      for (const [at, result] of (
        await runMultiplexed(properties, multiplexedProgram, otherEntries, otherHashes)
      ).entries())
        results[otherIndexes[at]!] = result; // this index exists, because the list has one index for each result
      return results;
    },
  };
};
