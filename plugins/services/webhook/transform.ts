/** Transforms of Hasura metadata, which change the request to a webhook and the body of its response.
 *  @rule X-HTTP-7 X-HTTP-8 */
import { isJsonObject, parseJson, writeJson, type Json, type JsonObject } from "../../../core/index.ts";
import type { WebhookRequest } from "../api.ts";
import { parseJsonTemplate, parseTextTemplate, TemplateError, type Template, type TemplateVariables } from "./kriti.ts";

/** A request before its transform. */
export interface TransformedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON text. */
  readonly body: string;
  /** The session variables by their names in Hasura, or null. */
  readonly sessionVariables: Json;
}

/** Returns the request to send. @throws TemplateError */
type RequestTransform = (request: TransformedRequest) => Pick<WebhookRequest, "url" | "method" | "headers" | "body">;

/** Returns the changed text of a response. @throws TemplateError */
type ResponseTransform = (
  response: { readonly text: string; readonly status: number },
  request: TransformedRequest,
) => string;

/** The transforms of an action or an event trigger. */
export interface Transforms {
  readonly request?: RequestTransform;
  readonly response?: ResponseTransform;
}

type CreateError = (reason: string) => Error;

const REQUEST_VARIABLES: ReadonlySet<string> = new Set(["$body", "$base_url", "$query_params", "$session_variables"]);
const RESPONSE_VARIABLES: ReadonlySet<string> = new Set(["$body", "$request", "$response", "$session_variables"]);

const buildVariables = ({ url, body, sessionVariables }: TransformedRequest): TemplateVariables => ({
  $body: parseJson(body),
  $base_url: url,
  $query_params: [...new URL(url).searchParams],
  $session_variables: sessionVariables,
});

/** Reads templates at locations of the metadata. */
interface TemplateReader {
  /** Reads a template. Undefined if the value is missing. */
  readText(rawValue: Json | undefined, location: string): Template<string> | undefined;
  readJson(rawValue: Json | undefined, location: string): Template;
  fail(reason: string): never;
}

const createTemplateReader = (names: ReadonlySet<string>, createError: CreateError): TemplateReader => {
  const fail = (reason: string): never => {
    throw createError(reason);
  };
  const read = <Value extends Json>(
    parse: (text: string, names: ReadonlySet<string>) => Template<Value>,
    rawValue: Json | undefined,
    location: string,
  ): Template<Value> => {
    if (typeof rawValue !== "string") return fail(`${location} is not a string`);
    const template = locate(location, createError, () => parse(rawValue, names));
    return (variables) => locate(location, createTemplateError, () => template(variables));
  };
  return {
    readText: (rawValue, location) =>
      rawValue === undefined || rawValue === null ? undefined : read(parseTextTemplate, rawValue, location),
    readJson: (rawValue, location) => read(parseJsonTemplate, rawValue, location),
    fail,
  };
};

const createTemplateError: CreateError = (reason) => new TemplateError(reason);

/** Adds the location to an error of a template. */
const locate = <Value>(location: string, createError: CreateError, run: () => Value): Value => {
  try {
    return run();
  } catch (error) {
    throw error instanceof TemplateError ? createError(`${location}: ${error.message}`) : error;
  }
};

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const COMMON_KEYS = ["version", "template_engine", "body"];
const REQUEST_KEYS = new Set([...COMMON_KEYS, "method", "url", "query_params", "request_headers", "content_type"]);
const RESPONSE_KEYS = new Set(COMMON_KEYS);

const readTransform = (
  rawValue: Json,
  location: string,
  keys: ReadonlySet<string>,
  { fail }: TemplateReader,
): JsonObject => {
  if (!isJsonObject(rawValue)) return fail(`${location} is not an object`);
  for (const [key, value] of Object.entries(rawValue))
    if (!keys.has(key) && value !== null) fail(`${location}.${key} is not supported`);
  if (![1, 2].includes((rawValue["version"] ?? 1) as number)) fail(`${location}.version is neither 1 nor 2`);
  if ((rawValue["template_engine"] ?? "Kriti") !== "Kriti") fail(`${location}.template_engine is not Kriti`);
  return rawValue;
};

