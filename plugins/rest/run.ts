/** What reads, writes and calls do with a planned request: it runs in a transaction, and its row becomes the answer. */
import {
  isRelApiError,
  defineService,
  type Answer,
  type BoundValue,
  type Execution,
  type Found,
  type Headers,
  type Json,
  type LongBody,
  type PluginContext,
  type Program,
  type Relation,
  type ResultRow,
  type SentValue,
} from "../../core/index.ts";
import { buildAnswer, type AnswerParts } from "./answer/headers.ts";
import { preconditionFailed } from "./errors.ts";
import type { PlannedRequest, RestRequest } from "./request.ts";

/** A statement before that of the plan, in the same transaction, and what its row must be. */
export interface Precondition {
  readonly program: Program;
  readonly values: readonly BoundValue[];
  /** @throws RelApiError */
  check(row: ResultRow): void;
}

/** Tags of representations, for writes. */
export interface Etags {
  /** What a write asks for first; undefined: nothing. @rule R-ETG-3 R-ETG-4 */
  preconditionOf(request: RestRequest, relation: Relation): Precondition | undefined;
  /** Of the bytes of a body. */
  tagOf(body: string | Uint8Array): string;
}

/** Offered by the plugin `etag` where it is switched on. */
export const etagsService = defineService<Etags>("rest-etags");

/** What one request adds to what its plan says. */
export interface Run {
  readonly access: Execution["access"];
  readonly values: readonly SentValue[];
  /** In place of the role's own. */
  readonly isolation?: string;
  /** Beside those that every request has. */
  readonly settings?: Execution["settings"];
  readonly check?: Execution["check"];
  readonly before?: Precondition | undefined;
  readonly mayUseReplica?: boolean;
  /** Headers that an execution plan is answered with, too. */
  readonly headers?: Headers;
}

/** Plan, execute, answer: the way of every request with a plan. `run` and `outcome` are what the methods differ in; the
 *  plan is kept once it has run. @rule R-TX-2 R-PIPE-1 */
export const runPlanned = async <Made extends PlannedRequest>(
  request: RestRequest,
  { made, keep }: Found<Made>,
  run: (made: Made) => Run,
  outcome: (made: Made, row: ResultRow) => AnswerParts,
): Promise<Answer> => {
  const { media, applied, legacyNames } = made;
  if (legacyNames.length > 0) warnOfLegacyNames(request, legacyNames);
  const { context } = request.rest;
  const program = context.prepare(made, request.exchange.session, "rest");
  request.exchange.planned = made.plan;
  request.exchange.mark("plan");
  const running = run(made);
  const longBody = media.isBinary ? undefined : request.rest.streamed();
  const execution = executionOf(request, program, running, longBody);
  const rows = await (running.before === undefined ? context.execute(execution) : executeChecked(context, execution));
  const row = rows[rows.length - 1] ?? {};
  request.exchange.mark("transaction");
  keep();
  const parts: AnswerParts =
    made.envelope.wrapper === undefined
      ? outcome(made, row)
      : { status: 200, contentType: media.contentType, body: `${row.body ?? ""}\n` }; // lines (R-MED-7)
  const answer = buildAnswer(request, parts, { row, headers: running.headers, applied, legacyNames });
  return row.body === null && longBody !== undefined ? longBody.withBody(row, answer) : answer;
};

const SERIALIZATION_FAILURE = "40001";

/** The row was changed between the two statements: their snapshot is one. */
const executeChecked = async (context: PluginContext, execution: Execution): Promise<readonly ResultRow[]> => {
  try {
    return await context.execute(execution);
  } catch (error) {
    if (isRelApiError(error) && error.code === SERIALIZATION_FAILURE) throw preconditionFailed();
    throw error;
  }
};

const onOneSnapshot = (isolation: string | undefined): string =>
  isolation === "serializable" ? isolation : "repeatable read";

/** A program in a transaction of the request. @rule R-TX-1 R-TX-2 R-ETG-3 */
export const executionOf = (request: RestRequest, program: Program, run: Run, longBody?: LongBody): Execution => {
  const { rest, exchange, path, schema } = request;
  const { before } = run;
  const isolation = run.isolation ?? isolationOf(request);
  return {
    session: exchange.session,
    access: run.access,
    isolation: before === undefined ? isolation : onOneSnapshot(isolation),
    schema,
    requestSettings: () => rest.context.requestSettings(exchange.request, path),
    settings: settingsOf(request, run.settings),
    programs:
      before === undefined
        ? [{ program, values: run.values }]
        : [
            { program: before.program, values: before.values },
            { program, values: run.values },
          ],
    end: request.end.end,
    exchange,
    onGone: (listener) => exchange.onGone(listener),
    check:
      before === undefined
        ? run.check
        : ([first = {}, ...rows]) => {
            before.check(first);
            run.check?.(rows);
          },
    mayUseReplica: run.mayUseReplica,
    longBody,
  };
};

const NO_SETTINGS: NonNullable<Execution["settings"]> = [];

/** Settings of the request's transaction beside what SQL may read of the request: those that it prefers, then `others`.
 *  @rule R-TX-6 R-PRF-4 R-PRF-7 */
export const settingsOf = (
  { rest, preferences }: RestRequest,
  others = NO_SETTINGS,
): NonNullable<Execution["settings"]> => {
  if (preferences.given.size === 0) return others;
  const preferred = [...preferences.given].flatMap(
    ([name, value]) => rest.grammar.preferences.get(name)?.settings?.(value) ?? NO_SETTINGS,
  );
  return [...preferred, ...others];
};

/** The isolation level from the role's settings; a function's own setting takes precedence. @rule R-TX-3 */
export const isolationOf = ({ exchange, model }: RestRequest): string | undefined => {
  const role = exchange.session.databaseRole;
  return role === undefined ? undefined : model.roles.get(role)?.isolation;
};

/** @rule R-HDR-9 */
const warnOfLegacyNames = ({ rest, name }: RestRequest, legacyNames: PlannedRequest["legacyNames"]): void =>
  rest.context.logger.warn(
    "embeds were addressed by the relation's name even though they have an alias, which is deprecated",
    {
      relation: name,
      names: legacyNames.map((legacy): Json => ({ name: legacy.name, alias: legacy.alias })),
    },
  );
