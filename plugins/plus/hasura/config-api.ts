/** `GET /v1alpha1/config`: shows administrators and their tools how the server is configured. */
import { definePlugin, VERSION, type Json, type PluginContext } from "../../../core/index.ts";
import { createAdminSurface } from "./admin-surface.ts";

const SECOND_MS = 1000;

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);

const describeConfig = ({ options, registry }: PluginContext): Json => {
  // These imports declare options of plugins that may be missing from the preset.
  const values = options as unknown as Readonly<Record<string, unknown>>;
  const readNumber = (name: string, otherwise: number): number => {
    const value = values[name];
    return typeof value === "number" ? value : otherwise;
  };
  return {
    version: VERSION,
    server_type: "relapi",
    is_function_permissions_inferred: values["inferFunctionPermissions"] !== false,
    is_remote_schema_permissions_enabled:
      registry.has("remote-schema-fields") && values["enableRemoteSchemaPermissions"] !== false,
    is_admin_secret_set: isSet(values["adminSecret"]) || isSet(values["adminSecrets"]),
    is_auth_hook_set: isSet(values["authHook"]),
    is_jwt_set: isSet(values["jwtSecret"]),
    jwt: null,
    is_allow_list_enabled: registry.has("trusted-documents") && values["enableAllowlist"] === true,
    live_queries: {
      batch_size: readNumber("liveQueryBatchSize", 100),
      refetch_delay: readNumber("liveQueryInterval", SECOND_MS) / SECOND_MS,
    },
    is_prometheus_metrics_enabled: registry.has("metrics"),
    default_naming_convention: String(values["defaultNamingConvention"] ?? "hasura-default"),
    experimental_features: [],
    console_assets_dir: null,
  };
};

/** Shows administrators how the server is configured: `GET /v1alpha1/config`. @rule P-HAS-8 */
export const configApi = definePlugin({
  name: "config-api",
  before: ["graphql"],
  apply: (_hooks, context) => {
    context.addSurface(
      createAdminSurface(context, {
        path: "/v1alpha1/config",
        kind: "config",
        method: "GET",
        answer: () => describeConfig(context),
      }),
    );
  },
});
