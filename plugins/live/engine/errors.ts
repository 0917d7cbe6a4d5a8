/** Errors of live queries. */
import { RelApiError } from "../../../core/index.ts";

/** @rule G-SUB-12 */
export const liveQueriesTooLarge = (limitBytes: number): RelApiError =>
  new RelApiError({
    code: "live-queries-too-large",
    status: 503,
    message: `The live queries together are larger than ${limitBytes} bytes`,
    headers: [["Retry-After", "1"]],
  });

/** @rule X-GQL-16 */
export const eventsRequireSingleField = (path: string): RelApiError =>
  new RelApiError({
    code: "not-supported",
    status: 400,
    message: "a subscription of a remote schema must be the only field of the operation",
    path,
  });

/** @rule G-LIV-3 */
export const functionFieldNotLive = (path: string | undefined): RelApiError =>
  new RelApiError({
    code: "not-supported",
    status: 400,
    message: "a field that a function answers cannot be live",
    path: path ?? "$",
  });
