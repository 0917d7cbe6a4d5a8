/** Live queries: the engine, the transports that connect subscribers, and the change sources. */
export { legacyWebsocket } from "./legacy-websocket.ts";
export { liveDirective } from "./live-directive.ts";
export { liveQueries } from "./live-queries.ts";
export { liveTriggers, notifyChanges } from "./notify-changes.ts";
export { pollChanges } from "./poll-changes.ts";
export { replicationChanges } from "./replication-changes.ts";
export { multipart, sse } from "./http-transports.ts";
export { websocketTransport } from "./websocket.ts";
