/** Creates the errors that the GraphQL surface raises, and translates errors of the database. `code` is the code that
 *  clients see. */
import { RelApiError, limitExceeded, type Json, type Limit, type Limits } from "../../core/index.ts";
import { findJsonError } from "../shared/json-errors.ts";
import { buildUnknownNameFacts } from "../shared/name-hints.ts";
import { formatCount } from "../shared/plural.ts";

/** The facts for hints: a misspelt name and the names that may be meant, or a position. @rule G-HNT-1 */
export type HintFacts = Readonly<Record<string, Json>>;

/** Returns the error for a document, a variable or a coercion. @rule G-DOC G-VAR G-COE */
export const validationFailed = (message: string, path: string, facts: HintFacts = {}): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message, path, facts });

/** Returns the error for a column value, a number out of range, or a name that is defined twice. @rule G-COE-9 */
export const parseFailed = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "parse-failed", status: 400, message, path });

/** Returns the error for a request that asks for something unsupported or disabled. @rule G-NST-6 G-FN-5 G-INT-9 */
export const notSupported = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "not-supported", status: 400, message, path });

/** Returns the error whose code and message clients recognise. @rule G-APQ-2 */
export const persistedQueryNotFound = (): RelApiError =>
  new RelApiError({
    code: "PERSISTED_QUERY_NOT_FOUND",
    status: 400,
    message: "PersistedQueryNotFound",
    path: "$",
  });

/** Returns the error for a malformed or wrong hash of a document. @rule G-APQ-3 */
export const persistedQueryInvalid = (message: string): RelApiError =>
  new RelApiError({ code: "bad-request", status: 400, message, path: "$.extensions.persistedQuery" });

/** Returns the error for a document outside the allow list. @rule G-ALW-1 */
export const queryNotAllowed = (): RelApiError => validationFailed("query is not allowed", "$");

/** Returns the error for a text that is not a document. @rule G-DOC-1 */
export const notAGraphqlQuery = (facts?: HintFacts): RelApiError =>
  validationFailed("not a valid graphql query", "$.query", facts);

/** Returns the error for malformed JSON. `reason` is the message of the JSON parser. @rule G-HTTP-7 G-HNT-3 */
export const invalidJson = (at: string, reason: string, text: string): RelApiError => {
  const jsonError = findJsonError(text);
  return new RelApiError({
    code: "invalid-json",
    status: 400,
    message: `Error in ${at}: ${reason}`,
    path: at,
    ...(jsonError === undefined ? {} : { facts: jsonError }),
  });
};

/** @rule G-HTTP-9 */
export const subscriptionOverHttp = (): RelApiError =>
  new RelApiError({
    code: "unexpected-payload",
    status: 400,
    message: "subscriptions are not supported over HTTP, use websockets instead",
    path: "$",
  });

const badMedia = (status: 406 | 415, message: string): RelApiError =>
  new RelApiError({ code: "bad-request", status, message, path: "$" });

/** @rule G-OVH-2 */
export const responseTypeRefused = (types: readonly string[]): RelApiError =>
  badMedia(406, `the response is ${types.join(" or ")}, and Accept takes neither`);

/** @rule G-OVH-3 */
export const bodyTypeMissing = (type: string): RelApiError =>
  badMedia(415, `the body is ${type}, and Content-Type is missing`);

/** @rule G-OVH-3 */
export const bodyTypeRefused = (type: string, sentType: string): RelApiError =>
  badMedia(415, `the body is ${type} in UTF-8, not ${sentType}`);

/** @rule G-RES-1 */
export const endpointNotFound = (): RelApiError =>
  new RelApiError({ code: "not-found", status: 404, message: "Endpoint not found", path: "$" });

/** @rule G-RES-1 */
export const methodNotAllowed = (method: string, allowed: readonly string[]): RelApiError =>
  new RelApiError({
    code: "method-not-allowed",
    status: 405,
    message: `Method ${method} is not allowed for this endpoint`,
    path: "$",
    headers: [["Allow", allowed.join(", ")]],
  });

