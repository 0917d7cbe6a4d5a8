/** Creates the errors that the GraphQL surface raises. `code` is the code that clients see. */
import { RelApiError, limitExceeded, type Json, type Limit, type RequestLimits } from "../../core/index.ts";
import { findJsonError } from "../shared/json-errors.ts";
import { buildUnknownNameFacts } from "../shared/name-hints.ts";
import { getMessage } from "./translate-error.ts";

/** The facts for hints: a misspelt name and the names that may be meant, or a position. @rule G-HNT-1 */
export type HintFacts = Readonly<Record<string, Json>>;

/** Returns the error for a document, a variable or a coercion. @rule G-DOC G-VAR G-COE */
export const validationFailed = (message: string, path: string, facts: HintFacts = {}): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message, path, facts });

/** Returns the error for a column value, a number out of range, or a name that is defined twice. @rule G-COE-9 */
export const parseFailed = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "parse-failed", status: 400, message, path });

/** Returns the error for a request that asks for something unsupported or disabled. @rule G-NST-6 G-FN-5 G-INT-9 */
export const requestUnsupported = (message: string, path: string): RelApiError =>
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
export const documentInvalid = (facts?: HintFacts): RelApiError =>
  validationFailed("not a valid graphql query", "$.query", facts);

/** Returns the error for malformed JSON. `reason` is the message of the JSON parser. @rule G-HTTP-7 G-HNT-3 */
export const jsonInvalid = (at: string, reason: string, text: string): RelApiError => {
  const jsonError = findJsonError(text);
  return new RelApiError({
    code: "invalid-json",
    status: 400,
    message: `Error in ${at}: ${reason}`,
    path: at,
    ...(jsonError === undefined ? {} : { facts: jsonError }),
  });
};

/** Returns the error for a subscription in an HTTP request. @rule G-HTTP-9 */
export const httpSubscriptionUnsupported = (): RelApiError =>
  new RelApiError({
    code: "unexpected-payload",
    status: 400,
    message: "subscriptions are not supported over HTTP, use websockets instead",
    path: "$",
  });

const mediaTypeRejected = (status: 406 | 415, message: string): RelApiError =>
  new RelApiError({ code: "bad-request", status, message, path: "$" });

/** Returns the error for an `Accept` header that lists none of the response's media types. @rule G-OVH-2 */
export const responseTypeRejected = (types: readonly string[]): RelApiError =>
  mediaTypeRejected(406, `the response is ${types.join(" or ")}, and Accept takes neither`);

/** Returns the error for a body without `Content-Type`. @rule G-OVH-3 */
export const bodyTypeMissing = (type: string): RelApiError =>
  mediaTypeRejected(415, `the body is ${type}, and Content-Type is missing`);

/** Returns the error for a body of an unsupported media type. @rule G-OVH-3 */
export const bodyTypeRejected = (type: string, sentType: string): RelApiError =>
  mediaTypeRejected(415, `the body is ${type} in UTF-8, not ${sentType}`);

/** Returns the error for the path of an endpoint that does not exist. @rule G-RES-1 */
export const endpointNotFound = (): RelApiError =>
  new RelApiError({ code: "not-found", status: 404, message: "Endpoint not found", path: "$" });

/** Returns the error for a method that an endpoint does not allow. @rule G-RES-1 */
export const methodNotAllowed = (method: string, allowedMethods: readonly string[]): RelApiError =>
  new RelApiError({
    code: "method-not-allowed",
    status: 405,
    message: `Method ${method} is not allowed for this endpoint`,
    path: "$",
    headers: [["Allow", allowedMethods.join(", ")]],
  });

/** Returns the error for a variable that the query of an endpoint does not declare. @rule G-RES-3 */
export const variableUnexpected = (name: string): RelApiError =>
  new RelApiError({ code: "bad-request", status: 400, message: `Unexpected variable ${name}`, path: "$" });

/** Returns the error for a mutation in a GET request. @rule G-GET-2 */
export const mutationByGetUnsupported = (): RelApiError =>
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

/** Returns the error for an exceeded limit. `items` is the plural of the counted things. @rule G-LIM-3 G-LIM-4 */
export const graphqlLimitExceeded = (limits: RequestLimits, limit: Limit, items: string, path = "$"): RelApiError =>
  limitExceeded(limit, {
    code: "validation-failed",
    message: `the operation has more than ${limits[limit]} ${items}`,
    path,
  });

