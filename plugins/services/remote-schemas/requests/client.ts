/** Sends GraphQL requests to the server of a remote schema. */
import { print, type DocumentNode } from "graphql";
import {
  encodeUtf8Header,
  isJsonObject,
  exceedsJsonDepth,
  parseJson,
  RelApiError,
  requireService,
  writeJson,
  type Json,
  type JsonObject,
  type OpenExchange,
  type PluginContext,
  type Session,
} from "../../../../core/index.ts";
import { webhookService } from "../../api.ts";
import { buildForwardedHeaders } from "../../webhook/forwarded-headers.ts";
import { renameSessionVariables } from "../../webhook/session-variables.ts";
import { expandHeaders, expandTemplate } from "../../webhook/templates.ts";
import type { RemoteServer } from "../schema/definition.ts";
import { remoteAnswerTooDeep, remoteFailed } from "../errors.ts";

/** The caller of a request. Undefined members belong to requests of the server itself. */
export interface RemoteCaller {
  readonly session?: Session;
  readonly exchange?: OpenExchange | undefined;
  readonly signal?: AbortSignal;
}

export interface RemoteRequest {
  readonly document: DocumentNode;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** The deepest nesting of lists and objects in a response. The limit exists because recursive functions read
 *  responses. */
export const MAX_DEPTH = 500;

/** Headers of the client that this server consumes itself. */
const OWN_HEADERS = /^x-(?:hasura|session)-/;

/** Returns the headers of a request. Headers of the definition take precedence, then session variables. @rule
 *  X-RMT-4 */
export const buildHeaders = (
  { options }: PluginContext,
  { headers, forwardsClientHeaders }: RemoteServer,
  { session, exchange }: RemoteCaller,
): Readonly<Record<string, string>> => {
  const sentHeaders: Record<string, string> = {};
  if (forwardsClientHeaders && exchange !== undefined)
    for (const [name, value] of Object.entries(buildForwardedHeaders(exchange.credentials, options.corsAllowedOrigins)))
      if (!OWN_HEADERS.test(name)) sentHeaders[name] = value;
  if (session !== undefined) {
    for (const [name, value] of Object.entries(renameSessionVariables(session.variables)))
      sentHeaders[name] = encodeUtf8Header(value);
    sentHeaders["x-hasura-role"] = encodeUtf8Header(session.role);
  }
  for (const [name, value] of Object.entries(expandHeaders(headers))) sentHeaders[name.toLowerCase()] = value;
  return sentHeaders;
};

/** Returns the error of the remote schema for an error of the client for webhooks, and any other error itself. */
export const convertFailure = (name: string, error: unknown): unknown =>
  error instanceof RelApiError && error.code.startsWith("webhook-")
    ? remoteFailed(name, error.message.replaceAll("the webhook", "the server"))
    : error;

/** Sends a request and returns its result, which has `data` or `errors`. @throws RelApiError `remote-schema-error`
 *  @rule X-RMT-4 X-RMT-4b X-RMT-8 */
export const sendToRemote = async (
  context: PluginContext,
  name: string,
  server: RemoteServer,
  { document, variables }: RemoteRequest,
  caller: RemoteCaller,
): Promise<JsonObject> => {
  const { exchange, signal } = caller;
  try {
    const { status, text } = await requireService(context, webhookService).send({
      purpose: "remote-schema",
      url: expandTemplate(server.url),
      headers: buildHeaders(context, server, caller),
      body: writeJson({ query: print(document), ...(variables && { variables: variables as Json & object }) }),
      timeoutMs: server.timeoutMs,
      isRepeatable: isQuery(document),
      ...(signal && { signal }),
      exchange,
      forwardsCookies: true,
    });
    if (exceedsJsonDepth(text, MAX_DEPTH)) throw remoteAnswerTooDeep(name, MAX_DEPTH);
    const result = parseResult(text);
    if (result === undefined) throw remoteFailed(name, `its answer with status ${status} is not a GraphQL result`);
    return result;
  } catch (error) {
    throw convertFailure(name, error);
  }
};

const isQuery = ({ definitions }: DocumentNode): boolean =>
  definitions.every((definition) => definition.kind !== "OperationDefinition" || definition.operation === "query");

const parseResult = (text: string): JsonObject | undefined => {
  let result: Json;
  try {
    result = parseJson(text);
  } catch {
    return undefined; // the caller reports the status
  }
  if (!isJsonObject(result)) return undefined;
  const { data, errors = null } = result;
  return isJsonObject(data) || (Array.isArray(errors) && errors.length > 0) ? result : undefined;
};
