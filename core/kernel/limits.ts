/** Request limits, which are checked while a request is read. A rejected request therefore costs no more than reading
 *  it. @rule R-LIM-1 G-LIM-1 */
import type { Counters } from "./counters.ts";
import { RelApiError, type RelApiErrorFields } from "./errors.ts";

/** The current request limits by option: the limit of core, and the limits that plugins declare by settings with
 *  `isLimit`. */
export interface RequestLimits {
  readonly maxUrlBytes: number;
}

/** An option that sets a request limit. */
export type Limit = keyof RequestLimits;

/** Returns an error that names the exceeded limit. @rule R-LIM-1 G-LIM-1 */
export const limitExceeded = (
  limit: Limit,
  fields: Pick<RelApiErrorFields, "code" | "message" | "path"> & Partial<Pick<RelApiErrorFields, "status">>,
): RelApiError =>
  new RelApiError({ status: 400, ...fields, hint: `The limit is the setting ${limit}.`, facts: { limit } });

/** Returns the error for the URL of a request or call that is longer than `maxUrlBytes`. @rule R-BND-9 @experimental */
export const urlTooLong = (limitBytes: number): RelApiError =>
  limitExceeded("maxUrlBytes", {
    code: "url-too-long",
    status: 414,
    message: `The URL is longer than ${limitBytes} bytes`,
  });

/** Returns the name of the counter for a limit's rejections. @rule R-ADM-2 */
export const nameRejectionCounter = (limit: string): string => `refused-${limit}`;

/** Counts a rejection by a limit. The code that turns errors into responses calls this function. @rule R-ADM-2 */
export const countRejection = (counters: Counters, error: unknown): void => {
  if (!(error instanceof RelApiError) || error.isCounted) return;
  const { limit } = error.facts;
  if (typeof limit !== "string") return;
  error.isCounted = true;
  counters.add(nameRejectionCounter(limit));
};
