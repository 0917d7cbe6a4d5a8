/** `relapi dump-config`: prints the effective value of every setting under the name of its variable. */
import type { Setting } from "../../core/index.ts";
import { listKnownSettings, type EnvironmentSettings } from "../server/environment.ts";

const encodeValue = (given: unknown): string =>
  Array.isArray(given) && given.every((item) => typeof item === "string")
    ? given.join(",")
    : typeof given === "string"
      ? given
      : JSON.stringify(given);

const formatLine = (variable: string, isSecret: boolean | undefined, given: unknown): string =>
  given === undefined || (Array.isArray(given) && given.length === 0 && isSecret === true)
    ? `# ${variable}=`
    : `${variable}=${isSecret === true ? "***" : encodeValue(given)}`;

/** Formats the settings as lines of `NAME=value`. @rule C-DOC-3 */
export const dumpConfig = ({ options, server }: EnvironmentSettings): string => {
  const given: Readonly<Record<string, unknown>> = { ...server, ...options };
  const lines = listKnownSettings().flatMap(({ name, environment = [], default: fallback, isSecret }: Setting) =>
    environment.slice(0, 1).map((variable) => formatLine(variable, isSecret, given[name] ?? fallback)),
  );
  // these settings may contain secrets for database functions
  const app = Object.keys(options.appSettings ?? {}).map((name) => `APP_SETTINGS_${name.toUpperCase()}=***`);
  return [...lines, ...app, ""].join("\n");
};
