/** The settings of the standalone server, from environment variables. */
import {
  isRelApiError,
  presetError,
  readSetting,
  SETTINGS,
  wholeNumber,
  type RelApiOptions,
  type SettingKind,
} from "../core/index.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where and how to listen. */
export interface ServerSettings {
  readonly host?: string;
  readonly port: number;
  readonly unixSocket?: string;
  /** File mode of the socket. */
  readonly unixSocketMode: number;
  readonly dataDir?: string;
  readonly adminPort?: number;
  readonly adminHost?: string;
  readonly workers: number;
}

export interface EnvironmentSettings {
  readonly options: RelApiOptions;
  readonly server: ServerSettings;
}

const anyText: SettingKind = { accepts: "any text", read: (given) => given };

/** PostgREST's special names of "every address". */
const EVERY_ADDRESS: Readonly<Record<string, string>> = {
  "*": "0.0.0.0",
  "*4": "0.0.0.0",
  "!4": "0.0.0.0",
  "*6": "::",
  "!6": "::",
};

const host: SettingKind = {
  accepts: "a host name or address",
  read: (given) => EVERY_ADDRESS[given.trim()] ?? (/^[^\s/]+$/.test(given.trim()) ? given.trim() : undefined),
};

const fileMode: SettingKind = {
  accepts: "a file mode from 600 to 777",
  read: (given) => (/^0?[67][0-7]{2}$/.test(given.trim()) ? Number.parseInt(given.trim(), 8) : undefined),
};

const port = wholeNumber(0, 65_535);

const SERVER_SETTINGS = {
  host: { names: ["HOST", "PGRST_SERVER_HOST", "HASURA_GRAPHQL_SERVER_HOST"], kind: host },
  port: { names: ["PORT", "PGRST_SERVER_PORT", "HASURA_GRAPHQL_SERVER_PORT"], kind: port },
  unixSocket: { names: ["SERVER_UNIX_SOCKET", "PGRST_SERVER_UNIX_SOCKET"], kind: anyText },
  unixSocketMode: { names: ["SERVER_UNIX_SOCKET_MODE", "PGRST_SERVER_UNIX_SOCKET_MODE"], kind: fileMode },
  dataDir: { names: ["DATA_DIR"], kind: anyText },
  adminPort: { names: ["ADMIN_PORT", "PGRST_ADMIN_SERVER_PORT"], kind: port },
  adminHost: { names: ["ADMIN_HOST", "PGRST_ADMIN_SERVER_HOST"], kind: host },
  workers: { names: ["WORKERS"], kind: wholeNumber(1, 1024) },
} as const satisfies Record<keyof ServerSettings, { readonly names: readonly string[]; readonly kind: SettingKind }>;

const SERVER_DEFAULTS = { port: 3000, unixSocketMode: 0o660, workers: 1 } as const;

/** Those that have an option here; the others are known, and are always on, or not served. */
const FEATURES: Readonly<Record<string, keyof RelApiOptions | undefined>> = {
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

const FEATURE_NAMES = ["EXPERIMENTAL_FEATURES", "HASURA_GRAPHQL_EXPERIMENTAL_FEATURES"];

const featureList: SettingKind = {
  accepts: `a list of ${Object.keys(FEATURES).join(", ")}, separated by commas`,
  read: (given) => {
    const words = given
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
    return words.every((word) => Object.hasOwn(FEATURES, word)) ? words : undefined;
  },
};

/** `APP_SETTINGS_REGION=north` is `app.settings.region` in SQL; the own name wins. */
const APP_SETTING = /^(?:PGRST_)?APP_SETTINGS_(.+)$/;

/** @throws RelApiError `preset` with one line per setting that is wrong */
export const readEnvironment = (environment: Environment): EnvironmentSettings => {
  const faults: string[] = [];
  const read = (names: readonly string[], kind: SettingKind, isSecret = false, isEmptyMeant = false): unknown => {
    const name = names.find((each) => environment[each] !== undefined && (isEmptyMeant || environment[each] !== ""));
    if (name === undefined) return undefined;
    try {
      return readSetting(name, environment[name] as string, kind, isSecret); // found by being there
    } catch (error) {
      if (!isRelApiError(error)) throw error;
      faults.push(error.message);
      return undefined;
    }
  };
  const options: Record<string, unknown> = {};
  for (const { names, option, kind, isSecret, isEmptyMeant } of SETTINGS) {
    const value = read(names, kind, isSecret, isEmptyMeant);
    if (value !== undefined) options[option] = value;
  }
  for (const feature of (read(FEATURE_NAMES, featureList) ?? []) as readonly string[]) {
    const option = FEATURES[feature];
    if (option !== undefined) options[option] ??= true;
  }
  const appSettings = readAppSettings(environment);
  if (Object.keys(appSettings).length > 0) options["appSettings"] = appSettings;
  const server: Record<string, unknown> = { ...SERVER_DEFAULTS };
  for (const [name, { names, kind }] of Object.entries(SERVER_SETTINGS)) {
    const value = read(names, kind);
    if (value !== undefined) server[name] = value;
  }
  checkTogether(options, server, faults);
  if (faults.length > 0) throw presetError(faults.join("\n"));
  return { options: options as RelApiOptions, server: server as unknown as ServerSettings }; // each value was read by its setting's kind
};

const readAppSettings = (environment: Environment): Readonly<Record<string, string>> => {
  const settings: Record<string, string> = {};
  const names = Object.keys(environment).sort(
    (a, b) => Number(b.startsWith("PGRST_")) - Number(a.startsWith("PGRST_")),
  );
  for (const name of names) {
    const match = APP_SETTING.exec(name);
    if (match !== null) settings[(match[1] as string).toLowerCase()] = environment[name] ?? "";
  }
  return settings;
};

/** Settings that exclude each other, or that only one kind of database has. */
const checkTogether = (
  options: Readonly<Record<string, unknown>>,
  server: Readonly<Record<string, unknown>>,
  faults: string[],
): void => {
  const isEmbedded = options["databaseUrl"] === undefined;
  if (!isEmbedded && server["dataDir"] !== undefined)
    faults.push(
      "DATA_DIR is set beside DATABASE_URL: it is the folder of the embedded database, leave one of them out",
    );
  if (isEmbedded && (server["workers"] as number) > 1)
    faults.push(
      `WORKERS is "${server["workers"]}" without DATABASE_URL: the embedded database lives in one process, set DATABASE_URL or leave WORKERS out`,
    );
  if (isEmbedded && options["databaseReplicaUrls"] !== undefined)
    faults.push("DATABASE_REPLICA_URLS is set without DATABASE_URL: set both");
};
