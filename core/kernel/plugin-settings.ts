/** Settings of plugins: option, environment variable, check, default and documentation in one declaration. */
import { presetError } from "./errors.ts";
import { didYouMean } from "./near-names.ts";
import { checkKind, readSetting, SETTINGS, type SettingKind } from "./settings.ts";

export interface PluginSettingSpec<Value> {
  /** camelCase: its name among the `settings` of a preset's options. */
  readonly name: string;
  /** Environment variables that set it where the options do not; the first that is set wins. */
  readonly environment?: readonly string[];
  readonly kind: SettingKind<Value>;
  readonly default: Value;
  /** What it does, in a sentence, for the settings page. */
  readonly description: string;
  /** Never printed. */
  readonly isSecret?: boolean;
}

export interface PluginSetting<Value = unknown> extends PluginSettingSpec<Value> {
  /** Its value in the options in force. */
  readonly of: (options: { readonly settings?: Readonly<Record<string, unknown>> }) => Value;
}

/** @rule X-SET-1 */
export const defineSetting = <Value>(spec: PluginSettingSpec<Value>): PluginSetting<Value> => ({
  ...spec,
  of: ({ settings }) => (settings !== undefined && spec.name in settings ? settings[spec.name] : spec.default) as Value, // checked at the start
});

/** A plugin, as far as its settings go. */
interface WithSettings {
  readonly name: string;
  readonly settings?: readonly PluginSetting<any>[]; // each has a type of its own
}

interface Declared {
  readonly plugin: string;
  readonly setting: PluginSetting<any>; // each is read by its own kind
}

const declaredBy = (plugins: readonly WithSettings[]): readonly Declared[] =>
  plugins.flatMap(({ name, settings = [] }) => settings.map((setting) => ({ plugin: name, setting })));

const refuseDoubles = (all: readonly Declared[]): void => {
  const taken = new Map<string, string>(
    SETTINGS.flatMap(({ option, names }) =>
      [option, ...names].map((name): [string, string] => [name, "relapi itself"]),
    ),
  );
  for (const { plugin, setting } of all) {
    for (const name of [setting.name, ...(setting.environment ?? [])]) {
      const rival = taken.get(name);
      if (rival !== undefined)
        throw presetError(
          `the setting "${name}" is declared by ${rival} and by "${plugin}": rename one or drop one of the plugins`,
        );
      taken.set(name, `"${plugin}"`);
    }
  }
};

/** The settings of plugins in force: those of the options, else of the environment, else the defaults.
 *  @throws RelApiError `preset` for unknown names, wrong values, and names declared twice @rule X-SET-1 X-SET-2 */
export const resolvePluginSettings = (
  plugins: readonly WithSettings[],
  given: Readonly<Record<string, unknown>> = {},
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, unknown>> => {
  const all = declaredBy(plugins);
  refuseDoubles(all);
  const known = new Set(all.map(({ setting }) => setting.name));
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw presetError(`settings.${unknown} is not declared by any plugin of the preset${didYouMean(unknown, known)}`);
  return Object.fromEntries(all.map(({ setting }) => [setting.name, valueOf(setting, given, environment)]));
};

const valueOf = (
  { name, environment: names = [], kind, default: fallback, isSecret }: PluginSetting<any>, // as above
  given: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
): unknown => {
  if (given[name] !== undefined) {
    checkKind(`setting ${name}`, given[name], kind, isSecret);
    return given[name];
  }
  const set = names.find((each) => (environment[each] ?? "") !== "");
  return set === undefined ? fallback : readSetting(set, environment[set] as string, kind, isSecret); // found by being there
};

/** Rows of the settings page: `| variable | aliases | default | meaning |`. @rule X-SET-3 */
export const settingRows = (plugins: readonly WithSettings[]): readonly string[] =>
  declaredBy(plugins).map(({ setting: { name, environment = [], default: fallback, description } }) => {
    const [variable, ...aliases] = environment.map((each) => `\`${each}\``);
    const shown =
      fallback === undefined ? "unset" : `\`${typeof fallback === "string" ? fallback : JSON.stringify(fallback)}\``;
    return `| ${variable ?? `\`settings.${name}\``} | ${aliases.join(", ")} | ${shown} | ${description} |`;
  });