/** @rule G-RES-3 */
export const unexpectedVariable = (name: string): RelApiError =>
  new RelApiError({ code: "bad-request", status: 400, message: `Unexpected variable ${name}`, path: "$" });

/** @rule G-GET-2 */
export const mutationByGet = (): RelApiError =>
  new RelApiError({
    code: "unexpected-payload",
    status: 405,
    message: "mutations are not supported over GET, use POST instead",
    path: "$",
    headers: [["Allow", "POST"]],
  });

/** Returns the error for a document above the limit of bytes. @rule G-LIM-3 */
export const documentTooLarge = (maxBytes: number): RelApiError =>
  limitExceeded("maxDocumentBytes", {
    code: "validation-failed",
    message: `the document is larger than ${maxBytes} bytes`,
    path: "$.query",
  });

/** Returns the error for an exceeded limit. `items` is the plural of the counted things. @rule G-LIM-4 */
export const tooMany = (limits: Limits, limit: Limit, items: string, path = "$"): RelApiError =>
  limitExceeded(limit, {
    code: "validation-failed",
    message: `the operation has more than ${limits[limit]} ${items}`,
    path,
  });

/** Returns the error for a body with too many levels. @rule G-LIM-2 */
export const bodyTooDeep = ({ maxJsonDepth }: Limits): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "validation-failed",
    message: `the request is nested deeper than ${maxJsonDepth} levels`,
    path: "$",
  });

/** Returns the error for variables above the limit of bytes. `path` is their position in the request. @rule G-LIM-2 */
export const variablesTooLarge = ({ maxVariablesBytes }: Limits, path: string): RelApiError =>
  limitExceeded("maxVariablesBytes", {
    code: "validation-failed",
    message: `the variables are larger than ${maxVariablesBytes} bytes`,
    path,
  });

/** Returns the error for a batch with too many requests. @rule G-LIM-6 */
export const batchTooLong = ({ maxBatchEntries }: Limits): RelApiError =>
  limitExceeded("maxBatchEntries", {
    code: "bad-request",
    message: `the batch has more than ${maxBatchEntries} requests`,
    path: "$",
  });

/** Returns the error of the requests of a batch whose earlier answers exceed the limit of bytes. @rule G-LIM-6 */
export const batchAnswersTooLarge = (maxBatchBytes: number): RelApiError =>
  limitExceeded("maxBatchBytes", {
    code: "bad-request",
    message: `the answers of the batch are larger than ${maxBatchBytes} bytes`,
    path: "$",
  });

/** Returns the error for a value that is too deep for a recursive function. @rule G-HTTP-15 */
export const variablesTooDeep = (): RelApiError =>
  validationFailed("the values of the variables are nested too deeply", "$");

/** @rule G-DOC-4 */
export const fieldNotFound = (field: string, type: string, path: string, knownNames: Iterable<string>): RelApiError =>
  validationFailed(`field '${field}' not found in type: '${type}'`, path, buildUnknownNameFacts(field, knownNames));

/** @rule G-DOC-5 */
export const noSuchArgument = (
  field: string,
  argument: string,
  path: string,
  knownNames: Iterable<string>,
): RelApiError =>
  validationFailed(`'${field}' has no argument named '${argument}'`, path, buildUnknownNameFacts(argument, knownNames));

/** @rule G-DOC-7 */
export const missingField = (field: string, path: string): RelApiError =>
  validationFailed(`missing required field '${field}'`, path);

/** @rule G-VAR-6 */
export const variableTypeMismatch = (variable: string, declared: string, expected: string, path: string): RelApiError =>
  validationFailed(
    `variable '${variable}' is declared as '${declared}', but used where '${expected}' is expected`,
    path,
  );

/** Returns the error for a value of another type. `expected` includes its article: `a boolean`. @rule G-COE-2 G-COE-3
 *  G-COE-4 G-COE-5 */
