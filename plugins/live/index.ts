/** Live queries: the engine, the transports that connect subscribers, and the change sources. */
export { legacyWebsocket } from "./transports/legacy-websocket.ts";
export { liveDirective } from "./transports/live-directive.ts";
export { liveQueries } from "./engine/live-queries.ts";
export { liveTriggers, notifyChanges } from "./changes/notify-changes.ts";
export { pollChanges } from "./changes/poll-changes.ts";
export { replicationChanges } from "./changes/replication-changes.ts";
export { multipart, sse } from "./transports/http-transports.ts";
export { websocketTransport } from "./transports/websocket.ts";
