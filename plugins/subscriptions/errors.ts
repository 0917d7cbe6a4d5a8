/** The errors of live queries. */
import { RelApiError } from "../../core/index.ts";

/** @rule G-SUB-12 */
export const liveQueriesTooLarge = (limitBytes: number): RelApiError =>
  new RelApiError({
    code: "live-queries-too-large",
    status: 503,
    message: `The live queries together are larger than ${limitBytes} bytes`,
    headers: [["Retry-After", "1"]],
  });
