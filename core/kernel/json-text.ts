/** Finds positions in JSON text without parsing it. No function recurses, because the client decides how deeply a text
 *  is nested. */

/** Returns the position after the string that begins at `start`, or the end of the text if the string is not closed. */
export const findStringEnd = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = quote;
    while (text[escapes - 1] === "\\") escapes--;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return text.length;
};

/** Returns the position after the value that begins at `start`. The text must be valid JSON. */
export const findValueEnd = (text: string, start: number): number => {
  let depth = 0;
  let position = start;
  do {
    const character = text[position];
    if (character === '"') {
      position = findStringEnd(text, position);
      continue;
    }
    if (character === "{" || character === "[") depth++;
    else if (character === "}" || character === "]") depth--;
    else if (depth === 0) return findWordEnd(text, position);
    position++;
  } while (depth > 0 && position < text.length);
  return position;
};

/** Returns the position after a number, `true`, `false` or `null`. */
const findWordEnd = (text: string, start: number): number => {
  let at = start;
  while (at < text.length && !",:]} \t\r\n".includes(text.charAt(at))) at++;
  return at;
};

/** Returns whether brackets nest deeper than `levels`. The text need not be valid JSON. @rule R-LIM-2 G-LIM-2
 *  @experimental */
export const exceedsJsonDepth = (text: string, levels: number): boolean => {
  if (text.length <= levels) return false;
  let depth = 0;
  for (let position = 0; position < text.length;) {
    const character = text[position];
    if (character === '"') {
      position = findStringEnd(text, position);
      continue;
    }
    if (character === "[" || character === "{") {
      if (++depth > levels) return true;
    } else if (character === "]" || character === "}") depth--;
    position++;
  }
  return false;
};

/** Yields the elements of an array, or the members of an object, as texts. The function checks only the brackets and
 *  the text around the elements. @throws SyntaxError */
export function* splitJson(json: string): Generator<string> {
  const start = json.search(/[[{]/) + 1;
  let from = start;
  let position = start;
  for (let depth = 0; depth >= 0; position++) {
    if (position >= json.length) throw new SyntaxError("the JSON text is not complete");
    const character = json[position];
    if (character === '"') position = findStringEnd(json, position) - 1;
    else if (character === "[" || character === "{") depth++;
    else if (character === "]" || character === "}") depth--;
    if (depth >= 0 && (depth > 0 || character !== ",")) continue;
    const part = json.slice(from, position);
    if (depth === 0 || from > start || /[^ \t\r\n]/.test(part)) yield part;
    from = position + 1;
  }
  JSON.parse(json.slice(0, start) + json.slice(position - 1));
}

/** Collects the elements of a JSON array as UTF-8. A string would need twice the memory, because its parts outlive it.
 *  `count` is the number of elements, from which the length is estimated. */
export const createJsonArray = (count?: number) => {
  let bytes = Buffer.allocUnsafe(SHORT_BYTES);
  let writtenBytes = 0;
  /** The text that is not in `bytes` yet, because few long writes are faster than many short ones. */
  let pendingText = "[";
  let length = 1;
  let addedCount = 0;
  const write = (): void => {
    if (length > bytes.length) {
      const growth = count === undefined ? GROWTH : Math.max(GROWTH, count / addedCount);
      const larger = Buffer.allocUnsafeSlow(Math.ceil(growth * length));
      bytes.copy(larger, 0, 0, writtenBytes);
      bytes = larger;
    }
    writtenBytes += bytes.write(pendingText, writtenBytes);
    pendingText = "";
  };
  return {
    /** Returns the number of bytes so far. */
    add: (element: string): number => {
      const text = addedCount === 0 ? element : `,${element}`;
      addedCount++;
      pendingText += text;
      length += Buffer.byteLength(text);
      if (pendingText.length >= SHORT_BYTES) write();
      return length;
    },
    end: (): Buffer => {
      pendingText += "]";
      length++;
      write();
      return bytes.subarray(0, length);
    },
  };
};

const SHORT_BYTES = 1024;
/** The factor by which a full buffer grows. The factor is large, because unused memory is only reserved, and each
 *  smaller buffer becomes garbage. */
const GROWTH = 16;

/** Returns the JSON array of these elements. A template around `join` would copy the text once more. */
export const joinJsonArray = (elements: readonly string[]): string =>
  ["[", ...elements.map((element, i) => (i === 0 ? element : `,${element}`)), "]"].join("");