/** Returns the error for a body with too many levels. @rule G-LIM-2 */
export const graphqlBodyTooDeep = ({ maxJsonDepth }: RequestLimits): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "validation-failed",
    message: `the request is nested deeper than ${maxJsonDepth} levels`,
    path: "$",
  });

/** Returns the error for variables above the limit of bytes. `path` is their position in the request. @rule G-LIM-2 */
export const variablesTooLarge = ({ maxVariablesBytes }: RequestLimits, path: string): RelApiError =>
  limitExceeded("maxVariablesBytes", {
    code: "validation-failed",
    message: `the variables are larger than ${maxVariablesBytes} bytes`,
    path,
  });

/** Returns the error for bound values that exceed the limit. @rule G-LIM-2 */
export const boundValuesTooLarge = (maxBytes: number): RelApiError =>
  limitExceeded("maxVariablesBytes", {
    code: "validation-failed",
    message: `the values of the operation are larger than ${maxBytes} bytes`,
    path: "$.variables",
  });

/** Returns the error for fields that are nested too deep. @rule G-LIM-3 */
export const fieldsTooDeep = ({ maxDocumentDepth }: RequestLimits): RelApiError =>
  limitExceeded("maxDocumentDepth", {
    code: "validation-failed",
    message: `the operation selects fields nested deeper than ${maxDocumentDepth} levels`,
    path: "$",
  });

/** Returns the error for a batch with too many requests. @rule G-LIM-6 */
export const batchTooLong = ({ maxBatchEntries }: RequestLimits): RelApiError =>
  limitExceeded("maxBatchEntries", {
    code: "bad-request",
    message: `the batch has more than ${maxBatchEntries} requests`,
    path: "$",
  });

/** Returns the error of the requests of a batch whose earlier answers exceed the limit of bytes. @rule G-LIM-6 */
export const batchAnswersTooLarge = (maxBatchBytes: number): RelApiError =>
  limitExceeded("maxBatchBytes", {
    code: "bad-request",
    message: `the responses of the batch exceed ${maxBatchBytes} bytes`,
    path: "$",
  });

/** Returns the error for a value that is too deep for a recursive function. @rule G-HTTP-15 */
export const variablesTooDeep = (): RelApiError =>
  validationFailed("the values of the variables are nested too deeply", "$");

/** Returns the error for a field that its type does not have. @rule G-DOC-4 */
export const fieldNotFound = (field: string, type: string, path: string, knownNames: Iterable<string>): RelApiError =>
  validationFailed(`field '${field}' not found in type: '${type}'`, path, buildUnknownNameFacts(field, knownNames));

/** Returns the error for an argument that its field does not have. @rule G-DOC-5 */
export const argumentNotFound = (
  field: string,
  argument: string,
  path: string,
  knownNames: Iterable<string>,
): RelApiError =>
  validationFailed(`'${field}' has no argument named '${argument}'`, path, buildUnknownNameFacts(argument, knownNames));

/** Returns the error for an input object without a required field. @rule G-DOC-7 */
export const fieldMissing = (field: string, path: string): RelApiError =>
  validationFailed(`missing required field '${field}'`, path);

/** Returns the error for a variable whose declared type does not fit its position. @rule G-VAR-6 */
export const variableTypeMismatched = (
  variable: string,
  declaredType: string,
  expectedType: string,
  path: string,
): RelApiError =>
  validationFailed(
    `variable '${variable}' is declared as '${declaredType}', but used where '${expectedType}' is expected`,
    path,
  );

/** Returns the error for a value of another type. `expectation` includes its article: `a boolean`. @rule G-COE-2 G-COE-3
 *  G-COE-4 G-COE-5 */
export const valueUnexpected = (expectation: string, type: string, actual: string, path: string): RelApiError =>
  validationFailed(`expected ${expectation} for type '${type}', but found ${actual}`, path);

/** Returns the error for null in place of a list. @rule G-COE-6 */
export const listMissing = (path: string): RelApiError => validationFailed("expected a list, but found null", path);

