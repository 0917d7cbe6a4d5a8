/** `Prefer: return=representation, count=exact`: preferences, parsed and echoed. */
import type { ResolvedOptions } from "../../core/index.ts";
import { preferencesInvalid } from "./errors.ts";
import { headerText } from "./header-text.ts";
import type { AppliedPreferences, Preferences } from "./request.ts";

type Known = "resolution" | "missing" | "return" | "count" | "tx" | "handling";

const VALUES: Readonly<Record<Known, readonly string[]>> = {
  resolution: ["merge-duplicates", "ignore-duplicates"],
  missing: ["default", "null"],
  return: ["representation", "minimal", "headers-only"],
  count: ["exact", "planned", "estimated"],
  tx: ["commit", "rollback"],
  handling: ["strict", "lenient"],
};

const NONE: Preferences = { invalid: [] };

/** `header`: all `Prefer` headers joined by commas. @rule R-PRF-1 R-PRF-2 */
export const parsePreferences = (header: string | undefined): Preferences => {
  if (header === undefined) return NONE;
  const found: { -readonly [Name in keyof Preferences]: Preferences[Name] } & Record<string, unknown> = { invalid: [] };
  const invalid: string[] = [];
  for (const part of header.split(",")) {
    const item = part.trim();
    const at = item.indexOf("=");
    const name = at === -1 ? item : item.slice(0, at);
    const given = at === -1 ? "" : item.slice(at + 1);
    if (at !== -1 && name === "timezone") found.timezone ??= given;
    else if (at !== -1 && name === "max-affected") found.maxAffected ??= parseCount(given);
    else if (at !== -1 && Object.hasOwn(VALUES, name) && VALUES[name as Known].includes(given)) found[name] ??= given;
    else invalid.push(item);
  }
  return { ...found, invalid };
};

const parseCount = (text: string): number | undefined => (/^-?[0-9]{1,15}$/.test(text) ? Number(text) : undefined);

/** Refuses unknown preferences where that was asked for. @throws RelApiError `preferences-invalid` @rule R-PRF-2 */
export const checkPreferences = (preferences: Preferences): void => {
  if (preferences.handling === "strict" && preferences.invalid.length > 0)
    throw preferencesInvalid(preferences.invalid);
};

const ORDER = ["resolution", "missing", "return", "count", "tx", "handling", "timezone", "max-affected"] as const;

/** Value of `Preference-Applied`; undefined when nothing was honoured. `applied`: what this request honours beside
 *  `count`, `handling` and `timezone`, which always count. @rule R-PRF-3 */
export const buildPreferenceApplied = (
  preferences: Preferences,
  applied: AppliedPreferences = {},
): string | undefined => {
  const honoured: AppliedPreferences = { count: true, handling: true, timezone: true, ...applied };
  const items: string[] = [];
  for (const name of ORDER) {
    const sent = name === "max-affected" ? preferences.maxAffected : preferences[name];
    if (sent !== undefined && honoured[name] === true) items.push(`${name}=${sent}`);
  }
  return items.length === 0 ? undefined : headerText(items.join(", "));
};

export interface TransactionEnd {
  readonly end: "commit" | "rollback";
  /** The client's `tx` is honoured, and echoed. */
  readonly isChosen: boolean;
}

/** @rule R-TX-5 R-PRF-6 */
export const resolveEnd = (options: ResolvedOptions, preferences: Preferences): TransactionEnd => {
  const { dbTxEnd } = options;
  if (preferences.tx !== undefined && dbTxEnd.endsWith("-allow-override"))
    return { end: preferences.tx, isChosen: true };
  return { end: dbTxEnd.startsWith("rollback") ? "rollback" : "commit", isChosen: false };
};

/** `max-affected`, where it has an effect. @rule R-PRF-5 */
export const effectiveMaxAffected = (preferences: Preferences): number | undefined =>
  preferences.handling === "strict" ? preferences.maxAffected : undefined;
