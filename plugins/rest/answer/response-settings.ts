/** `set_config('response.headers', '[{"X-Seen": "yes"}]', true)`: what SQL asked for in an answer. */
import type { Headers, Logger, ResultRow } from "../../../core/index.ts";
import { responseHeadersInvalid, responseStatusInvalid } from "../errors.ts";
import { headerText } from "./header-text.ts";

export interface ResponseSettings {
  readonly status: number | undefined;
  readonly headers: Headers;
}

const NOTHING: ResponseSettings = { status: undefined, headers: [] };

/** The status is judged first. @throws RelApiError `response-status-invalid`, `response-headers-invalid` @rule R-GUC-1
 *  R-GUC-2 R-GUC-3 R-GUC-4 */
export const readResponseSettings = (row: ResultRow | undefined): ResponseSettings => {
  const status = row?.response_status ?? null;
  const headers = row?.response_headers ?? null;
  if (status === null && headers === null) return NOTHING;
  return {
    status: status === null ? undefined : readStatus(status),
    headers: headers === null ? [] : readHeaders(headers),
  };
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

/** How an answer is cut out of its connection is between this server and the next hop: two words on it, and what
 *  follows could be read as another answer. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** `X-Request-Id` */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]*$/;

const readHeader = (item: unknown): readonly [string, string] => {
  const entries = typeof item === "object" && item !== null && !Array.isArray(item) ? Object.entries(item) : [];
  const [name, value] = entries[0] ?? [];
  if (entries.length !== 1 || name === undefined || typeof value !== "string" || !HEADER_NAME.test(name))
    throw responseHeadersInvalid();
  return [name, headerText(value)];
};

/** The answer's headers, those that SQL set in place of the server's. `ignored`: told of each that SQL has no say in.
 *  @rule R-GUC-1 R-GUC-5 R-ERR-5 */
export const overrideHeaders = (own: Headers, set: Headers, ignored: (name: string) => void): Headers => {
  if (set.length === 0) return own;
  const names = new Set<string>();
  const taken = set.filter(([name]) => {
    const lower = name.toLowerCase();
    if (OF_THE_CONNECTION.has(lower)) {
      ignored(lower);
      return false;
    }
    names.add(lower);
    return true;
  });
  return [...own.filter(([name]) => !names.has(name.toLowerCase())), ...taken];
};

/** @rule R-GUC-5 */
export const warnOfHeader =
  (logger: Logger) =>
  (name: string): void =>
    logger.warn("SQL set a header of the connection, which is the server's alone: it was left out", { header: name });
