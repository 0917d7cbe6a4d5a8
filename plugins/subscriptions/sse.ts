/** `curl -N -H 'Accept: text/event-stream' /api/vessels?select=name`: live queries over plain HTTP, on both surfaces,
 *  for clients without WebSocket. */
import {
  definePlugin,
  isRelApiError,
  RelApiError,
  type Exchange,
  type PluginContext,
  type Surface,
} from "../../core/index.ts";
import { answerEvents, lastEventId, type EventStream } from "./event-stream.ts";
import { watchCredentials, type CredentialWatch } from "./credential-watch.ts";
import { atExpiry } from "./expiry.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import { refuseMissing } from "./live-query.ts";
import type { LiveQueries, LiveQueriesService, LiveSource } from "./api.ts";
import type { GqlEngine, GraphqlService } from "../graphql/api.ts";
import type { RestHandler, RestLiveService, RestTarget } from "../rest/api.ts";
import { dbTxEnd } from "../settings.ts";

/** Whether the client prefers events to everything else. */
const wantsEvents = (accept: string | undefined): boolean =>
  accept?.split(",", 1)[0]?.split(";", 1)[0]?.trim().toLowerCase() === "text/event-stream";

export const sse = definePlugin({
  name: "sse",
  settings: [dbTxEnd],
  requires: ["live-queries"],
  before: ["graphql", "rest"],
  apply: (hooks, context) => {
    const heartbeat = createHeartbeat();
    const watch = watchCredentials(context);
    context.onClose(heartbeat.close);
    context.addSurface(createGraphqlEvents(context, heartbeat, watch));
    hooks.buildRestRoute.tap("sse", (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "relation" || get === undefined) return route;
      return { ...route, methods: new Map([...route.methods, ["GET", orEvents(context, heartbeat, watch, get)]]) };
    });
  },
});

const liveOf = (context: PluginContext): LiveQueries => {
  const live = context.service<LiveQueriesService>("live-queries");
  if (live === undefined) throw new Error('the plugin "live-queries" is missing'); // this one requires it
  return live;
};

// --- GraphQL --------------------------------------------------------------------------------------------------------

const PATHS = ["/v1/graphql", "/v1alpha1/graphql", "/api/graphql"];

/** Events as the package `graphql-sse` expects them: `next` with a result, `complete` at the end. */
const createGraphqlEvents = (context: PluginContext, heartbeat: Heartbeat, watch: CredentialWatch): Surface => {
  const engineOf = (): GqlEngine | undefined => context.service<GraphqlService>("graphql");

  const stream = (
    engine: GqlEngine,
    exchange: Exchange,
    text: string,
    lastId: string | undefined,
    events: EventStream,
  ): (() => void) => {
    const { session, path } = exchange;
    const settings = [
      ["request.method", "POST"],
      ["request.path", path],
    ] as const;
    const finish = (body: string): void => {
      events.offer({ event: "next", data: body });
      events.end({ event: "complete", data: "" });
    };
    const refuse = (error: unknown): void => finish(engine.encodeErrors(error, session).body);
    try {
      const request = engine.readRequest(readJson(engine, text));
      const document = engine.prepare(request, session, exchange);
      exchange.operation = document.asked;
      if (document.operation !== "subscription") {
        const end = context.options.dbTxEnd.startsWith("rollback") ? "rollback" : "commit";
        void engine
          .run(document.bind(request.variables), session, { settings, end })
          .then((data) => finish(`{"data":${data}}`), refuse);
        return () => undefined;
      }
      const stop = liveOf(context).subscribe(
        liveOf(context).graphqlSource(engine, request, session, settings),
        {
          answer: ({ hash, text: body, isError }) =>
            events.offer({ id: idOf(hash), event: "next", data: isError ? body : `{"data":${body}}` }),
          end: (error) => (error === undefined ? events.end({ event: "complete", data: "" }) : refuse(error)),
        },
        lastId,
      );
      const over = (): void => events.end({ event: "complete", data: "" });
      const forgetExpiry = atExpiry(session, over);
      const forgetCredentials = watch.join(exchange.credentials, over);
      return () => {
        forgetExpiry();
        forgetCredentials();
        stop();
      };
    } catch (error) {
      refuse(error);
      return () => undefined;
    }
  };

  return {
    name: "graphql",
    get credentialRules() {
      return engineOf()?.credentialRules;
    },
    paths: () => PATHS,
    methods: ["POST"],
    match: (_path, _method, request) => wantsEvents(request.headers.accept) && engineOf() !== undefined,
    handle: async (exchange) => {
      const engine = engineOf();
      if (engine === undefined) throw new Error("matched without a GraphQL surface");
      const text = (await exchange.body()).toString("utf8");
      return answerEvents({ heartbeat, watchUnread: context.watchUnread }, (events) =>
        stream(engine, exchange, text, lastEventId(exchange.header("last-event-id")), events),
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

/** Our hashes contain at most one space. */
const idOf = (hash: string): string => hash.replace(" ", "-");

// --- REST -----------------------------------------------------------------------------------------------------------

/** Wraps the handler of GET, for clients that ask for events. */
const orEvents =
  (context: PluginContext, heartbeat: Heartbeat, watch: CredentialWatch, get: RestHandler): RestHandler =>
  (exchange, target: RestTarget) => {
    if (!wantsEvents(exchange.header("accept"))) return get(exchange, target);
    const rest = context.service<RestLiveService>("rest-live");
    if (rest === undefined) return get(exchange, target);
    exchange.operation = { ...exchange.operation, kind: "subscription" };
    const { session } = exchange;
    const source: LiveSource = {
      plan: () => ({ ...rest.plan(exchange, target), session, form: "", assemble: ([body]) => body ?? "" }),
      encodeError: (error) => rest.encodeError(error, exchange),
    };
    refuseMissing(source.plan()); // errors in the request get the usual response
    return answerEvents({ heartbeat, watchUnread: context.watchUnread }, (events) => {
      const end = (error?: unknown): void =>
        events.end(error === undefined ? undefined : { event: "failure", data: source.encodeError(error) });
      let stop: () => void;
      try {
        stop = liveOf(context).subscribe(
          source,
          {
            answer: ({ hash, text, isError }) =>
              events.offer({ id: idOf(hash), ...(isError ? { event: "failure" } : {}), data: text }),
            end,
          },
          lastEventId(exchange.header("last-event-id")),
        );
      } catch (error) {
        end(error);
        return () => undefined;
      }
      const forgetExpiry = atExpiry(session, () => events.end());
      const forgetCredentials = watch.join(exchange.credentials, () => events.end());
      return () => {
        forgetExpiry();
        forgetCredentials();
        stop();
      };
    });
  };