const readMethod = (
  rawValue: Json | undefined,
  location: string,
  { fail }: TemplateReader,
): WebhookRequest["method"] => {
  if (rawValue === undefined || rawValue === null) return undefined;
  const method = METHODS.find(
    (supportedMethod) => typeof rawValue === "string" && supportedMethod === rawValue.toUpperCase(),
  );
  return method ?? fail(`${location} is not one of ${METHODS.join(", ")}`);
};

const FORM = "application/x-www-form-urlencoded";
const CONTENT_TYPES: ReadonlyMap<Json, string> = new Map<Json, string>([
  ["application/json", "application/json"],
  [FORM, FORM],
  ["x-www-form-urlencoded", FORM],
]);

const readContentType = (
  rawValue: Json | undefined,
  location: string,
  { fail }: TemplateReader,
): string | undefined => {
  if (rawValue === undefined || rawValue === null) return undefined;
  return CONTENT_TYPES.get(rawValue) ?? fail(`${location} is neither application/json nor ${FORM}`);
};

const readOptionalObject = (rawValue: Json | undefined, location: string, { fail }: TemplateReader): JsonObject => {
  if (rawValue === undefined || rawValue === null) return {};
  return isJsonObject(rawValue) ? rawValue : fail(`${location} is not an object`);
};

type NamedTemplate = readonly [name: Template<string>, value: Template<string> | undefined];

const readPairs = (rawValue: Json | undefined, location: string, reader: TemplateReader): readonly NamedTemplate[] =>
  Object.entries(readOptionalObject(rawValue, location, reader)).map(([name, value]) => [
    reader.readText(name, `${location}.${name}`) as Template<string>, // the name is not undefined
    reader.readText(value, `${location}.${name}`),
  ]);

/** Encodes pairs for a query or a form. A pair whose name or value is null is left out. */
const encodePairs = (pairs: readonly NamedTemplate[], variables: TemplateVariables): string =>
  pairs
    .map(([name, value]) => [name(variables), value?.(variables)] as const)
    .filter(([name, value]) => name !== "null" && value !== "null")
    .map(([name, value = undefined]) =>
      [name, value].flatMap((part) => (part === undefined ? [] : encodeURIComponent(part))).join("="),
    )
    .join("&");

interface BodyTransform {
  readonly contentType?: string;
  /** Returns undefined if there is no body. */
  readonly build: (variables: TemplateVariables) => string | undefined;
}

const readBody = (rawValue: Json | undefined, location: string, reader: TemplateReader): BodyTransform | undefined => {
  if (rawValue === undefined || rawValue === null) return undefined;
  if (typeof rawValue === "string") return readJsonBody(rawValue, location, reader); // version 1 of the format
  const { action, template, form_template: form } = readOptionalObject(rawValue, location, reader);
  if (action === "remove") return { build: () => undefined };
  if (action === "transform") return readJsonBody(template, `${location}.template`, reader);
  if (action !== "x_www_form_urlencoded")
    return reader.fail(`${location}.action is not one of transform, remove, x_www_form_urlencoded`);
  const pairs = readPairs(form, `${location}.form_template`, reader);
  return { contentType: FORM, build: (variables) => encodePairs(pairs, variables) };
};

const readJsonBody = (rawValue: Json | undefined, location: string, reader: TemplateReader): BodyTransform => {
  const template = reader.readJson(rawValue, location);
  return { build: (variables) => writeJson(template(variables)) };
};

type HeaderTransform = (
  headers: Readonly<Record<string, string>>,
  variables: TemplateVariables,
) => Readonly<Record<string, string>>;

