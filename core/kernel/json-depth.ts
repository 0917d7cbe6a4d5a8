/** How deeply arrays and objects are nested, found without parsing: code that walks a value recurses, and the client
 *  decides how deep. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The position after the string that begins before `from`; the end of the text if it is not closed. */
const skipString = (bytes: Buffer, from: number): number => {
  for (let quote = bytes.indexOf(QUOTE, from); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let escapes = quote;
    while (escapes > from && bytes[escapes - 1] === BACKSLASH) escapes--;
    if ((quote - escapes) % 2 === 0) return quote + 1;
  }
  return bytes.length;
};

/** `bytes`: JSON, or anything else, which others refuse. @rule R-LIM-2 G-LIM-2 */
export const isNestedDeeper = (bytes: Buffer, levels: number): boolean => {
  if (bytes.length <= levels) return false;
  let depth = 0;
  for (let i = 0; i < bytes.length;) {
    const byte = bytes[i++];
    if (byte === QUOTE) i = skipString(bytes, i);
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > levels) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
};
