/** Converts errors of PostgreSQL and of its connections to RelApiErrors. This is the only file that reads such
 *  errors. */
import { connectionFailed, connectionLost, getErrorMessage, RelApiError } from "../kernel/errors.ts";
import type { Json } from "../plan/plan.ts";

/** The fields of an ErrorResponse, as pg passes them on. */
interface PgError {
  readonly message: string;
  readonly code: string;
  readonly severity?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly constraint?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  /** The context, such as the function that was running. */
  readonly where?: string;
  /** The function in the server's source that reported the error. */
  readonly routine?: string;
  /** The source file of the function that reported the error. */
  readonly file?: string;
}

/** Returns whether the error has a five-character SQLSTATE and a severity. Driver errors lack one or both. */
export const isPgError = (error: unknown): error is PgError & Error =>
  error instanceof Error &&
  typeof (error as Partial<PgError>).severity === "string" &&
  /^[0-9A-Z]{5}$/.test((error as Partial<PgError>).code ?? "");

/** Returns the SQLSTATE of an error that PostgreSQL has reported, or undefined for all other errors. */
export const readSqlstate = (error: unknown): string | undefined => (isPgError(error) ? error.code : undefined);

/** Returns whether the error comes from the database, including errors that functions raise. */
export const isDatabaseError = (error: unknown): error is RelApiError =>
  error instanceof RelApiError && isPgError(error.cause);

/** Returns whether the server has ended the connection with the error. */
export const isFatal = (error: unknown): boolean =>
  // The code is checked too, because the server translates the severity.
  isPgError(error) && (error.severity === "FATAL" || error.severity === "PANIC" || error.code.startsWith("57P0"));

/** Returns whether an administrator, a shutdown or a timeout has ended the session. The server reports it during the
 *  running statement, but not for a transaction that is already committed. */
export const isInterrupted = (error: unknown): boolean =>
  isPgError(error) && error.severity === "FATAL" && error.routine === "ProcessInterrupts";

/** Returns whether the primary has removed data that a read on the standby still needed. */
export const isRecoveryConflict = (error: unknown): boolean =>
  isPgError(error) && error.code === "40001" && error.routine === "ProcessInterrupts";

/** Returns the status of a SQLSTATE. For 42501, encoders choose between 401 and 403 by the acting role. @rule
 *  R-ERR-3 */
const chooseStatus = (code: string, message: string, isOfValue: boolean): number => {
  switch (code) {
    case "XX000":
      return isOfValue ? 400 : 500;
    case "42501":
      return 403;
    case "42P01":
      return 404;
    case "42P17":
      return 500;
    case "42883":
      return message.startsWith("function xmlagg(") ? 406 : 404;
    case "23503":
    case "23505":
      return 409;
    case "25006":
      return 405;
    case "53400":
      return 500;
    case "57P01":
      return 503;
    case "P0001":
      return 400;
    case "21000":
      return message.endsWith("requires a WHERE clause") ? 400 : 500;
    case "22023":
      // An example is `role "x" does not exist`.
      return /^role .* does not exist$/s.test(message) ? 401 : 400;
  }
  switch (code.slice(0, 2)) {
    case "08":
    case "53":
      return 503;
    case "0L":
    case "0P":
    case "28":
      return 403;
    case "09":
    case "25":
    case "2D":
    case "38":
    case "39":
    case "3B":
    case "40":
    case "55":
    case "57":
    case "58":
    case "F0":
    case "HV":
    case "P0":
    case "XX":
      return 500;
    default:
      return 400;
  }
};

/** The source files of extensions that report unreadable text without a specific SQLSTATE. */
const VALUE_READERS = /^(?:hstore_|lwgeom_|geography_|gserialized_|lwin_|ltree_|ltxtquery_|_int_bool|tsquery\.)/;
const PARAMETER_ERRORS = /^unnamed portal (?:with )?parameter /;

/** Returns whether the error concerns an unreadable value, although the error has the code of an internal or an SQL
 *  error. @rule R-ERR-3 G-DBE-8 */
const isUnreadable = ({ file = "", where = "" }: PgError): boolean =>
  VALUE_READERS.test(file) || PARAMETER_ERRORS.test(where);

/** Removes the schema of built-in functions from the message, because compiled statements contain that schema and
 *  requests do not. @rule R-ERR-6 */
