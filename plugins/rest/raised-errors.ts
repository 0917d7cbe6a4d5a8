/** `raise sqlstate 'PT402'`, `raise sqlstate 'PGRST'`: errors whose response the database determines. */
import { definePlugin, RelApiError, type Json } from "../../core/index.ts";
import { encodeHeaderText } from "./answer/headers.ts";
import { readRaisedHook, type RaisedError } from "./api.ts";
import { raisedErrorInvalid } from "./errors.ts";

/** The SQLSTATEs of such errors. @rule R-AUT-13 */
const RAISED_STATES = /^P(?:T\d{3}|GRST)$/;

/** Returns the response that the error requests. Returns undefined for every other SQLSTATE. @rule R-ERR-4 R-ERR-5 */
const readRaised = (error: RelApiError): RaisedError | undefined => {
  if (error.code === "PGRST") return readFullResponse(error);
  if (!error.code.startsWith("PT")) return undefined;
  const status = Number(/^PT([0-9]{3})$/.exec(error.code)?.[1] ?? Number.NaN);
  const { code, message, details, hint } = error;
  // HTTP does not allow this status, so the raising function is wrong.
  if (!(status >= 200)) return { error: new RelApiError({ code, status: 500, message, details, hint }) };
  return { error: new RelApiError({ code, status, message, details, hint }), statusText: buildReasonPhrase(message) };
};

/** Returns a single line without characters that a status line cannot contain. */
const buildReasonPhrase = (text: string): string => encodeHeaderText(text.replace(/\p{Cc}+/gu, " ")).trim();

const MESSAGE_HINT =
  "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.";
const DETAIL_HINT =
  "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.";

const raiseInvalid = (details: string, hint: string): RaisedError => ({ error: raisedErrorInvalid(details, hint) });

type Fields = Readonly<Record<string, Json | undefined>>;

const parseObject = (text: string): Fields | undefined => {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null && !Array.isArray(json) ? (json as Fields) : undefined;
  } catch {
    return undefined; // the text is not JSON, so the caller throws PostgREST's error
  }
};

const isText = (value: Json | undefined): value is string | null | undefined =>
  value === undefined || value === null || typeof value === "string";

const readFullResponse = (error: RelApiError): RaisedError => {
  const body = parseObject(error.message);
  if (
    body === undefined ||
    typeof body.code !== "string" ||
    typeof body.message !== "string" ||
    !isText(body.details) ||
    !isText(body.hint)
  ) {
    return raiseInvalid(`Invalid JSON value for MESSAGE: '${error.message}'`, MESSAGE_HINT);
  }
  if (typeof error.details !== "string") return raiseInvalid("DETAIL is missing in the RAISE statement", DETAIL_HINT);
  const detail = parseObject(error.details);
  const headers = detail === undefined ? undefined : readHeaders(detail.headers);
  const status = detail?.status;
  if (
    detail === undefined ||
    headers === undefined ||
    typeof status !== "number" ||
    !Number.isInteger(status) ||
    !isText(detail.status_text)
  ) {
    return raiseInvalid(`Invalid JSON value for DETAIL: '${error.details}'`, DETAIL_HINT);
  }
  return {
    error: new RelApiError({
      code: body.code,
      status: status >= 200 && status <= 999 ? status : 500,
      message: body.message,
      details: body.details ?? null,
      hint: body.hint ?? null,
      headers,
    }),
    statusText: typeof detail.status_text === "string" ? buildReasonPhrase(detail.status_text) : undefined,
  };
};

const readHeaders = (value: Json | undefined): RelApiError["headers"] | undefined => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const headers = Object.entries(value);
  return headers.every(
    (header): header is [string, string] =>
      typeof header[1] === "string" && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header[0]),
  )
    ? headers
    : undefined;
};

/** Lets SQL determine the response to an error that it raises. @rule R-ERR-4 R-ERR-5 */
export const raisedErrors = definePlugin({
  name: "raised-errors",
  requires: ["rest"],
  clientSqlstates: RAISED_STATES,
  apply: (_hooks, context) => {
    context.use(readRaisedHook).tap("raised-errors", readRaised);
  },
});
