/** `Content-Range: 0-1/15`, and the status that goes with it. */
import type { Headers } from "../../../core/index.ts";

/** Value of `Content-Range`. `total`: undefined when no count was asked for. @rule R-RNG-7 */
export const encodeContentRange = (offset: bigint, rows: bigint, total: bigint | undefined): string => {
  const window = rows === 0n || total === 0n ? "*" : `${offset}-${offset + rows - 1n}`;
  return `${window}/${total ?? "*"}`;
};

/** @rule R-RNG-6 */
export const contentRangeHeaders = (contentRange: string): Headers => [
  ["Content-Range", contentRange],
  ["Range-Unit", "items"],
];

/** Status of a read or a function's result. @rule R-RNG-8 */
export const statusOfRange = (offset: bigint, rows: bigint, total: bigint | undefined): 200 | 206 | 416 => {
  if (total === undefined) return 200;
  if (offset > total) return 416;
  return rows < total ? 206 : 200;
};