export const unexpectedValue = (expected: string, type: string, actual: string, path: string): RelApiError =>
  validationFailed(`expected ${expected} for type '${type}', but found ${actual}`, path);

/** @rule G-COE-6 */
export const expectedList = (path: string): RelApiError => validationFailed("expected a list, but found null", path);

/** @rule G-COE-7 */
export const invalidEnumValue = (values: readonly string[], type: string, actual: string, path: string): RelApiError =>
  validationFailed(
    `expected one of the values [${[...values]
      .sort()
      .map((value) => `'${value}'`)
      .join(", ")}] for type '${type}', but found '${actual}'`,
    path,
    buildUnknownNameFacts(actual, values),
  );

/** @rule G-COE-8 */
export const unexpectedNull = (type: string, path: string): RelApiError =>
  validationFailed(`unexpected null value for type '${type}'`, path);

/** @rule G-COE-9 */
export const integerOutOfRange = (numberText: string, path: string): RelApiError =>
  parseFailed(
    `The value ${numberText} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`,
    path,
  );

/** @rule G-COE-9 */
export const floatOutOfRange = (numberText: string, path: string): RelApiError =>
  parseFailed(`The value ${numberText} lies outside the bounds. Is it overflowing the float bounds?`, path);

/** Returns the error that a plugin's function throws on purpose, with the code and message of the plugin. @rule
 *  X-GQL-4 */
export const functionRefused = (error: RelApiError, at: string): RelApiError => {
  const { code, status, path = at, facts } = error;
  const { extensions, graphqlErrors } = facts;
  return new RelApiError({
    code: "function-refused",
    status,
    message: getMessage(error),
    path,
    facts: {
      code,
      ...(extensions !== undefined && { extensions }),
      ...(graphqlErrors !== undefined && { graphqlErrors }),
    },
  });
};

/** Returns the error that hides an exception of a function, which is logged where it occurs. @rule X-GQL-4 */
export const functionFailed = (path: string): RelApiError =>
  new RelApiError({ code: "function-failed", status: 500, message: "internal error", path });

const credentialRefused = (code: string, message: string, status = 400): RelApiError =>
  new RelApiError({ code, status, message, path: "$" });

/** @rule G-AUTH-12 G-AUTH-14 */
export const couldNotVerify = (reason: string): RelApiError =>
  credentialRefused("invalid-jwt", `Could not verify JWT: ${reason}`);

/** @rule G-LIM-2 */
export const claimsTooDeep = (levels: number): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "invalid-jwt",
    message: `Could not verify JWT: the claims are nested deeper than ${levels} levels`,
    path: "$",
  });

/** @rule G-AUTH-13 */
export const malformedAuthorization = (): RelApiError =>
  credentialRefused("invalid-headers", "Malformed Authorization header");

/** @rule G-AUTH-13 */
export const multipleTokens = (): RelApiError =>
  credentialRefused("invalid-headers", "Could not verify JWT: Multiple JWTs found");

/** @rule G-AUTH-16 G-AUTH-17 G-AUTH-18 */
export const invalidClaims = (message: string): RelApiError => credentialRefused("jwt-invalid-claims", message);

/** @rule G-AUTH-17 G-AUTH-18 */
export const roleClaimMissing = (claim: string): RelApiError =>
  credentialRefused("jwt-missing-role-claims", `JWT claim does not contain ${claim}`);

/** @rule G-AUTH-19 */
export const requestedRoleNotAllowed = (): RelApiError =>
  credentialRefused("access-denied", "Your requested role is not in allowed roles");

/** @rule G-AUTH-5 */
export const adminSecretRequired = (): RelApiError =>
  credentialRefused("access-denied", "x-session-admin-secret required, but not found", 401);

/** @rule G-AUTH-8 */
export const tokenRequired = (): RelApiError =>
  credentialRefused("invalid-headers", "Missing 'Authorization' or 'Cookie' header in JWT authentication mode");

/** @rule G-AUTH-9 */
export const noSchemeConfigured = (): RelApiError =>
  credentialRefused(
    "access-denied",
    "no authentication is configured; set an admin secret, a JWT secret or an anonymous role",
    401,
  );

