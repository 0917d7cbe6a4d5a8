/** Encodes errors in the format of the REST surface: `{"code":"PGRST205","details":null,"hint":null,"message":"…"}`. */
import {
  RelApiError,
  getVisibility,
  type Answer,
  type Exchange,
  type Headers,
  type Json,
  type Model,
  type ResolvedOptions,
  type Session,
} from "../../../core/index.ts";
import { readRaisedHook } from "../api.ts";
import { CORE_MESSAGES } from "../errors.ts";
import type { RestSurface } from "../request.ts";
import { encodeHeaderText, overrideHeaders } from "./headers.ts";
import { dependsOnRights, removeInvisibleFacts } from "./visible-error.ts";

/** Maps this project's error codes to PostgREST's codes. SQLSTATEs stay unchanged. @rule R-ERR-1 R-ERR-2 */
const CODES: Readonly<Record<string, string>> = {
  "connection-failed": "PGRST000",
  "connection-lost": "PGRST001",
  "model-not-loaded": "PGRST002",
  "pool-timeout": "PGRST003",
  "parse-error": "PGRST100",
  "url-too-long": "PGRST100",
  "method-unsupported-by-routine": "PGRST101",
  "bad-body": "PGRST102",
  "body-too-large": "PGRST102",
  "body-late": "PGRST102",
  "body-encoding-unknown": "PGRST102",
  "body-unreadable": "PGRST102",
  "body-too-deep": "PGRST102",
  "range-not-satisfiable": "PGRST103",
  "put-filters-invalid": "PGRST105",
  "schema-not-exposed": "PGRST106",
  "media-type-unavailable": "PGRST107",
  "not-embedded": "PGRST108",
  "response-headers-invalid": "PGRST111",
  "response-status-invalid": "PGRST112",
  "limit-on-put": "PGRST114",
  "put-key-mismatch": "PGRST115",
  "not-singular": "PGRST116",
  "method-unsupported": "PGRST117",
  "related-order-impossible": "PGRST118",
  "embed-order-impossible": "PGRST118",
  "raised-error-invalid": "PGRST121",
  "preferences-invalid": "PGRST122",
  "aggregates-disabled": "PGRST123",
  "max-affected-exceeded": "PGRST124",
  "path-invalid": "PGRST125",
  "path-not-found": "PGRST125",
  "root-disabled": "PGRST126",
  "not-implemented": "PGRST127",
  "max-affected-on-single": "PGRST128",
  "time-zone-invalid": "PGRST129",
  "relationship-not-found": "PGRST200",
  "relationship-ambiguous": "PGRST201",
  "routine-not-found": "PGRST202",
  "ambiguous-routine": "PGRST203",
  "column-not-found": "PGRST204",
  "relation-not-found": "PGRST205",
  "jwt-secret-missing": "PGRST300",
  "token-refused": "PGRST301",
  "anonymous-refused": "PGRST302",
  "admin-secret-refused": "PGRST302",
  "token-claims-refused": "PGRST303",
  // These are metadata permissions, reported like the database's missing privilege, row policy or setting.
  "role-not-allowed": "42501",
  "permission-denied": "42501",
  "permission-check-failed": "42501",
  "missing-session-variable": "42704",
  internal: "PGRSTX00",
  "result-too-large": "PGRSTX01",
  "live-queries-too-large": "PGRSTX02",
  "precondition-failed": "PGRSTX03",
  "rate-limit-exceeded": "PGRSTX04",
  "cost-limit-exceeded": "PGRSTX05",
  // This is the SQLSTATE of the extension `safeupdate`.
  "unfiltered-write": "21000",
};

/** The codes of tokens that could be parsed but were rejected. */
const REJECTED_TOKEN_CODES = new Set(["PGRST301", "PGRST303"]);

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Returns the body of an error, with the keys in the contract's order. @rule R-ERR-1 */
export const encodeErrorBody = (
  options: Pick<ResolvedOptions, "clientErrorVerbosity">,
  error: RelApiError,
  code = findDialectCode(error),
): string => {
  const { message, details, hint } = error;
  return JSON.stringify(
    options.clientErrorVerbosity === "minimal"
      ? { code, message }
      : ({ code, details, hint, message } satisfies Record<string, Json>),
  );
};

const applyDialectMessage = (error: RelApiError): RelApiError => {
  const message = CORE_MESSAGES[error.code]?.(error.facts);
  return message === undefined ? error : new RelApiError({ ...error, message });
};

const findDialectCode = ({ code }: RelApiError): string => CODES[code] ?? code;

/** The parts of the request that the encoder uses. */
interface ErrorContext extends Pick<Exchange, "method" | "path" | "header"> {
  readonly session?: Session;
  /** The code in the body, which the encoder sets for the log. */
  errorCode?: string | undefined;
}

/**
 * Encodes an error. `reportIgnored` is called for headers that SQL may not set. @rule R-ERR-1 R-ERR-3 R-ERR-4 R-GUC-5 R-AUT-9
 * R-AUT-10
 */
export const encodeError = (
  { context: { options, model, use }, findHints }: Pick<RestSurface, "context" | "findHints">,
  originalError: RelApiError,
  exchange: ErrorContext,
  reportIgnored: (name: string) => void = () => undefined,
): Answer => {
  const raisedError = SQLSTATE.test(originalError.code) ? use(readRaisedHook).call(originalError) : undefined;
  const shownError = raisedError?.error ?? removeInvisible(applyDialectMessage(originalError), model, exchange);
  const error = raisedError === undefined ? (findHints()?.addHint(shownError, exchange) ?? shownError) : shownError;
  const code = findDialectCode(error);
  exchange.errorCode = code;
  const status = findStatus(error, code, exchange);
  const defaultHeaders: Headers = [
    ["Content-Type", "application/json; charset=utf-8"],
    ["Proxy-Status", `PostgREST; error=${encodeHeaderText(code)}`],
    ...buildChallenge(status, code, error.message),
  ];
  const headers = overrideHeaders(
    defaultHeaders,
    error.headers.map(([name, value]) => [name, encodeHeaderText(value)]),
    reportIgnored,
  );
  return {
    status,
    statusText: raisedError?.statusText ?? error.statusText,
    headers,
    body: exchange.method === "HEAD" ? undefined : encodeErrorBody(options, error, code),
  };
};

const removeInvisible = (error: RelApiError, model: () => Model, { session }: ErrorContext): RelApiError =>
  dependsOnRights(error) && session !== undefined
    ? removeInvisibleFacts(error, model(), getVisibility(model(), session, "rest"))
    : error;

/** Returns the status of an error. Anonymous callers that lack a privilege get 401, and other callers 403. A token's
 *  rejection of the requested role (`role-not-allowed`) keeps its status. @rule R-AUT-10 */
const findStatus = (error: RelApiError, code: string, { session }: ErrorContext): number => {
  if (code !== "42501" || error.code === "role-not-allowed") return error.status;
  return session?.isAnonymous === true ? 401 : 403;
};

/** Builds the header `WWW-Authenticate` of a response with status 401. @rule R-AUT-9 */
const buildChallenge = (status: number, code: string, message: string): Headers => {
  if (status !== 401) return [];
  if (!REJECTED_TOKEN_CODES.has(code)) return [["WWW-Authenticate", "Bearer"]];
  const reason = encodeHeaderText(message).replace(/["\\]/g, "\\$&");
  return [["WWW-Authenticate", `Bearer error="invalid_token", error_description="${reason}"`]];
};
