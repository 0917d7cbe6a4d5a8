/** Builds the request to the webhook from the credentials of a caller. */
import {
  decodeUtf8Header,
  isJsonObject,
  exceedsJsonDepth,
  parseJson,
  writeJson,
  type Credentials,
  type Json,
  type JsonObject,
  type PluginContext,
} from "../../../core/index.ts";
import type { WebhookRequest } from "../api.ts";
import { buildForwardedHeaders, listCallerHeaders } from "../webhook/forwarded-headers.ts";

type BuildRequest = (credentials: Credentials) => Promise<Pick<WebhookRequest, "method" | "headers" | "body">>;

/** Returns the function that builds requests. @rule X-HOOK-2 X-HOOK-3 X-HOOK-4 */
export const createRequestBuilder = (context: Pick<PluginContext, "options">): BuildRequest => {
  if (context.options.authHookMode === "get")
    return async (credentials) => ({
      method: "GET",
      headers: buildForwardedHeaders(credentials, context.options.corsAllowedOrigins),
    });
  return async (credentials) => {
    const { authHookSendRequestBody, corsAllowedOrigins, maxJsonDepth } = context.options;
    const headers = buildHeadersMember(credentials, listCallerHeaders(credentials, corsAllowedOrigins));
    const payload: Json = authHookSendRequestBody
      ? { headers, request: await readGqlRequest(credentials, maxJsonDepth) }
      : { headers };
    return { body: writeJson(payload) };
  };
};

/** Headers of the upgrade request that Hasura leaves out. */
const UPGRADE_HEADERS = new Set(["connection", "sec-websocket-key", "sec-websocket-version", "upgrade"]);

/** Builds the member `headers` of the body. Names keep the case in which the client wrote them, as in Hasura. */
const buildHeadersMember = (
  credentials: Credentials,
  headers: readonly (readonly [name: string, value: string])[],
): JsonObject => {
  const { isSocket } = credentials;
  const names = new Map<string, string>();
  for (const name of credentials.headerNames?.() ?? [])
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  return Object.fromEntries(
    headers
      .filter(([name]) => !isSocket || !UPGRADE_HEADERS.has(name))
      .map(([name, value]) => [names.get(name) ?? name, isSocket ? value : decodeUtf8Header(value)]),
  );
};

/** Reads the GraphQL request. Returns null for a socket, another surface, and a body that is not a GraphQL request. */
const readGqlRequest = async (credentials: Credentials, maxJsonDepth: number): Promise<Json> => {
  const { request, surface } = credentials;
  if (surface !== "graphql" || credentials.body === undefined) return null;
  if (request.method === "POST") return selectMembers(parseBody((await credentials.body()).toString(), maxJsonDepth));
  const parameters = new URLSearchParams(request.url?.split("?", 2)[1]);
  return selectMembers({
    ...Object.fromEntries(parameters),
    variables: parseBody(parameters.get("variables") ?? "", maxJsonDepth),
  });
};

const parseBody = (text: string, maxJsonDepth: number): Json => {
  if (exceedsJsonDepth(text, maxJsonDepth)) return null;
  try {
    return parseJson(text);
  } catch {
    return null; // the surface rejects the request later, with its own message
  }
};

/** Keeps the members of a GraphQL request, or of each request of a batch. */
const selectMembers = (body: Json): Json => {
  if (Array.isArray(body)) return (body as readonly Json[]).map(selectMembers);
  if (!isJsonObject(body) || typeof body["query"] !== "string") return null;
  const { query, operationName = null, variables = null } = body;
  return { operationName, query, variables };
};
