/** The errors of core. `code` is a kebab-case name or a SQLSTATE; surfaces map it to their own code, status, message
 *  and envelope. Plugins define their own errors. */
import type { Json } from "../plan/plan.ts";

/** The fields of a `RelApiError`, as its constructor takes them. */
export interface RelApiErrorFields {
  readonly code: string;
  /** The HTTP status, unless the surface has another one for the code. */
  readonly status: number;
  readonly message: string;
  readonly details?: Json;
  readonly hint?: string | null;
  /** The position in the request (`$.selectionSet.album`). */
  readonly path?: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly statusText?: string;
  readonly cause?: unknown;
  /** Facts for surfaces that word the message themselves. */
  readonly facts?: Readonly<Record<string, Json>>;
}

/** The only error that is thrown on purpose. `code` is a kebab-case name or a SQLSTATE; each surface maps it to its own
 *  code and status. */
export class RelApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: Json;
  readonly hint: string | null;
  readonly path: string | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly statusText: string | undefined;
  readonly facts: Readonly<Record<string, Json>>;
  /** True once the rejection of a limit was counted, because two surfaces may encode the same error. */
  isCounted = false;

  constructor(fields: RelApiErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.name = "RelApiError";
    this.code = fields.code;
    this.status = fields.status;
    this.details = fields.details ?? null;
    this.hint = fields.hint ?? null;
    this.path = fields.path;
    this.headers = fields.headers ?? [];
    this.statusText = fields.statusText;
    this.facts = fields.facts ?? {};
  }
}

/** Returns the message of an error, or another thrown value as text. */
export const getErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the error for a mistake in a preset or a setting. `relApi(preset)` throws it, and so does the start of the
 *  standalone server. */
export const presetError = (message: string): RelApiError => new RelApiError({ code: "preset", status: 500, message });

/** Returns the error for a statement beyond the protocol's limit, worded like the errors of the server's own limits. */
export const valueCountExceeded = (limit: number): RelApiError =>
  new RelApiError({ code: "54000", status: 400, message: `the statement has more than ${limit} values` });

/** Returns the error for a result beyond the limit. The connection is dropped, because the remaining bytes cannot be
 *  skipped. As with a lost connection, it is unknown whether a write was undone. @rule R-ERR-1 G-DBE-16 */
export const resultTooLarge = (limitBytes: number): RelApiError =>
  new RelApiError({
    code: "result-too-large",
    status: 500,
    message: `The database response exceeds ${limitBytes} bytes (MAX_RESULT_BYTES)`,
    facts: { limit: "maxResultBytes" },
  });

/** Builds the header `Retry-After`, which every 503 response has. @rule R-ERR-2 */
const buildRetryAfter = (seconds: number): RelApiErrorFields["headers"] => [
  ["Retry-After", String(Math.max(1, Math.ceil(seconds)))],
];

/** `facts.sqlstate` is the SQLSTATE with which the server rejected the connection. Undefined if no server answered.
 *  @rule R-ERR-1 G-DBE-13 */
export const connectionFailed = (details: string, cause?: unknown, facts?: RelApiErrorFields["facts"]): RelApiError =>
  new RelApiError({
    code: "connection-failed",
    status: 503,
    message: "The connection to the database failed",
    details,
    cause,
    facts,
    headers: buildRetryAfter(1),
  });

/** Returns the error for a lost connection to the database. @rule R-ERR-1 G-DBE-13 */
export const connectionLost = (details: string, cause?: unknown, facts?: RelApiErrorFields["facts"]): RelApiError =>
  new RelApiError({
    code: "connection-lost",
    status: 503,
    message: "The connection to the database was lost",
    details,
    cause,
    facts,
    headers: buildRetryAfter(1),
  });

/** `seconds` is the time until the next attempt. @rule R-SC-6 */
export const modelNotLoaded = (seconds: number): RelApiError =>
  new RelApiError({
    code: "model-not-loaded",
    status: 503,
    message: "The schema of the database is not loaded",
    headers: buildRetryAfter(seconds),
  });

/** Returns the error for a request that waited too long for a connection of the pool. @rule R-ADM-5, G-DBE-14 */
export const poolTimedOut = (): RelApiError =>
  new RelApiError({
    code: "pool-timeout",
    status: 504,
    message: "No connection of the pool became free in time",
  });

