/** Parses the list of requests of a batch. */
import { isJsonObject, limitExceeded, RelApiError, type Json } from "../../../core/index.ts";

export interface BatchPart {
  readonly method: string;
  /** The path below the root of the surface, with the query string. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly id?: string;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"]);

/** The headers that a part may set. The batch request sets credentials and connection headers. */
const HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-profile",
  "content-profile",
  "content-type",
  "if-match",
  "if-none-match",
  "prefer",
  "range",
  "range-unit",
]);

const KEYS: ReadonlySet<string> = new Set(["method", "path", "headers", "body", "id"]);
const ID = /^[A-Za-z_]\w*$/;
const PATH = /^\/[^\s#]+$/;

/** Returns the error for a batch that cannot run. `part` is the number of the request, counted from 1. `limit` is the
 *  setting that rejects the batch. */
export const batchRejected = (
  message: string,
  part?: number,
  { hint, limit }: { readonly hint?: string; readonly limit?: string } = {},
): RelApiError =>
  new RelApiError({
    code: "batch-malformed",
    status: 400,
    message: part === undefined ? message : `request ${part}: ${message}`,
    ...(hint !== undefined && { hint }),
    ...(limit !== undefined && { facts: { limit } }),
  });

/** Returns the error for a header of a part that is too long. @rule P-BAT-6a */
export const batchHeaderTooLong = (name: string, maxBytes: number, part: number): RelApiError =>
  batchRejected(`the header "${name}" is longer than ${maxBytes} bytes`, part, { limit: "maxUrlBytes" });

/** Returns the error for answers that exceed the limit in total. @rule P-BAT-6a */
export const batchResponsesTooLarge = (part: number): RelApiError =>
  batchRejected("the answers of the batch are too large in total", part, { limit: "maxResultBytes" });

/** Returns the error for an answer that is nested too deeply for references. @rule P-BAT-6a */
export const batchAnswerTooDeep = (name: string, maxLevels: number, part: number): RelApiError =>
  batchRejected(`the answer of "${name}" is nested deeper than ${maxLevels} levels`, part, { limit: "maxJsonDepth" });

/** Returns the error for a body that is nested too deeply. @rule P-BAT-6a */
export const batchBodyTooDeep = (maxLevels: number): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "batch-malformed",
    message: `a body is nested deeper than ${maxLevels} levels`,
  });

/** Returns the error for a body that is not a valid batch. */
export const batchMalformed = (message: string, part?: number): RelApiError =>
  batchRejected(message, part, {
    hint: 'A batch is a list of objects: [{"method": "GET", "path": "/table?id=eq.1"}]',
  });

export const ALLOW = ["Allow", "OPTIONS,POST"] as const;

/** Returns the error for a batch with another method than POST. @rule P-BAT-1 */
export const batchMethodUnsupported = (method: string): RelApiError =>
  new RelApiError({
    code: "method-unsupported",
    status: 405,
    message: `Unsupported HTTP method: ${method}`,
    headers: [ALLOW],
  });

/** Returns the error for a batch that exceeds its time limit. @rule P-BAT-8 */
export const batchTimedOut = (seconds: number): RelApiError =>
  new RelApiError({
    code: "batch-timeout",
    status: 504,
    message: `The batch took longer than ${seconds} ${seconds === 1 ? "second" : "seconds"}`,
    hint: "The limit is the setting batchTimeout.",
  });

const parseHeaders = (json: Json | undefined, part: number): Readonly<Record<string, string>> => {
  if (json === undefined || json === null) return {};
  if (!isJsonObject(json)) throw batchMalformed("headers is not an object", part);
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      const lower = name.toLowerCase();
      if (!HEADERS.has(lower)) throw batchMalformed(`the header "${name}" is that of the batch`, part);
      // eslint-disable-next-line no-control-regex -- headers cannot contain these
      if (typeof value !== "string" || /[\u0000-\u001f\u007f]/.test(value))
        throw batchMalformed(`the header "${name}" is not a text`, part);
      return [lower, value];
    }),
  );
};

/** Returns the requests of a batch. @throws RelApiError `batch-malformed` @rule P-BAT-1 P-BAT-6 */
export const parseParts = (json: Json, maxCount: number): readonly BatchPart[] => {
  if (!Array.isArray(json)) throw batchMalformed("the body is not a list of requests");
  if (json.length === 0) throw batchMalformed("the list of requests is empty");
  if (json.length > maxCount)
    throw limitExceeded("maxBatchRequests", {
      code: "batch-malformed",
      message: `the batch has ${json.length} requests, and at most ${maxCount} are allowed`,
    });
  const ids = new Set<string>();
  return json.map((entry: Json, i): BatchPart => {
    const part = i + 1;
    if (!isJsonObject(entry)) throw batchMalformed("it is not an object", part);
    const unknownKey = Object.keys(entry).find((key) => !KEYS.has(key));
    if (unknownKey !== undefined) throw batchMalformed(`it has a key "${unknownKey}"`, part);
    const { method = "GET", path, body, id } = entry;
    if (typeof method !== "string" || !METHODS.has(method.toUpperCase()))
      throw batchMalformed(`the method is not one of ${[...METHODS].join(", ")}`, part);
    if (typeof path !== "string" || !PATH.test(path))
      throw batchMalformed('the path is not one of a table or function: "/table?id=eq.1"', part);
    if (id !== undefined && (typeof id !== "string" || !ID.test(id)))
      throw batchMalformed("the id is not a name", part);
    if (typeof id === "string" && ids.has(id)) throw batchMalformed(`the id "${id}" is given twice`, part);
    if (typeof id === "string") ids.add(id);
    return {
      method: method.toUpperCase(),
      path,
      headers: parseHeaders(entry["headers"], part),
      ...(body === undefined ? {} : { body }),
      ...(typeof id === "string" ? { id } : {}),
    };
  });
};
