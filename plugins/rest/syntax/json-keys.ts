/** The keys of the objects of a JSON body, found without building the document: the text itself is what the database
 *  reads. */
import { jsonBytes, type Limits } from "../../../core/index.ts";

const {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  INVALID,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
  TOO_DEEP,
} = jsonBytes;

/** What a body is. `keys`: of the object, or shared by all objects of the array; sorted, so that their order in the
 *  body does not make another statement. */
export interface JsonShape {
  readonly shape: "object" | "array";
  readonly keys: readonly string[];
  /** An array without elements, or a value that is neither. */
  readonly isEmpty: boolean;
}

/** `invalid`: no JSON. `mismatch`: an array whose elements are not objects of one key set. `too-deep`, `too-many`:
 *  beyond a limit. */
export type JsonScan = JsonShape | "invalid" | "mismatch" | "too-deep" | "too-many";

/** Levels of arrays and objects, keys of an object at the top. */
type JsonLimits = Pick<Limits, "maxJsonDepth" | "maxColumns">;

/** As the scanner's own codes: more keys than an object may have. */
const TOO_MANY = -3;

/** Start and end of the raw text of each key of one object, in pairs, quotes not included. */
type KeySpans = number[];

/** One object whose keys are noted in `spans`; `start`: on its brace. `levels`: that it may have, itself included. */
const skipObject = (bytes: Uint8Array, start: number, levels: number, maxKeys: number, spans: KeySpans): number => {
  let i = skipSpace(bytes, start + 1);
  if (bytes[i] === CLOSE_BRACE) return i + 1;
  for (;;) {
    if (bytes[i] !== QUOTE) return INVALID;
    const end = skipString(bytes, i + 1);
    if (end === INVALID) return INVALID;
    if (spans.push(i + 1, end - 1) > 2 * maxKeys) return TOO_MANY;
    i = skipSpace(bytes, end);
    if (bytes[i] !== COLON) return INVALID;
    i = skipValue(bytes, skipSpace(bytes, i + 1), levels - 1);
    if (i < 0) return i;
    i = skipSpace(bytes, i);
    if (bytes[i] === CLOSE_BRACE) return i + 1;
    if (bytes[i] !== COMMA) return INVALID;
    i = skipSpace(bytes, i + 1);
  }
};

const keySet = (bytes: Buffer, spans: KeySpans): ReadonlySet<string> => {
  const keys = new Set<string>();
  for (let i = 0; i < spans.length; i += 2)
    keys.add(JSON.parse(bytes.toString("utf8", spans[i]! - 1, spans[i + 1]! + 1)) as string); // pairs; a JSON string
  return keys;
};

/** The keys are written in the same order with the same bytes, as those of rows from one program are. */
const sameBytes = (bytes: Uint8Array, a: KeySpans, b: KeySpans): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 2) {
    const length = a[i + 1]! - a[i]!; // pairs of numbers, as long as each other
    if (b[i + 1]! - b[i]! !== length) return false;
    for (let j = 0; j < length; j++) if (bytes[a[i]! + j] !== bytes[b[i]! + j]) return false;
  }
  return true;
};

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((key) => b.has(key));

const sorted = (keys: ReadonlySet<string>): readonly string[] => [...keys].sort();

/** Why a text was not read to its end. */
const failureOf = (end: number): "invalid" | "too-deep" | "too-many" =>
  end === TOO_DEEP ? "too-deep" : end === TOO_MANY ? "too-many" : "invalid";

/** Checks that `bytes` (UTF-8) are one JSON value and finds its keys. @rule R-BODY-2 R-LIM-2 R-LIM-3 */
export const scanJson = (bytes: Buffer, limits: JsonLimits): JsonScan => {
  const { maxJsonDepth, maxColumns } = limits;
  const start = skipSpace(bytes, 0);
  const atEnd = (end: number): boolean => end >= 0 && skipSpace(bytes, end) === bytes.length;
  if (bytes[start] === OPEN_BRACE) {
    const spans: KeySpans = [];
    const end = skipObject(bytes, start, maxJsonDepth, maxColumns, spans);
    return atEnd(end) ? { shape: "object", keys: sorted(keySet(bytes, spans)), isEmpty: false } : failureOf(end);
  }
  if (bytes[start] === OPEN_BRACKET) return scanArray(bytes, start, limits, atEnd);
  const end = skipValue(bytes, start, maxJsonDepth);
  return atEnd(end) ? { shape: "array", keys: [], isEmpty: true } : failureOf(end);
};

const scanArray = (
  bytes: Buffer,
  start: number,
  { maxJsonDepth, maxColumns }: JsonLimits,
  atEnd: (end: number) => boolean,
): JsonScan => {
  let i = skipSpace(bytes, start + 1);
  if (bytes[i] === CLOSE_BRACKET) return atEnd(i + 1) ? { shape: "array", keys: [], isEmpty: true } : "invalid";
  let first: KeySpans | undefined;
  let firstSet: ReadonlySet<string> = new Set();
  let isMismatch = false;
  for (;;) {
    if (bytes[i] === OPEN_BRACE) {
      const spans: KeySpans = [];
      i = skipObject(bytes, i, maxJsonDepth - 1, maxColumns, spans);
      if (i < 0) return failureOf(i);
      if (first === undefined) {
        first = spans;
        firstSet = keySet(bytes, spans);
      } else if (!sameBytes(bytes, first, spans) && !sameSet(firstSet, keySet(bytes, spans))) isMismatch = true;
    } else {
      isMismatch = true; // reads on, because invalid JSON takes precedence
      i = skipValue(bytes, i, maxJsonDepth - 1);
      if (i < 0) return failureOf(i);
    }
    i = skipSpace(bytes, i);
    if (bytes[i] === CLOSE_BRACKET) break;
    if (bytes[i] !== COMMA) return "invalid";
    i = skipSpace(bytes, i + 1);
  }
  if (!atEnd(i + 1)) return "invalid";
  return isMismatch ? "mismatch" : { shape: "array", keys: sorted(firstSet), isEmpty: false };
};

/** The object's values as the texts that PostgreSQL reads them from; undefined: not all of them are plain. What stands as
 *  `\\u` may be no text to PostgreSQL. `bytes`: an object, as `scanJson` says. @rule X-PLN-8 */
export const plainValues = (bytes: Buffer): ReadonlyMap<string, string | null> | undefined => {
  const values = new Map<string, string | null>(); // the last of repeated keys wins
  let i = skipSpace(bytes, skipSpace(bytes, 0) + 1);
  while (bytes[i] === QUOTE) {
    const keyEnd = skipString(bytes, i + 1);
    const key = JSON.parse(bytes.toString("utf8", i, keyEnd)) as string; // a JSON string
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    if (bytes[start] === OPEN_BRACE || bytes[start] === OPEN_BRACKET) return undefined;
    const end = skipValue(bytes, start, 0);
    const text = bytes.toString("utf8", start, end);
    if (text.includes("\\u")) return undefined;
    values.set(key, text === "null" ? null : bytes[start] === QUOTE ? (JSON.parse(text) as string) : text); // a JSON string
    i = skipSpace(bytes, end);
    if (bytes[i] === COMMA) i = skipSpace(bytes, i + 1);
  }
  return values;
};
