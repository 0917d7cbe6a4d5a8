/** `Prefer: return=representation, count=exact`: parses and checks preferences. */
import type { PreferenceSpec, ResolvedOptions } from "../../../core/index.ts";
import { preferencesInvalid, timeZoneInvalid } from "../errors.ts";
import type { Grammar, Preferences, TransactionEnd } from "../request.ts";

const acceptAnyValue = (): boolean => true;

const MAX_ABBREVIATION_BYTES = 24;

/** The abbreviations of `<+0530>-5:30` and `CET-1CEST,M3.5.0,M10.5.0/3`, each also with other texts between digits. */
const ABBREVIATIONS = [/<([^>]*)/g, /([^0-9+,-]+)/g];

/** Rejects time zones with long abbreviations. In PostgreSQL before 18.6, 17.11, 16.15, 15.19 and 14.24, `to_char`
 *  writes them past the end of its buffer (CVE-2026-14669). Only a time zone that contains an offset defines an
 *  abbreviation. @throws RelApiError `time-zone-invalid` @rule R-PRF-4a */
const checkTimeZone = (zone: string): string => {
  const isTooLong = (abbreviation: string): boolean => Buffer.byteLength(abbreviation) > MAX_ABBREVIATION_BYTES;
  if (
    /[0-9]/.test(zone) &&
    ABBREVIATIONS.some((pattern) => [...zone.matchAll(pattern)].some(([, text = ""]) => isTooLong(text)))
  )
    throw timeZoneInvalid(MAX_ABBREVIATION_BYTES);
  return zone;
};

/**
 * PostgREST's preferences, declared like the preferences of plugins. Planners implement them, except preferences that
 * only set something. @rule R-PRF-1 R-PRF-4
 */
export const POSTGREST_PREFERENCES: readonly PreferenceSpec[] = [
  { name: "resolution", values: ["merge-duplicates", "ignore-duplicates"] },
  { name: "missing", values: ["default", "null"] },
  { name: "return", values: ["representation", "minimal", "headers-only"] },
  { name: "count", values: ["exact", "planned", "estimated"] },
  { name: "tx", values: ["commit", "rollback"] },
  { name: "handling", values: ["strict", "lenient"] },
  { name: "timezone", values: acceptAnyValue, settings: (zone) => [["timezone", checkTimeZone(zone)]] },
  { name: "max-affected", values: acceptAnyValue },
];

export const NO_PREFERENCES: Preferences = { acceptedValues: new Map(), invalidItems: [] };

const isAccepted = ({ values }: PreferenceSpec, value: string): boolean =>
  typeof values === "function" ? values(value) : values.includes(value);

/** The accepted values of `max-affected`. Other values are ignored. @rule R-PRF-5 */
const MAX_AFFECTED_VALUE = /^-?[0-9]{1,15}$/;

/**
 * Parses all `Prefer` headers, joined by commas. A name without a value has the empty value, which only preferences of
 * plugins may accept. @rule R-PRF-1 R-PRF-2 R-PRF-7
 */
export const parsePreferences = ({ preferences: specs }: Pick<Grammar, "preferences">, header: string): Preferences => {
  const valuesByName = new Map<string, string>();
  const invalid: string[] = [];
  for (const part of header.split(",")) {
    const item = part.trim();
    const at = item.indexOf("=");
    const name = at === -1 ? item : item.slice(0, at);
    const value = at === -1 ? "" : item.slice(at + 1);
    const spec = specs.get(name);
    const isNameAlone = at === -1 && spec !== undefined && POSTGREST_PREFERENCES.includes(spec);
    if (spec === undefined || isNameAlone || !isAccepted(spec, value)) invalid.push(item);
    else if (!valuesByName.has(name) && (name !== "max-affected" || MAX_AFFECTED_VALUE.test(value)))
      valuesByName.set(name, value);
  }
  const count = valuesByName.get("max-affected");
  return {
    // Each preference has one of its declared values.
    ...(Object.fromEntries(valuesByName) as Omit<Preferences, "acceptedValues" | "invalidItems" | "maxAffected">),
    maxAffected: count === undefined ? undefined : Number(count),
    acceptedValues: valuesByName,
    invalidItems: invalid,
  };
};

/**
 * Rejects unknown preferences if `handling` is strict. Otherwise unknown preferences are not read, so that they do not
 * become part of the cache key. @throws RelApiError `preferences-invalid` @rule R-PRF-2
 */
export const checkPreferences = (preferences: Pick<Preferences, "handling" | "invalidItems">): void => {
  if (preferences.handling === "strict" && preferences.invalidItems.length > 0)
    throw preferencesInvalid(preferences.invalidItems);
};

/** Returns the value of `max-affected`, if it has an effect. @rule R-PRF-5 */
export const findEffectiveMaxAffected = (
  preferences: Pick<Preferences, "handling" | "maxAffected">,
): number | undefined => (preferences.handling === "strict" ? preferences.maxAffected : undefined);

/** Returns whether the transaction is committed or rolled back, and whether the client has chosen its end. @rule R-TX-5
 *  R-PRF-6 */
export const resolveTransactionEnd = ({ dbTxEnd }: ResolvedOptions, { tx }: Preferences): TransactionEnd => {
  if (tx !== undefined && dbTxEnd.endsWith("-allow-override")) return { end: tx, isChosenByClient: true };
  return { end: dbTxEnd.startsWith("rollback") ? "rollback" : "commit", isChosenByClient: false };
};
