/** `GET /vessels?select=name&tonnage=gte.500`: rows of a relation. */
import type {
  Answer,
  Ask,
  BoundValue,
  Cache,
  CacheSpec,
  Envelope,
  Headers,
  Json,
  Planned,
  Relation,
  ResultRow,
} from "../../core/index.ts";
import { contentRangeHeaders, encodeContentRange, statusOfRange } from "./answer/content-range.ts";
import { readTotal } from "./answer/count.ts";
import { encodeErrorBody } from "./answer/encode-error.ts";
import {
  buildAnswer,
  buildPreferenceApplied,
  encode,
  encodeContentLocation,
  encodeLegacyWarning,
} from "./answer/headers.ts";
import { notSingular, offsetBeyondRows } from "./errors.ts";
import { chooseMedia, headOf, type MediaChoice } from "./plan/media.ts";
import { planningOf, type Planning, type PlanSource } from "./plan/planning.ts";
import { resolveRead } from "./plan/read.ts";
import type { ResolvedRead, RestRequest } from "./request.ts";
import { buildRequestSettings, isolationOf, resolveEnd } from "./settings.ts";
import { checkPreferences } from "./syntax/prefer.ts";
import { windowValues, withoutWindow } from "./syntax/range.ts";
import { fillHoles, holesOf, splitAtMarks } from "./syntax/template.ts";

/** A read ready to run, the same for every request that says the same. */
export interface PlannedRead {
  readonly planned: Planned;
  /** Those of the filters and paths of one request, then those of its root's limit and offset. */
  readonly valuesOf: (request: RestRequest) => readonly BoundValue[];
  readonly media: MediaChoice;
  readonly contentLocation: (values: readonly string[]) => string;
  readonly legacyNames: ResolvedRead["legacyNames"];
}

export type PlannedReads = Cache<PlanSource, PlannedRead>;

/** Clients and proxies take some kilobytes of headers and fail beyond; a list of a thousand keys is longer. @rule
 *  R-URL-4 */
const MAX_LOCATION = 3000;

/** Their keys grow with the query, and so does what is made of it. */
const BYTES_PER_CHARACTER = 30;

export const plannedReads: CacheSpec<PlanSource, PlannedRead> = {
  name: "rest reads",
  make: (ask: Ask<PlanSource>) => planRead(planningOf(ask)),
  bytesOf: ({ contentLocation }) => 2000 + contentLocation([]).length * BYTES_PER_CHARACTER,
};

const planRead = (planning: Planning): PlannedRead => {
  const { rest, model, relation, schema, name, query, hasMarks, window } = planning;
  const { count } = planning.preferences;
  const values: BoundValue[] = [];
  const { schema: relationSchema, name: relationName } = relation;
  const from = { relation: { schema: relationSchema, name: relationName } };
  const { read, isWholeRow, legacyNames } = resolveRead({
    rest,
    model,
    schema,
    query,
    from,
    relation,
    name,
    hasRootFilters: true,
    window,
    values,
  });
  const media = chooseMedia(planning, { relation, isWholeRow });
  const body = planning.method === "HEAD" ? headOf(media) : media.envelope;
  const envelope: Envelope = {
    ...body,
    count,
    countCap: count === "estimated" ? rest.context.options.dbMaxRows : undefined,
  };
  const location = encodeContentLocation(name, query.pairs);
  return {
    planned: { plan: read, envelope },
    valuesOf: valuesWith(withoutWindow(values, window), hasMarks),
    media,
    contentLocation: hasMarks ? splitAtMarks(location, encode) : () => location,
    legacyNames,
  };
};

const valuesWith = (planned: readonly BoundValue[], hasMarks: boolean): PlannedRead["valuesOf"] => {
  const holes = hasMarks ? holesOf(planned) : [];
  return ({ filterValues, range }) => {
    const filled = fillHoles(planned, holes, filterValues);
    const window = windowValues(range);
    return window.length === 0 ? filled : [...filled, ...window];
  };
};

/** The handler of GET and HEAD. @rule R-HDR-3 R-HDR-4 R-RNG-7 R-RNG-8 R-TX-2 */
export const readRelation = async (request: RestRequest, relation: Relation, reads: PlannedReads): Promise<Answer> => {
  const { rest, exchange, preferences } = request;
  const { context } = rest;
  const { made: found, keep } = reads.get({ request, relation });
  checkPreferences(preferences);
  const { planned, media } = found;
  if (found.legacyNames.length > 0) warnOfLegacyNames(request, found.legacyNames);
  const program = context.prepare(planned, exchange.session, "rest");
  exchange.mark("plan");
  const { end, isChosen } = resolveEnd(context.options, preferences);
  const [row = {}] = await context.execute({
    session: exchange.session,
    access: "read only",
    isolation: isolationOf(request),
    schema: request.schema,
    settings: buildRequestSettings(request),
    programs: [{ program, values: found.valuesOf(request) }],
    end,
    onGone: (listener) => exchange.onGone(listener),
    mayUseReplica: true,
  });
  exchange.mark("transaction");
  keep();
  const location = found.contentLocation(request.filterValues);
  const headers: (readonly [string, string])[] = location.length > MAX_LOCATION ? [] : [["Content-Location", location]];
  if (found.legacyNames.length > 0) headers.push(["Warning", encodeLegacyWarning(found.legacyNames)]);
  const applied = buildPreferenceApplied(preferences, { tx: isChosen });
  if (applied !== undefined) headers.push(["Preference-Applied", applied]);
  // the plan of a read has no rows
  if (planned.envelope.explain !== undefined)
    return buildAnswer(request, { status: 200, contentType: media.contentType, body: planBodyOf(row), headers, row });
  return answerRows(request, found, row, headers);
};

/** @rule R-HDR-9 */
export const warnOfLegacyNames = ({ rest, name }: RestRequest, legacyNames: ResolvedRead["legacyNames"]): void =>
  rest.context.logger.warn(
    "embeds were addressed by the relation's name even though they have an alias, which is deprecated",
    {
      relation: name,
      names: legacyNames.map((legacy): Json => ({ name: legacy.name, alias: legacy.alias })),
    },
  );

const answerRows = (request: RestRequest, { media }: PlannedRead, row: ResultRow, headers: Headers): Answer => {
  const { preferences, range } = request;
  const { options } = request.rest.context;
  const rows = BigInt(row.page_total ?? 0);
  if (media.isSingular && rows !== 1n) throw notSingular(Number(rows));
  const total = readTotal(row, preferences.count, options.dbMaxRows);
  const status = statusOfRange(range.offset, rows, total);
  const window = contentRangeHeaders(encodeContentRange(range.offset, rows, total));
  const { contentType } = media;
  if (status === 416) {
    const error = offsetBeyondRows(range.offset, total ?? 0n);
    return buildAnswer(request, {
      status,
      contentType,
      body: encodeErrorBody(options, error),
      headers: [...window, ...headers],
      row,
    });
  }
  return buildAnswer(request, { status, contentType, body: bodyOf(row, media), headers: [...window, ...headers], row });
};

/** An execution plan as PostgreSQL prints it. @rule R-MED-7 */
export const planBodyOf = (row: ResultRow): string => `${row.body ?? ""}\n`;

/** Bytes of binary media come as base64. */
export const bodyOf = (row: ResultRow, media: MediaChoice): string | Uint8Array =>
  media.isBinary ? Buffer.from(row.body ?? "", "base64") : (row.body ?? "");
