/** Runs prepared reads, writes and calls in a transaction, and makes the response from the row of the statement. */
import {
  isRelApiError,
  defineService,
  type Answer,
  type BoundValue,
  type Cache,
  type Execution,
  type Headers,
  type Json,
  type PluginContext,
  type Program,
  type Relation,
  type ResultRow,
  type SentValue,
} from "../../core/index.ts";
import { buildAnswer, type AnswerParts } from "./answer/headers.ts";
import { preconditionFailed } from "./errors.ts";
import type { PlannedRequest, Prepared, RequestSource, RestRequest } from "./request.ts";
import { requestOf } from "./syntax/parse-request.ts";

/** A statement that runs before that of the plan, in the same transaction, with a check of its row. */
export interface Precondition {
  readonly program: Program;
  readonly values: readonly BoundValue[];
  /** @throws RelApiError */
  check(row: ResultRow): void;
}

/** Computes tags of representations, for writes. */
export interface Etags {
  /** The precondition of a write. Undefined if the request has none. @rule R-ETG-3 R-ETG-4 */
  preconditionOf(request: RestRequest, relation: Relation): Precondition | undefined;
  /** The tag of the bytes of a body. */
  tagOf(body: string | Uint8Array): string;
}

/** Offered by the plugin `etag` if it is enabled. */
export const etagsService = defineService<Etags>("rest-etags");

/** The parts of an execution that differ between requests of one plan. */
export interface Run {
  readonly access: Execution["access"];
  readonly values: readonly SentValue[];
  /** The isolation level in place of the role's. */
  readonly isolation?: string;
  /** Settings in addition to those of every request. */
  readonly settings?: Execution["settings"];
  readonly check?: Execution["check"];
  readonly before?: Precondition | undefined;
  readonly mayUseReplica?: boolean;
  /** Headers that execution plans have too. */
  readonly headers?: Headers;
  /** The request is not cached, because its key contains values that rarely repeat. */
  readonly isRare?: boolean;
}

/**
 * Prepares, executes and answers a request. Methods differ in `run` and `outcome`. It is cached after it has run.
 * @rule R-TX-2 R-PIPE-1
 */
export const runPrepared = async <Made extends PlannedRequest>(
  cache: Cache<RequestSource, Prepared<Made>>,
  source: RequestSource,
  run: (request: RestRequest, made: Made) => Run,
  outcome: (request: RestRequest, made: Made, row: ResultRow) => AnswerParts,
): Promise<Answer> => {
  source.exchange.mark("parse");
  const { value: prepared, commit: keep } = cache.get(source);
  const { planned: made, program } = prepared;
  const request = requestOf(prepared.parsed, source);
  const { media, applied, legacyNames } = made;
  if (legacyNames.length > 0) warnOfLegacyNames(request, legacyNames);
  const { context } = request.rest;
  request.exchange.planned = made.plan;
  request.exchange.mark("plan");
  const running = run(request, made);
  const streamed = media.isBinary ? undefined : request.rest.streamed();
  const longBody = streamed?.open();
  const execution = executionOf(request, program, running, longBody && streamed?.read(longBody));
  const rows = await (running.before === undefined ? context.execute(execution) : executeChecked(context, execution));
  const row = rows[rows.length - 1] ?? {};
  request.exchange.mark("transaction");
  if (running.isRare !== true) keep();
  const parts: AnswerParts =
    made.envelope.wrapper === undefined
      ? outcome(request, made, row)
      : // execution plans as text are lines (R-MED-7)
        { status: 200, contentType: media.contentType, body: `${row.body ?? ""}\n` };
  const answer = buildAnswer(request, parts, { row, headers: running.headers, applied, legacyNames });
  return longBody?.addTo(answer) ?? answer;
};

const SERIALIZATION_FAILURE = "40001";

/** Both statements share a snapshot, so a serialization failure means that the row was changed in between. */
const executeChecked = async (context: PluginContext, execution: Execution): Promise<readonly ResultRow[]> => {
  try {
    return await context.execute(execution);
  } catch (error) {
    if (isRelApiError(error) && error.code === SERIALIZATION_FAILURE) throw preconditionFailed();
    throw error;
  }
};

const snapshotIsolation = (isolation: string | undefined): string =>
  isolation === "serializable" ? isolation : "repeatable read";

/** The execution of a program in a transaction of the request. @rule R-TX-1 R-TX-2 R-ETG-3 */
export const executionOf = (
  request: RestRequest,
  program: Program,
  run: Run,
  longRows?: Execution["longRows"],
): Execution => {
  const { rest, exchange, path, schema } = request;
  const { before } = run;
  const isolation = run.isolation ?? isolationOf(request);
  return {
    session: exchange.session,
    access: run.access,
    isolation: before === undefined ? isolation : snapshotIsolation(isolation),
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
    longRows,
  };
};

const NO_SETTINGS: NonNullable<Execution["settings"]> = [];

/**
 * The settings of the transaction in addition to those that SQL may read of the request: settings by preferences, then
 * `others`. @rule R-TX-6 R-PRF-4 R-PRF-7
 */
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

/** The isolation level of the role's settings. A setting of the function takes precedence. @rule R-TX-3 */
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
