/** Runs prepared reads, writes and calls in a transaction, and makes the response from the row of the statement. */
import {
  RelApiError,
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
import type { PlannedRequest, PreparedRequest, RequestSource, RestRequest } from "./request.ts";
import { buildRequest } from "./syntax/parse-request.ts";
import type { StreamedBody } from "../speed/api.ts";

/** A statement that runs before that of the plan, in the same transaction, with a check of its row. */
export interface Precondition {
  readonly program: Program;
  readonly values: readonly BoundValue[];
  /** Checks the row of a statement before the commit. @throws RelApiError */
  check(row: ResultRow): void;
}

/** Computes tags of representations, for writes. */
interface Etags {
  /** Returns the precondition of a write. Returns undefined if the request has none. @rule R-ETG-3 R-ETG-4 */
  buildPrecondition(request: RestRequest, relation: Relation): Precondition | undefined;
  /** Returns the tag of the bytes of a body. */
  computeTag(body: string | Uint8Array): string;
}

/** Offered by the plugin `etag` if it is enabled. */
export const etagsService = defineService<Etags>("rest-etags");

/** The parts of an execution that differ between requests of one plan. */
interface ExecutionParts {
  readonly access: Execution["access"];
  readonly values: readonly SentValue[];
  /** The isolation level in place of the role's. */
  readonly isolation?: string;
  /** Settings in addition to those of every request. */
  readonly settings?: Execution["settings"];
  readonly check?: Execution["check"];
  readonly precondition?: Precondition | undefined;
  readonly mayUseReplica?: boolean;
  /** Headers that responses with execution plans have too. */
  readonly headers?: Headers;
  /** True if the request is not cached, because its key contains values that rarely repeat. */
  readonly skipsCache?: boolean;
}

/** Prepares, executes and answers a request. Methods differ in `buildExecutionParts` and `buildParts`. The prepared request is cached
 *  after it has run. @rule R-TX-2 R-PIPE-1 */
export const runPrepared = async <Planned extends PlannedRequest>(
  cache: Cache<RequestSource, PreparedRequest<Planned>>,
  source: RequestSource,
  buildExecutionParts: (request: RestRequest, plannedRequest: Planned) => ExecutionParts,
  buildParts: (request: RestRequest, plannedRequest: Planned, row: ResultRow) => AnswerParts,
): Promise<Answer> => {
  source.exchange.endPhase("parse");
  const { value: preparedRequest, commit: keep } = cache.get(source);
  const { plannedRequest, program } = preparedRequest;
  const request = buildRequest(preparedRequest.parsedRequest, source);
  const { media, appliedPreferences, legacyNames } = plannedRequest;
  if (legacyNames.length > 0) warnOfLegacyNames(request, legacyNames);
  const { context } = request.rest;
  request.exchange.plans = plannedRequest.plan;
  request.exchange.endPhase("plan");
  const executionParts = buildExecutionParts(request, plannedRequest);
  const streamedAnswers = media.isBinary ? undefined : request.rest.findStreamedAnswers();
  let streamedBody: StreamedBody | undefined;
  const execution = buildExecution(
    request,
    program,
    executionParts,
    streamedAnswers?.createRowReader({
      aboveBytes: streamedAnswers.aboveBytes,
      onBody: (_row, body) => (streamedBody = streamedAnswers.openBody(body))?.receiver,
    }),
  );
  const rows = await (executionParts.precondition === undefined
    ? context.execute(execution)
    : executeWithPrecondition(context, execution));
  const row = rows[rows.length - 1] ?? {};
  request.exchange.endPhase("transaction");
  if (executionParts.skipsCache !== true) keep();
  const parts: AnswerParts =
    plannedRequest.envelope.wrapper === undefined
      ? buildParts(request, plannedRequest, row)
      : // an execution plan in text format has several lines (R-MED-7)
        { status: 200, contentType: media.contentType, body: `${row.body ?? ""}\n` };
  const answer = buildAnswer(request, parts, {
    row,
    headers: executionParts.headers,
    appliedPreferences,
    legacyNames,
  });
  return streamedBody?.attachTo(answer) ?? answer;
};

const SERIALIZATION_FAILURE = "40001";

/** Executes the precondition and the statement. Both share a snapshot, so a serialization failure means that another
 *  transaction has changed the row. */
const executeWithPrecondition = async (context: PluginContext, execution: Execution): Promise<readonly ResultRow[]> => {
  try {
    return await context.execute(execution);
  } catch (error) {
    if (error instanceof RelApiError && error.code === SERIALIZATION_FAILURE) throw preconditionFailed();
    throw error;
  }
};

const requireSnapshotIsolation = (isolation: string | undefined): string =>
  isolation === "serializable" ? isolation : "repeatable read";

/** Returns the execution of a program in a transaction of the request. @rule R-TX-1 R-TX-2 R-ETG-3 */
export const buildExecution = (
  request: RestRequest,
  program: Program,
  run: ExecutionParts,
  longRows?: Execution["longRows"],
): Execution => {
  const { rest, exchange, path, schema } = request;
  const { precondition } = run;
  const isolation = run.isolation ?? findIsolation(request);
  return {
    session: exchange.session,
    access: run.access,
    isolation: precondition === undefined ? isolation : requireSnapshotIsolation(isolation),
    schema,
    requestSettings: () => rest.context.requestSettings(exchange.request, path),
    settings: buildSettings(request, run.settings),
    programs:
      precondition === undefined
        ? [{ program, values: run.values }]
        : [
            { program: precondition.program, values: precondition.values },
            { program, values: run.values },
          ],
    end: request.end.end,
    exchange,
    onDisconnect: (listener) => exchange.onDisconnect(listener),
    check:
      precondition === undefined
        ? run.check
        : ([first = {}, ...rows]) => {
            precondition.check(first);
            run.check?.(rows);
          },
    mayUseReplica: run.mayUseReplica,
    longRows,
  };
};

const NO_SETTINGS: NonNullable<Execution["settings"]> = [];

/** Returns the settings of the transaction in addition to those that SQL may read of the request: settings by
 *  preferences, then `runSettings`. @rule R-TX-6 R-PRF-4 R-PRF-7 */
export const buildSettings = (
  { rest, preferences }: RestRequest,
  runSettings = NO_SETTINGS,
): NonNullable<Execution["settings"]> => {
  if (preferences.acceptedValues.size === 0) return runSettings;
  const preferenceSettings = [...preferences.acceptedValues].flatMap(
    ([name, value]) => rest.grammar.preferences.get(name)?.settings?.(value) ?? NO_SETTINGS,
  );
  return [...preferenceSettings, ...runSettings];
};

/** Returns the isolation level of the role's settings. A setting of the function takes precedence. @rule R-TX-3 */
export const findIsolation = ({ exchange, model }: RestRequest): string | undefined => {
  const role = exchange.session.databaseRole;
  return role === undefined ? undefined : model.roles.get(role)?.isolation;
};

/** Logs that embeds were addressed by a relation's name in place of their alias. @rule R-HDR-9 */
const warnOfLegacyNames = ({ rest, name }: RestRequest, legacyNames: PlannedRequest["legacyNames"]): void =>
  rest.context.logger.warn(
    "embeds were addressed by the relation's name even though they have an alias, which is deprecated",
    {
      relation: name,
      names: legacyNames.map((legacy): Json => ({ name: legacy.name, alias: legacy.alias })),
    },
  );
