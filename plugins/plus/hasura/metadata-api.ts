/** `POST /v1/metadata {"type": "export_metadata", "args": {}}`: administrators read and change the metadata, which is
 *  kept where it was read from. */
import {
  definePlugin,
  isRelApiError,
  RelApiError,
  writeJson,
  type Answer,
  type Exchange,
  type Headers,
  type Json,
  type OpenExchange,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import type { GqlEngine, GraphqlService } from "../../graphql/api.ts";
import type { MetadataSourceService } from "../../metadata/api.ts";
import { createEditor, type Editor } from "./editor.ts";
import { adminOnly, encodeRefusal, isOwn, refusal } from "./errors.ts";
import { answerRequest } from "./requests.ts";
import { settle } from "./store.ts";

const PATH = "/v1/metadata";

const json = (status: number, body: string, more: Headers = []): Answer => ({
  status,
  headers: [["Content-Type", "application/json; charset=utf-8"], ["Cache-Control", "no-store"], ...more],
  body,
});

const createSurface = (context: PluginContext, editor: Editor): Surface => {
  const engine = (): GqlEngine => {
    const found = context.service<GraphqlService>("graphql");
    if (found === undefined) throw new Error('the plugin "graphql" is missing'); // then nothing is served
    return found;
  };

  /** In the words of the GraphQL surface, and in this one's shape. @rule P-HAS-2 */
  const encode = (error: unknown, exchange: OpenExchange): Answer => {
    if (isRelApiError(error) && isOwn(error)) {
      exchange.errorCode = error.code;
      return json(error.status, encodeRefusal(error), error.headers);
    }
    const { session } = exchange;
    const encoded = engine().encodeErrors(error, session);
    const [first] = (JSON.parse(encoded.body) as { errors: readonly GqlErrorBody[] }).errors; // as just written
    const { path, code, internal } = first?.extensions ?? { path: "$", code: "unexpected" };
    exchange.errorCode = code;
    const headers = isRelApiError(error) ? error.headers : [];
    return json(encoded.status, JSON.stringify({ path, error: first?.message, code, internal }), headers);
  };

  /** @throws RelApiError */
  const readBody = async (exchange: Exchange): Promise<Json> => {
    // what a page of another origin may send without asking is no request of an administrator
    if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(exchange.header("content-type") ?? ""))
      throw refusal("invalid-headers", "the content type must be application/json", "$", undefined, 415);
    const text = (await exchange.body()).toString("utf8");
    try {
      return engine().parseJson(text);
    } catch (error) {
      if (isRelApiError(error)) throw error;
      throw refusal("invalid-json", error instanceof Error ? error.message : "no JSON", "$");
    }
  };

  return {
    name: "graphql",
    get credentialRules() {
      return engine().credentialRules;
    },
    paths: () => (context.service<GraphqlService>("graphql") === undefined ? [] : [PATH]),
    beforeAuthorize: ({ method }) =>
      method === "POST"
        ? undefined
        : { status: method === "OPTIONS" ? 200 : 405, headers: [["Allow", "OPTIONS, POST"]] },
    handle: async (exchange) => {
      const { session } = exchange;
      try {
        if (!session.isAdmin || session.role !== "admin") throw adminOnly();
        const body = await readBody(exchange);
        exchange.operation = { kind: "metadata" };
        const encodeInside = (error: unknown): Json => JSON.parse(String(encode(error, exchange).body)) as Json; // as just written
        return json(200, writeJson(await answerRequest(body, editor, encodeInside)));
      } catch (error) {
        return encode(error, exchange);
      }
    },
    encodeError: (error: RelApiError, exchange) => encode(error, exchange),
    exposedHeaders: ["x-request-id"],
  };
};

interface GqlErrorBody {
  readonly message: string;
  readonly extensions: { readonly path: string; readonly code: string; readonly internal?: Json };
}

/** @rule P-HAS-1 … P-HAS-6 */
export const metadataApi = definePlugin({
  name: "metadata-api",
  // its path is below one of that surface; and what was half written is finished before it is read
  before: ["graphql", "metadata-loader"],
  apply: (hooks, context) => {
    hooks.introspect.tapPromise("metadata-api", async (model) => {
      const path = context.service<MetadataSourceService>("metadata-source")?.path;
      if (path !== undefined) await settle(path);
      return model;
    });
    context.addSurface(createSurface(context, createEditor(context)));
  },
});
