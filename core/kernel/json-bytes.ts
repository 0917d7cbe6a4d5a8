/** JSON as bytes: where values end, and how deeply they are nested, found without parsing. Code that walks a value
 *  recurses, and the client decides how deep. */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
const MINUS = 0x2d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

/** The functions below return the position after what they skip, or a negative number that says why they cannot. */
export const INVALID = -1;
export const TOO_DEEP = -2;

export const skipSpace = (bytes: Uint8Array, start: number): number => {
  let i = start;
  for (; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
  }
  return i;
};

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

const isHex = (byte: number | undefined): boolean =>
  isDigit(byte) || (byte !== undefined && ((byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66)));

/** `start`: behind the opening quote. */
export const skipString = (bytes: Uint8Array, start: number): number => {
  const end = bytes.length;
  let i = start;
  while (i < end) {
    const byte = bytes[i]!; // i < end
    if (byte === QUOTE) return i + 1;
    if (byte < 0x20) return INVALID;
    if (byte !== BACKSLASH) i++;
    else if (bytes[i + 1] === 0x75) {
      if (!isHex(bytes[i + 2]) || !isHex(bytes[i + 3]) || !isHex(bytes[i + 4]) || !isHex(bytes[i + 5])) return INVALID;
      i += 6;
    } else {
      if (!'"\\/bfnrt'.includes(String.fromCharCode(bytes[i + 1] ?? 0))) return INVALID;
      i += 2;
    }
  }
  return INVALID;
};

const skipDigits = (bytes: Uint8Array, start: number): number => {
  let i = start;
  while (isDigit(bytes[i])) i++;
  return i === start ? INVALID : i;
};

const skipNumber = (bytes: Uint8Array, start: number): number => {
  let i = bytes[start] === MINUS ? start + 1 : start;
  i = bytes[i] === 0x30 ? i + 1 : skipDigits(bytes, i);
  if (i !== INVALID && bytes[i] === 0x2e) i = skipDigits(bytes, i + 1);
  if (i !== INVALID && (bytes[i] === 0x65 || bytes[i] === 0x45)) {
    i++;
    if (bytes[i] === 0x2b || bytes[i] === MINUS) i++;
    i = skipDigits(bytes, i);
  }
  return i;
};

const WORDS = ["true", "false", "null"].map((word) => Buffer.from(word));

const skipWord = (bytes: Uint8Array, start: number): number => {
  const word = WORDS.find((each) => each.every((byte, i) => bytes[start + i] === byte));
  return word === undefined ? INVALID : start + word.length;
};

/** A key with its colon and the blanks around; `start`: on its opening quote. */
export const skipKey = (bytes: Uint8Array, start: number): number => {
  if (bytes[start] !== QUOTE) return INVALID;
  const end = skipString(bytes, start + 1);
  if (end === INVALID) return INVALID;
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : INVALID;
};

const skipScalar = (bytes: Uint8Array, start: number): number => {
  const byte = bytes[start];
  if (byte === QUOTE) return skipString(bytes, start + 1);
  return byte === MINUS || isDigit(byte) ? skipNumber(bytes, start) : skipWord(bytes, start);
};

/** One value. `levels`: that it may have. */
export const skipValue = (bytes: Uint8Array, start: number, levels: number): number => {
  const byte = bytes[start];
  return byte === OPEN_BRACE || byte === OPEN_BRACKET ? skipContainer(bytes, start, levels) : skipScalar(bytes, start);
};

/** An array or object, without recursion. */
const skipContainer = (bytes: Uint8Array, start: number, levels: number): number => {
  const open: number[] = []; // closing bytes of what is open
  let i = start;
  for (;;) {
    const byte = bytes[i];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const close = byte + 2;
      i = skipSpace(bytes, i + 1);
      if (bytes[i] === close) {
        if (open.length >= levels) return TOO_DEEP;
        i++;
      } else {
        if (open.push(close) > levels) return TOO_DEEP;
        if (close === CLOSE_BRACE) i = skipKey(bytes, i);
        if (i === INVALID) return INVALID;
        continue;
      }
    } else i = skipScalar(bytes, i);
    if (i === INVALID) return INVALID;
    for (;;) {
      const close = open[open.length - 1];
      if (close === undefined) return i;
      i = skipSpace(bytes, i);
      if (bytes[i] === COMMA) {
        i = skipSpace(bytes, i + 1);
        if (close === CLOSE_BRACE) i = skipKey(bytes, i);
        if (i === INVALID) return INVALID;
        break;
      }
      if (bytes[i] !== close) return INVALID;
      open.pop();
      i++;
    }
  }
};

// --- members of an object --------------------------------------------------------------------------------------------

/** More members than an object may have. */
export const TOO_MANY = -3;

/** A member of an object: where its key stands, without quotes, and its value. */
export interface Member {
  readonly key: number;
  readonly keyEnd: number;
  readonly value: number;
  readonly valueEnd: number;
}

interface ObjectLimits {
  /** Levels of arrays and objects, the object itself included. */
  readonly levels: number;
  readonly maxMembers: number;
}

/** Reads the object at `start`: the position behind it or the code of a fault, and its members. */
export const readObject = (
  bytes: Uint8Array,
  start: number,
  { levels, maxMembers }: ObjectLimits,
): { readonly end: number; readonly members: readonly Member[] } => {
  const members: Member[] = [];
  const failed = (end: number) => ({ end, members });
  if (levels < 1) return failed(TOO_DEEP);
  if (bytes[start] !== OPEN_BRACE) return failed(INVALID);
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_BRACE) return { end: at + 1, members };
  for (;;) {
    if (bytes[at] !== QUOTE) return failed(INVALID);
    const key = at + 1;
    const keyEnd = skipString(bytes, key) - 1;
    const value = skipKey(bytes, at);
    if (value < 0) return failed(INVALID);
    const valueEnd = skipValue(bytes, value, levels - 1);
    if (valueEnd < 0) return failed(valueEnd);
    if (members.push({ key, keyEnd, value, valueEnd }) > maxMembers) return failed(TOO_MANY);
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === CLOSE_BRACE) return { end: at + 1, members };
    if (bytes[at] !== COMMA) return failed(INVALID);
    at = skipSpace(bytes, at + 1);
  }
};

// --- depth ----------------------------------------------------------------------------------------------------------

/** The position after the string that begins before `from`; the end of the text if it is not closed. */
const jumpString = (bytes: Buffer, from: number): number => {
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
    if (byte === QUOTE) i = jumpString(bytes, i);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      if (++depth > levels) return true;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth--;
  }
  return false;
};
