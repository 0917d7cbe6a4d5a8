/**
 * `POST /mcp`: the Model Context Protocol, through which language models read the database with the rights of one role.
 */
import {
  createOriginPolicyGetter,
  definePlugin,
  exceedsJsonDepth,
  type Answer,
  type Exchange,
  type Headers as HeaderList,
  type PluginContext,
  type RelApiError,
  type Surface,
} from "../../../core/index.ts";
import { restGuideService } from "../../rest/api.ts";
import { buildChallenge, checkAuthorization, describeResource, listMetadataPaths } from "./authorization.ts";
import { addExtensionMembers } from "./extensions.ts";
import { buildVisibleSchema } from "./schema.ts";
import { answerMessage } from "./server.ts";
import { mcpSettings } from "./settings.ts";

const PATH = "/mcp";

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

/** Error codes of JSON-RPC. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const REJECTED_REQUEST = -32001;

/** Builds an answer. The protocol names the content type without a charset. */
const buildMessageAnswer = (status: number, body: string, addedHeaders: HeaderList = []): Answer => ({
  status,
  headers: [["Content-Type", "application/json"], ["Cache-Control", "no-store"], ...addedHeaders],
  body,
});

const buildRpcError = (status: number, code: number, message: string, addedHeaders: HeaderList = []): Answer =>
  buildMessageAnswer(status, JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }), addedHeaders);

/** Parses the body of a request. @returns the message, or the error response if it cannot be parsed */
const parseMessage = (bytes: Buffer): { readonly message: unknown } | Answer => {
  if (bytes.length > MAX_MESSAGE_BYTES) return buildRpcError(413, INVALID_REQUEST, "the message is too large");
  const text = bytes.toString("utf8");
  if (exceedsJsonDepth(text, MAX_DEPTH)) return buildRpcError(400, INVALID_REQUEST, "the message is nested too deeply");
  try {
    const message: unknown = JSON.parse(text);
    // The protocol no longer has batches, and each entry would count as a request.
    if (Array.isArray(message)) return buildRpcError(400, INVALID_REQUEST, "one message per request");
    return { message };
  } catch {
    return buildRpcError(400, PARSE_ERROR, "the message is not JSON");
  }
};

/** The request headers that the transport receives, which needs no credentials. */
const TRANSPORT_HEADERS = ["accept", "content-type", "mcp-protocol-version"];

const buildTransportRequest = (exchange: Exchange): Request => {
  const headers = new Headers();
  for (const name of TRANSPORT_HEADERS) {
    const value = exchange.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  return new Request(`http://localhost${PATH}`, { method: "POST", headers });
};

/** Returns the reason why a token was rejected, in a form that a header can carry. @rule R-AUT-9 */
const findTokenError = (code: string, message: string): string | undefined =>
  code === "token-refused" || code === "token-claims-refused" ? message.replace(/[^\x20-\x7e]/g, "?") : undefined;

const createSurface = (context: PluginContext): Surface => {
  const policy = createOriginPolicyGetter(() => context.options.mcpAllowedOrigins);
  /** Returns whether the origin may send requests. After DNS rebinding, a page still sends its own origin. Programs
   *  send no origin. @rule P-MCP-7 */
  const isAllowed = (origin: string | undefined): boolean =>
    origin === undefined || (context.options.mcpAllowedOrigins.length > 0 && policy().allows(origin));

  return {
    name: "mcp",
    paths: () => {
      if (context.use(restGuideService) === undefined) return [];
      return context.options.mcpResourceUrl === undefined ? [PATH] : [PATH, ...listMetadataPaths(PATH)];
    },
    beforeAuthorize: (exchange) => {
      const { method, path } = exchange;
      if (path !== PATH) return describeResource(context.options, exchange);
      if (!isAllowed(exchange.header("origin")))
        return buildRpcError(403, REJECTED_REQUEST, "pages of this origin are not allowed");
      if (method === "POST") return undefined;
      // The server keeps no state between requests, so no stream can be opened and no session ended.
      return method === "OPTIONS"
        ? { status: 204, headers: [["Allow", "OPTIONS, POST"]] }
        : buildRpcError(405, REJECTED_REQUEST, "method not allowed", [["Allow", "OPTIONS, POST"]]);
    },
    handle: async (exchange) => {
      const read = parseMessage(await exchange.body());
      if ("status" in read) return read;
      const abortController = new AbortController();
      const stop = exchange.onDisconnect(() => abortController.abort());
      try {
        const schema = buildVisibleSchema(context.model(), exchange.session);
        const caller = { context, exchange, schema, signal: abortController.signal };
        const response = await answerMessage(read.message, buildTransportRequest(exchange), caller);
        exchange.operation = readOperation(read.message);
        return buildMessageAnswer(response.status, await response.text());
      } finally {
        stop();
      }
    },
    encodeError: ({ code, status, message, headers }: RelApiError) => {
      const isSaid = status !== 401 || headers.some(([name]) => name.toLowerCase() === "www-authenticate");
      return buildRpcError(
        status,
        REJECTED_REQUEST,
        message,
        isSaid ? headers : [...headers, buildChallenge(context.options, PATH, findTokenError(code, message))],
      );
    },
  };
};

const METHOD = /^[a-z/_]{1,40}$/;
const TOOL = /^[a-z_]{1,40}$/;

/** Returns the method and the tool, for the log. */
const readOperation = (message: unknown): { readonly kind: string; readonly name?: string } => {
  const { method, params } = (message ?? {}) as {
    readonly method?: unknown;
    readonly params?: { readonly name?: unknown };
  };
  const name = params?.name;
  return {
    kind: typeof method === "string" && METHOD.test(method) ? method : "unknown",
    ...(typeof name === "string" && TOOL.test(name) ? { name } : {}),
  };
};

/** Serves the Model Context Protocol: `POST /mcp`. @rule P-MCP-1 … P-MCP-10 @experimental */
export const mcp = definePlugin({
  name: "mcp",
  // This path lies below the root of the REST surface, which runs the requests of the tools.
  before: ["rest"],
  settings: mcpSettings,
  apply: (hooks, context) => {
    hooks.introspect.tapPromise("mcp", addExtensionMembers);
    checkAuthorization(context.options, PATH);
    context.addSurface(createSurface(context));
  },
});
