/** Parses a path into a JSON value, such as `objs.[0].odd['key']` or `$.app["claims"]`. */

// Matches the next element of a path: `.name`, `name`, `[12]`, `["odd key"]`, `['odd key']`.
const ELEMENT = /^\.?(?:([\p{L}_][\p{L}\p{N}_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\[('(?:[^'\\]|\\.)*')\])/u;

const unquote = (quotedText: string): string | undefined => {
  const inner = quotedText.slice(1, -1);
  // In single quotes, a double quote needs the backslash.
  const json = quotedText.startsWith('"')
    ? inner
    : inner.replace(/\\.|"/g, (part) => (part === "\\'" ? "'" : part === '"' ? '\\"' : part));
  try {
    return JSON.parse(`"${json}"`) as string; // it is a quoted JSON string
  } catch {
    return undefined;
  }
};

/** Returns the keys, outermost first; an empty list for a bare `$`. Undefined if the text is not a path. A path with
 *  more than `maxKeys` keys gives `maxKeys + 1` of them. @rule G-AUTH-11 G-AUTH-18 G-COE-11 G-COE-12 */
export const parseJsonPath = (text: string, maxKeys = Infinity): readonly string[] | undefined => {
  if (text === "") return undefined;
  let remainingText = text.startsWith("$") ? text.slice(1) : text;
  const keys: string[] = [];
  while (remainingText !== "" && keys.length <= maxKeys) {
    const match = ELEMENT.exec(remainingText);
    if (match === null) return undefined;
    const [matchedText, name, index, double, single] = match;
    const key = name ?? index ?? unquote((double ?? single) as string); // one of the four has matched
    if (key === undefined) return undefined;
    keys.push(key);
    remainingText = remainingText.slice(matchedText.length);
  }
  return keys;
};