/** @rule G-AUTH-20 */
export const invalidBackendOnlyFlag = (trueWords: readonly string[], falseWords: readonly string[]): RelApiError =>
  credentialRefused(
    "bad-request",
    `x-session-use-backend-only-permissions:  Not a valid boolean text. True values are ${JSON.stringify(trueWords)} and  False values are ${JSON.stringify(falseWords)}. All values are case insensitive`,
  );

/** An error as a client of the GraphQL surface sees it. */
interface TranslatedError {
  readonly code: string;
  readonly message: string;
  /** The status of the error on `/v1alpha1/graphql` (G-HTTP-3). */
  readonly status: number;
  /** True if the error is from the database. Administrators also see the original message (G-ERR-7). */
  readonly isDatabase: boolean;
  /** True if the error is a plugin's own. Its status is sent on every path (G-ERR-9). */
  readonly isForeign?: boolean;
}

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

const VIOLATIONS: Readonly<Record<string, readonly [code: string, prefix: string]>> = {
  "23505": ["constraint-violation", "Uniqueness violation. "],
  "23503": ["constraint-violation", "Foreign key violation. "],
  "23502": ["constraint-violation", "Not-NULL violation. "],
  "23001": ["constraint-violation", "Can not delete or update due to data being referred. "],
  "23P01": ["constraint-violation", "Exclusion violation. "],
  "23514": ["permission-error", "Check constraint violation. "],
};

/** Translates a SQLSTATE and its message. @rule G-DBE-1 … G-DBE-15 */
const translateDatabaseError = (sqlState: string, message: string): Omit<TranslatedError, "isDatabase"> => {
  const violation = VIOLATIONS[sqlState];
  if (violation !== undefined) return { code: violation[0], message: violation[1] + message, status: 400 };
  if (sqlState.startsWith("23")) return { code: "constraint-violation", message, status: 400 };
  if (sqlState === "22025") return { code: "bad-request", message, status: 400 };
  if (sqlState.startsWith("22")) return { code: "data-exception", message, status: 400 };
  if (sqlState === "42704") return { code: "constraint-error", message, status: 400 };
  if (sqlState === "42P10")
    return {
      code: "constraint-error",
      message: "there is no unique or exclusion constraint on target column(s)",
      status: 400,
    };
  if (sqlState === "42501") return { code: "permission-error", message, status: 400 };
  if (sqlState === "53300") return MAX_CONNECTIONS;
  return { code: "unexpected", message: "database query error", status: 500 };
};

const MAX_CONNECTIONS = {
  code: "postgres-max-connections-error",
  message: "max connections reached on postgres",
  status: 503,
} as const;

const CONNECTION_ERROR = { code: "postgres-error", message: "connection error", status: 500 } as const;

/** The errors of core that have another code, message or status on this surface. */
const CORE_ERRORS: Readonly<
  Record<
    string,
    {
      readonly code: string;
      readonly message?: string | ((facts: RelApiError["facts"]) => string);
      readonly status: number;
    }
  >
> = {
  "connection-failed": CONNECTION_ERROR,
  "connection-lost": CONNECTION_ERROR,
  "model-not-loaded": CONNECTION_ERROR,
  "pool-timeout": MAX_CONNECTIONS,
  // other auth schemes have their own messages
  "token-refused": { code: "access-denied", status: 401 },
  "anonymous-refused": { code: "access-denied", message: "Anonymous access is disabled", status: 401 },
  "admin-secret-refused": { code: "access-denied", status: 401 },
  // @rule X-HOOK-7
  "auth-hook-failed": { code: "unexpected", status: 500 },
  "auth-hook-role-missing": { code: "invalid-params", status: 400 },
  "missing-session-variable": {
    code: "not-found",
    message: ({ variable }) => `missing session variable: "${String(variable)}"`,
    status: 400,
  },
  "permission-check-failed": {
    code: "permission-error",
    message: "check constraint of an insert/update permission has failed",
    status: 400,
  },
  "step-wrote-nothing": { code: "not-supported", status: 400 },
  "step-refused": { code: "validation-failed", status: 400 },
  // @rule G-DBE-16
  "result-too-large": { code: "unexpected", status: 500 },
  // @rule G-SUB-12
  "live-queries-too-large": { code: "bad-request", status: 503 },
  "body-too-deep": { code: "validation-failed", status: 400 },
  // @rule G-HTTP-15
  "body-too-large": { code: "bad-request", status: 413 },
  "body-late": { code: "bad-request", status: 408 },
  "body-encoding-unknown": { code: "bad-request", status: 415 },
  "body-unreadable": { code: "bad-request", status: 400 },
  "url-too-long": { code: "bad-request", status: 414 },
};

