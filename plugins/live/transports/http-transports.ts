/** Serves live queries over plain HTTP, for clients without WebSocket. Both surfaces serve Server-Sent Events (`curl -N
 *  -H 'Accept: text/event-stream' /api/vessels?select=name`). GraphQL also serves the parts of one response (`Accept:
 *  multipart/mixed`), as Apollo Client and urql read them. @rule G-MP-1 … G-MP-4 */
import { definePlugin, requireService, type Exchange, type PluginContext } from "../../../core/index.ts";
import { credentialWatchService } from "../engine/credential-watch.ts";
import { rejectMissingVariables } from "../engine/live-query.ts";
import {
  getStreams,
  type AnswerStream,
  type GraphqlMessage,
  type GraphqlTransport,
  type StreamFormat,
} from "./streams.ts";
import {
  eventStreamsService,
  livePatchesService,
  liveQueriesService,
  type LivePatcher,
  type LiveQuery,
  type LiveResult,
} from "../api.ts";
import { restLiveService, type RestHandler, type RestTarget } from "../../rest/api.ts";
import { dbTxEnd } from "../../shared/settings.ts";

interface StreamEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

const eventStream: StreamFormat<StreamEvent> = {
  headers: [["Content-Type", "text/event-stream; charset=utf-8"]],
  encode: ({ id, event, data }) =>
    `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`,
  beat: ":\n\n",
};

/** Encodes a result hash as the id of an event. A hash contains at most one space. */
const encodeEventId = (hash: string): string => hash.replace(" ", "-");

/** Reads the id of the last event that the client received before its connection broke. */
const readLastEventId = (exchange: Exchange): string | undefined =>
  /^[\w.-]{1,64}$/.exec(exchange.header("last-event-id") ?? "")?.[0];

/** Matches an `Accept` header that prefers events to every other type. */
const PREFERS_EVENTS = /^text\/event-stream\s*(?:[;,]|$)/i;

/** Sends the results of live queries as Server-Sent Events. */
export const sse = definePlugin({
  name: "sse",
  settings: [dbTxEnd],
  requires: ["live-queries"],
  before: ["graphql", "rest"],
  apply: (hooks, context) => {
    const streams = getStreams(context);
    streams.add(graphqlEvents);
    context.offer(eventStreamsService, { isServed: () => context.use(restLiveService) !== undefined });
    hooks.buildRestRoute.tap("sse", (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "relation" || get === undefined) return route;
      return {
        ...route,
        methods: new Map([...route.methods, ["GET", wrapHandler(context, streams.answer, get)]]),
      };
    });
  },
});

/** The transport for events as the package `graphql-sse` expects them: `next` with a result, `complete` at the end. */
const graphqlEvents: GraphqlTransport = {
  accepts: PREFERS_EVENTS,
  lastHash: readLastEventId,
  format: () => graphqlFormat,
};

const graphqlFormat: StreamFormat<GraphqlMessage> = {
  ...eventStream,
  encode: ({ payload, hash }) =>
    eventStream.encode({ ...(hash === undefined ? {} : { id: encodeEventId(hash) }), event: "next", data: payload }),
  end: eventStream.encode({ event: "complete", data: "" }),
};

/** Matches the parameter that requests patches. It cannot be a filter, because filters have an operator and a dot. */
const PATCH = /(^|&)live=patch(?:&|$)/;

/** Returns the same request without the parameter `live=patch`. */
const removePatchParameter = (exchange: Exchange): Exchange =>
  Object.create(exchange, {
    query: { value: exchange.query?.replace(PATCH, "$1").replace(/&$/, "") },
  }) as Exchange; // the other members of the exchange are in the prototype

/** Encodes the data of an event. The function must be called when the event is sent, because it advances the patcher.
 *  @rule X-PAT-3 */
const encodeEventData = (result: LiveResult, patcher: LivePatcher | undefined): string => {
  const message = patcher?.next(result);
  if (message === undefined) return result.text;
  const { version, patch } = message;
  return patch === undefined
    ? `{"version":${version},"data":${result.text}}`
    : `{"version":${version},"patch":${patch}}`;
};

