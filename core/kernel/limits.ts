/** Limits on what one request may ask for; each is an option. They are checked while a request is read, so that a
 *  request beyond them costs no more than reading it. @rule R-LIM-1 G-LIM-1 */
import type { Counters } from "./counters.ts";
import { isRelApiError, RelApiError, type RelApiErrorFields } from "./errors.ts";

/** The request limits in effect, by option: that of core, and those that plugins declare (`defineLimit`) and add. */
export interface Limits {
  readonly maxUrlBytes: number;
}

/** The option that sets a request limit. */
export type Limit = keyof Limits;

/** An error that names the limit that was exceeded. @rule R-LIM-1 G-LIM-1 */
export const limitExceeded = (
  limit: Limit,
  fields: Pick<RelApiErrorFields, "code" | "message" | "path"> & Partial<Pick<RelApiErrorFields, "status">>,
): RelApiError =>
  new RelApiError({ status: 400, ...fields, hint: `The limit is the setting ${limit}.`, facts: { limit } });

/** The URL of a request, or of a call, is longer than `maxUrlBytes`. @rule R-BND-9 */
export const urlTooLong = (limitBytes: number): RelApiError =>
  limitExceeded("maxUrlBytes", {
    code: "url-too-long",
    status: 414,
    message: `The URL is longer than ${limitBytes} bytes`,
  });

/** The counter of what a limit refused. @rule R-ADM-2 */
export const refusalCounter = (limit: string): string => `refused-${limit}`;

/** Two surfaces may encode the same error. */
const counted = new WeakSet<RelApiError>();

/** Counts requests that a limit refused; called where errors become responses. @rule R-ADM-2 */
export const countRefusal = (counters: Counters, error: unknown): void => {
  if (!isRelApiError(error) || counted.has(error)) return;
  const { limit } = error.facts;
  if (typeof limit !== "string") return;
  counted.add(error);
  counters.add(refusalCounter(limit));
};
