/** Errors of live queries. */
import { limitExceeded, RelApiError } from "../../../core/index.ts";

/** Returns the error for a live query that would exceed the limit of all live queries. @rule G-SUB-12 */
export const liveQueriesTooLarge = (limitBytes: number): RelApiError =>
  new RelApiError({
    code: "live-queries-too-large",
    status: 503,
    message: `The live queries exceed ${limitBytes} bytes in total`,
    headers: [["Retry-After", "1"]],
  });

/** Returns the error for more operations of a WebSocket than `maxSocketOperations`. @rule G-WS-4 */
export const operationCountExceeded = (limit: number): RelApiError =>
  limitExceeded("maxSocketOperations", {
    code: "bad-request",
    message: `too many operations on one connection: the limit is ${limit}`,
    path: "$",
  });

/** Returns the error for a `start` message that cannot start an operation. @rule G-WSL-7 */
export const startFailed = (message: string): RelApiError =>
  new RelApiError({ code: "start-failed", status: 400, message, path: "$" });

/** Returns the error for a request for events that selects several root fields. @rule X-GQL-16 */
export const remoteSubscriptionNotAlone = (path: string): RelApiError =>
  new RelApiError({
    code: "not-supported",
    status: 400,
    message: "a subscription of a remote schema must be the only field of the operation",
    path,
  });

/** Returns the error for a live query with a field that a function answers. @rule G-LIV-3 */
export const functionFieldNotLive = (path: string | undefined): RelApiError =>
  new RelApiError({
    code: "not-supported",
    status: 400,
    message: "a field that a function answers cannot be live",
    path: path ?? "$",
  });