/** Returns the error for a value that its enum does not have. @rule G-COE-7 */
export const enumValueInvalid = (values: readonly string[], type: string, actual: string, path: string): RelApiError =>
  validationFailed(
    `expected one of the values [${[...values]
      .sort()
      .map((value) => `'${value}'`)
      .join(", ")}] for type '${type}', but found '${actual}'`,
    path,
    buildUnknownNameFacts(actual, values),
  );

/** Returns the error for null at a position that does not accept it. @rule G-COE-8 */
export const nullUnexpected = (type: string, path: string): RelApiError =>
  validationFailed(`unexpected null value for type '${type}'`, path);

/** Returns the error for a number that is not in the range of `Int`. @rule G-COE-9 */
export const integerOutOfRange = (numberText: string, path: string): RelApiError =>
  parseFailed(
    `The value ${numberText} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`,
    path,
  );

/** Returns the error for a number that is not in the range of `Float`. @rule G-COE-9 */
export const floatOutOfRange = (numberText: string, path: string): RelApiError =>
  parseFailed(`The value ${numberText} lies outside the bounds. Is it overflowing the float bounds?`, path);

/** Returns the error that a plugin's function throws on purpose, with the code and message of the plugin. @rule
 *  X-GQL-4 */
export const functionRejected = (error: RelApiError, at: string): RelApiError => {
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

const credentialRejected = (code: string, message: string, status = 400): RelApiError =>
  new RelApiError({ code, status, message, path: "$" });

/** Returns the error for a token that cannot be verified. @rule G-AUTH-12 G-AUTH-14 */
export const jwtUnverified = (reason: string): RelApiError =>
  credentialRejected("invalid-jwt", `Could not verify JWT: ${reason}`);

/** Returns the error for a token whose claims are nested too deeply. @rule G-LIM-2 */
export const jwtClaimsTooDeep = (levels: number): RelApiError =>
  limitExceeded("maxJsonDepth", {
    code: "invalid-jwt",
    message: `Could not verify JWT: the claims are nested deeper than ${levels} levels`,
    path: "$",
  });

/** Returns the error for an `Authorization` header that has another form. @rule G-AUTH-13 */
export const authorizationMalformed = (): RelApiError =>
  credentialRejected("invalid-headers", "Malformed Authorization header");

/** Returns the error for a request with several tokens. @rule G-AUTH-13 */
export const tokenRepeated = (): RelApiError =>
  credentialRejected("invalid-headers", "Could not verify JWT: Multiple JWTs found");

/** Returns the error for claims that are not valid. @rule G-AUTH-16 G-AUTH-17 G-AUTH-18 */
export const jwtClaimsInvalid = (message: string): RelApiError => credentialRejected("jwt-invalid-claims", message);

/** Returns the error for a token without the claims of the role. @rule G-AUTH-17 G-AUTH-18 */
export const roleClaimMissing = (claim: string): RelApiError =>
  credentialRejected("jwt-missing-role-claims", `JWT claim does not contain ${claim}`);

/** Returns the error for a requested role that the token does not allow. @rule G-AUTH-19 */
export const requestedRoleNotAllowed = (): RelApiError =>
  credentialRejected("access-denied", "Your requested role is not in allowed roles");

/** Returns the error for a request without the required admin secret. @rule G-AUTH-5 */
export const adminSecretRequired = (): RelApiError =>
  credentialRejected("access-denied", "x-session-admin-secret required, but not found", 401);

/** Returns the error for a request without the required token. @rule G-AUTH-8 */
export const tokenRequired = (): RelApiError =>
  credentialRejected("invalid-headers", "Missing 'Authorization' or 'Cookie' header in JWT authentication mode");

/** Returns the error for a request to an api without an auth scheme. @rule G-AUTH-9 */
export const authSchemeMissing = (): RelApiError =>
  credentialRejected(
    "access-denied",
    "no authentication is configured; set an admin secret, a JWT secret or an anonymous role",
    401,
  );

/** Returns the error for a value of the header that is neither true nor false. @rule G-AUTH-20 */
export const backendOnlyFlagInvalid = (trueWords: readonly string[], falseWords: readonly string[]): RelApiError =>
  credentialRejected(
    "bad-request",
    `x-session-use-backend-only-permissions:  Not a valid boolean text. True values are ${JSON.stringify(trueWords)} and  False values are ${JSON.stringify(falseWords)}. All values are case insensitive`,
  );
