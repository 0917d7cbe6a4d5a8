/** The body of a POST as requests: one, or a batch. @rule G-HTTP-1 G-HTTP-5 … G-HTTP-8 G-DOC-2 G-VAR-10 */
import { isUtf8 } from "node:buffer";
import { RelApiError, type GqlRequest, type Json } from "../../core/index.ts";
import { kindOf } from "./coerce/leaf.ts";
import { parseJson } from "./coerce/numbers.ts";
import { notSupported, parseFailed } from "./errors.ts";

export type GqlBody = { readonly single: GqlRequest } | { readonly batch: readonly GqlRequest[] };

type JsonObject = Readonly<Record<string, Json>>;

const isObject = (value: Json | undefined): value is JsonObject => kindOf(value ?? null) === "Object";

/** @rule G-HTTP-7 */
const invalidJson = (reason: string): RelApiError => new RelApiError({ code: "invalid-json", status: 400, message: `Error in $: ${reason}`, path: "$" });

const textOf = (value: Json, path: string): string => {
  if (typeof value !== "string") throw parseFailed(`parsing Text failed, expected String, but encountered ${kindOf(value)}`, path);
  return value;
};

/** @throws RelApiError `parse-failed`, `not-supported` */
export const readRequest = (value: Json, isInBatch = false): GqlRequest => {
  if (!isObject(value)) throw parseFailed(`expected a JSON object with the key 'query', but encountered ${kindOf(value)}`, "$");
  const { query, variables, operationName, extensions } = value;
  if (!isInBatch && isObject(extensions) && extensions["persistedQuery"] !== undefined) throw notSupported("Automatic Persisted Queries is not enabled", "$");
  if (query === undefined) throw parseFailed("the key 'query' was not present", "$");
  const text = textOf(query, "$.query");
  if (variables !== undefined && variables !== null && !isObject(variables))
    throw parseFailed(`parsing HashMap failed, expected Object, but encountered ${kindOf(variables)}`, "$.variables");
  return {
    query: text,
    ...(operationName === undefined || operationName === null ? {} : { operationName: textOf(operationName, "$.operationName") }),
    ...(variables === undefined || variables === null ? {} : { variables }),
  };
};

/** @throws RelApiError `invalid-json`, `parse-failed`, `not-supported` */
export const parseBody = (bytes: Buffer): GqlBody => {
  // else bytes that are no characters would be stored as other characters
  if (!isUtf8(bytes)) throw invalidJson("the body is not UTF-8");
  let body: Json;
  try {
    body = parseJson(bytes.toString("utf8"));
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : "no JSON");
  }
  if (Array.isArray(body)) return { batch: (body as readonly Json[]).map((element) => readRequest(element, true)) };
  return { single: readRequest(body, false) };
};
