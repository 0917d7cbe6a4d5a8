import type { Json } from "../../core/index.ts";

/** The value at the keys, outermost first; undefined: there is none. @rule G-AUTH-11 */
export const readClaimPath = (from: Json, keys: readonly string[]): Json | undefined => {
  let at: Json | undefined = from;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    if (Array.isArray(at) && !/^\d+$/.test(key)) return undefined;
    at = (at as Readonly<Record<string, Json>>)[key]; // arrays are objects with indexes for keys
  }
  return at;
};
