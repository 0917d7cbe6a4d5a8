/** `GET /config`: the settings in force, without secrets. */
import type { ResolvedOptions } from "../../core/index.ts";

/** Options that are secret, contain a secret, or are not settings. */
const SECRET = new Set([
  "jwtSecret",
  "adminSecret",
  "adminSecrets",
  "databaseUrl",
  "databaseReplicaUrls",
  "appSettings",
]);
const NO_SETTING = new Set(["database", "logger", "metadata"]);

/** `dbPool` is `db-pool`. */
const settingName = (option: string): string => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const settingText = (setting: unknown): string =>
  Array.isArray(setting) ? JSON.stringify(setting.join(",")) : JSON.stringify(setting);

/** One line per setting: `db-pool = 10`. */
export const encodeConfig = (options: ResolvedOptions): string =>
  Object.entries(options)
    .filter(([name, setting]) => setting !== undefined && !NO_SETTING.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, setting]) => `${settingName(name)} = ${SECRET.has(name) ? '"***"' : settingText(setting)}\n`)
    .join("");