const buildMessage = ({ message, routine, where }: PgError): string =>
  routine === "ParseFuncOrColumn" && where === undefined
    ? message.replace("function pg_catalog.", "function ")
    : message;

/** Converts an error of a running statement. `path` is the position of the statement in the request. @rule R-ERR-3
 *  G-DBE-1 */
export const convertStatementError = (error: unknown, path?: string): RelApiError => {
  // Relapi has thrown this error for a result that exceeds the limit.
  if (error instanceof RelApiError) return error;
  if (!isPgError(error)) return connectionLost(readErrorText(error), error);
  const status = chooseStatus(error.code, error.message, isUnreadable(error));
  return new RelApiError({
    code: error.code,
    status,
    message: buildMessage(error),
    details: error.detail ?? null,
    hint: mayNameHiddenObjects(error) ? null : (error.hint ?? null),
    path,
    headers: status === 503 ? [["Retry-After", "1"]] : [],
    facts: listErrorFacts(error),
    cause: error,
  });
};

/** Converts an error of connecting. The text of the driver becomes the error's details. @rule R-ERR-1 */
export const convertConnectionError = (error: unknown): RelApiError =>
  connectionFailed(readErrorText(error), error, isPgError(error) ? { sqlstate: error.code } : {});

const LOGIN_STATES: ReadonlySet<string> = new Set(["28P01", "28000", "3D000"]);
/** Matches the codes of Node and OpenSSL: `SELF_SIGNED_CERT_IN_CHAIN`, `ERR_TLS_CERT_ALTNAME_INVALID`. */
const CERTIFICATE = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|HOSTNAME_MISMATCH|^INVALID_CA/;

/** Returns the reason why no attempt to connect can succeed until the configuration changes. Undefined if an attempt
 *  may succeed. */
export const classifyLoginError = (error: unknown): "login" | "certificate" | undefined => {
  if (!(error instanceof RelApiError) || error.code !== "connection-failed") return undefined;
  const { cause } = error;
  if (isPgError(cause)) return LOGIN_STATES.has(cause.code) ? "login" : undefined;
  const { code = "", syscall } = (cause ?? {}) as { readonly code?: string; readonly syscall?: string };
  // `open` fails for a file that the connection string names; a missing socket fails in another system call.
  return CERTIFICATE.test(code) || (syscall === "open" && code !== "") ? "certificate" : undefined;
};

/** Returns whether a function was running, so that the statement itself had begun. */
export const isInFunction = (error: unknown): boolean =>
  isPgError(error) && (isRaised(error) || error.where !== undefined);

/** Returns whether PL/pgSQL's RAISE reported the error, so that user-defined code chose the message. */
const isRaised = ({ routine }: Pick<PgError, "routine">): boolean => routine === "exec_stmt_raise";

/** Returns whether the hint may name columns or tables that the caller may not see. The server suggests such names for
 *  an unknown name inside a function. @rule R-NAM-3 */
const mayNameHiddenObjects = (error: PgError): boolean =>
  (error.code === "42703" || error.code === "42P01") && !isRaised(error);

const listErrorFacts = (error: PgError): Readonly<Record<string, Json>> => {
  const facts: Record<string, Json> = { sqlstate: error.code };
  for (const name of ["severity", "constraint", "schema", "table", "column"] as const) {
    const fact = error[name];
    if (fact !== undefined) facts[name] = fact;
  }
  if (isRaised(error)) facts["isRaised"] = true;
  if (isUnreadable(error)) facts["isOfValue"] = true;
  if (error.where !== undefined) facts["isWithin"] = true;
  return facts;
};

/** The message that pg uses for a timeout. */
export const TIMED_OUT = "timeout expired";

/** Creates the error for a connection attempt that takes too long. */
export const connectionTimedOut = (): RelApiError => convertConnectionError(new Error(TIMED_OUT));

/** Returns whether the error is a timeout, so that another attempt would take as long. */
export const isTimedOut = (error: unknown): boolean =>
  error instanceof RelApiError && error.code === "connection-failed" && error.details === TIMED_OUT;

/** Returns whether the connection was lost, and no other connection can reach the server. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof RelApiError && error.code === "connection-lost" && error.facts["isUnreachable"] === true;

/** Returns the message of an error. Node combines the failures of several addresses into one error without a
 *  message. */
const readErrorText = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(readErrorText).join("; ");
  return getErrorMessage(error);
};