/** Returns the error for a value with NUL, worded like the server's own error. The server never receives the value.
 *  @rule R-ERR-7 */
export const nulCharacterInvalid = (path?: string): RelApiError =>
  new RelApiError({
    code: "22021",
    status: 400,
    message: 'invalid byte sequence for encoding "UTF8": 0x00',
    path,
  });

/** Returns the error for a value with half of a surrogate pair, worded like the server's own error. The server never
 *  receives the value. @rule R-ERR-7a */
export const surrogateUnpaired = (text: string, path?: string): RelApiError => {
  const unit = /\p{Surrogate}/u.exec(text)?.[0].charCodeAt(0) ?? 0;
  // UTF-8 would encode half a surrogate pair in these three bytes.
  const bytes = [0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)].map((byte) => `0x${byte.toString(16)}`);
  return new RelApiError({
    code: "22021",
    status: 400,
    message: `invalid byte sequence for encoding "UTF8": ${bytes.join(" ")}`,
    path,
  });
};

/** Returns the error for a value with NUL, worded like the server's own error. The server never receives the value.
 *  @rule R-ERR-7 */
export const nulEscapeInvalid = (path?: string): RelApiError =>
  new RelApiError({
    code: "22P05",
    status: 400,
    message: "unsupported Unicode escape sequence",
    details: "\\u0000 cannot be converted to text.",
    path,
  });

/** Returns the error for a request whose client has disconnected. The client never receives the error. */
export const requestCancelled = (): RelApiError =>
  new RelApiError({ code: "request-cancelled", status: 499, message: "The client closed the request." });

/** Returns the error for a session variable that the request needs and the caller lacks. `facts.variable` is the
 *  name. @rule G-FIL-7 */
export const sessionVariableMissing = (name: string): RelApiError =>
  new RelApiError({
    code: "missing-session-variable",
    status: 400,
    message: `The session variable "${name}" is missing`,
    path: "$",
    facts: { variable: name },
  });

/** Returns the error for a written row that violates a permission check. @rule G-PRM-9 */
export const permissionCheckFailed = (path: string): RelApiError =>
  new RelApiError({
    code: "permission-check-failed",
    status: 400,
    message: "A written row violates a permission check",
    path,
  });

/** Returns the error for a sequence step that wrote no row although another step depends on that row. @rule G-NST-6 */
export const stepIneffective = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "step-wrote-nothing", status: 400, message, path });

/** Returns the error for a contradictory sequence step. The executor throws it after the earlier steps have run. @rule
 *  G-NST-11 */
export const stepRejected = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "step-refused", status: 400, message, path });

/** `none` resets the role in PostgreSQL, so no role can have that name. @rule R-AUT-11 */
export const roleNotFound = (role: string): RelApiError =>
  new RelApiError({ code: "22023", status: 401, message: `role "${role}" does not exist` });

/** Returns the error for a name that is not a column of the rows, worded like the database's error. `row` is the alias
 *  of the rows, `closestNames` lists similar names that the caller may see. @rule R-NAM-1 R-NAM-3 */
export const columnUnknown = (row: string, name: string, closestNames: readonly string[] = []): RelApiError =>
  new RelApiError({
    code: "42703",
    status: 400,
    message: `column ${row}.${name} does not exist`,
    hint: buildSuggestionHint(row, closestNames),
  });

/** Returns the error for an order of groups by a column that is not grouped, worded like the database's error. `row` is
 *  the alias of the rows. @rule R-AGG-5b */
export const columnUngrouped = (row: string, name: string): RelApiError =>
  new RelApiError({
    code: "42803",
    status: 400,
    message: `column "${row}.${name}" must appear in the GROUP BY clause or be used in an aggregate function`,
  });

/** Returns the error for an ordering that does not accept the type of the column. `types` are the accepted types. @rule
 *  X-ORD-4 */
export const orderingUnknown = (ordering: string, type: string, types: Iterable<string>): RelApiError =>
  new RelApiError({
    code: "42883",
    status: 404,
    message: `the ordering "${ordering}" does not exist for the type ${type}`,
    hint: `The ordering "${ordering}" is for ${[...types].join(", ")}.`,
  });

/** Returns the error for an unknown column of a conflict target. The database omits the relation in this error. @rule
 *  R-NAM-1 R-UPS-1 */
