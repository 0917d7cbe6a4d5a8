/** Which JSON values PostgreSQL certainly takes as values of a type. */
import type { Column, Model } from "../../core/index.ts";

/** The values of a column. `null` is one of each. */
export interface Kind {
  /** `typname`. */
  readonly type: string;
  /** By byte, 1: a value may begin with it; it may stand in one behind that. */
  readonly starts: Uint8Array;
  readonly parts: Uint8Array;
  /** What has to be true besides; absent: nothing. `from`, `to`: of a valid JSON value. */
  readonly takes?: Test;
}

type Test = (bytes: Buffer, from: number, to: number) => boolean;

/** What `null` begins with. */
export const NULL = 0x6e;
const QUOTE = 0x22;
const MINUS = 0x2d;
const POINT = 0x2e;

const bytesIn = (characters: string): Uint8Array => {
  const found = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) found[byte] = 1;
  return found;
};

const DIGITS = "0123456789";
const NUMBERS = bytesIn(`-${DIGITS}`);
const WHOLE = bytesIn(DIGITS);
const DECIMAL = bytesIn(`.${DIGITS}`);
const STRINGS = bytesIn('"');
const WORDS = bytesIn("tf");
const SCALARS = bytesIn(`"-tf${DIGITS}`);
/** What is escaped, an array reads in another way. */
const UNESCAPED = new Uint8Array(256).fill(1);
UNESCAPED["\\".charCodeAt(0)] = 0;

const upTo =
  (length: number): Test =>
  (_bytes, from, to) =>
    to - from <= length;

/** A character has a byte at least. */
const characters =
  (most: number): Test =>
  (bytes, from, to) =>
    to - from - (bytes[from] === QUOTE ? 2 : 0) <= most;

/** No digit is rounded, so that none is carried. */
const digits =
  (whole: number, scale: number): Test =>
  (bytes, from, to) => {
    const first = bytes[from] === MINUS ? from + 1 : from;
    let point = first;
    while (point < to && bytes[point] !== POINT) point++;
    return point - first <= whole && to - point - 1 <= scale;
  };

const written =
  (pattern: RegExp): Test =>
  (bytes, from, to) =>
    to - from <= MAX_WRITTEN && pattern.test(bytes.toString("latin1", from, to));

const MAX_WRITTEN = 40;
// days that each month has
const DATE = String.raw`(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])`;
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?`;
const ZONE = String.raw`(?:Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?`;
const UUID = /^"[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}"$/i;
const ONLY_DATE = new RegExp(`^"${DATE}"$`);
const TIMESTAMP = new RegExp(`^"${DATE}(?:[ T]${TIME}${ZONE})?"$`);

type Shape = Omit<Kind, "type">;

// so many digits are in range, whatever they are
const integers = (length: number): Shape => ({ starts: NUMBERS, parts: WHOLE, takes: upTo(length) });
const FLOATS: Shape = { starts: NUMBERS, parts: DECIMAL, takes: upTo(30) };
const TEXTS: Shape = { starts: SCALARS, parts: UNESCAPED };
const strings = (pattern: RegExp): Shape => ({ starts: STRINGS, parts: UNESCAPED, takes: written(pattern) });

/** `(3,1)`, `(20)`. */
const modifiersOf = (sqlType: string): readonly number[] =>
  /\(([-\d,]+)\)/.exec(sqlType)?.[1]?.split(",").map(Number) ?? [];

const numbers = (sqlType: string): Shape => {
  const [precision, scale = 0] = modifiersOf(sqlType);
  // without a precision there may be more digits than a list has that is read here
  return {
    starts: NUMBERS,
    parts: DECIMAL,
    ...(precision !== undefined && { takes: digits(precision - scale, scale) }),
  };
};

const texts = (sqlType: string): Shape => {
  const [most] = modifiersOf(sqlType);
  return most === undefined ? TEXTS : { ...TEXTS, takes: characters(most) };
};

const SHAPES: ReadonlyMap<string, (sqlType: string) => Shape> = new Map([
  ["int2", () => integers(4)],
  ["int4", () => integers(9)],
  ["int8", () => integers(18)],
  ["float4", () => FLOATS],
  ["float8", () => FLOATS],
  ["numeric", numbers],
  ["bool", () => ({ starts: WORDS, parts: UNESCAPED })],
  ["text", () => TEXTS],
  ["varchar", texts],
  ["bpchar", texts],
  ["uuid", () => strings(UUID)],
  ["date", () => strings(ONLY_DATE)],
  ["timestamp", () => strings(TIMESTAMP)],
  ["timestamptz", () => strings(TIMESTAMP)],
]);

/** Undefined: a type of which nothing is certain. */
export const kindOf = ({ type: oid, sqlType }: Column, model: Model): Kind | undefined => {
  const type = model.types.get(oid);
  if (type?.kind !== "base" || type.schema !== "pg_catalog") return undefined;
  const shape = SHAPES.get(type.name)?.(sqlType);
  return shape && { type: type.name, ...shape };
};
