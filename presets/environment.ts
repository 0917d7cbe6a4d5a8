/** The settings of the standalone server, from environment variables. */
import { existsSync } from "node:fs";
import {
  presetError,
  readVariables,
  settingsOf,
  type Environment,
  type RelApiOptions,
  type SettingSpec,
} from "../core/index.ts";
import { fullCompat } from "./full-compat.ts";
import {
  APP_SETTING,
  FEATURES,
  featureSetting,
  SERVER_DEFAULTS,
  serverSettings,
  type ServerSettings,
} from "./server-settings.ts";

export type { Environment };

export interface EnvironmentSettings {
  readonly options: RelApiOptions;
  readonly server: ServerSettings;
}

/** Every setting that the environment may set, for what looks for their names elsewhere: settings files, misspelt
 *  variables. */
export const knownSettings = (): readonly SettingSpec<unknown>[] => [
  ...settingsOf(fullCompat({})),
  ...serverSettings,
  featureSetting,
];

export const knownVariables = (): ReadonlySet<string> =>
  new Set(knownSettings().flatMap(({ environment = [] }) => environment));

/** @throws RelApiError `preset` with one line per setting that is wrong */
export const readEnvironment = (environment: Environment): EnvironmentSettings => {
  const ofPreset = readVariables(
    settingsOf(fullCompat({})).filter(({ isOption }) => isOption),
    environment,
  );
  const ofServer = readVariables(serverSettings, environment);
  const flags = readVariables([featureSetting], environment);
  const faults = [...ofPreset.faults, ...flags.faults, ...ofServer.faults];
  const options: Record<string, unknown> = { ...ofPreset.values };
  for (const feature of (flags.values[featureSetting.name] ?? []) as readonly string[]) {
    const option = FEATURES[feature];
    if (option !== undefined) options[option] ??= true;
  }
  const appSettings = readAppSettings(environment);
  if (Object.keys(appSettings).length > 0) options["appSettings"] = appSettings;
  const server = { ...SERVER_DEFAULTS, ...ofServer.values };
  checkTogether(options, server, faults);
  if (faults.length > 0) throw presetError(faults.join("\n"));
  return { options: options as RelApiOptions, server }; // each value was read by its setting's kind
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
const checkTogether = (options: Readonly<Record<string, unknown>>, server: ServerSettings, faults: string[]): void => {
  const isEmbedded = options["databaseUrl"] === undefined;
  if (!isEmbedded && server.dataDir !== undefined)
    faults.push(
      "DATA_DIR is set beside DATABASE_URL: it is the folder of the embedded database, leave one of them out",
    );
  if (isEmbedded && server.workers > 1)
    faults.push(
      `WORKERS is "${server.workers}" without DATABASE_URL: the embedded database lives in one process, set DATABASE_URL or leave WORKERS out`,
    );
  if (isEmbedded && options["databaseReplicaUrls"] !== undefined)
    faults.push("DATABASE_REPLICA_URLS is set without DATABASE_URL: set both");
  if (typeof options["databaseUrl"] === "string") faults.push(...encryptionFaults(options["databaseUrl"]));
};

const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/** Of a URL or `host=… sslmode=…`: what would fail at each attempt to connect. @rule C-SET-3 */
const encryptionFaults = (url: string): readonly string[] => {
  const given = (name: string): string | undefined =>
    new RegExp(`(?:[?&]|^|\\s)${name}\\s*=\\s*'?([^&\\s']+)`).exec(url)?.[1];
  const mode = given("sslmode");
  const files = ["sslrootcert", "sslcert", "sslkey"].flatMap((name) => {
    const file = decodeURIComponent(given(name) ?? "");
    return file === "" || file === "system" || existsSync(file)
      ? []
      : [`DATABASE_URL names the file "${file}" (${name}), which does not exist`];
  });
  return mode === undefined || SSL_MODES.includes(mode)
    ? files
    : [`DATABASE_URL has sslmode=${mode}: expected one of ${SSL_MODES.join(", ")}`, ...files];
};
