/** `application/x-www-form-urlencoded` bodies, decoded byte by byte while they arrive: `name=Ada&note=caf%C3%A9+x`. */
import type { Limits, TextBytes } from "../../../core/index.ts";
import { tooManyColumns } from "../errors.ts";
import type { BodyReader } from "../api.ts";

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const EQUALS = 0x3d;
const BLANK = 0x20;

/** Of a body at a time, and about so much of a value. */
const CHUNK_BYTES = 64 * 1024;

/** Values of hexadecimal digits; -1: it is none. */
const DIGITS = new Int8Array(256).fill(-1);
for (const [value, digit] of [..."0123456789abcdef"].entries())
  DIGITS[digit.charCodeAt(0)] = DIGITS[digit.toUpperCase().charCodeAt(0)] = value;

const digitOf = (byte: number): number => DIGITS[byte] as number; // a byte

interface Fields {
  /** A field begins. */
  open(name: string): void;
  /** The next part of its value. */
  add(text: string): void;
}

interface FormDecoder {
  take(piece: Buffer): void;
  /** @throws RelApiError `too-many-columns` */
  end(): void;
}

/** Malformed escapes stay, bytes that are not UTF-8 become U+FFFD. @rule R-BODY-7 R-LIM-3 */
const createDecoder = (limits: Limits, fields: Fields): FormDecoder => {
  const { maxColumns } = limits;
  /** What is decoded of a name or a value. */
  let room: Buffer = Buffer.alloc(0);
  let filled = 0;
  let isName = true;
  /** Something of the field has come. */
  let isBegun = false;
  let count = 0;
  /** `%`, and the digit behind it, where the bytes before have ended. */
  let escape = "";
  /** Of a value that is longer than a chunk. */
  let decoder: InstanceType<typeof TextDecoder> | undefined;

  const endName = (): void => {
    fields.open(room.toString("utf8", 0, filled));
    filled = 0;
    isName = false;
  };
  const putEscape = (): void => {
    filled += room.write(escape, filled, "latin1");
    escape = "";
  };
  const endField = (): void => {
    if (escape !== "") putEscape();
    if (isBegun) {
      if (isName) endName();
      fields.add(decoder === undefined ? room.toString("utf8", 0, filled) : decoder.decode(room.subarray(0, filled)));
    }
    decoder = undefined;
    filled = 0;
    isName = true;
    isBegun = false;
  };
  /** `filled` is in a local variable while plain bytes come. */
  const takeChunk = (bytes: Buffer): void => {
    const { length } = bytes;
    makeRoom(length + MAX_ESCAPE);
    const decoded = room;
    let to = filled;
    for (let i = 0; i < length; i++) {
      const byte = bytes[i] as number; // i < length
      if (byte === AMPERSAND) {
        filled = to;
        endField();
        to = 0;
        continue;
      }
      if (!isBegun) {
        isBegun = true;
        if (++count > maxColumns) return;
      }
      if (escape !== "") {
        if (digitOf(byte) === -1) {
          filled = to;
          putEscape();
          to = filled;
          i--; // it stands for itself
        } else if (escape.length === 1) escape += String.fromCharCode(byte);
        else {
          decoded[to++] = digitOf(escape.charCodeAt(1)) * 16 + digitOf(byte);
          escape = "";
        }
      } else if (byte === PERCENT) {
        if (i + 2 >= length) {
          escape = "%";
          continue;
        }
        const [high, low] = [digitOf(bytes[i + 1] as number), digitOf(bytes[i + 2] as number)]; // within the length
        if (high === -1 || low === -1) decoded[to++] = PERCENT;
        else {
          decoded[to++] = high * 16 + low;
          i += 2;
        }
      } else if (byte === PLUS) decoded[to++] = BLANK;
      else if (byte === EQUALS && isName) {
        filled = to;
        endName();
        to = 0;
      } else decoded[to++] = byte;
    }
    filled = to;
    if (isName || filled < CHUNK_BYTES) return;
    // what a value begins with is a character of it
    decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    fields.add(decoder.decode(room.subarray(0, filled), { stream: true }));
    filled = 0;
  };
  const makeRoom = (more: number): void => {
    if (filled + more <= room.length) return;
    const larger = Buffer.allocUnsafe(2 * filled + more);
    room.copy(larger, 0, 0, filled);
    room = larger;
  };
  return {
    take: (piece) => {
      for (let from = 0; from < piece.length && count <= maxColumns; from += CHUNK_BYTES)
        takeChunk(piece.length <= CHUNK_BYTES ? piece : piece.subarray(from, from + CHUNK_BYTES));
    },
    end: () => {
      if (count > maxColumns) throw tooManyColumns(limits);
      endField();
    },
  };
};

const MAX_ESCAPE = 2;

/** Name and value pairs in order. @throws RelApiError `too-many-columns` */
export const parseForm = (body: Buffer, limits: Limits): readonly (readonly [name: string, value: string])[] => {
  const pairs: [name: string, value: string][] = [];
  const decoder = createDecoder(limits, {
    open: (name) => pairs.push([name, ""]),
    add: (text) => {
      (pairs.at(-1) as [string, string])[1] += text; // behind its name
    },
  });
  decoder.take(body);
  decoder.end();
  return pairs;
};

/** What a string is in JSON, without its quotes. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** One row. A longer text is bytes, which are not copied on their way. @rule R-BODY-7 X-BODY-2 */
export const createFormReader = (limits: Limits): BodyReader => {
  /** By name; the last of repeated names wins. */
  const row = new Map<string, JsonPart[]>();
  let value: JsonPart[] = [];
  const decoder = createDecoder(limits, {
    open: (name) => row.set(name, (value = [])),
    add: (text) => void value.push(text.length > LONG_TEXT ? Buffer.from(escaped(text)) : escaped(text)),
  });
  return {
    take: decoder.take,
    end: () => {
      decoder.end();
      const parts: JsonPart[] = [];
      for (const [name, pieces] of row) parts.push(`${parts.length === 0 ? "{" : '",'}"${escaped(name)}":"`, ...pieces);
      parts.push(parts.length === 0 ? "{}" : '"}');
      return { text: textOf(parts), shape: "object", keys: [...row.keys()].sort(), isEmpty: false };
    },
  };
};

/** JSON text, in bytes where it is long. */
type JsonPart = string | Buffer;
const LONG_TEXT = 4096;

const textOf = (parts: readonly JsonPart[]): string | TextBytes =>
  parts.every((part) => typeof part === "string")
    ? parts.join("")
    : { utf8: parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)) };
