/** The rows of the settings page. */
import type { Setting } from "./define-setting.ts";

/** Returns the row `| variable | aliases | default | meaning |`. @rule X-SET-3 */
export const buildSettingRow = (setting: Setting): string => {
  const { name, environment = [], description } = setting;
  const [variable, ...aliases] = (environment.length > 0 ? environment : [name]).map(
    (variableName) => `\`${variableName}\``,
  );
  return `| ${variable} | ${aliases.join(", ")} | ${formatDefault(setting)} | ${description} |`;
};

/** Returns the rows of the plugins' settings, in order. @rule X-SET-3 */
export const buildSettingRows = (plugins: readonly { readonly settings?: readonly Setting[] }[]) =>
  plugins.flatMap(({ settings = [] }) => settings.map(buildSettingRow));

const formatDefault = ({ default: value, unit, whenUnset }: Setting): string => {
  if (value === undefined) return whenUnset === undefined ? "unset" : `unset: ${whenUnset}`;
  // A list is shown in the syntax of its variable.
  const list = Array.isArray(value) && value.length > 0 ? value.join(", ") : undefined;
  const text = list ?? (typeof value === "string" ? value : JSON.stringify(value));
  return `\`${text}\`${unit === undefined ? "" : ` (${unit})`}${whenUnset === undefined ? "" : `: ${whenUnset}`}`;
};
