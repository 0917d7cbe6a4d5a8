/** Builds the parts of a response that depend on its rows: `Content-Range: 0-1/15`, the status, and the counted
 *  total. */
import type { Headers, ResultRow } from "../../../core/index.ts";
import { offsetBeyondRows } from "../errors.ts";
import type { MediaChoice, Preferences, RestRequest } from "../request.ts";
import { encodeErrorBody } from "./encode-error.ts";
import type { AnswerParts } from "./headers.ts";

/** Builds the response to a read whose rows may be part of a larger result. `total` is undefined if no count was
 *  requested. @rule R-RNG-7 R-RNG-8 */
export const buildRowsParts = (
  { range: { offset }, rest }: RestRequest,
  media: MediaChoice,
  row: ResultRow,
  rows: bigint,
  total: bigint | undefined,
): AnswerParts => {
  const { contentType } = media;
  const window = rows === 0n || total === 0n ? "*" : `${offset}-${offset + rows - 1n}`;
  const headers = buildContentRange(`${window}/${total ?? "*"}`);
  if (total !== undefined && offset > total)
    return {
      status: 416,
      contentType,
      body: encodeErrorBody(rest.context.options, offsetBeyondRows(offset, total)),
      headers,
    };
  return {
    status: total !== undefined && rows < total ? 206 : 200,
    contentType,
    body: decodeBody(row, media),
    headers,
  };
};

/** Builds the header `Content-Range`. @rule R-RNG-6 */
export const buildContentRange = (value: string): Headers => [
  ["Content-Range", value],
  ["Range-Unit", "items"],
];

/** Returns the body of a response. Binary media arrive as base64. */
export const decodeBody = ({ body }: ResultRow, { isBinary }: MediaChoice): string | Uint8Array =>
  isBinary ? Buffer.from(body ?? "", "base64") : (body ?? "");

/** Returns the total of a read, from the result of its statement. `cap` is `dbMaxRows`. @rule R-CNT-1 R-CNT-2
 *  R-CNT-3 */
export const readTotal = (
  row: ResultRow,
  count: NonNullable<Preferences["count"]>,
  cap: number | undefined,
): bigint => {
  switch (count) {
    case "exact":
      return BigInt(row.total ?? row.page_total ?? 0);
    case "planned":
      return readPlannedRows(row.count_plan);
    case "estimated": {
      // The statement counts up to one more than the cap.
      const exactCount = BigInt(row.total ?? 0);
      if (cap !== undefined && exactCount <= BigInt(cap)) return exactCount;
      const plannedCount = readPlannedRows(row.count_plan);
      return plannedCount > exactCount ? plannedCount : exactCount;
    }
  }
};

/** Returns the planner's estimate: `[{"Plan": {"Plan Rows": 15, …}}]`. */
const readPlannedRows = (plan: string | null | undefined): bigint => {
  // PostgreSQL wrote this JSON text.
  const explainOutput = JSON.parse(plan ?? "[]") as readonly { readonly Plan?: { readonly "Plan Rows"?: number } }[];
  return BigInt(Math.round(explainOutput[0]?.Plan?.["Plan Rows"] ?? 0));
};
