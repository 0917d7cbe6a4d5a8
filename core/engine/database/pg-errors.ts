/** Errors of PostgreSQL and of the connection to it, as ours. The only place that reads them. */
import { connectionFailed, connectionLost, isRelApiError, RelApiError } from "../../kernel/errors.ts";
import type { Json } from "../plan/plan.ts";

/** What pg hands on of an ErrorResponse. */
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
  /** Which function was running. */
  readonly where?: string;
  /** Function of the server's source that reported it. */
  readonly routine?: string;
  /** File of that source. */
  readonly file?: string;
}

/** A five-character SQLSTATE and a severity: driver errors have neither, or only one of them. */
export const isPgError = (error: unknown): error is PgError & Error =>
  error instanceof Error &&
  typeof (error as Partial<PgError>).severity === "string" &&
  /^[0-9A-Z]{5}$/.test((error as Partial<PgError>).code ?? "");

export const sqlstateOf = (error: unknown): string | undefined => (isPgError(error) ? error.code : undefined);

/** Errors of the database, those that functions raise among them. */
export const isDatabaseFault = (error: unknown): error is RelApiError => isRelApiError(error) && isPgError(error.cause);

/** The server has ended the connection with it. */
export const isFatal = (error: unknown): boolean =>
  isPgError(error) && (error.severity === "FATAL" || error.severity === "PANIC" || error.code.startsWith("57P0")); // the words may be translated

/** An administrator, a shutdown or a time-out has ended the session. The server itself says so in the middle of the
 *  statement that it was at; of one whose transaction is committed it says nothing more. */
export const isInterrupted = (error: unknown): boolean =>
  isPgError(error) && error.severity === "FATAL" && error.routine === "ProcessInterrupts";

/** What the primary has removed was still needed on the standby. */
export const isRecoveryConflict = (error: unknown): boolean =>
  isPgError(error) && error.code === "40001" && error.routine === "ProcessInterrupts";

/** Status of a SQLSTATE. The acting role decides between 401 and 403 of 42501, which the encoders know. @rule R-ERR-3
 *  */
const statusOfSqlstate = (code: string, message: string, isOfValue: boolean): number => {
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
      return /^role .* does not exist$/s.test(message) ? 401 : 400; // role "x" does not exist
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

/** Extensions that read text give no code of their own. */
const VALUE_READERS = /^(?:hstore_|lwgeom_|geography_|gserialized_|lwin_|ltree_|ltxtquery_|_int_bool|tsquery\.)/;
const OF_PARAMETER = /^unnamed portal (?:with )?parameter /;

/** A value that cannot be read, though the code is that of an internal error or of SQL. @rule R-ERR-3 G-DBE-8 */
const isUnreadable = ({ file = "", where = "" }: PgError): boolean =>
  VALUE_READERS.test(file) || OF_PARAMETER.test(where);

/** Statements write functions of PostgreSQL with their schema, requests do not. @rule R-ERR-6 */
const messageOf = ({ message, routine, where }: PgError): string =>
  routine === "ParseFuncOrColumn" && where === undefined
    ? message.replace("function pg_catalog.", "function ")
    : message;

/** An error that came while statements ran. `path`: place in the request of the statement it came from. @rule R-ERR-3
 *  G-DBE-1 */
export const fromStatement = (error: unknown, path?: string): RelApiError => {
  if (isRelApiError(error)) return error; // ours, for a result that was too large
  if (!isPgError(error)) return connectionLost(textOf(error), error);
  const status = statusOfSqlstate(error.code, error.message, isUnreadable(error));
  return new RelApiError({
    code: error.code,
    status,
    message: messageOf(error),
    details: error.detail ?? null,
    hint: namesOthers(error) ? null : (error.hint ?? null),
    path,
    headers: status === 503 ? [["Retry-After", "1"]] : [],
    facts: factsOf(error),
    cause: error,
  });
};

/** An error that came while connecting: always ours, with the driver's text as details. @rule R-ERR-1 */
export const fromConnecting = (error: unknown): RelApiError =>
  connectionFailed(textOf(error), error, isPgError(error) ? { sqlstate: error.code } : {});

const LOGIN_STATES: ReadonlySet<string> = new Set(["28P01", "28000", "3D000"]);
/** What Node and OpenSSL call it: `SELF_SIGNED_CERT_IN_CHAIN`, `ERR_TLS_CERT_ALTNAME_INVALID`. */
const CERTIFICATE = /CERT|^UNABLE_TO_|^ERR_TLS_|^ERR_SSL_|HOSTNAME_MISMATCH|^INVALID_CA/;

/** Why no later attempt will succeed either, as long as nobody changes something. */
export const refusalOf = (error: unknown): "login" | "certificate" | undefined => {
  if (!isRelApiError(error) || error.code !== "connection-failed") return undefined;
  const { cause } = error;
  if (isPgError(cause)) return LOGIN_STATES.has(cause.code) ? "login" : undefined;
  const { code = "", syscall } = (cause ?? {}) as { readonly code?: string; readonly syscall?: string };
  // a file of the connection string; the socket of a server that is away is not opened
  return CERTIFICATE.test(code) || (syscall === "open" && code !== "") ? "certificate" : undefined;
};

/** A function was running: the statement itself had begun. */
export const isWithinCode = (error: unknown): boolean =>
  isPgError(error) && (isRaised(error) || error.where !== undefined);

/** RAISE of PL/pgSQL: the words are the author's. */
export const isRaised = ({ routine }: Pick<PgError, "routine">): boolean => routine === "exec_stmt_raise";

/** Of an unknown column or table, in what a function runs, the server suggests another one whether the caller may see
 *  it or not. @rule R-NAM-3 */
const namesOthers = (error: PgError): boolean => (error.code === "42703" || error.code === "42P01") && !isRaised(error);

const factsOf = (error: PgError): Readonly<Record<string, Json>> => {
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

/** In pg's words. */
export const TIMED_OUT = "timeout expired";

/** Opening a connection took too long, or would. */
export const timedOut = (): RelApiError => fromConnecting(new Error(TIMED_OUT));

/** Trying again takes as long. */
export const isTimedOut = (error: unknown): boolean =>
  isRelApiError(error) && error.code === "connection-failed" && error.details === TIMED_OUT;

/** The connection was lost, and the server can be reached on no other one. */
export const isUnreachable = (error: unknown): boolean =>
  isRelApiError(error) && error.code === "connection-lost" && error.facts["isUnreachable"] === true;

/** Node combines the failures of several addresses into one error without a message. */
const textOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(textOf).join("; ");
  return error instanceof Error ? error.message : String(error);
};
