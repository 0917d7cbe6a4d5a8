/** Settings of live queries. */
import { defineSetting, settingKinds, type ValuesOf } from "../../core/index.ts";

const { flag, wholeNumber } = settingKinds;

/** Settings of the plugin `live-queries`. */
export const liveSettings = [
  defineSetting({
    name: "liveQueryBatchSize",
    environment: ["LIVE_QUERY_BATCH_SIZE", "HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_BATCH_SIZE"],
    kind: wholeNumber(1, 100_000),
    default: 100,
    description: "subscribers answered by one statement",
  }),
  defineSetting({
    name: "maxLiveQueryBytes",
    environment: ["MAX_LIVE_QUERY_BYTES"],
    kind: wholeNumber(1),
    default: 512 * 1024 * 1024,
    description:
      "bytes that live queries keep, all together: about 3000 each, and 16 for each character of their values; a further one is refused with an error",
  }),
] as const;

/** Settings of the plugin `poll-changes`. */
export const pollSettings = [
  defineSetting({
    name: "liveQueryInterval",
    environment: ["LIVE_QUERY_INTERVAL", "HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL"],
    kind: wholeNumber(1, 86_400_000),
    default: 1000,
    unit: "ms",
    description: "longest time until a change reaches a subscriber",
  }),
] as const;

/** Settings of the WebSocket protocols. */
export const socketSettings = [
  defineSetting({
    name: "websocketKeepalive",
    environment: ["WEBSOCKET_KEEPALIVE", "HASURA_GRAPHQL_WEBSOCKET_KEEPALIVE"],
    kind: wholeNumber(1, 3600),
    default: 5,
    unit: "seconds",
    description:
      "time between two heartbeats on a WebSocket (G-WS-3); longer, up to 20 s, while a process would otherwise send more than 2,000 a second (G-WS-22)",
  }),
  defineSetting({
    name: "maxSockets",
    environment: ["MAX_SOCKETS"],
    kind: wholeNumber(1),
    default: 100_000,
    description: "WebSockets open at a time per process; further ones are refused with 503",
  }),
  defineSetting({
    name: "maxSocketOperations",
    environment: ["MAX_SOCKET_OPERATIONS"],
    kind: wholeNumber(1),
    default: 1000,
    description: "operations running at a time on one WebSocket; a further one is refused with an error message",
  }),
  defineSetting({
    name: "maxSocketMessageBytes",
    environment: ["MAX_SOCKET_MESSAGE_BYTES"],
    kind: wholeNumber(1),
    default: 4 * 1024 * 1024,
    description: "a larger message ends its WebSocket with close code 1009",
  }),
] as const;

/** Settings of the plugin `live-directive`. */
export const directiveSettings = [
  defineSetting({
    name: "liveDirective",
    environment: ["LIVE_DIRECTIVE"],
    kind: flag,
    default: false,
    description:
      "GraphQL queries with `@live` are live queries, and live queries with `@live(patch: true)` send what has changed (G-LIV)",
  }),
] as const;

/** Settings of the plugin `live-patches`. */
export const patchSettings = [
  defineSetting({
    name: "maxLivePatchBytes",
    environment: ["MAX_LIVE_PATCH_BYTES"],
    kind: wholeNumber(1),
    default: 1024 * 1024,
    description: "a larger result of a live query is sent whole, also to subscribers who ask for patches",
  }),
  defineSetting({
    name: "maxLivePatchTotalBytes",
    environment: ["MAX_LIVE_PATCH_TOTAL_BYTES"],
    kind: wholeNumber(1),
    default: 64 * 1024 * 1024,
    description:
      "bytes of results that are kept for subscribers who ask for patches, all together; beyond it, subscribers get whole results",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof liveSettings>,
      ValuesOf<typeof pollSettings>,
      ValuesOf<typeof socketSettings>,
      ValuesOf<typeof directiveSettings>,
      ValuesOf<typeof patchSettings> {}
}