const readHeaders = (rawValue: Json | undefined, location: string, reader: TemplateReader): HeaderTransform => {
  const { add_headers: addedHeaders, remove_headers: removedHeaders } = readOptionalObject(rawValue, location, reader);
  const pairs = Object.entries(readOptionalObject(addedHeaders, `${location}.add_headers`, reader)).map(
    ([name, value]) => [name, reader.readText(value, `${location}.add_headers.${name}`)] as const,
  );
  const list: Json = removedHeaders ?? [];
  if (!Array.isArray(list) || !list.every((name): name is string => typeof name === "string"))
    return reader.fail(`${location}.remove_headers is not a list of names`);
  const replacedNames = new Set([...list, ...pairs.map(([name]) => name)].map((name) => name.toLowerCase()));
  return (headers, variables) =>
    Object.fromEntries([
      ...Object.entries(headers).filter(([name]) => !replacedNames.has(name.toLowerCase())),
      // The strings of headers are bytes.
      ...pairs.flatMap(([name, value]) =>
        value === undefined ? [] : [[name, Buffer.from(value(variables), "utf8").toString("latin1")] as const],
      ),
    ]);
};

type QueryTransform = (variables: TemplateVariables) => string;

const readQuery = (
  rawValue: Json | undefined,
  location: string,
  reader: TemplateReader,
): QueryTransform | undefined => {
  if (rawValue === undefined || rawValue === null) return undefined;
  if (typeof rawValue === "string") return reader.readText(rawValue, location);
  const pairs = readPairs(rawValue, location, reader);
  return (variables) => encodePairs(pairs, variables);
};

const readRequestTransform = (rawValue: Json, createError: CreateError): RequestTransform => {
  const location = "request_transform";
  const reader = createTemplateReader(REQUEST_VARIABLES, createError);
  const transform = readTransform(rawValue, location, REQUEST_KEYS, reader);
  const method = readMethod(transform["method"], `${location}.method`, reader);
  const readUrl = reader.readText(transform["url"], `${location}.url`);
  const readSearch = readQuery(transform["query_params"], `${location}.query_params`, reader);
  const body = readBody(transform["body"], `${location}.body`, reader);
  const contentType = readContentType(transform["content_type"], `${location}.content_type`, reader);
  const changeHeaders = readHeaders(transform["request_headers"], `${location}.request_headers`, reader);
  const defaultType = contentType ?? body?.contentType;
  return (request) => {
    const variables = buildVariables(request);
    const text = readUrl?.(variables) ?? request.url;
    if (!URL.canParse(text)) throw new TemplateError(`${location}.url: the result is not a URL`);
    const url = new URL(text);
    if (readSearch !== undefined) url.search = readSearch(variables);
    const content = body === undefined ? request.body : body.build(variables);
    return {
      url: url.href,
      ...(method && { method }),
      headers: {
        ...(defaultType === undefined ? {} : { "content-type": defaultType }),
        ...changeHeaders(request.headers, variables),
      },
      ...(content === undefined ? {} : { body: content }),
    };
  };
};

const parseResponse = (text: string): Json => {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
};

const readResponseTransform = (rawValue: Json, createError: CreateError): ResponseTransform => {
  const location = "response_transform";
  const reader = createTemplateReader(RESPONSE_VARIABLES, createError);
  const transform = readTransform(rawValue, location, RESPONSE_KEYS, reader);
  const body = readBody(transform["body"], `${location}.body`, reader);
  return ({ text, status }, request) => {
    if (body === undefined) return text;
    const { $body, $base_url, $query_params, $session_variables } = buildVariables(request);
    const changedText = body.build({
      $body: parseResponse(text),
      $request: {
        body: $body,
        base_url: $base_url,
        query_params: $query_params,
        session_variables: $session_variables,
      } as JsonObject,
      $response: { status },
      $session_variables: $session_variables ?? null,
    });
    // Callers expect JSON, so a form is encoded as a JSON string.
    return body.contentType === FORM ? JSON.stringify(changedText) : (changedText ?? "null");
  };
};

/** Reads `request_transform` and `response_transform`. `createError` creates the error for a reason. */
export const readTransforms = (
  { request_transform: request, response_transform: response }: JsonObject,
  createError: CreateError,
): Transforms => ({
  // The condition has checked that the value is present.
  ...((request ?? null) === null ? {} : { request: readRequestTransform(request as Json, createError) }),
  ...((response ?? null) === null ? {} : { response: readResponseTransform(response as Json, createError) }),
});
