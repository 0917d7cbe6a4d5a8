/** `GET /vessels?select=name&tonnage=gte.500`: reads rows of a relation. */
import type { Answer, Ask, BoundValue, Cache, CacheSpec, Headers, Relation } from "../../core/index.ts";
import { encode } from "./answer/headers.ts";
import { answerRows, readTotal } from "./answer/rows.ts";
import { notSingular } from "./errors.ts";
import { planningOf, type PlanSource } from "./plan/planning.ts";
import { planRead, type PlannedRead } from "./plan/read.ts";
import type { RestRequest } from "./request.ts";
import { runPlanned } from "./run.ts";

export type PlannedReads = Cache<PlanSource, PlannedRead>;

/**
 * Clients and proxies accept some kilobytes of headers. The location of a list of a thousand keys would be longer.
 * @rule R-URL-4
 */
const MAX_LOCATION = 3000;

/** An estimate for a cached read, since both keys and values grow with the query. */
const BYTES_PER_CHARACTER = 30;

export const plannedReads: CacheSpec<PlanSource, PlannedRead> = {
  name: "rest reads",
  make: (ask: Ask<PlanSource>) => planRead(planningOf(ask)),
  bytesOf: ({ location }) => 2000 + location.join("").length * BYTES_PER_CHARACTER,
};

const NO_HEADERS: Headers = [];

/** The values of a planned read for this request: its filters, limit and offset. */
export const valuesOf = (
  { values, holes }: PlannedRead,
  { filterValues, range, hasLimit, hasOffset }: RestRequest,
): readonly BoundValue[] => {
  if (holes.length === 0 && !hasLimit && !hasOffset) return values;
  const filled = [...values];
  for (const [at, value] of holes) filled[at] = filterValues[value] ?? null;
  if (hasLimit) filled.push(String(range.limit));
  if (hasOffset) filled.push(String(range.offset));
  return filled;
};

const locationOf = ({ location }: PlannedRead, { filterValues }: RestRequest): string => {
  let text = location[0] ?? "";
  for (let i = 1; i < location.length; i += 2)
    text += encode(filterValues[Number(location[i])] ?? "") + (location[i + 1] ?? "");
  return text;
};

/** The handler of GET and HEAD. @rule R-HDR-3 R-HDR-4 R-RNG-7 R-RNG-8 R-TX-2 */
export const readRelation = (request: RestRequest, relation: Relation, reads: PlannedReads): Promise<Answer> =>
  runPlanned(
    request,
    reads.get({ request, relation }),
    (made) => {
      const location = locationOf(made, request);
      return {
        access: "read only",
        values: valuesOf(made, request),
        mayUseReplica: true,
        headers: location.length > MAX_LOCATION ? NO_HEADERS : [["Content-Location", location]],
      };
    },
    ({ media }, row) => {
      const { count } = request.preferences;
      const rows = BigInt(row.page_total ?? 0);
      if (media.isSingular && rows !== 1n) throw notSingular(Number(rows));
      const total = count && readTotal(row, count, request.rest.context.options.dbMaxRows);
      return answerRows(request, media, row, rows, total);
    },
  );