const getMessage = ({ code, message, facts }: RelApiError): string => {
  const template = CORE_ERRORS[code]?.message ?? message;
  return typeof template === "string" ? template : template(facts);
};

/** The codes of the contract, which errors of this surface have from the start. */
const OWN_CODES: ReadonlySet<string> = new Set([
  "validation-failed",
  "parse-failed",
  "not-supported",
  "bad-request",
  "not-found",
  "permission-error",
  "unexpected-payload",
  "invalid-json",
  "start-failed",
  "access-denied",
  "invalid-headers",
  "invalid-jwt",
  "jwt-invalid-claims",
  "jwt-missing-role-claims",
  "PERSISTED_QUERY_NOT_FOUND",
  "method-not-allowed",
  "unfiltered-write",
  "depth-limit-exceeded",
  "node-limit-exceeded",
  "batch-limit-exceeded",
  "root-field-limit-exceeded",
  "alias-limit-exceeded",
  "cost-limit-exceeded",
  "time-limit-exceeded",
]);

/** Errors of core whose details clients do not see. */
const HIDDEN_ERRORS: ReadonlySet<string> = new Set(["internal", "preset", "request-cancelled", "function-failed"]);

/** The SQLSTATE of a statement that exceeded its time limit. */
export const QUERY_CANCELED = "57014";

const timeExceeded = (seconds: number): Omit<TranslatedError, "isDatabase"> => ({
  code: "time-limit-exceeded",
  message: `the operation took longer than ${formatCount(seconds, "second")}`,
  status: 400,
});

/** The SQLSTATEs with which extensions report values that they cannot read. */
const UNREADABLE: ReadonlySet<string> = new Set(["XX000", "42601"]);

/** Translates any error to its code, message and status on this surface. @rule G-DBE-1 … G-DBE-15 G-ERR-9 */
export const translateError = (error: unknown): TranslatedError => {
  if (!(error instanceof RelApiError))
    return { code: "unexpected", message: "internal error", status: 500, isDatabase: false };
  const { limit, seconds } = error.facts;
  // a plugin's time limit of statements @rule G-LIM-12
  if (error.code === QUERY_CANCELED && limit !== undefined)
    return { ...timeExceeded(Number(seconds)), isDatabase: true };
  if (error.facts["isOfValue"] === true && UNREADABLE.has(error.code))
    return { code: "data-exception", message: error.message, status: 400, isDatabase: true };
  if (isSqlState(error.code)) return { ...translateDatabaseError(error.code, error.message), isDatabase: true };
  const core = CORE_ERRORS[error.code];
  if (core !== undefined)
    return { code: core.code, message: getMessage(error), status: core.status, isDatabase: false };
  if (error.code === "function-refused")
    return { code: String(error.facts["code"]), message: error.message, status: error.status, isDatabase: false };
  if (OWN_CODES.has(error.code))
    return { code: error.code, message: error.message, status: error.status, isDatabase: false };
  if (!HIDDEN_ERRORS.has(error.code))
    return { code: error.code, message: error.message, status: error.status, isDatabase: false, isForeign: true };
  return { code: "unexpected", message: "internal error", status: 500, isDatabase: false };
};
