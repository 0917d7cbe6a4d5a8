/** The settings of the standalone server, from environment variables. */
import {
  isRelApiError,
  presetError,
  readSetting,
  settingsOf,
  type RelApiOptions,
  type SettingSpec,
} from "../core/index.ts";
import { fullCompat } from "./full-compat.ts";
import {
  APP_SETTING,
  DEFAULT_SOCKET_MODE,
  FEATURES,
  featureSetting,
  serverSettings,
  type ServerSettings,
} from "./server-settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentSettings {
  readonly options: RelApiOptions;
  readonly server: ServerSettings;
}

/** @throws RelApiError `preset` with one line per setting that is wrong */
export const readEnvironment = (environment: Environment): EnvironmentSettings => {
  const faults: string[] = [];
  const read = ({ environment: names = [], kind, isSecret, isEmptyMeant }: SettingSpec<unknown>): unknown => {
    const name = names.find(
      (each) => environment[each] !== undefined && (isEmptyMeant === true || environment[each] !== ""),
    );
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
  for (const setting of settingsOf(fullCompat({}))) {
    const value = setting.isOption ? read(setting) : undefined;
    if (value !== undefined) options[setting.name] = value;
  }
  for (const feature of (read(featureSetting) ?? []) as readonly string[]) {
    const option = FEATURES[feature];
    if (option !== undefined) options[option] ??= true;
  }
  const appSettings = readAppSettings(environment);
  if (Object.keys(appSettings).length > 0) options["appSettings"] = appSettings;
  const server: Record<string, unknown> = { unixSocketMode: DEFAULT_SOCKET_MODE };
  for (const setting of serverSettings) {
    const value = read(setting) ?? setting.default;
    if (value !== undefined) server[setting.name] = value;
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
