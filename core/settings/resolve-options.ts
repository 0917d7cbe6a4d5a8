/** Collects the settings of a preset, checks its options and fills in the defaults. */
import type { Setting } from "./define-setting.ts";
import { RelApiError, presetError } from "../kernel/errors.ts";
import { buildSuggestion } from "../kernel/did-you-mean.ts";
import type { RelApiOptions, ResolvedOptions } from "./options.ts";
import { checkKind, parseSetting } from "./setting-kinds.ts";
import { coreSettings } from "./settings.ts";

/** The parts of a preset that concern settings. @experimental */
export interface SettingsSource {
  readonly plugins: readonly { readonly name: string; readonly settings?: readonly Setting[] }[];
  readonly options?: RelApiOptions;
  readonly knownOptions?: readonly string[];
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the settings of core and of the preset's plugins, each once. @throws RelApiError `preset` for names declared
 *  twice @rule X-SET-2 X-SET-5 */
export const collectSettings = ({ plugins, aliases = {} }: SettingsSource): readonly Setting[] => {
  const allSettings = new Set<Setting>();
  const owners = new Map<string, string>(OBJECT_OPTIONS.map((name) => [name, CORE]));
  const add = (declaredSetting: Setting, owner: string): readonly Setting[] => {
    if (allSettings.has(declaredSetting)) return [];
    allSettings.add(declaredSetting);
    const aliasNames = Object.hasOwn(aliases, declaredSetting.name) ? aliases[declaredSetting.name] : undefined;
    const setting =
      aliasNames === undefined
        ? declaredSetting
        : { ...declaredSetting, environment: [...(declaredSetting.environment ?? []), ...aliasNames] };
    for (const name of [setting.name, ...(setting.environment ?? [])]) {
      const otherOwner = owners.get(name);
      if (otherOwner !== undefined)
        throw presetError(
          `the setting "${name}" is declared by ${otherOwner} and by ${owner}: rename one or drop one of the plugins`,
        );
      owners.set(name, owner);
    }
    return [setting];
  };
  return [
    ...coreSettings.flatMap((setting) => add(setting, CORE)),
    ...plugins.flatMap(({ name, settings = [] }) => settings.flatMap((setting) => add(setting, `"${name}"`))),
  ];
};

const CORE = "relapi itself";

/** Options that are not settings. */
const OBJECT_OPTIONS = [
  "database",
  "logger",
  "freshUrl",
  "appSettings",
] as const satisfies readonly (keyof RelApiOptions)[];

/** Returns the options with all defaults. `settings` is the result of `collectSettings`. */
export const resolveOptions = (options: RelApiOptions, settings: readonly Setting[]): ResolvedOptions => {
  const resolvedOptions: Record<string, unknown> = { appSettings: {} };
  for (const { name, default: fallback } of settings) if (fallback !== undefined) resolvedOptions[name] = fallback;
  // An undefined option must not replace a default.
  for (const [name, option] of Object.entries(options)) if (option !== undefined) resolvedOptions[name] = option;
  return resolvedOptions as unknown as ResolvedOptions; // plugins extend the type with their options
};

/** Checks the options, which may come from unchecked JavaScript. @throws RelApiError `preset` at the first invalid
 *  one */
export const checkOptionKinds = (options: RelApiOptions, settings: readonly Setting[]): void => {
  for (const { name, kind, isSecret } of settings) {
    const value: unknown = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined) checkKind(`option ${name}`, value, kind, isSecret);
  }
};

/** Returns the options that no plugin of the preset declares. @throws RelApiError `preset` if the preset lists all
 *  known options, and this is not one of them @rule X-SET-6 */
export const findUndeclaredOptions = (preset: SettingsSource, settings: readonly Setting[]): readonly string[] => {
  const { options = {}, knownOptions } = preset;
  const declaredNames = new Set<string>([...OBJECT_OPTIONS, ...settings.map(({ name }) => name)]);
  const knownNames = new Set([...declaredNames, ...(knownOptions ?? [])]);
  const undeclaredNames = Object.entries(options).flatMap(([name, option]) =>
    option === undefined || declaredNames.has(name) ? [] : name,
  );
  for (const name of undeclaredNames)
    if (knownOptions !== undefined && !knownNames.has(name)) throw optionUnknown(name, knownNames);
  return undeclaredNames.filter((name) => !knownNames.has(name));
};

const optionUnknown = (name: string, knownNames: Iterable<string>): RelApiError =>
  presetError(
    `there is no option "${name}"${buildSuggestion(name, knownNames) || ': see docs/reference/settings.md, or list it in "knownOptions" of the preset'}`,
  );

/** The values of environment variables. @experimental */
export interface EnvironmentValues {
  readonly values: Readonly<Record<string, unknown>>;
  /** One line per invalid variable. */
  readonly errors: readonly string[];
}

/** Environment variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the values that environment variables give to settings, by setting name. */
export const parseVariables = (settings: readonly Setting[], environment: Environment): EnvironmentValues => {
  const values: Record<string, unknown> = {};
  const errors: string[] = [];
  for (const { name, environment: names = [], kind, isSecret, acceptsEmpty } of settings) {
    const variable = names.find(
      (candidate) => environment[candidate] !== undefined && (acceptsEmpty || environment[candidate] !== ""),
    );
    if (variable === undefined) continue;
    try {
      // `find` has found a value of the variable.
      values[name] = parseSetting(variable, environment[variable] as string, kind, isSecret);
    } catch (error) {
      if (!(error instanceof RelApiError)) throw error;
      errors.push(error.message);
    }
  }
  return { values, errors };
};

/** Returns the options that environment variables set, including those of the preset's plugins. It is meant for
 *  programs that are configured by environment variables, because `relApi(preset)` reads only options. @throws
 *  RelApiError `preset` with one line per invalid variable @rule X-SET-4 */
export const optionsFromEnvironment = (preset: SettingsSource, environment: Environment): RelApiOptions => {
  const { values, errors } = parseVariables(collectSettings(preset), environment);
  if (errors.length > 0) throw presetError(errors.join("\n"));
  return values as RelApiOptions; // the kind of each setting has parsed its value
};
