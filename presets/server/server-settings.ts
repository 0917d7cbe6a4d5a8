/** Settings of the standalone server only: its address, and variables that set several options. */
import { settingKinds, type RelApiOptions, type SettingKind, type Setting } from "../../core/index.ts";
import { presetNameKind, type PresetName } from "../preset-names.ts";

const { text, wholeNumber } = settingKinds;

/** The preset to serve, and the addresses and modes to listen with. */
export interface ServerSettings {
  readonly preset?: PresetName;
  readonly host?: string;
  readonly port: number;
  readonly unixSocket?: string;
  /** The file mode of the socket. */
  readonly unixSocketMode: number;
  readonly dataDir?: string;
  readonly adminPort?: number;
  readonly adminHost?: string;
  readonly workers: number;
  /** The delay of a shutdown, in seconds. */
  readonly shutdownDelay?: number;
}

/** PostgREST's special names for all addresses. */
const EVERY_ADDRESS: Readonly<Record<string, string>> = {
  "*": "0.0.0.0",
  "*4": "0.0.0.0",
  "!4": "0.0.0.0",
  "*6": "::",
  "!6": "::",
};

const host: SettingKind<string> = {
  accepts: "a host name or address",
  parse: (value) => EVERY_ADDRESS[value.trim()] ?? (/^[^\s/]+$/.test(value.trim()) ? value.trim() : undefined),
};

const fileMode: SettingKind<number> = {
  accepts: "a file mode from 600 to 777",
  parse: (value) => (/^0?[67][0-7]{2}$/.test(value.trim()) ? Number.parseInt(value.trim(), 8) : undefined),
};

const port = wholeNumber(0, 65_535);

export const SERVER_DEFAULTS = {
  preset: "full-compat",
  port: 3000,
  unixSocketMode: 0o660,
  workers: 1,
  shutdownDelay: 0,
} as const satisfies ServerSettings;

/** Options that the standalone server sets unless the environment does. @rule X-LOG-5 */
export const OPTION_DEFAULTS = { logLevel: "info" } as const satisfies RelApiOptions;

export const serverSettings: readonly Setting<unknown, keyof ServerSettings>[] = [
  {
    name: "preset",
    environment: ["PRESET"],
    kind: presetNameKind,
    default: SERVER_DEFAULTS.preset,
    description:
      "the preset that the command line serves: `full-compat`, or `plus`, which adds features that neither PostgREST nor Hasura has ([plus.md](plus.md))",
  },
  {
    name: "host",
    environment: ["HOST", "PGRST_SERVER_HOST", "HASURA_GRAPHQL_SERVER_HOST"],
    kind: host,
    whenUnset: "`127.0.0.1` with the embedded database, `0.0.0.0` with a `DATABASE_URL`",
    description: "the address on which the server listens",
  },
  {
    name: "port",
    environment: ["PORT", "PGRST_SERVER_PORT", "HASURA_GRAPHQL_SERVER_PORT"],
    kind: port,
    default: SERVER_DEFAULTS.port,
    description: "the port on which the server listens; `0`: any free port",
  },
  {
    name: "unixSocket",
    environment: ["SERVER_UNIX_SOCKET", "PGRST_SERVER_UNIX_SOCKET"],
    kind: text,
    description: "the path of a Unix socket on which the server listens in place of a port",
    whenUnset: "the server listens on the port",
  },
  {
    name: "unixSocketMode",
    environment: ["SERVER_UNIX_SOCKET_MODE", "PGRST_SERVER_UNIX_SOCKET_MODE"],
    kind: fileMode,
    whenUnset: `\`${SERVER_DEFAULTS.unixSocketMode.toString(8)}\``,
    description: "the file mode of the Unix socket",
  },
  {
    name: "dataDir",
    environment: ["DATA_DIR"],
    kind: text,
    whenUnset: "in memory",
    description: "the folder in which the embedded database stores its data",
  },
  {
    name: "adminPort",
    environment: ["ADMIN_PORT", "PGRST_ADMIN_SERVER_PORT"],
    kind: port,
    whenUnset: "no second listener",
    description: "the port of a second listener with `/live`, `/ready`, `/metrics`, `/schema_cache` and `/config`",
  },
  {
    name: "adminHost",
    environment: ["ADMIN_HOST", "PGRST_ADMIN_SERVER_HOST"],
    kind: host,
    whenUnset: "`127.0.0.1`",
    description: "the address of the second listener",
  },
  {
    name: "workers",
    environment: ["WORKERS"],
    kind: wholeNumber(1, 1024),
    default: SERVER_DEFAULTS.workers,
    description: "the number of processes that share the port of the standalone server",
  },
  {
    name: "shutdownDelay",
    environment: ["SHUTDOWN_DELAY"],
    kind: wholeNumber(0, 3600),
    default: SERVER_DEFAULTS.shutdownDelay,
    unit: "seconds",
    description:
      "the time after SIGTERM for which the server still accepts connections while `/ready` fails, so that load balancers stop sending requests",
  },
];

/** Hasura's experimental features and their options. Features without an option are always on or not supported. */
export const EXPERIMENTAL_FEATURES: Readonly<Record<string, keyof RelApiOptions | undefined>> = {
  disable_postgres_arrays: "disablePostgresArrays",
  no_null_unbound_variable_default: "noNullUnboundVariableDefault",
  apollo_federation: undefined,
  bigquery_string_numeric_input: undefined,
  hide_aggregation_predicates: undefined,
  hide_stream_fields: undefined,
  hide_update_many_fields: undefined,
  inherited_roles: undefined,
  naming_convention: undefined,
  optimize_permission_filters: undefined,
  remove_empty_subscription_responses: undefined,
  streaming_subscriptions: undefined,
};

export const featureSetting: Setting<readonly string[]> = {
  name: "features",
  environment: ["EXPERIMENTAL_FEATURES", "HASURA_GRAPHQL_EXPERIMENTAL_FEATURES"],
  kind: {
    accepts: `a list of ${Object.keys(EXPERIMENTAL_FEATURES).join(", ")}, separated by commas`,
    parse: (value) => {
      const words = value
        .split(",")
        .map((word) => word.trim())
        .filter((word) => word !== "");
      return words.every((word) => Object.hasOwn(EXPERIMENTAL_FEATURES, word)) ? words : undefined;
    },
  },
  description:
    "feature flags of Hasura, separated by commas: `disable_postgres_arrays` and `no_null_unbound_variable_default` set the options with these names; the other flags of version 2.48 are accepted without effect",
};

/**
 * `APP_SETTINGS_REGION=north` is `app.settings.region` in SQL. This name takes precedence over the name with `PGRST_`.
 */
export const APP_SETTING_VARIABLE = /^(?:PGRST_)?APP_SETTINGS_(.+)$/;

/** The entry of the settings page, since each variable of this pattern is a separate setting. */
export const appSettings: Setting<string> = {
  name: "appSettings",
  environment: ["APP_SETTINGS_<NAME>", "PGRST_APP_SETTINGS_<NAME>"],
  kind: text,
  whenUnset: "no such setting",
  description: "the value that SQL reads as `current_setting('app.settings.<name>')`",
};
