/**
 * `set_config('response.headers', '[{"X-Seen": "yes"}]', true)`, `set_config('response.status', '201', true)`: lets SQL
 * set response headers and the status.
 */
import { definePlugin, quoteLiteral, sql, type Headers, type ResultRow, type Sql } from "../../core/index.ts";
import { encodeHeaderText, overrideHeaders, createHeaderWarning } from "./answer/headers.ts";
import { finishAnswerHook } from "./api.ts";
import { responseHeadersInvalid, responseStatusInvalid } from "./errors.ts";

const readSetting = (name: string): Sql => sql`nullif(pg_catalog.current_setting(${quoteLiteral(name)}, true), '')`;

interface ResponseSettings {
  readonly status: number | undefined;
  readonly headers: Headers;
}

const NO_RESPONSE_SETTINGS: ResponseSettings = { status: undefined, headers: [] };

/**
 * Reads the settings, and validates the status first. @throws RelApiError `response-status-invalid`,
 * `response-headers-invalid` @rule R-GUC-1 R-GUC-2 R-GUC-3 R-GUC-4
 */
const readResponseSettings = (row: ResultRow): ResponseSettings => {
  const status = row.response_status ?? null;
  const headers = row.response_headers ?? null;
  if (status === null && headers === null) return NO_RESPONSE_SETTINGS;
  return {
    status: status === null ? undefined : readStatus(status),
    headers: headers === null ? [] : readHeaders(headers),
  };
};

const readStatus = (text: string): number => {
  const status = Number(/^[0-9]+/.exec(text)?.[0] ?? Number.NaN);
  // HTTP allows these statuses, except that 1xx would not be the final status.
  if (!(status >= 200 && status <= 999)) throw responseStatusInvalid();
  return status;
};

const readHeaders = (text: string): Headers => {
  let headerList: unknown;
  try {
    headerList = JSON.parse(text);
  } catch {
    throw responseHeadersInvalid();
  }
  if (!Array.isArray(headerList)) throw responseHeadersInvalid();
  return headerList.map(readHeader).filter(([name]) => name !== "");
};

/** Characters of header names such as `X-Request-Id`. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]*$/;

const readHeader = (item: unknown): readonly [string, string] => {
  const entries = typeof item === "object" && item !== null && !Array.isArray(item) ? Object.entries(item) : [];
  const [name, value] = entries[0] ?? [];
  if (entries.length !== 1 || name === undefined || typeof value !== "string" || !HEADER_NAME.test(name))
    throw responseHeadersInvalid();
  return [name, encodeHeaderText(value)];
};

/** Lets SQL set response headers and the status. @rule R-GUC-1 R-GUC-3 */
export const responseSettings = definePlugin({
  name: "response-settings",
  requires: ["rest"],
  resultColumns: [
    { name: "response_headers", builtIn: [], compile: () => readSetting("response.headers") },
    { name: "response_status", builtIn: [], compile: () => readSetting("response.status") },
  ],
  apply: (_hooks, { use, logger }) => {
    const warnOfIgnoredHeader = createHeaderWarning(logger);
    use(finishAnswerHook).tap("response-settings", (answer, row) => {
      const settings = readResponseSettings(row);
      if (settings === NO_RESPONSE_SETTINGS) return answer;
      return {
        ...answer,
        status: settings.status ?? answer.status,
        headers: overrideHeaders(answer.headers, settings.headers, warnOfIgnoredHeader),
      };
    });
  },
});
