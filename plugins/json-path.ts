/** `objs.[0].odd['key']`, `$.app["claims"]`: a place in a JSON value. */

// One element, at the front of what is left: `.name`, `name`, `[12]`, `["odd key"]`, `['odd key']`
const ELEMENT = /^\.?(?:([\p{L}_][\p{L}\p{N}_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\[('(?:[^'\\]|\\.)*')\])/u;

const unquote = (quoted: string): string | undefined => {
  const inner = quoted.slice(1, -1);
  // in single quotes the other kind of quote needs the backslash
  const json = quoted.startsWith('"')
    ? inner
    : inner.replace(/\\.|"/g, (part) => (part === "\\'" ? "'" : part === '"' ? '\\"' : part));
  try {
    return JSON.parse(`"${json}"`) as string; // a quoted JSON string
  } catch {
    return undefined;
  }
};

/** The keys, outermost first; none for a bare `$`. Undefined: not a path. The keys of a longer path end one behind
 *  `maxKeys`. @rule G-AUTH-11 G-AUTH-18 G-COE-11 G-COE-12 */
export const parseJsonPath = (text: string, maxKeys = Infinity): readonly string[] | undefined => {
  if (text === "") return undefined;
  let ahead = text.startsWith("$") ? text.slice(1) : text;
  const keys: string[] = [];
  while (ahead !== "" && keys.length <= maxKeys) {
    const match = ELEMENT.exec(ahead);
    if (match === null) return undefined;
    const [whole, name, index, double, single] = match;
    const key = name ?? index ?? unquote((double ?? single) as string); // one of the four has matched
    if (key === undefined) return undefined;
    keys.push(key);
    ahead = ahead.slice(whole.length);
  }
  return keys;
};
