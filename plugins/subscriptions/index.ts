/** Live queries: the engine, the transports that bring subscribers, and the sources that tell of changes. */
export { legacyWebsocket } from "./legacy-websocket.ts";
export { liveQueries } from "./live-queries.ts";
export { liveTriggers, notifyChanges } from "./notify-changes.ts";
export { pollChanges } from "./poll-changes.ts";
export { replicationChanges } from "./replication-changes.ts";
export { sse } from "./sse.ts";
export { websocketTransport } from "./websocket.ts";
