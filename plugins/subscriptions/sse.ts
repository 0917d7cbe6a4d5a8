/** `curl -N -H 'Accept: text/event-stream' /api/vessels?select=name`: live queries over plain HTTP, on both surfaces,
 *  for clients without WebSocket. */
import { definePlugin, type Exchange, type PluginContext } from "../../core/index.ts";
import { watchCredentials, type CredentialWatch } from "./credential-watch.ts";
import { eventId, eventStream, lastEventId } from "./event-stream.ts";
import { liveOf, streamsOf, type GraphqlTransport } from "./graphql-stream.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import { refuseMissing } from "./live-query.ts";
import { answerStream } from "./result-stream.ts";
import type { LivePatcher, LivePatchesService, LiveQuery, LiveResult } from "./api.ts";
import type { RestHandler, RestLiveService, RestTarget } from "../rest/api.ts";
import { dbTxEnd } from "../settings.ts";

/** The client prefers events to everything else. */
const EVENTS_FIRST = /^text\/event-stream\s*(?:[;,]|$)/i;

export const sse = definePlugin({
  name: "sse",
  settings: [dbTxEnd],
  requires: ["live-queries"],
  before: ["graphql", "rest"],
  apply: (hooks, context) => {
    const heartbeat = createHeartbeat();
    context.onClose(heartbeat.close);
    streamsOf(context).add(createGraphqlEvents(context, heartbeat));
    const watch = watchCredentials(context);
    hooks.buildRestRoute.tap("sse", (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "relation" || get === undefined) return route;
      return { ...route, methods: new Map([...route.methods, ["GET", orEvents(context, heartbeat, watch, get)]]) };
    });
  },
});

const lastIdOf = (exchange: Exchange): string | undefined => lastEventId(exchange.header("last-event-id"));

// --- GraphQL --------------------------------------------------------------------------------------------------------

/** Events as the package `graphql-sse` expects them: `next` with a result, `complete` at the end. */
const createGraphqlEvents = (context: PluginContext, heartbeat: Heartbeat): GraphqlTransport => ({
  accepts: EVENTS_FIRST,
  lastHash: lastIdOf,
  answer: (_exchange, start) =>
    answerStream({ heartbeat, watchUnread: context.watchUnread }, eventStream, (events) =>
      start({
        result: (payload, hash) =>
          events.offer(() => ({
            ...(hash === undefined ? {} : { id: eventId(hash) }),
            event: "next",
            data: payload(),
          })),
        get isSlow() {
          return events.isSlow;
        },
        end: () => events.end({ event: "complete", data: "" }),
      }),
    ),
});

// --- REST -----------------------------------------------------------------------------------------------------------

/** No filter: those have an operator and a dot. */
const PATCH = /(^|&)live=patch(?:&|$)/;

/** The same request without the parameter. */
const withoutPatch = (exchange: Exchange): Exchange =>
  Object.create(exchange, {
    query: { value: exchange.query?.replace(PATCH, "$1").replace(/&$/, "") },
  }) as Exchange; // the prototype has the rest

/** The data of an event. Call it when it is sent. @rule X-PAT-3 */
const dataOf = (result: LiveResult, patcher: LivePatcher | undefined): string => {
  const message = patcher?.next(result);
  if (message === undefined) return result.text;
  const { version, patch } = message;
  return patch === undefined
    ? `{"version":${version},"data":${result.text}}`
    : `{"version":${version},"patch":${patch}}`;
};

/** Wraps the handler of GET, for clients that ask for events. */
const orEvents =
  (context: PluginContext, heartbeat: Heartbeat, watch: CredentialWatch, get: RestHandler): RestHandler =>
  (asked, target: RestTarget) => {
    if (!EVENTS_FIRST.test(asked.header("accept") ?? "")) return get(asked, target);
    const rest = context.service<RestLiveService>("rest-live");
    if (rest === undefined) return get(asked, target);
    asked.operation = { ...asked.operation, kind: "subscription" };
    const { session } = asked;
    const patches = PATCH.test(asked.query ?? "") ? context.service<LivePatchesService>("live-patches") : undefined;
    const exchange = patches === undefined ? asked : withoutPatch(asked);
    const source = {
      plan: (): LiveQuery => ({ ...rest.plan(exchange, target), session, form: "", assemble: ([body]) => body ?? "" }),
      encodeError: (error: unknown) => rest.encodeError(error, exchange),
    };
    refuseMissing(source.plan()); // errors in the request get the usual response
    const patcher = patches?.open();
    return answerStream({ heartbeat, watchUnread: context.watchUnread }, eventStream, (events) => {
      const end = (error?: unknown): void =>
        events.end(error === undefined ? undefined : { event: "failure", data: source.encodeError(error) });
      let stop: () => void;
      try {
        stop = liveOf(context).subscribe(
          source,
          {
            answer: (result) =>
              events.offer(() => ({
                id: eventId(result.hash),
                ...(result.isError ? { event: "failure" } : {}),
                data: dataOf(result, patcher),
              })),
            isSlow: () => events.isSlow,
            end,
          },
          lastIdOf(exchange),
        );
      } catch (error) {
        end(error);
        return () => undefined;
      }
      const forget = watch.join(session, { credentials: exchange.credentials, refused: () => events.end() });
      return () => {
        forget();
        stop();
        patcher?.close();
      };
    });
  };
