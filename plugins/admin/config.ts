/** `GET /config`: the settings in force, without secrets. */
import type { ResolvedOptions, Setting } from "../../core/index.ts";

/** Options that are not settings, or too large for a line. */
const NO_SETTING = new Set(["database", "logger", "settings", "metadata"]);

/** `dbPool` is `db-pool`. */
const settingName = (option: string): string => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const settingText = (setting: unknown): string =>
  Array.isArray(setting) ? JSON.stringify(setting.join(",")) : JSON.stringify(setting);

/** One line per setting: `db-pool = 10`. */
export const encodeConfig = (options: ResolvedOptions, settings: readonly Setting[]): string => {
  // an option that no plugin declares may hold anything
  const isShown = new Set(settings.flatMap(({ name, isSecret }) => (isSecret === true ? [] : name)));
  return Object.entries({ ...options, ...options.settings })
    .filter(([name, setting]) => setting !== undefined && !NO_SETTING.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, setting]) => `${settingName(name)} = ${isShown.has(name) ? settingText(setting) : '"***"'}\n`)
    .join("");
};
