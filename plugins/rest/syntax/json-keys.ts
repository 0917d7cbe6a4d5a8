/** The keys of the objects of a JSON body, found without building the document: the text itself is what the database
 *  reads. */
import { jsonBytes, type Limits, type ListedValues } from "../../../core/index.ts";

const {
  CLOSE_BRACKET,
  COMMA,
  ObjectReader,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  skipValue,
  TOO_DEEP,
  TOO_MANY,
} = jsonBytes;

/** What a body is. `keys`: of the object, or shared by all objects of the array; sorted, so that their order in the
 *  body does not make another statement. */
export interface JsonShape {
  readonly shape: "object" | "array";
  readonly keys: readonly string[];
  /** An array without elements, or a value that is neither. */
  readonly isEmpty: boolean;
  /** Of an array that is short, whose objects have their keys in one order. */
  readonly rows?: ListedValues | undefined;
}

/** `invalid`: no JSON. `mismatch`: an array whose elements are not objects of one key set. `too-deep`, `too-many`:
 *  beyond a limit. */
export type JsonScan = JsonShape | "invalid" | "mismatch" | "too-deep" | "too-many";

/** Levels of arrays and objects, keys of an object at the top. */
type JsonLimits = Pick<Limits, "maxJsonDepth" | "maxColumns">;

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
    const object = new ObjectReader(bytes, { levels: maxJsonDepth, maxMembers: maxColumns });
    const end = object.skip(start);
    return atEnd(end) ? { shape: "object", keys: sorted(new Set(object.names())), isEmpty: false } : failureOf(end);
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
  const object = new ObjectReader(bytes, { levels: maxJsonDepth - 1, maxMembers: maxColumns });
  let firstSet: ReadonlySet<string> | undefined;
  let isMismatch = false;
  for (;;) {
    if (bytes[i] === OPEN_BRACE) {
      i = object.skip(i);
      if (i < 0) return failureOf(i);
      if (!object.isAlike) {
        const keys = new Set(object.names());
        firstSet ??= keys;
        if (!sameSet(firstSet, keys)) isMismatch = true;
      }
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
  return isMismatch
    ? "mismatch"
    : { shape: "array", keys: sorted(firstSet ?? new Set()), isEmpty: false, rows: object.listed() };
};

/** The object's values as the texts that PostgreSQL reads them from; undefined: not all of them are plain. What stands as
 *  `\\u` may be no text to PostgreSQL. `bytes`: an object, as `scanJson` says. @rule X-PLN-8 */
export const plainValues = (bytes: Buffer): ReadonlyMap<string, string | null> | undefined => {
  const values = new Map<string, string | null>(); // the last of repeated keys wins
  const object = new ObjectReader(bytes, { levels: Infinity, maxMembers: Infinity });
  object.skip(skipSpace(bytes, 0));
  for (const [i, name] of object.names().entries()) {
    const start = object.values[2 * i]!; // pairs
    if (bytes[start] === OPEN_BRACE || bytes[start] === OPEN_BRACKET) return undefined;
    const text = bytes.toString("utf8", start, object.values[2 * i + 1]);
    if (text.includes("\\u")) return undefined;
    values.set(name, text === "null" ? null : bytes[start] === QUOTE ? (JSON.parse(text) as string) : text); // a JSON string
  }
  return values;
};
