/** Errors of limits. The fact `limit` is the setting, by which core counts rejections. */
import { RelApiError } from "../../core/index.ts";
import { formatCount } from "../shared/plural.ts";

/** Returns the error for an operation beyond a limit by role: `depth-limit-exceeded`. @rule G-LIM-8 */
export const apiLimitExceeded = (kind: string, message: string): RelApiError =>
  new RelApiError({ code: `${kind}-limit-exceeded`, status: 400, message, path: "$", facts: { limit: "apiLimits" } });

/** Returns the error for a request above the estimated cost or rows of its role. @rule R-LIM-8 G-LIM-11 */
export const costLimitExceeded = (limit: "costLimits" | "estimatedRowLimits", message: string): RelApiError =>
  new RelApiError({
    code: "cost-limit-exceeded",
    status: 400,
    message,
    hint: `Ask for less: a filter, a smaller limit, fewer relationships. The limit is the setting ${limit}.`,
    path: "$",
    facts: { limit },
  });

/** Returns the error for too many requests. `waitMs` is the time until the next request is accepted. @rule R-LIM-6 */
export const rateLimitExceeded = (perMinute: number, waitMs: number): RelApiError =>
  new RelApiError({
    code: "rate-limit-exceeded",
    status: 429,
    message: `more than ${formatCount(perMinute, "request")} per minute`,
    path: "$",
    headers: [["Retry-After", String(Math.max(1, Math.ceil(waitMs / 1000)))]],
    facts: { limit: "rateLimits" },
  });

/** Returns the error for a write without a filter, with the message of the extension `safeupdate`, which hosted
 *  PostgreSQL often has. @rule R-LIM-5 G-LIM-7 */
export const writeUnfiltered = (operation: "UPDATE" | "DELETE"): RelApiError =>
  new RelApiError({
    code: "unfiltered-write",
    status: 400,
    message: `${operation} requires a WHERE clause`,
    hint: "Add a filter. The setting safeWrites requires one.",
    path: "$",
    facts: { limit: "safeWrites" },
  });