/** Wraps the GET handler, so that it serves clients that request events. */
const wrapHandler =
  (context: PluginContext, answer: AnswerStream, get: RestHandler): RestHandler =>
  (requestExchange, target: RestTarget) => {
    if (!PREFERS_EVENTS.test(requestExchange.header("accept") ?? "")) return get(requestExchange, target);
    const restLive = context.use(restLiveService);
    if (restLive === undefined) return get(requestExchange, target);
    requestExchange.operation = { ...requestExchange.operation, kind: "subscription" };
    const { session } = requestExchange;
    const patches = PATCH.test(requestExchange.query ?? "") ? context.use(livePatchesService) : undefined;
    const exchange = patches === undefined ? requestExchange : removePatchParameter(requestExchange);
    const source = {
      plan: (): LiveQuery => ({
        ...restLive.plan(exchange, target),
        session,
        form: "",
        assemble: ([body]) => body ?? "",
      }),
      encodeError: (error: unknown) => restLive.encodeError(error, exchange),
    };
    // The query is planned before the stream starts, so that errors in the request get the usual response.
    rejectMissingVariables(source.plan());
    const patcher = patches?.open();
    return answer(eventStream, (events) => {
      const end = (error?: unknown): void =>
        events.end(error === undefined ? undefined : { event: "failure", data: source.encodeError(error) });
      let stop: () => void;
      try {
        stop = requireService(context, liveQueriesService).subscribe(
          source,
          {
            answer: (result) =>
              events.offer(result.hash, () => ({
                id: encodeEventId(result.hash),
                ...(result.isError ? { event: "failure" } : {}),
                data: encodeEventData(result, patcher),
              })),
            isSlow: () => events.isSlow,
            end,
          },
          readLastEventId(exchange),
        );
      } catch (error) {
        end(error);
        return () => undefined;
      }
      const forget = requireService(context, credentialWatchService).join(session, {
        credentials: exchange.credentials,
        onRejected: () => events.end(),
      });
      return () => {
        forget();
        stop();
        patcher?.close();
      };
    });
  };

/** Matches an `Accept` header that prefers parts. It excludes incremental delivery (`@defer`), which is not
 *  supported. */
const PREFERS_PARTS = /^multipart\/mixed(?![^,]*(?:defer|incremental)spec=)\s*(?:[;,]|$)/i;
const PREFERS_APOLLO_PARTS = /^[^,]*subscriptionspec=/i;

/** The boundary of parts. It cannot occur in JSON, because strings contain no line breaks and no token begins with
 *  `--`. */
const BOUNDARY = "\r\n--graphql";
const PART = "\r\nContent-Type: application/json; charset=utf-8\r\n\r\n";

/** Apollo's protocol, in which each response is the `payload` of a part. An empty part shows that the server is
 *  alive. */
const apolloParts: StreamFormat<GraphqlMessage> = {
  headers: [["Content-Type", 'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"']],
  start: BOUNDARY,
  encode: ({ payload }) => `${PART}{"payload":${payload}}${BOUNDARY}`,
  beat: `${PART}{}${BOUNDARY}`,
  end: "--\r\n",
};

/** The format of incremental delivery: each part is a response that says whether more follow. The header of the next
 *  part is sent immediately, so that blanks before its JSON show that the server is alive. */
const plainParts: StreamFormat<GraphqlMessage> = {
  headers: [["Content-Type", 'multipart/mixed;boundary="graphql"']],
  start: `${BOUNDARY}${PART}`,
  encode: ({ payload }) => `${payload.slice(0, -1)},"hasNext":true}${BOUNDARY}${PART}`,
  beat: " ",
  end: `{"hasNext":false}${BOUNDARY}--\r\n`,
};

/** Sends the results of live queries as parts of one response (`multipart/mixed`). */
export const multipart = definePlugin({
  name: "multipart",
  settings: [dbTxEnd],
  requires: ["live-queries"],
  before: ["graphql", "rest"],
  apply: (_hooks, context) =>
    getStreams(context).add({
      accepts: PREFERS_PARTS,
      format: (exchange) => (PREFERS_APOLLO_PARTS.test(exchange.header("accept") ?? "") ? apolloParts : plainParts),
    }),
});
