/** The declaration of a setting: name, environment variables, kind, default and documentation. */
import type { SettingKind } from "./setting-kinds.ts";

/** An option of the preset: `options.slowAfter`. */
export interface Setting<Value = unknown, Name extends string = string> {
  /** The name of the option, in camelCase. */
  readonly name: Name;
  /** The environment variables that set the setting if the options do not. The first of them with a value wins. A
   *  setting without variables is set in code only. */
  readonly environment?: readonly string[];
  readonly kind: SettingKind<Value>;
  /** The value if nothing is given. Without a default, the value is undefined. */
  readonly default?: NoInfer<Value>;
  /** A one-sentence description for the settings page. */
  readonly description: string;
  /** The unit of a number, for the settings page: `seconds`. */
  readonly unit?: string;
  /** The behaviour without a value, for the settings page. */
  readonly whenUnset?: string;
  /** True if the value must never be printed. */
  readonly isSecret?: boolean;
  /** True if the empty string is a value (an empty list). Otherwise, an empty string counts as not set. */
  readonly acceptsEmpty?: boolean;
  /** True if the setting is read once, at the start. Option sources cannot change such a setting. */
  readonly isFixed?: boolean;
  /** True if the setting limits requests. Rejections (`limitExceeded`) are counted under the name of the setting. @rule
   *  R-LIM-1 G-LIM-1 */
  readonly isLimit?: boolean;
}

interface DefineSetting {
  <const Value, const Name extends string>(
    setting: Setting<Value, Name> & { readonly default: NoInfer<Value> },
  ): Setting<Value, Name>;
  <const Value, const Name extends string>(setting: Setting<Value, Name>): Setting<Value | undefined, Name>;
}

/** Declares an option of the preset. A plugin lists it in `settings`, and adds its type to `ResolvedOptions` or
 *  `RequestLimits` with `ValuesOf`. `relApi(preset)` uses only the given options, `optionsFromEnvironment` reads the
 *  environment variables. @rule X-SET-1 X-SET-4 */
export const defineSetting: DefineSetting = <Value, Name extends string>(
  setting: Setting<Value, Name>,
): Setting<Value, Name> => setting;

type SettingValue<Declared> = Declared extends Setting<infer Value> ? Value : never;

/** The options that these settings declare, with all defaults. */
export type ValuesOf<Declared extends readonly Setting[]> = {
  readonly [Declaration in Declared[number] as Declaration["name"]]: SettingValue<Declaration>;
};