export const targetColumnUnknown = (relation: string, name: string, closestNames: readonly string[]): RelApiError =>
  new RelApiError({
    code: "42703",
    status: 400,
    message: `column "${name}" does not exist`,
    hint: buildSuggestionHint(relation, closestNames),
  });

const buildSuggestionHint = (row: string, closestNames: readonly string[]): string | null =>
  closestNames.length === 0
    ? null
    : `Perhaps you meant to reference ${closestNames.map((name) => `the column "${row}.${name}"`).join(" or ")}.`;

/** Returns the error for an order by an embed whose mode returns no join. `facts.embed` is the name of the embed. @rule
 *  R-ORD-3 */
export const orderByEmbedImpossible = (embed: string): RelApiError =>
  new RelApiError({
    code: "embed-order-impossible",
    status: 400,
    message: `The rows cannot be sorted by '${embed}'`,
    details: `'${embed}' is embedded in a way that offers no columns to sort by`,
    facts: { embed },
  });

/** Returns the error for a request body that is larger than `maxBodyBytes`. @rule R-BND-3 @experimental */
export const bodyTooLarge = (limitBytes: number): RelApiError =>
  new RelApiError({
    code: "body-too-large",
    status: 413,
    message: `The request body is larger than ${limitBytes} bytes`,
    facts: { limit: "maxBodyBytes" },
  });

/** Returns the error for a body with which the bodies of all unanswered requests exceed their common limit. @rule
 *  R-BND-7 */
export const pendingBodiesTooLarge = (limitBytes: number): RelApiError =>
  new RelApiError({
    code: "body-too-large",
    status: 413,
    message: `Pending request bodies exceed ${limitBytes} bytes in total`,
    headers: buildRetryAfter(1),
    facts: { limit: "maxPendingBodyBytes" },
  });

/** Returns the error for a request body that arrived too slowly. @rule R-BND-4 */
export const bodyTimedOut = (): RelApiError =>
  new RelApiError({ code: "body-late", status: 408, message: "The request body did not arrive in time" });

/** Returns the error for a request body with an unknown `Content-Encoding`. @rule R-BND-3 */
export const bodyEncodingUnknown = (encoding: string, knownEncodings: readonly string[]): RelApiError =>
  new RelApiError({
    code: "body-encoding-unknown",
    status: 415,
    message: `Content-Encoding not acceptable: ${encoding}`,
    headers: [["Accept-Encoding", knownEncodings.join(", ")]],
  });

/** Returns the error for a request body that does not have its declared encoding. @rule R-BND-3 */
export const bodyUnreadable = (encoding: string): RelApiError =>
  new RelApiError({
    code: "body-unreadable",
    status: 400,
    message: `The request body cannot be unpacked as ${encoding}`,
  });

/** The statuses of requests that never arrived completely. Every path uses them, whatever status the surface uses for
 *  other errors. @rule R-BND-3 R-BND-4 R-BND-9, G-HTTP-15 */
export const BODY_STATUSES: ReadonlySet<number> = new Set([408, 413, 414, 415]);
/** Returns the error for a body that other middleware has parsed and that is too deep to be serialized again. @rule
 *  R-LIM-2 G-LIM-2 */
export const bodyNestedTooDeep = (): RelApiError =>
  new RelApiError({ code: "body-too-deep", status: 400, message: "The body is nested too deeply" });

/** Returns the error for a path that no surface serves. @rule R-PATH-2 R-PATH-6, G-HTTP-12 */
export const pathNotFound = (): RelApiError =>
  new RelApiError({ code: "path-not-found", status: 404, message: "No surface serves the path" });

/** Returns the error for an unexpected exception, whose details the client does not see. */
export const internalError = (cause: unknown): RelApiError =>
  new RelApiError({ code: "internal", status: 500, message: "internal error", cause });

/** Returns the error for credentials that were read and rejected. @rule R-AUT-9 */
export const tokenRejected = (message: string, details: string | null = null): RelApiError =>
  new RelApiError({ code: "token-refused", status: 401, message, details });

/** Returns the error for a caller that no auth scheme has identified. @rule R-AUT-6, G-AUTH-5 */
export const anonymousRejected = (): RelApiError =>
  new RelApiError({ code: "anonymous-refused", status: 401, message: "No auth scheme identified the caller" });
