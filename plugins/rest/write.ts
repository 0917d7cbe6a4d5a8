/** `POST /vessels`, `PATCH /vessels?id=eq.1`, `PUT /vessels?id=eq.1`, `DELETE /vessels?id=eq.1`: writes rows. */
import {
  definePlugin,
  type Answer,
  type Cache,
  type Exchange,
  type Relation,
  type ResultRow,
} from "../../core/index.ts";
import type { Payload } from "./api.ts";
import { encodeHeaderText, percentEncode, type AnswerParts } from "./answer/headers.ts";
import { decodeBody, buildContentRange } from "./answer/rows.ts";
import { maxAffectedExceeded, resultNotSingular, putKeyMismatched } from "./errors.ts";
import { createRelationHandler, requireRest, withMethods } from "./routes.ts";
import { createRequestCache } from "./plan/planning.ts";
import { planWrite, type PlannedWrite, type WriteMethod } from "./plan/write.ts";
import type { PreparedRequest, RequestSource, RestSurface, RestRequest } from "./request.ts";
import { etagsService, runPrepared } from "./run.ts";
import { buildSource } from "./syntax/parse-request.ts";
import { deferBodyErrors, receivePayload } from "./syntax/payload.ts";

const ROWS = { kind: "payload", isJson: true } as const;

/** Handles the writing methods. DELETE has no body. @rule R-TX-1 R-TX-2 R-PIPE-1 R-BODY-1 R-BODY-4 */
const writeRelation = async (
  rest: RestSurface,
  exchange: Exchange,
  relation: Relation,
  method: WriteMethod,
  writes: Cache<RequestSource, PreparedRequest<PlannedWrite>>,
): Promise<Answer> => {
  const source = buildSource(rest, exchange, relation);
  const readPayload = method === "DELETE" ? undefined : await deferBodyErrors(() => receivePayload(rest, exchange));
  let payload: Payload | undefined;
  const etags = rest.context.use(etagsService);
  const answer = runPrepared(
    writes,
    {
      ...source,
      input: readPayload && ((hasColumns) => ({ shape: ROWS, payload: (payload = readPayload(hasColumns)) })),
    },
    (request, plannedWrite) => ({
      access: "read write",
      values: payload === undefined ? plannedWrite.values : [payload.text, ...plannedWrite.values.slice(1)],
      check: createRowCheck(plannedWrite, method),
      precondition: etags?.buildPrecondition(request, relation),
    }),
    (request, plannedWrite, row) => {
      const outcome = OUTCOMES[method](request, plannedWrite, relation, row);
      if (!plannedWrite.hasBody) return outcome;
      const body = decodeBody(row, plannedWrite.media);
      const parts = { contentType: plannedWrite.media.contentType, body, ...outcome };
      const isOneRow = method !== "DELETE" && readAffectedCount(row) === 1;
      return etags === undefined || !isOneRow ? parts : withTag(parts, etags.computeTag(body));
    },
  );
  return answer.catch((error: unknown) => {
    if (payload?.isUninspected !== true) throw error;
    throw rest.findHints()?.addPosition(error, payload.text) ?? error;
  });
};

/** Adds the entity tag to the parts of an answer. @rule R-ETG-5 */
const withTag = (parts: AnswerParts, etag: string): AnswerParts => ({
  ...parts,
  headers: [...(parts.headers ?? []), ["ETag", etag]],
});

const readAffectedCount = (row: ResultRow | undefined): number => Number(row?.page_total ?? 0);

/** Creates the check of the affected rows before the transaction ends. Returns undefined if no check is needed. @rule
 *  R-WRT-6 R-PRF-5 R-PUT-3 */
const createRowCheck = (
  { media, maxAffected, envelope }: PlannedWrite,
  method: WriteMethod,
): ((rows: readonly ResultRow[]) => void) | undefined => {
  const isSingular = media.isSingular && method !== "PUT";
  if (envelope.wrapper !== undefined || (!isSingular && maxAffected === undefined && method !== "PUT"))
    return undefined;
  return ([row]) => {
    const affectedCount = readAffectedCount(row);
    if (method === "PUT" && affectedCount !== 1) throw putKeyMismatched();
    if (isSingular && affectedCount !== 1) throw resultNotSingular(affectedCount);
    if (maxAffected !== undefined && affectedCount > maxAffected) throw maxAffectedExceeded(affectedCount);
  };
};

