/** One operation of GraphQL in a response that stays open: what event streams and multipart have in common. */
import {
  isRelApiError,
  RelApiError,
  type Answer,
  type Exchange,
  type PluginContext,
  type Surface,
  type Token,
} from "../../core/index.ts";
import type { LiveQueries, LiveQueriesService } from "./api.ts";
import type { GqlEngine, GqlRequest, GraphqlService, ValidatedDocument } from "../graphql/api.ts";
import { liveAsked, patcherFor, payloadOf } from "./asked.ts";
import { watchCredentials } from "./credential-watch.ts";

const PATHS = ["/v1/graphql", "/v1alpha1/graphql", "/api/graphql"];

/** Where results go. */
export interface GraphqlStream {
  /** `payload` builds the response when it is sent. `hash`: of a result of a live query. */
  result(payload: () => string, hash?: string): void;
  readonly isSlow: boolean;
  end(): void;
}

export interface GraphqlTransport {
  /** What the `Accept` header of its clients is like. */
  readonly accepts: RegExp;
  /** Calls `start` when the stream is open; what it returns is called when the stream has ended. */
  answer(exchange: Exchange, start: (stream: GraphqlStream) => () => void): Answer;
  /** Hash of the result that the client has from before. */
  lastHash?(exchange: Exchange): string | undefined;
}

export const liveOf = (context: PluginContext): LiveQueries => {
  const live = context.service<LiveQueriesService>("live-queries");
  if (live === undefined) throw new Error('the plugin "live-queries" is missing'); // those who call this require it
  return live;
};

interface GraphqlStreams {
  add(transport: GraphqlTransport): void;
}

type GraphqlStreamsService = Token<"graphql-streams", GraphqlStreams>;

/** The one surface that the plugins of a preset share, made by the first of them: every request passes by it. */
export const streamsOf = (context: PluginContext): GraphqlStreams => {
  const known = context.service<GraphqlStreamsService>("graphql-streams");
  if (known !== undefined) return known;
  const transports: GraphqlTransport[] = [];
  context.addSurface(createSurface(context, transports));
  const streams = { add: (transport: GraphqlTransport) => void transports.push(transport) };
  context.offer<GraphqlStreamsService>("graphql-streams", streams);
  return streams;
};

/** A request and its document, or what was wrong with them. */
type Asked = { readonly request: GqlRequest; readonly document: ValidatedDocument } | { readonly refusal: unknown };

const read = async (engine: GqlEngine, exchange: Exchange, text: string): Promise<Asked> => {
  try {
    const request = engine.readRequest(readJson(engine, text));
    return { request, document: await engine.prepare(request, exchange.session, exchange) };
  } catch (refusal) {
    return { refusal };
  }
};

const NOTHING = (): void => undefined;

const createSurface = (context: PluginContext, transports: readonly GraphqlTransport[]): Surface => {
  const engineOf = (): GqlEngine | undefined => context.service<GraphqlService>("graphql");
  const watch = watchCredentials(context);

  const run = (
    engine: GqlEngine,
    exchange: Exchange,
    asked: Asked,
    stream: GraphqlStream,
    lastHash: string | undefined,
  ): (() => void) => {
    const { session, path } = exchange;
    const settings = [
      ["request.method", "POST"],
      ["request.path", path],
    ] as const;
    const finish = (body: string): void => {
      stream.result(() => body);
      stream.end();
    };
    const refuse = (error: unknown): void => finish(engine.encodeErrors(error, session).body);
    try {
      if ("refusal" in asked) throw asked.refusal;
      const { request, document } = asked;
      exchange.operation = document.asked;
      const liveness = liveAsked(document, request);
      if (liveness === undefined) {
        const end = context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit";
        void engine
          .run(document.bind(request.variables), session, { settings, end })
          .then((data) => finish(`{"data":${data}}`), refuse);
        return NOTHING;
      }
      exchange.operation = { ...document.asked, kind: "subscription" };
      const patcher = patcherFor(context, liveness);
      const live = liveOf(context);
      const stop = live.subscribe(
        live.graphqlSource(engine, request, session, settings),
        {
          answer: (result) => stream.result(() => payloadOf(result, patcher), result.hash),
          isSlow: () => stream.isSlow,
          end: (error) => (error === undefined ? stream.end() : refuse(error)),
        },
        lastHash,
      );
      const forget = watch.join(session, { credentials: exchange.credentials, refused: () => stream.end() });
      return () => {
        forget();
        stop();
        patcher?.close();
      };
    } catch (error) {
      refuse(error);
      return NOTHING;
    }
  };

  return {
    name: "graphql",
    get credentialRules() {
      return engineOf()?.credentialRules;
    },
    paths: () => PATHS,
    methods: ["POST"],
    match: (_path, _method, { headers: { accept } }) => {
      if (accept === undefined) return false;
      for (const { accepts } of transports) if (accepts.test(accept)) return engineOf() !== undefined;
      return false;
    },
    handle: async (exchange) => {
      const engine = engineOf();
      if (engine === undefined) throw new Error("matched without a GraphQL surface");
      const accept = exchange.header("accept") ?? "";
      const transport = transports.find(({ accepts }) => accepts.test(accept));
      if (transport === undefined) throw new Error("matched without a transport");
      const text = (await exchange.body()).toString("utf8");
      const asked = await read(engine, exchange, text);
      return transport.answer(exchange, (stream) =>
        run(engine, exchange, asked, stream, transport.lastHash?.(exchange)),
      );
    },
    encodeError: (error, { session }) => {
      const encoded = engineOf()?.encodeErrors(error, session);
      return {
        status: encoded?.keepsStatus === true ? encoded.status : 200,
        headers: [["Content-Type", "application/json; charset=utf-8"], ...(encoded?.headers ?? [])],
        body: encoded?.body ?? "",
      };
    },
  };
};

const readJson = (engine: GqlEngine, text: string) => {
  try {
    return engine.parseJson(text);
  } catch (error) {
    if (isRelApiError(error)) throw error;
    throw new RelApiError({
      code: "invalid-json",
      status: 400,
      message: `Error in $: ${error instanceof Error ? error.message : "no JSON"}`,
      path: "$",
    });
  }
};
