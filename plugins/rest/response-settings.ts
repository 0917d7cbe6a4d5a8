/** `set_config('response.headers', '[{"X-Seen": "yes"}]', true)`: what SQL asked for in an answer. */
import type { Headers, ResultRow } from "../../core/index.ts";
import { responseHeadersInvalid, responseStatusInvalid } from "./errors.ts";
import { headerText } from "./header-text.ts";

export interface ResponseSettings {
  readonly status: number | undefined;
  readonly headers: Headers;
}

const NOTHING: ResponseSettings = { status: undefined, headers: [] };

/** The status is judged first. @throws RelApiError `response-status-invalid`, `response-headers-invalid` @rule R-GUC-1 R-GUC-2 R-GUC-3 R-GUC-4 */
export const readResponseSettings = (row: ResultRow | undefined): ResponseSettings => {
  const status = row?.response_status ?? null;
  const headers = row?.response_headers ?? null;
  if (status === null && headers === null) return NOTHING;
  return { status: status === null ? undefined : readStatus(status), headers: headers === null ? [] : readHeaders(headers) };
};

const readStatus = (text: string): number => {
  const status = Number(/^[0-9]+/.exec(text)?.[0] ?? Number.NaN);
  // what HTTP can send, and 1xx would not be the last word
  if (!(status >= 200 && status <= 999)) throw responseStatusInvalid();
  return status;
};

const readHeaders = (text: string): Headers => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw responseHeadersInvalid();
  }
  if (!Array.isArray(parsed)) throw responseHeadersInvalid();
  return parsed.map(readHeader).filter(([name]) => name !== "");
};

/** `X-Request-Id` */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]*$/;

const readHeader = (item: unknown): readonly [string, string] => {
  const entries = typeof item === "object" && item !== null && !Array.isArray(item) ? Object.entries(item) : [];
  const [name, value] = entries[0] ?? [];
  if (entries.length !== 1 || name === undefined || typeof value !== "string" || !HEADER_NAME.test(name)) throw responseHeadersInvalid();
  return [name, headerText(value)];
};

/** The answer's headers, those that SQL set in place of the server's. @rule R-GUC-1 R-ERR-5 */
export const overrideHeaders = (own: Headers, set: Headers): Headers => {
  if (set.length === 0) return own;
  const names = new Set(set.map(([name]) => name.toLowerCase()));
  return [...own.filter(([name]) => !names.has(name.toLowerCase())), ...set];
};
