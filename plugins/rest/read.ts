/** `GET /vessels?select=name&tonnage=gte.500`: reads rows of a relation. */
import type { Answer, BoundValue, Exchange, Headers, Relation } from "../../core/index.ts";
import { percentEncode } from "./answer/headers.ts";
import { answerRows, readTotal } from "./answer/rows.ts";
import { notSingular } from "./errors.ts";
import type { PlannedRead, Rest, RestRequest } from "./request.ts";
import { runPrepared } from "./run.ts";
import { sourceOf } from "./syntax/parse-request.ts";
import { windowValues } from "./syntax/range.ts";

/**
 * Clients and proxies accept some kilobytes of headers. The location of a list of a thousand keys would be longer.
 * @rule R-URL-4
 */
const MAX_LOCATION = 3000;

const NO_HEADERS: Headers = [];

/** The values of a planned read for this request: its filters, limit and offset. */
export const valuesOf = (
  { values, slots: holes }: PlannedRead,
  { filterValues, range }: RestRequest,
): readonly BoundValue[] => {
  const filled = [...values, ...windowValues(range)];
  for (const [at, value] of holes) filled[at] = filterValues[value] ?? null;
  return filled;
};

const locationOf = ({ location }: PlannedRead, { filterValues }: RestRequest): string => {
  let text = location[0] ?? "";
  for (let i = 1; i < location.length; i += 2)
    text += percentEncode(filterValues[Number(location[i])] ?? "") + (location[i + 1] ?? "");
  return text;
};

/** The handler of GET and HEAD. @rule R-HDR-3 R-HDR-4 R-RNG-7 R-RNG-8 R-TX-2 */
export const readRelation = (rest: Rest, exchange: Exchange, relation: Relation): Promise<Answer> =>
  runPrepared(
    rest.reads,
    sourceOf(rest, exchange, relation),
    (request, made) => {
      const location = locationOf(made, request);
      return {
        access: "read only",
        values: valuesOf(made, request),
        mayUseReplica: true,
        headers: location.length > MAX_LOCATION ? NO_HEADERS : [["Content-Location", location]],
      };
    },
    (request, { media }, row) => {
      const { count } = request.preferences;
      const rows = BigInt(row.page_total ?? 0);
      if (media.isSingular && rows !== 1n) throw notSingular(Number(rows));
      const total = count && readTotal(row, count, request.rest.context.options.dbMaxRows);
      return answerRows(request, media, row, rows, total);
    },
  );
