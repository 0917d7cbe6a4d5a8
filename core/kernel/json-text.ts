/** Places in JSON text, found without parsing it. No function recurses, because the client decides how deeply a text is
 *  nested. */

/** The position after the string that begins at `start`; the end of the text if the string is not closed. */
export const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (text[escapes - 1] === "\\") escapes--;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return text.length;
};

/** The position after the value that begins at `start`. The text is valid JSON. */
export const endOfValue = (text: string, start: number): number => {
  let depth = 0;
  let at = start;
  do {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (depth === 0) return endOfWord(text, at);
    at++;
  } while (depth > 0 && at < text.length);
  return at;
};

/** A number, `true`, `false` or `null`. */
const endOfWord = (text: string, start: number): number => {
  let at = start;
  while (at < text.length && !",:]} \t\r\n".includes(text.charAt(at))) at++;
  return at;
};

/** `text`: JSON, or anything else, which parsers refuse. @rule R-LIM-2 G-LIM-2 */
export const isNestedDeeper = (text: string, levels: number): boolean => {
  if (text.length <= levels) return false;
  let depth = 0;
  for (let at = 0; at < text.length;) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (character === "[" || character === "{") {
      if (++depth > levels) return true;
    } else if (character === "]" || character === "}") depth--;
    at++;
  }
  return false;
};
