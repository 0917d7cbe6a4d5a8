/** The keys of the objects of a JSON body, found without building the document: the text itself is what the database
 *  reads. */
import { jsonBytes, type Limits } from "../../../core/index.ts";

const { CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, readObject, skipSpace, skipValue, TOO_DEEP, TOO_MANY } =
  jsonBytes;

type Member = jsonBytes.Member;

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

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((key) => b.has(key));

const sorted = (keys: ReadonlySet<string>): readonly string[] => [...keys].sort();

/** Why a text was not read to its end. */
const failureOf = (end: number): "invalid" | "too-deep" | "too-many" =>
  end === TOO_DEEP ? "too-deep" : end === TOO_MANY ? "too-many" : "invalid";

const nameOf = (bytes: Buffer, { key, keyEnd }: Member): string =>
  JSON.parse(bytes.toString("utf8", key - 1, keyEnd + 1)) as string; // a JSON string

const namesOf = (bytes: Buffer, members: readonly Member[]): ReadonlySet<string> =>
  new Set(members.map((member) => nameOf(bytes, member)));

/** Checks that `bytes` (UTF-8) are one JSON value and finds its keys. @rule R-BODY-2 R-LIM-2 R-LIM-3 */
export const scanJson = (bytes: Buffer, limits: JsonLimits): JsonScan => {
  const { maxJsonDepth, maxColumns } = limits;
  const start = skipSpace(bytes, 0);
  const atEnd = (end: number): boolean => end >= 0 && skipSpace(bytes, end) === bytes.length;
  if (bytes[start] === OPEN_BRACE) {
    const { end, members } = readObject(bytes, start, { levels: maxJsonDepth, maxMembers: maxColumns });
    return atEnd(end) ? { shape: "object", keys: sorted(namesOf(bytes, members)), isEmpty: false } : failureOf(end);
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
  const objectLimits = { levels: maxJsonDepth - 1, maxMembers: maxColumns };
  let firstSet: ReadonlySet<string> | undefined;
  /** The keys of the object before, as they are written: most objects have the same in the same order. */
  let keysBefore: string | undefined;
  let isMismatch = false;
  for (;;) {
    if (bytes[i] === OPEN_BRACE) {
      const { end, members } = readObject(bytes, i, objectLimits);
      if (end < 0) return failureOf(end);
      i = end;
      const keys = members.map(({ key, keyEnd }) => bytes.toString("latin1", key - 1, keyEnd + 1)).join();
      if (keys !== keysBefore) {
        const names = namesOf(bytes, members);
        firstSet ??= names;
        if (!sameSet(firstSet, names)) isMismatch = true;
        keysBefore = keys;
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
  return isMismatch ? "mismatch" : { shape: "array", keys: sorted(firstSet ?? new Set()), isEmpty: false };
};

/** The object's values as the texts that PostgreSQL reads them from; undefined: not all of them are plain. What stands as
 *  `\\u` may be no text to PostgreSQL. `bytes`: an object, as `scanJson` says. @rule X-PLN-8 */
export const plainValues = (bytes: Buffer): ReadonlyMap<string, string | null> | undefined => {
  const values = new Map<string, string | null>(); // the last of repeated keys wins
  const { members } = readObject(bytes, skipSpace(bytes, 0), { levels: Infinity, maxMembers: Infinity });
  for (const member of members) {
    const { value, valueEnd } = member;
    if (bytes[value] === OPEN_BRACE || bytes[value] === OPEN_BRACKET) return undefined;
    const text = bytes.toString("utf8", value, valueEnd);
    if (text.includes("\\u")) return undefined;
    const isString = bytes[value] === QUOTE;
    values.set(nameOf(bytes, member), text === "null" ? null : isString ? (JSON.parse(text) as string) : text); // a JSON string
  }
  return values;
};
