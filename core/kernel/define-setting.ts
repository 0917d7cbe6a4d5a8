/** The declaration of a setting: name, environment variables, kind, default and documentation. */
import { settingKinds, type SettingKind } from "./setting-kinds.ts";

/** The declaration of a setting, as `defineSetting` takes it. */
export interface SettingSpec<Value, Name extends string = string> {
  readonly name: Name;
  /** The environment variables that set it if the options do not. The first variable that is set wins. */
  readonly environment?: readonly string[];
  readonly kind: SettingKind<Value>;
  readonly default?: Value;
  /** A one-sentence description for the settings page. */
  readonly description: string;
  /** The unit of its number, for the settings page: `seconds`. */
  readonly unit?: string;
  /** The behaviour without a value, for the settings page. */
  readonly whenUnset?: string;
  /** Its value is never printed. */
  readonly isSecret?: boolean;
  /** The empty string is a value (an empty list). Otherwise it counts as not set. */
  readonly acceptsEmpty?: boolean;
  /** The setting is read once, at the start. Option sources cannot change it. */
  readonly isFixed?: boolean;
}

/** A declared setting, as `defineSetting` returns it. */
export interface Setting<Value = unknown, Name extends string = string> extends SettingSpec<Value, Name> {
  /** The setting is a key of the options (`options.slowAfter`), not of `options.settings`. */
  readonly isOption: boolean;
  /** The setting is a request limit. Refusals are counted under its name. */
  readonly isLimit: boolean;
  /** Returns its value in the current options. */
  readonly get: (options: { readonly settings?: Readonly<Record<string, unknown>> | undefined }) => Value;
}

/** Declares a setting in the `settings` of a preset's options. `relApi(preset)` reads its environment variables. @rule
 *  X-SET-1 */
export const defineSetting = <const Value>(
  spec: SettingSpec<Value> & { readonly default: NoInfer<Value> },
): Setting<Value> => ({
  ...spec,
  isOption: false,
  isLimit: false,
  get: ({ settings }) =>
    (settings !== undefined && spec.name in settings ? settings[spec.name] : spec.default) as Value, // checked at the start
});

interface DefineOption {
  <const Value, const Name extends string>(
    spec: SettingSpec<Value, Name> & { readonly default: NoInfer<Value> },
  ): Setting<Value, Name>;
  <const Value, const Name extends string>(spec: SettingSpec<Value, Name>): Setting<Value | undefined, Name>;
}

/** Declares a setting with its own key in the options, which its file adds to the type `ResolvedOptions` (`ValuesOf`).
 *  The standalone server reads its environment variables; `relApi(preset)` uses only the given options. @rule
 *  X-SET-4 */
export const defineOption: DefineOption = <Value, Name extends string>(
  spec: SettingSpec<Value, Name>,
): Setting<Value, Name> => ({
  ...spec,
  isOption: true,
  isLimit: false,
  get: (options) => (options as Readonly<Record<string, unknown>>)[spec.name] as Value, // checked at the start
});

/** Declares a request limit as an option, which its file adds to the type `Limits`. The variable of `maxEmbeds` is
 *  `MAX_EMBEDS`. @rule R-LIM-1 G-LIM-1 */
export const defineLimit = <const Name extends string>(
  name: Name,
  limit: number,
  description: string,
  more: Pick<SettingSpec<number>, "isFixed"> = {},
): Setting<number, Name> => ({
  ...defineOption({
    name,
    environment: [name.replace(/[A-Z]/g, "_$&").toUpperCase()],
    kind: settingKinds.wholeNumber(1),
    default: limit,
    description,
    ...more,
  }),
  isLimit: true,
});

type ValueOf<Declared> = Declared extends Setting<infer Value> ? Value : never;

/** The options that these settings declare, with all defaults. */
export type ValuesOf<Declared extends readonly Setting[]> = {
  readonly [Each in Declared[number] as Each["name"]]: ValueOf<Each>;
};
