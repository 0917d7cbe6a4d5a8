/** A setting in one declaration: name, environment variables, kind, default and documentation. */
import { settingKinds, type SettingKind } from "./setting-kinds.ts";

export interface SettingSpec<Value, Name extends string = string> {
  /** camelCase. */
  readonly name: Name;
  /** Environment variables that set it where the options do not; the first that is set wins. */
  readonly environment?: readonly string[];
  readonly kind: SettingKind<Value>;
  readonly default?: Value;
  /** What it does, in a sentence, for the settings page. */
  readonly description: string;
  /** Of its number, for the settings page: `seconds`. */
  readonly unit?: string;
  /** What holds while it has no value, for the settings page. */
  readonly whenUnset?: string;
  /** Never printed. */
  readonly isSecret?: boolean;
  /** The empty string is a value (an empty list); otherwise it counts as not set. */
  readonly isEmptyMeant?: boolean;
  /** It is read once, at the start: what changes the options of a running server leaves it alone. */
  readonly isFixed?: boolean;
}

export interface Setting<Value = unknown, Name extends string = string> extends SettingSpec<Value, Name> {
  /** An option of its own (`options.slowAfter`), not one of `options.settings`. */
  readonly isOption: boolean;
  /** It limits what one request may ask for; refusals are counted under its name. */
  readonly isLimit: boolean;
  /** Its value in the current options. */
  readonly of: (options: { readonly settings?: Readonly<Record<string, unknown>> }) => Value;
}

/** A setting among the `settings` of a preset's options. `relApi(preset)` reads its environment variables. @rule X-SET-1 */
export const defineSetting = <const Value>(
  spec: SettingSpec<Value> & { readonly default: NoInfer<Value> },
): Setting<Value> => ({
  ...spec,
  isOption: false,
  isLimit: false,
  of: ({ settings }) => (settings !== undefined && spec.name in settings ? settings[spec.name] : spec.default) as Value, // checked at the start
});

interface DefineOption {
  <const Value, const Name extends string>(
    spec: SettingSpec<Value, Name> & { readonly default: NoInfer<Value> },
  ): Setting<Value, Name>;
  <const Value, const Name extends string>(spec: SettingSpec<Value, Name>): Setting<Value | undefined, Name>;
}

/** A setting that is an option of its own, which its file adds to the type `ResolvedOptions` (`ValuesOf`). A server that
 *  starts from environment variables reads them (the standalone one does); `relApi(preset)` takes what it is given.
 *  @rule X-SET-4 */
export const defineOption: DefineOption = <Value, Name extends string>(
  spec: SettingSpec<Value, Name>,
): Setting<Value, Name> => ({
  ...spec,
  isOption: true,
  isLimit: false,
  of: (options) => (options as Readonly<Record<string, unknown>>)[spec.name] as Value, // checked at the start
});

/** An option that limits what one request may ask for, which its file adds to the type `Limits`. `maxEmbeds` is
 *  `MAX_EMBEDS`. @rule R-LIM-1 G-LIM-1 */
export const defineLimit = <const Name extends string>(
  name: Name,
  limit: number,
  description: string,
): Setting<number, Name> => ({
  ...defineOption({
    name,
    environment: [name.replace(/[A-Z]/g, "_$&").toUpperCase()],
    kind: settingKinds.wholeNumber(1),
    default: limit,
    description,
  }),
  isLimit: true,
});

type ValueOf<Declared> = Declared extends Setting<infer Value> ? Value : never;

/** The options that these settings declare, with all defaults filled in. */
export type ValuesOf<Declared extends readonly Setting[]> = {
  readonly [Each in Declared[number] as Each["name"]]: ValueOf<Each>;
};
