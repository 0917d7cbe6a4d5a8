/** Exports the plugins of Hasura metadata: names, relationships and permissions. */
export { metadata, metadataLoader, metadataPermissions } from "./metadata.ts";
