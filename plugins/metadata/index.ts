/** Exports names, relationships and permissions from Hasura metadata. */
export { metadata, metadataLoader, metadataPermissions } from "./metadata.ts";
