/** Settings of the metadata. */
import { defineSetting, settingKinds, type ValuesOf } from "../../core/index.ts";

const { document, flag } = settingKinds;

/** The settings of the plugin `metadata-loader`. */
export const loaderSettings = [
  defineSetting({
    name: "metadata",
    environment: ["METADATA", "HASURA_GRAPHQL_METADATA_DIR"],
    kind: document,
    description:
      "the metadata: a folder of YAML files or a JSON file, as an option also the object itself. It contains names of tables and relationships, permissions, functions and computed fields",
    whenUnset: "no metadata",
    isFixed: true,
  }),
] as const;

/** The settings of the plugin `metadata`. */
export const metadataSettings = [
  defineSetting({
    name: "inferFunctionPermissions",
    environment: ["INFER_FUNCTION_PERMISSIONS", "HASURA_GRAPHQL_INFER_FUNCTION_PERMISSIONS"],
    kind: flag,
    default: true,
    description:
      "`true`: a role may call each read-only function of the metadata if it may read the table that the function returns; `false`: the metadata must permit each function to the role",
  }),
  defineSetting({
    name: "checksAfterStatement",
    environment: ["CHECKS_AFTER_STATEMENT"],
    kind: flag,
    default: false,
    description:
      "`true`: checks of permissions run in a statement after the write, so that they see the changes to other rows, as quotas need (G-PRM-19)",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof loaderSettings>, ValuesOf<typeof metadataSettings> {}
}
