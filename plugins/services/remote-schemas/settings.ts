/** Settings of remote schemas. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const remoteSchemaSettings = [
  defineSetting({
    name: "enableRemoteSchemaPermissions",
    environment: ["ENABLE_REMOTE_SCHEMA_PERMISSIONS", "HASURA_GRAPHQL_ENABLE_REMOTE_SCHEMA_PERMISSIONS"],
    kind: settingKinds.flag,
    default: true,
    description: "`false`: every role may use all remote schemas, whatever permissions they have (X-RMT-9)",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof remoteSchemaSettings> {}
}
