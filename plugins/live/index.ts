/** Live queries: the engine, the change sources, the transports that connect subscribers, and patches. */
export { liveTriggers, notifyChanges } from "./changes/notify-changes.ts";
export { pollChanges } from "./changes/poll-changes.ts";
export { replicationChanges } from "./changes/replication-changes.ts";
export { liveQueries } from "./engine/live-queries.ts";
export { livePatches } from "./patches/index.ts";
export { multipart, sse } from "./transports/http-transports.ts";
export { legacyWebsocket } from "./transports/legacy-websocket.ts";
export { liveDirective } from "./transports/live-directive.ts";
export { websocketTransport } from "./transports/websocket.ts";
export { upgrades } from "./upgrades/index.ts";
