/**
 * A path for administrators that accepts and returns JSON. Errors have the form `{"path","error","code"}`.
 * @rule P-HAS-2
 */
import {
  buildJsonAnswer,
  RelApiError,
  requireService,
  writeJson,
  type Answer,
  type Exchange,
  type Headers,
  type Json,
  type OpenExchange,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import { graphqlService, type GqlEngine } from "../../graphql/api.ts";
import { adminRequired, encodeMetadataError, MetadataApiError, metadataError } from "./errors.ts";

interface AdminPath {
  readonly path: string;
  /** The kind of operation that the log shows. */
  readonly kind: string;
  /** The method that the path accepts, by default POST. */
  readonly method?: "GET";
  /** Returns whether the path is served. Each load of the schema calls this function. By default, the path is always
   *  served. */
  isEnabled?(): boolean;
  /** Answers a request. `body` is null for a GET. @throws RelApiError */
  answer(body: Json, request: AdminRequest): Promise<Json> | Json;
}

interface AdminRequest {
  readonly exchange: Exchange;
  readonly engine: GqlEngine;
  /** Encodes an error as a response shows it. */
  encode(error: unknown): Json;
}

interface GqlErrorBody {
  readonly message: string;
  readonly extensions: { readonly path: string; readonly code: string; readonly internal?: Json };
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Returns whether a page of another host has sent the request. Browsers send `Origin` with each POST. */
const isFromOtherHost = (exchange: Exchange): boolean => {
  const origin = exchange.header("origin");
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== exchange.header("host")?.toLowerCase();
};

const NO_STORE: Headers[number] = ["Cache-Control", "no-store"];

/** Creates a surface for requests of administrators. */
export const createAdminSurface = (context: PluginContext, adminPath: AdminPath): Surface => {
  const { path, kind, method = "POST" } = adminPath;
  const isServed = (): boolean =>
    context.use(graphqlService) !== undefined && (adminPath.isEnabled === undefined || adminPath.isEnabled());
  // The surface serves nothing without the engine.
  const getEngine = (): GqlEngine => requireService(context, graphqlService);

  /** Encodes an error with the messages of the GraphQL surface, in the format of this surface. */
  const encode = (error: unknown, exchange: OpenExchange): Answer => {
    if (error instanceof MetadataApiError) {
      exchange.errorCode = error.code;
      return buildJsonAnswer(error.status, encodeMetadataError(error), [NO_STORE, ...error.headers]);
    }
    const encodedErrors = getEngine().encodeErrors(error, exchange.session);
    // `encode` wrote this JSON.
    const [first] = (JSON.parse(encodedErrors.body) as { errors: readonly GqlErrorBody[] }).errors;
    const { path: errorPath, code, internal } = first?.extensions ?? { path: "$", code: "unexpected" };
    exchange.errorCode = code;
    const headers = error instanceof RelApiError ? error.headers : [];
    return buildJsonAnswer(
      encodedErrors.status,
      JSON.stringify({ path: errorPath, error: first?.message, code, internal }),
      [NO_STORE, ...headers],
    );
  };

  /** Reads the JSON body of a request. @throws RelApiError */
  const readBody = async (exchange: Exchange): Promise<Json> => {
    if (method === "GET") return null;
    // A browser sends other types without a CORS preflight.
    if (isFromOtherHost(exchange) && !JSON_TYPE.test(exchange.header("content-type") ?? ""))
      throw metadataError("invalid-headers", "the content type must be application/json", "$", undefined, 415);
    return getEngine().parseRequestJson(await exchange.text());
  };

  return {
    name: "graphql",
    get credentialRules() {
      return getEngine().credentialRules;
    },
    paths: () => (isServed() ? [path] : []),
    beforeAuthorize: (exchange) =>
      exchange.method === method
        ? undefined
        : { status: exchange.method === "OPTIONS" ? 200 : 405, headers: [["Allow", `OPTIONS, ${method}`]] },
    handle: async (exchange) => {
      try {
        if (!exchange.session.isAdmin || exchange.session.role !== "admin") throw adminRequired();
        exchange.operation = { kind };
        const body = await readBody(exchange);
        // `encode` wrote this JSON.
        const encodeToJson = (error: unknown): Json => JSON.parse(String(encode(error, exchange).body)) as Json;
        return buildJsonAnswer(
          200,
          writeJson(await adminPath.answer(body, { exchange, engine: getEngine(), encode: encodeToJson })),
          [NO_STORE],
        );
      } catch (error) {
        return encode(error, exchange);
      }
    },
    encodeError: (error, exchange) => encode(error, exchange),
    exposedHeaders: ["x-request-id"],
  };
};
