/** `claims_namespace_path: "$.app['claims%'][0]"`: where claims stand in a token. */
import type { Json } from "../../core/index.ts";

// One element, at the front of what is left: `.name`, `name`, `[12]`, `["odd key"]`, `['odd key']`
const ELEMENT = /^\.?(?:([\p{L}_][\p{L}\p{N}_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\[('(?:[^'\\]|\\.)*')\])/u;

const unquote = (quoted: string): string | undefined => {
  const inner = quoted.slice(1, -1);
  const json = quoted.startsWith('"') ? inner : inner.replace(/\\'|"/g, (part) => (part === '"' ? '\\"' : "'"));
  try {
    return JSON.parse(`"${json}"`) as string; // a quoted JSON string
  } catch {
    return undefined;
  }
};

/** The keys, outermost first; `$` alone: none. Undefined: no path. @rule G-AUTH-11 G-AUTH-18 G-COE-12 */
export const parseClaimPath = (text: string): readonly string[] | undefined => {
  if (text === "") return undefined;
  let rest = text.startsWith("$") ? text.slice(1) : text;
  const keys: string[] = [];
  while (rest !== "") {
    const match = ELEMENT.exec(rest);
    if (match === null) return undefined;
    const [whole, name, index, double, single] = match;
    const key = name ?? index ?? unquote((double ?? single) as string); // one of the four has matched
    if (key === undefined) return undefined;
    keys.push(key);
    rest = rest.slice(whole.length);
  }
  return keys;
};

/** What stands there; undefined: nothing. */
export const readClaimPath = (from: Json, keys: readonly string[]): Json | undefined => {
  let at: Json | undefined = from;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    if (Array.isArray(at) && !/^\d+$/.test(key)) return undefined;
    at = (at as Readonly<Record<string, Json>>)[key]; // arrays are objects with indexes for keys
  }
  return at;
};
