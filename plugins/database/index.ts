/** Connections, the model from the catalogs and its reloads, stored settings, and the embedded database. */
export { connector } from "./connector/connector.ts";
export { embedded, type EmbeddedDatabase, type EmbeddedOptions } from "./embedded/index.ts";
export { catalogIntrospection } from "./introspect/catalog.ts";
export { computedRelationships } from "./introspect/computed-relationships.ts";
export { relationships } from "./introspect/relationships.ts";
export { reloadAll, reloadChannel } from "./reload/index.ts";
export { reloadPoll } from "./reload/poll.ts";
export { databaseSettings } from "./stored-settings/index.ts";
