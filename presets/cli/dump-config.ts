/** `relapi dump-config`: prints the effective value of every setting under the name of its variable. */
import type { Setting } from "../../core/index.ts";
import { listKnownSettings, type EnvironmentSettings } from "../server/environment.ts";

const formatOptionValue = (value: unknown): string =>
  Array.isArray(value) && value.every((item) => typeof item === "string")
    ? value.join(",")
    : typeof value === "string"
      ? value
      : JSON.stringify(value);

const formatLine = (variable: string, isSecret: boolean | undefined, value: unknown): string =>
  value === undefined || (Array.isArray(value) && value.length === 0 && isSecret === true)
    ? `# ${variable}=`
    : `${variable}=${isSecret === true ? "***" : formatOptionValue(value)}`;

/** Formats the settings as lines of `NAME=value`. @rule C-DOC-3 */
export const dumpConfig = ({ options, server }: EnvironmentSettings): string => {
  const values: Readonly<Record<string, unknown>> = { ...server, ...options };
  const lines = listKnownSettings().flatMap(({ name, environment = [], default: fallback, isSecret }: Setting) =>
    environment.slice(0, 1).map((variable) => formatLine(variable, isSecret, values[name] ?? fallback)),
  );
  // These settings may contain secrets for database functions.
  const app = Object.keys(options.appSettings ?? {}).map((name) => `APP_SETTINGS_${name.toUpperCase()}=***`);
  return [...lines, ...app, ""].join("\n");
};
