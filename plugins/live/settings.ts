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
    description: "the maximum number of subscribers for which one statement runs",
  }),
  defineSetting({
    name: "maxLiveQueryBytes",
    environment: ["MAX_LIVE_QUERY_BYTES"],
    kind: wholeNumber(1),
    default: 512 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum size of the state of all live queries; a live query above it is rejected with an error. A live query has about 3000 bytes, and 16 for each character of its values",
  }),
] as const;

/** Settings of the plugin `poll-changes`. */
export const pollChangesSettings = [
  defineSetting({
    name: "liveQueryInterval",
    environment: ["LIVE_QUERY_INTERVAL", "HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL"],
    kind: wholeNumber(1, 86_400_000),
    default: 1000,
    unit: "ms",
    description:
      "the interval in which the database is polled for changes, and so the longest time until a change reaches a subscriber",
    isFixed: true,
  }),
] as const;

/** The limits of a socket. */
const socketLimits = [
  defineSetting({
    name: "maxSocketOperations",
    environment: ["MAX_SOCKET_OPERATIONS"],
    kind: wholeNumber(1),
    default: 1000,
    description:
      "the maximum number of running operations on a WebSocket; another one is rejected with an error message",
    isLimit: true,
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
      "the interval between two heartbeats on a WebSocket (G-WS-3). It grows to up to 20 s if a process would otherwise send more than 2,000 heartbeats a second (G-WS-22)",
    isFixed: true,
  }),
  defineSetting({
    name: "maxSockets",
    environment: ["MAX_SOCKETS"],
    kind: wholeNumber(1),
    default: 100_000,
    description: "the maximum number of open WebSockets of a process; another one is rejected with 503",
    isLimit: true,
  }),
  ...socketLimits,
  defineSetting({
    name: "maxSocketMessageBytes",
    environment: ["MAX_SOCKET_MESSAGE_BYTES"],
    kind: wholeNumber(1),
    default: 4 * 1024 * 1024,
    unit: "bytes",
    description: "the maximum size of a message from a client; a larger one ends its WebSocket with close code 1009",
    isLimit: true,
    isFixed: true,
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
      "`true`: GraphQL queries with `@live` are live queries, and `@live(patch: true)` requests only the changes of each result (G-LIV)",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `live-patches`. */
export const patchSettings = [
  defineSetting({
    name: "maxLivePatchBytes",
    environment: ["MAX_LIVE_PATCH_BYTES"],
    kind: wholeNumber(1),
    default: 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum size of a result that is sent as a patch; subscribers receive the whole of a larger result",
  }),
  defineSetting({
    name: "maxLivePatchTotalBytes",
    environment: ["MAX_LIVE_PATCH_TOTAL_BYTES"],
    kind: wholeNumber(1),
    default: 64 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum total size of the stored results from which patches are computed; above it, subscribers receive whole results",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof liveSettings>,
      ValuesOf<typeof pollChangesSettings>,
      ValuesOf<typeof socketSettings>,
      ValuesOf<typeof directiveSettings>,
      ValuesOf<typeof patchSettings> {}
  interface RequestLimits extends ValuesOf<typeof socketLimits> {}
}
