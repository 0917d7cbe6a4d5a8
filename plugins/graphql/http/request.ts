/** Reads the body of a POST as one request or a batch. @rule G-HTTP-1 G-HTTP-5 … G-HTTP-8 G-DOC-2 G-VAR-10 */
import { exceedsJsonDepth, type Json, type JsonObject, type RequestLimits } from "../../../core/index.ts";
import { isPlainObject, nameJsonKind } from "../values/leaf.ts";
import { parseJson } from "../values/numbers.ts";
import { rejectInvalidExtensions } from "./response-form.ts";
import {
  batchTooLong,
  graphqlBodyTooDeep,
  jsonInvalid,
  requestUnsupported,
  parseFailed,
  variablesTooLarge,
} from "../errors.ts";
import type { GqlRequest } from "../operations.ts";

export type GqlBody = { readonly single: GqlRequest } | { readonly batch: readonly GqlRequest[] };

const requireString = (value: Json, path: string): string => {
  if (typeof value !== "string")
    throw parseFailed(`parsing Text failed, expected String, but encountered ${nameJsonKind(value)}`, path);
  return value;
};

/** Finds the document of a request that does not contain its text. Undefined if no plugin knows its name. */
export type FindDocument = (request: JsonObject) => string | undefined;

/** Returns whether the request has a query. An empty `query` counts as omitted, because the protocol of some clients
 *  requires a string. */
export const hasQuery = ({ query }: JsonObject): boolean => query !== undefined && query !== null && query !== "";

const hasPersistedQuery = ({ extensions }: JsonObject): boolean =>
  isPlainObject(extensions) && extensions["persistedQuery"] !== undefined;

/** Reads one request. @throws RelApiError `parse-failed`, `not-supported`, and errors of the plugins that find
 *  documents */
export const readRequest = (value: Json, find: FindDocument, isInBatch = false, isStrict = false): GqlRequest => {
  if (!isPlainObject(value))
    throw parseFailed(`expected a JSON object with the key 'query', but encountered ${nameJsonKind(value)}`, "$");
  const { query, variables, operationName, extensions } = value;
  if (isStrict) rejectInvalidExtensions(extensions);
  const isPersisted = extensions !== undefined && hasPersistedQuery(value);
  const isTextMissing = typeof query !== "string" || query === "";
  const persistedText = isPersisted || (isTextMissing && !hasQuery(value)) ? find(value) : undefined;
  if (persistedText === undefined && !isInBatch && isPersisted)
    throw requestUnsupported("Automatic Persisted Queries is not enabled", "$");
  if (persistedText === undefined && query === undefined) throw parseFailed("the key 'query' was not present", "$");
  const text = persistedText ?? (typeof query === "string" ? query : requireString(query ?? null, "$.query"));
  if (variables !== undefined && variables !== null && !isPlainObject(variables))
    throw parseFailed(
      `parsing HashMap failed, expected Object, but encountered ${nameJsonKind(variables)}`,
      "$.variables",
    );
  return {
    query: text,
    ...(operationName === undefined || operationName === null
      ? {}
      : { operationName: requireString(operationName, "$.operationName") }),
    ...(variables === undefined || variables === null ? {} : { variables }),
  };
};

/** Checks the size of everything except the documents: variables, names, extensions. @rule G-LIM-2 */
const checkVariables = (bytes: number, body: Json, limits: RequestLimits): void => {
  // `readRequest` has accepted the requests.
  const requests = (Array.isArray(body) ? body : [body]) as readonly JsonObject[];
  const documents = requests.reduce((sum, { query = "" }) => sum + Buffer.byteLength(JSON.stringify(query)), 0);
  if (bytes - documents > limits.maxVariablesBytes) throw variablesTooLarge(limits, "$.variables");
};

const readBatch = (
  elements: readonly Json[],
  limits: RequestLimits,
  find: FindDocument,
  isStrict: boolean,
): readonly GqlRequest[] => {
  if (elements.length > limits.maxBatchEntries) throw batchTooLong(limits);
  return elements.map((element) => readRequest(element, find, true, isStrict));
};

/** Parses JSON of a client. `text` is undefined if the body is not UTF-8: other bytes would be stored as other
 *  characters. `at` is the path of errors. @throws RelApiError `invalid-json`; G-LIM-6 */
export const parseRequestJson = (text: string | undefined, limits: RequestLimits, at = "$"): Json => {
  if (text === undefined) throw jsonInvalid(at, "the body is not UTF-8", "{}");
  if (exceedsJsonDepth(text, limits.maxJsonDepth)) throw graphqlBodyTooDeep(limits);
  try {
    return parseJson(text);
  } catch (error) {
    throw jsonInvalid(at, error instanceof Error ? error.message : "no JSON", text);
  }
};

/** Parses a body. `text` is undefined if the body is not UTF-8. `isStrict` applies GraphQL over HTTP. @throws
 *  RelApiError `invalid-json`, `parse-failed`, `not-supported`; G-LIM-2, G-LIM-6 */
export const parseBody = (
  text: string | undefined,
  limits: RequestLimits,
  find: FindDocument,
  isStrict: boolean,
): GqlBody => {
  const body = parseRequestJson(text, limits);
  const requests = Array.isArray(body)
    ? readBatch(body as readonly Json[], limits, find, isStrict)
    : [readRequest(body, find, false, isStrict)];
  const bytes = Buffer.byteLength(text ?? "");
  if (bytes > limits.maxVariablesBytes) checkVariables(bytes, body, limits);
  return Array.isArray(body) ? { batch: requests } : { single: requests[0] as GqlRequest }; // there is one request
};
