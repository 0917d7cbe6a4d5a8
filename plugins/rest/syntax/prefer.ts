/** `Prefer: return=representation, count=exact`: preferences, parsed and checked. */
import { preferencesInvalid } from "../errors.ts";
import type { Preferences } from "../request.ts";

type Known = "resolution" | "missing" | "return" | "count" | "tx" | "handling";

const VALUES: Readonly<Record<Known, readonly string[]>> = {
  resolution: ["merge-duplicates", "ignore-duplicates"],
  missing: ["default", "null"],
  return: ["representation", "minimal", "headers-only"],
  count: ["exact", "planned", "estimated"],
  tx: ["commit", "rollback"],
  handling: ["strict", "lenient"],
};

export const NO_PREFERENCES: Preferences = { invalid: [] };

/** `header`: all `Prefer` headers joined by commas. @rule R-PRF-1 R-PRF-2 */
export const parsePreferences = (header: string): Preferences => {
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

/** `max-affected`, where it has an effect. @rule R-PRF-5 */
export const effectiveMaxAffected = (preferences: Preferences): number | undefined =>
  preferences.handling === "strict" ? preferences.maxAffected : undefined;
