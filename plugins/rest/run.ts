/** What reads, writes and calls do with a planned request: it runs in a transaction, and its row becomes the answer. */
import {
  type Answer,
  type BoundValue,
  type Execution,
  type Found,
  type Headers,
  type Json,
  type Program,
  type ResultRow,
} from "../../core/index.ts";
import { buildAnswer, resolveEnd, type AnswerParts } from "./answer/headers.ts";
import type { PlannedRequest, RestRequest } from "./request.ts";

/** What one request adds to what its plan says. */
export interface Run {
  readonly access: Execution["access"];
  readonly values: readonly BoundValue[];
  /** In place of the role's own. */
  readonly isolation?: string;
  /** Beside those that every request has. */
  readonly settings?: Execution["settings"];
  readonly check?: Execution["check"];
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
  const [row = {}] = await context.execute(executionOf(request, program, running));
  request.exchange.mark("transaction");
  keep();
  const parts: AnswerParts =
    made.envelope.wrapper === undefined
      ? outcome(made, row)
      : { status: 200, contentType: media.contentType, body: `${row.body ?? ""}\n` }; // lines (R-MED-7)
  return buildAnswer(request, parts, { row, headers: running.headers, applied, legacyNames });
};

/** A program in a transaction of the request. @rule R-TX-1 R-TX-2 */
export const executionOf = (request: RestRequest, program: Program, run: Run): Execution => {
  const { rest, exchange, schema, preferences } = request;
  const settings = buildRequestSettings(request);
  if (run.settings !== undefined) settings.push(...run.settings);
  return {
    session: exchange.session,
    access: run.access,
    isolation: run.isolation ?? isolationOf(request),
    schema,
    settings,
    programs: [{ program, values: run.values }],
    end: resolveEnd(rest.context.options, preferences).end,
    onGone: (listener) => exchange.onGone(listener),
    check: run.check,
    mayUseReplica: run.mayUseReplica,
  };
};

/** Settings of the request's transaction, in order. @rule R-TX-6 R-PRF-4 R-PRF-7 */
export const buildRequestSettings = ({
  rest,
  exchange,
  path,
  preferences,
}: RestRequest): (readonly [name: string, value: string])[] => {
  const settings = [...rest.context.requestSettings(exchange.request, path)];
  for (const [name, value] of preferences.given) {
    const set = rest.grammar.preferences.get(name)?.settings;
    if (set !== undefined) settings.push(...set(value));
  }
  return settings;
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
