/** Reads the settings of the standalone server from environment variables. */
import {
  presetError,
  parseVariables,
  collectSettings,
  type Environment,
  type RelApiOptions,
  type Setting,
} from "../../core/index.ts";
import { findEncryptionErrors } from "./checks.ts";
import { plus } from "../plus.ts";
import { readSecretFile, type SecretFile } from "./secret-files.ts";
import {
  APP_SETTING_VARIABLE,
  EXPERIMENTAL_FEATURES,
  featureSetting,
  OPTION_DEFAULTS,
  SERVER_DEFAULTS,
  serverSettings,
  type ServerSettings,
} from "./server-settings.ts";

export type { Environment };

export interface EnvironmentSettings {
  readonly options: RelApiOptions;
  readonly server: ServerSettings;
  /** The files that contain the values of some options. */
  readonly files?: readonly SecretFile[];
}

/** Lists all settings that the environment may set, to recognise names in settings files and unknown variables. */
export const listKnownSettings = (): readonly Setting[] => [
  ...collectSettings(plus({})),
  ...serverSettings,
  featureSetting,
];

export const listKnownVariables = (): ReadonlySet<string> =>
  new Set(listKnownSettings().flatMap(({ environment = [] }) => environment));

/** Returns the variables, with values read from the files that they name. Any secret may be in a file. @rule C-SET-6 */
const loadSecretFiles = (
  variables: Environment,
  settings: readonly Setting[],
  errors: string[],
): { readonly environment: Environment; readonly files: readonly SecretFile[] } => {
  const variablesFromFiles: Record<string, string> = {};
  const files: SecretFile[] = [];
  for (const setting of settings) {
    if (setting.isSecret !== true) continue;
    // The first set name of a setting applies.
    const variable = setting.environment?.find((name) => (variables[name] ?? "") !== "");
    const path = /^@(.+)$/s.exec(variables[variable ?? ""] ?? "")?.[1];
    if (variable === undefined || path === undefined) continue;
    const file: SecretFile = { setting, variable, path };
    try {
      variablesFromFiles[variable] = readSecretFile(file);
      files.push(file);
    } catch (error) {
      errors.push((error as Error).message);
      variablesFromFiles[variable] = "";
    }
  }
  return { environment: { ...variables, ...variablesFromFiles }, files };
};

/** Reads the settings. @throws RelApiError `preset` with one line per invalid setting */
export const readEnvironment = (variables: Environment): EnvironmentSettings => {
  const fileErrors: string[] = [];
  const settings = collectSettings(plus({}));
  const { environment, files } = loadSecretFiles(variables, settings, fileErrors);
  const presetVariables = parseVariables(settings, environment);
  const serverVariables = parseVariables(serverSettings, environment);
  const flags = parseVariables([featureSetting], environment);
  const errors = [...fileErrors, ...presetVariables.errors, ...flags.errors, ...serverVariables.errors];
  const options: Record<string, unknown> = { ...OPTION_DEFAULTS, ...presetVariables.values };
  for (const feature of (flags.values[featureSetting.name] ?? []) as readonly string[]) {
    const option = EXPERIMENTAL_FEATURES[feature];
    if (option !== undefined) options[option] ??= true;
  }
  const appSettings = readAppSettings(environment);
  if (Object.keys(appSettings).length > 0) options["appSettings"] = appSettings;
  const server = { ...SERVER_DEFAULTS, ...serverVariables.values };
  checkCombinations(options, server, errors);
  if (errors.length > 0) throw presetError(errors.join("\n"));
  const filesMember = files.length === 0 ? {} : { files };
  return { options: options as RelApiOptions, server, ...filesMember }; // each setting's kind has parsed its value
};

const readAppSettings = (environment: Environment): Readonly<Record<string, string>> => {
  const settings: Record<string, string> = {};
  const names = Object.keys(environment).sort(
    (a, b) => Number(b.startsWith("PGRST_")) - Number(a.startsWith("PGRST_")),
  );
  for (const name of names) {
    const match = APP_SETTING_VARIABLE.exec(name);
    if (match !== null) settings[(match[1] as string).toLowerCase()] = environment[name] ?? "";
  }
  return settings;
};

/** Checks settings that exclude each other, or that apply to one kind of database only. @rule C-SET-7 */
const checkCombinations = (
  options: Readonly<Record<string, unknown>>,
  server: ServerSettings,
  errors: string[],
): void => {
  const isEmbedded = options["databaseUrl"] === undefined;
  if (!isEmbedded && server.dataDir !== undefined)
    errors.push(
      "DATA_DIR and DATABASE_URL are both set: DATA_DIR is the folder of the embedded database, so unset one of them",
    );
  if (isEmbedded && server.workers > 1)
    errors.push(
      `WORKERS is "${server.workers}" without DATABASE_URL: the embedded database supports one process, so set DATABASE_URL or unset WORKERS`,
    );
  if (isEmbedded && options["databaseReplicaUrls"] !== undefined)
    errors.push("DATABASE_REPLICA_URLS is set without DATABASE_URL: set both");
  if (isEmbedded && options["databaseDirectUrl"] !== undefined)
    errors.push("DATABASE_DIRECT_URL is set without DATABASE_URL: set both");
  if (server.adminPort !== undefined && server.adminPort === server.port && server.port !== 0)
    errors.push(`ADMIN_PORT and PORT are both ${server.port}: choose another port for one of them`);
  if (server.adminPort === undefined && server.adminHost !== undefined)
    errors.push("ADMIN_HOST is set without ADMIN_PORT: set both, or unset it");
  if (options["metadataPermissionsForRest"] === true && options["metadata"] === undefined)
    errors.push("METADATA_PERMISSIONS_FOR_REST is set without METADATA: set both, or unset it");
  if (typeof options["databaseUrl"] === "string")
    errors.push(...findEncryptionErrors("DATABASE_URL", options["databaseUrl"]));
  if (typeof options["databaseDirectUrl"] === "string")
    errors.push(...findEncryptionErrors("DATABASE_DIRECT_URL", options["databaseDirectUrl"]));
  for (const url of (options["databaseReplicaUrls"] as readonly string[] | undefined) ?? [])
    errors.push(...findEncryptionErrors("DATABASE_REPLICA_URLS", url));
};
