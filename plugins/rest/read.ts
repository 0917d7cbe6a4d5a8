/** `GET /vessels?select=name&tonnage=gte.500`: reads rows of a relation. */
import type { Answer, BoundValue, Exchange, Headers, Relation } from "../../core/index.ts";
import { percentEncode } from "./answer/headers.ts";
import { buildRowsParts, readTotal } from "./answer/rows.ts";
import { resultNotSingular } from "./errors.ts";
import type { PlannedRead, RestSurface, RestRequest } from "./request.ts";
import { runPrepared } from "./run.ts";
import { buildSource } from "./syntax/parse-request.ts";
import { buildWindowValues } from "./syntax/range.ts";

/** The maximum length of a location. Clients and proxies accept some kilobytes of headers, and a list of a thousand
 *  keys would be longer. @rule R-URL-4 */
const MAX_LOCATION = 3000;

const NO_HEADERS: Headers = [];

/** Returns the values of a planned read for this request: its filters, limit and offset. */
export const fillValues = (
  { values, slotPositions }: PlannedRead,
  { filterValues, range }: RestRequest,
): readonly BoundValue[] => {
  const boundValues = [...values, ...buildWindowValues(range)];
  for (const [at, value] of slotPositions) boundValues[at] = filterValues[value] ?? null;
  return boundValues;
};

const buildContentLocation = ({ location }: PlannedRead, { filterValues }: RestRequest): string => {
  let text = location[0] ?? "";
  for (let i = 1; i < location.length; i += 2)
    text += percentEncode(filterValues[Number(location[i])] ?? "") + (location[i + 1] ?? "");
  return text;
};

/** Handles GET and HEAD. @rule R-HDR-3 R-HDR-4 R-RNG-7 R-RNG-8 R-TX-2 */
export const readRelation = (rest: RestSurface, exchange: Exchange, relation: Relation): Promise<Answer> =>
  runPrepared(
    rest.reads,
    buildSource(rest, exchange, relation),
    (request, plannedRead) => {
      const location = buildContentLocation(plannedRead, request);
      return {
        access: "read only",
        values: fillValues(plannedRead, request),
        mayUseReplica: true,
        headers: location.length > MAX_LOCATION ? NO_HEADERS : [["Content-Location", location]],
      };
    },
    (request, { media }, row) => {
      const { count } = request.preferences;
      const rows = BigInt(row.page_total ?? 0);
      if (media.isSingular && rows !== 1n) throw resultNotSingular(Number(rows));
      const total = count && readTotal(row, count, request.rest.context.options.dbMaxRows);
      return buildRowsParts(request, media, row, rows, total);
    },
  );
