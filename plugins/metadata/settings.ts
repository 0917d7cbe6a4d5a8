/** Declares the settings of the metadata. */
import { defineSetting, settingKinds, type ValuesOf } from "../../core/index.ts";

const { document, flag } = settingKinds;

/** The settings of the plugin `metadata-loader`. */
export const loaderSettings = [
  defineSetting({
    name: "metadata",
    environment: ["METADATA", "HASURA_GRAPHQL_METADATA_DIR"],
    kind: document,
    description:
      "metadata folder (YAML) or single JSON file, as an option also the metadata object itself: table and relationship names, permissions, functions, computed fields",
  }),
] as const;

/** The settings of the plugin `metadata`. */
export const metadataSettings = [
  defineSetting({
    name: "inferFunctionPermissions",
    environment: ["INFER_FUNCTION_PERMISSIONS", "HASURA_GRAPHQL_INFER_FUNCTION_PERMISSIONS"],
    kind: flag,
    default: true,
    description: "functions follow the permission on the table they return",
  }),
  defineSetting({
    name: "checksAfterStatement",
    environment: ["CHECKS_AFTER_STATEMENT"],
    kind: flag,
    default: false,
    description:
      "checks of permissions run in a statement behind the write, so that they see what it has changed in other rows: quotas (G-PRM-19)",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof loaderSettings>, ValuesOf<typeof metadataSettings> {}
}
