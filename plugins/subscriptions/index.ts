/** Live queries: the engine, the transports that bring subscribers, and the sources that tell of changes. */
export { liveQueries } from "./live-queries.ts";
export { pollChanges } from "./poll-changes.ts";
export { websocketTransport } from "./websocket.ts";
