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

const [TRUE, FALSE, NULL] = ["true", "false", "null"].map((word) => Buffer.from(word)) as [Buffer, Buffer, Buffer];

const skipWord = (bytes: Uint8Array, start: number): number => {
  const word = bytes[start] === TRUE[0] ? TRUE : bytes[start] === FALSE[0] ? FALSE : NULL;
  return isSameAt(bytes, start, word, 0, word.length) ? start + word.length : INVALID;
};

/** Whether `length` bytes at `at` are those of `other` at `from`; the second are there. */
const isSameAt = (bytes: Uint8Array, at: number, other: Uint8Array, from: number, length: number): boolean => {
  if (at + length > bytes.length) return false;
  for (let i = 0; i < length; i++) if (bytes[at + i] !== other[from + i]) return false;
  return true;
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

// --- objects of a list ----------------------------------------------------------------------------------------------

/** More members than an object may have. */
export const TOO_MANY = -3;

/** Of a longer text, the places of values take much memory themselves. */
const MAX_LISTED_BYTES = 64 * 1024;

interface ObjectLimits {
  /** Levels of arrays and objects, the object itself included. */
  readonly levels: number;
  readonly maxMembers: number;
}

/** Objects of one list, one after the other. Rows from one program have the same bytes around their values: those are
 *  compared, not read again. */
export class ObjectReader {
  readonly #bytes: Buffer;
  readonly #limits: ObjectLimits;
  /** Of the object read last, in pairs: where each value starts and ends. */
  values: number[] = [];
  /** The object read last has the keys of the one before, in the same order. */
  isAlike = false;
  /** Of the last object that was not like the one before: its braces, its keys and its values. */
  #from = 0;
  #to = 0;
  #keys: number[] = [];
  #around: number[] = [];
  /** Names of the first object, and the values of all; undefined: they differ. */
  #usual: readonly string[] | undefined;
  #places: number[] | undefined;

  constructor(bytes: Buffer, limits: ObjectLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    if (bytes.length <= MAX_LISTED_BYTES) this.#places = [];
  }

  /** The position behind the object at `start`, or the code of a fault. */
  skip(start: number): number {
    if (this.#to > 0) {
      const end = this.#skipAlike(start);
      this.isAlike = end !== undefined;
      if (end !== undefined) return this.#list(end);
    }
    const end = this.#skipNext(start);
    if (end < 0 || this.#places === undefined) return end;
    const names = this.names();
    this.#usual ??= names;
    const isUsual = names.length === this.#usual.length && names.every((name, i) => name === this.#usual?.[i]);
    if (!isUsual || new Set(names).size < names.length) this.#places = undefined;
    return this.#list(end);
  }

  #list(end: number): number {
    if (this.#places !== undefined) for (const place of this.values) this.#places.push(place);
    return end;
  }

  /** Of the objects read so far; undefined: their keys differ, or the text is too long. */
  listed() {
    return this.#places && this.#usual && { bytes: this.#bytes, keys: this.#usual, places: this.#places };
  }

  /** Names of the object read last, in its order; some may be there twice. */
  names(): readonly string[] {
    const names: string[] = [];
    for (let i = 0; i < this.#keys.length; i += 2)
      names.push(JSON.parse(this.#bytes.toString("utf8", this.#keys[i]! - 1, this.#keys[i + 1]! + 1)) as string); // pairs; a JSON string
    return names;
  }

  /** Where the name of the value with that index stands in the object read last: its opening quote. */
  nameAt(index: number): number {
    return this.values[2 * index]! - this.#around[2 * index]! + this.#keys[2 * index]! - 1; // pairs
  }

  /** Undefined: something else stands around the values, or they are none. */
  #skipAlike(start: number): number | undefined {
    const bytes = this.#bytes;
    const around = this.#around;
    const levels = this.#limits.levels - 1;
    const { values } = this;
    let i = start;
    let before = this.#from;
    for (let at = 0; at < around.length; at += 2) {
      const length = around[at]! - before; // pairs
      if (!isSameAt(bytes, i, bytes, before, length)) return undefined;
      const value = i + length;
      i = skipValue(bytes, value, levels);
      if (i < 0) return undefined;
      values[at] = value;
      values[at + 1] = i;
      before = around[at + 1]!; // pairs
    }
    const length = this.#to - before;
    if (!isSameAt(bytes, i, bytes, before, length)) return undefined;
    return i + length;
  }

  #skipNext(start: number): number {
    const bytes = this.#bytes;
    const { levels, maxMembers } = this.#limits;
    if (bytes[start] !== OPEN_BRACE) return INVALID;
    const keys: number[] = [];
    const values: number[] = [];
    let i = skipSpace(bytes, start + 1);
    while (bytes[i] !== CLOSE_BRACE || keys.length > 0) {
      if (bytes[i] !== QUOTE) return INVALID;
      const keyEnd = skipString(bytes, i + 1);
      if (keyEnd === INVALID) return INVALID;
      if (keys.push(i + 1, keyEnd - 1) > 2 * maxMembers) return TOO_MANY;
      i = skipSpace(bytes, keyEnd);
      if (bytes[i] !== COLON) return INVALID;
      const value = skipSpace(bytes, i + 1);
      const end = skipValue(bytes, value, levels - 1);
      if (end < 0) return end;
      values.push(value, end);
      i = skipSpace(bytes, end);
      if (bytes[i] === CLOSE_BRACE) break;
      if (bytes[i] !== COMMA) return INVALID;
      i = skipSpace(bytes, i + 1);
    }
    this.#from = start;
    this.#to = i + 1;
    this.#keys = keys;
    this.#around = values;
    this.values = [...values];
    return this.#to;
  }
}

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
