/** `--config FILE`: settings as JSON or YAML under the names of options or variables, or in PostgREST's format, `db-uri
 *  = "postgres://…"`. The environment takes precedence, under any name of a setting. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { parse as parseYaml } from "yaml";
import { buildSuggestion, presetError, type Environment, type Setting } from "../../core/index.ts";
import { listKnownSettings } from "../server/environment.ts";
import { unsupportedAdvice } from "../server/unsupported-settings.ts";

type Values = Readonly<Record<string, unknown>>;

/** `db-schema` is an old name of `db-schemas` that PostgREST still accepts. */
const POSTGREST_ALIASES: Readonly<Record<string, string>> = {
  "db-schema": "db-schemas",
  "server-proxy-uri": "openapi-server-proxy-uri",
  "role-claim-key": "jwt-role-claim-key",
  "max-rows": "db-max-rows",
  "db-pool-timeout": "db-pool-max-idletime",
  "pre-request": "db-pre-request",
  "root-spec": "db-root-spec",
  "secret-is-base64": "jwt-secret-is-base64",
};

const ASSIGNMENT = /^([A-Za-z_$][\w.$-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"#]+))\s*(?:#.*)?$/;

/** The start of a PostgREST file, which distinguishes it from YAML: a name and an equals sign. */
const LIKE_ASSIGNMENT = /^[A-Za-z_$][\w.$-]*\s*=/;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/** Replaces `$(NAME)` by a variable of the environment, and `$$` by a dollar sign. */
const interpolateText = (text: string, environment: Environment, onMissing: (name: string) => void): string =>
  text.replace(/\$\$|\$\(([^()$]*)\)/g, (reference, name: string | undefined) => {
    if (name === undefined) return "$";
    const variableValue = environment[name];
    if (variableValue === undefined) onMissing(name);
    return variableValue ?? reference;
  });

/**
 * Parses lines of `name = value` as PostgREST does. Returns undefined if the text has another format. @throws
 * RelApiError `preset` with a line for each error
 */
const parseAssignments = (file: string, text: string, environment: Environment): Values | undefined => {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const isBlank = (line: string): boolean => line === "" || line.startsWith("#");
  const first = lines.find((line) => !isBlank(line));
  if (first !== undefined && !LIKE_ASSIGNMENT.test(first)) return undefined;
  const values: Record<string, unknown> = {};
  const errors: string[] = [];
  lines.forEach((line, i) => {
    if (isBlank(line)) return;
    const match = ASSIGNMENT.exec(line);
    const location = `${file}:${i + 1}`;
    if (match === null) return void errors.push(`${location}: expected name = "value"`);
    const value = match[2]?.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter) ?? (match[3] as string);
    values[match[1] as string] = interpolateText(value, environment, (name) =>
      errors.push(`${location}: the environment has no variable "${name}"`),
    );
  });
  if (errors.length > 0) throw presetError(errors.join("\n"));
  return values;
};

const loadValues = (file: string, environment: Environment): Values => {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw presetError(`cannot read the settings file "${file}": ${(error as Error).message}`);
  }
  const assignments = parseAssignments(file, text, environment);
  if (assignments !== undefined) return assignments;
  let content: unknown;
  try {
    content = parseYaml(text, { maxAliasCount: 0 }); // every JSON text is also YAML
  } catch (error) {
    throw presetError(`cannot parse the settings file "${file}": ${(error as Error).message.split("\n")[0]}`);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw presetError(`the settings file "${file}" contains no settings: write name: value, or name = "value"`);
  return content as Values; // the keys of a mapping are strings
};

/** Returns the value as the text that an environment variable would have. */
const encodeVariable = (value: unknown, { kind }: Setting): string => {
  if (typeof value === "string") return value;
  const json = JSON.stringify(value);
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) return json;
  return isDeepStrictEqual(kind.parse(json), value) ? json : value.join(",");
};

const APP_SETTINGS = /^(?:app\.settings\.|(?:PGRST_)?APP_SETTINGS_)(.+)$/;

/** Lists all names of a setting in a file: `dbSchemas`, `DB_SCHEMAS`, `PGRST_DB_SCHEMAS`, `db-schemas`. */
const listFileNames = ({ name, environment = [] }: Setting): readonly string[] => [
  name,
  ...environment,
  ...environment.map((variable) =>
    variable
      .replace(/^PGRST_/, "")
      .toLowerCase()
      .replaceAll("_", "-"),
  ),
];

/**
 * Adds the settings of the file to the environment. @throws RelApiError `preset` with one line per unknown name
 * @rule C-CLI-3
 */
export const addConfigFile = (file: string, environment: Environment): Environment => {
  const settings = new Map(
    listKnownSettings().flatMap((setting) => listFileNames(setting).map((name) => [name, setting] as const)),
  );
  const errors: string[] = [];
  const appSettings: Record<string, string> = {};
  const addAppSetting = (name: string, value: unknown): void => {
    const key = `APP_SETTINGS_${name.toUpperCase()}`;
    if (environment[key] === undefined && environment[`PGRST_${key}`] === undefined)
      appSettings[key] = typeof value === "string" ? value : JSON.stringify(value);
  };
  for (const [name, value] of Object.entries(loadValues(file, environment))) {
    if (value === null || value === undefined) continue;
    const app = APP_SETTINGS.exec(name);
    if (app !== null) addAppSetting(app[1] as string, value);
    else if (name === "appSettings" && typeof value === "object")
      for (const [key, appValue] of Object.entries(value)) addAppSetting(key, appValue);
    else {
      const setting = settings.get(POSTGREST_ALIASES[name] ?? name);
      const old = `PGRST_${name.toUpperCase().replaceAll("-", "_")}`;
      if (setting === undefined && (unsupportedAdvice.has(name) || unsupportedAdvice.has(old))) {
        // A PostgREST or Hasura file is accepted; unsupported settings are reported as for variables.
        appSettings[unsupportedAdvice.has(name) ? name : old] =
          typeof value === "string" ? value : JSON.stringify(value);
        continue;
      }
      if (setting === undefined) {
        errors.push(`unknown setting "${name}" in ${file}${buildSuggestion(name, settings.keys())}`);
        continue;
      }
      const [variable, ...aliases] = setting.environment ?? [];
      if (variable === undefined) errors.push(`the setting "${name}" in ${file} is for JavaScript only`);
      else if ([variable, ...aliases].every((variableName) => (environment[variableName] ?? "") === ""))
        appSettings[variable] = encodeVariable(value, setting);
    }
  }
  if (errors.length > 0) throw presetError(errors.join("\n"));
  return { ...environment, ...appSettings };
};