type WriteOutcome = Pick<AnswerParts, "status" | "headers" | "body">;

/** Returns the total of `Content-Range`: the number of affected rows if a count was requested. @rule R-CNT-4 */
const buildTotal = ({ preferences }: RestRequest, affectedCount: number): string =>
  preferences.count === "exact" || preferences.count === "estimated" ? String(affectedCount) : "*";

const buildRangeHeaders = (request: RestRequest, window: string, affectedCount: number): WriteOutcome["headers"] =>
  buildContentRange(`${window}/${buildTotal(request, affectedCount)}`);

/** The status and headers of a write by method. The body `""` is sent as empty. @rule R-WRT-1 R-RNG-7 */
const OUTCOMES: Readonly<
  Record<
    WriteMethod,
    (request: RestRequest, plannedWrite: PlannedWrite, relation: Relation, row: ResultRow) => WriteOutcome
  >
> = {
  POST: (request, plannedWrite, relation, row) => {
    const isOnlyUpdate = plannedWrite.countsInserted && readInsertedCount(row) === 0;
    const location = encodeLocation(relation, plannedWrite, row);
    const headers = [
      ...(location === undefined ? [] : [["Location", location] as const]),
      ...(buildRangeHeaders(request, "*", readAffectedCount(row)) ?? []),
    ];
    return { status: isOnlyUpdate ? 200 : 201, headers, ...(plannedWrite.hasBody ? {} : { body: "" }) };
  },
  PATCH: (request, plannedWrite, _relation, row) => {
    const affectedCount = readAffectedCount(row);
    return {
      status: plannedWrite.hasBody ? 200 : 204,
      headers: buildRangeHeaders(request, affectedCount === 0 ? "*" : `0-${affectedCount - 1}`, affectedCount),
    };
  },
  PUT: (_request, plannedWrite, _relation, row) => ({
    status: !plannedWrite.hasBody ? 204 : readInsertedCount(row) > 0 ? 201 : 200,
  }),
  DELETE: (request, plannedWrite, _relation, row) => ({
    status: plannedWrite.hasBody ? 200 : 204,
    headers: buildRangeHeaders(request, "*", readAffectedCount(row)),
  }),
};

/** Returns the number of rows that an upsert inserted. @rule R-UPS-4 R-PUT-4 */
const readInsertedCount = (row: ResultRow): number => Number(row.inserted ?? 0);

/** Returns the location of an inserted row: `/crew?vessel_id=eq.1&sailor_id=eq.4`. @rule R-WRT-2 R-PATH-9 */
const encodeLocation = (
  relation: Relation,
  { envelope, countsInserted }: PlannedWrite,
  row: ResultRow,
): string | undefined => {
  if (
    envelope.location === undefined ||
    typeof row.location !== "string" ||
    (countsInserted && readInsertedCount(row) !== 1)
  )
    return undefined;
  // The statement wrote the values of the key, in the order of the key.
  const parts = JSON.parse(row.location) as readonly (string | null)[];
  const query = envelope.location.map(
    (column, i) =>
      `${percentEncode(column)}=${typeof parts[i] === "string" ? `eq.${percentEncode(parts[i])}` : "is.null"}`,
  );
  return encodeHeaderText(`/${percentEncode(relation.name)}?${query.join("&")}`);
};

const METHODS: readonly WriteMethod[] = ["POST", "PUT", "PATCH", "DELETE"];

/** Serves POST, PUT, PATCH and DELETE of relations. */
export const restWrites = definePlugin({
  name: "rest-writes",
  requires: ["rest"],
  apply: (hooks, context) => {
    const rest = requireRest(context);
    const writes = createRequestCache(rest, "rest writes", planWrite);
    const handlers = METHODS.map(
      (method) =>
        [
          method,
          createRelationHandler((exchange, relation) => writeRelation(rest, exchange, relation, method, writes)),
        ] as const,
    );
    hooks.buildRestRoute.tap("rest-writes", (route) =>
      route.target.kind === "relation" ? withMethods(route, handlers) : route,
    );
  },
});
