/** Numbers that a JavaScript number cannot represent, stored as text among JSON values. @rule G-TYP-3 G-TYP-6
 *  G-MET-13 */
import type { Json } from "../plan/plan.ts";

/** What only such a number has. */
export const RAW_NUMBER: unique symbol = Symbol("raw number");

/** A number as it was written, where a JavaScript number would lose digits, scale or size. */
export interface RawNumber {
  readonly [RAW_NUMBER]: string;
  /** Written as a float in the document: integer positions refuse it whatever its value (G-TYP-32). */
  readonly isFloatLiteral?: boolean;
}

/** A number that keeps all its digits among JSON values. */
export const rawNumber = (text: string, isFloatLiteral = false): Json =>
  ({ [RAW_NUMBER]: text, ...(isFloatLiteral ? { isFloatLiteral } : {}) }) as unknown as Json; // travels among JSON values; only this file looks inside

/** Whether the value is a number that is stored as text. */
export const isRawNumber = (value: unknown): value is RawNumber =>
  typeof value === "object" && value !== null && RAW_NUMBER in value;

/** Text of a number as it was written; undefined: no number. */
export const numberText = (value: unknown): string | undefined =>
  typeof value === "number" ? String(value) : isRawNumber(value) ? value[RAW_NUMBER] : undefined;

/** Whether the number was written as a float. */
export const isFloatLiteral = (value: unknown): boolean => isRawNumber(value) && value.isFloatLiteral === true;

/** The number itself where that loses nothing. */
export const exactNumber = (text: string): Json => {
  const number = Number(text);
  return String(number) === text ? number : rawNumber(text);
};

const holdsRaw = (value: Json): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (isRawNumber(value)) return true;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsRaw);
};

/** JSON text with every digit. */
export const writeJson = (value: Json): string => (holdsRaw(value) ? writeRaw(value) : JSON.stringify(value));

const writeRaw = (value: Json): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isRawNumber(value)) return value[RAW_NUMBER];
  if (Array.isArray(value)) return `[${value.map(writeRaw).join(",")}]`;
  return `{${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}:${writeRaw(part)}`)
    .join(",")}}`;
};

// --- reading JSON ---------------------------------------------------------------------------------------------------

// 16 digits and more, exponents, a fraction that begins with six zeros or ends in one, minus zero: `12345678901234567`,
// `1e400`, `0.0000001`, `1.50`, `-0`.
// Strings may match too, which only costs time. What begins with a digit stands together: looked for one after the other
// it takes three times as long.
const MAY_LOSE_DIGITS = /\d(?:\d{15}|[\d.]{16}|[eE][-+]?\d|\.0{6})|\.\d*0(?!\d)|-0(?![.\d])/;

/** Like `JSON.parse`, but a number that would not come back as it was written stays text (`numberText`). @throws
 *  SyntaxError */
export const parseJson = (text: string): Json => {
  const parsed = JSON.parse(text) as Json; // what JSON.parse gives
  if (!MAY_LOSE_DIGITS.test(text)) return parsed;
  try {
    return readValue({ text, at: 0 });
  } catch (error) {
    // nested too deeply for the reader below; such a value is refused later on anyway
    if (error instanceof RangeError) return parsed;
    throw error;
  }
};

interface Reader {
  readonly text: string;
  at: number;
}

const skipBlanks = (reader: Reader): void => {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
    reader.at++;
  }
};

// The text is known to be valid JSON: nothing is checked again.
const readValue = (reader: Reader): Json => {
  skipBlanks(reader);
  switch (reader.text[reader.at]) {
    case "{":
      return readObject(reader);
    case "[":
      return readArray(reader);
    case '"':
      return readString(reader);
    case "t":
      reader.at += 4;
      return true;
    case "f":
      reader.at += 5;
      return false;
    case "n":
      reader.at += 4;
      return null;
    default:
      return readNumber(reader);
  }
};

const readNumber = (reader: Reader): Json => {
  const start = reader.at;
  while (reader.at < reader.text.length && "0123456789+-.eE".includes(reader.text.charAt(reader.at))) reader.at++;
  return exactNumber(reader.text.slice(start, reader.at));
};

const readString = (reader: Reader): string => {
  const start = reader.at++;
  while (reader.text[reader.at] !== '"') reader.at += reader.text[reader.at] === "\\" ? 2 : 1;
  reader.at++;
  return JSON.parse(reader.text.slice(start, reader.at)) as string; // the slice is one JSON string
};

const readArray = (reader: Reader): Json => {
  const items: Json[] = [];
  reader.at++;
  for (;;) {
    skipBlanks(reader);
    if (reader.text[reader.at] === "]") break;
    if (reader.text[reader.at] === ",") reader.at++;
    else items.push(readValue(reader));
  }
  reader.at++;
  return items;
};

const readObject = (reader: Reader): Json => {
  const object: Record<string, Json> = {};
  reader.at++;
  for (;;) {
    skipBlanks(reader);
    if (reader.text[reader.at] === "}") break;
    if (reader.text[reader.at] === ",") {
      reader.at++;
      continue;
    }
    const key = readString(reader);
    skipBlanks(reader);
    reader.at++; // the colon
    const value = readValue(reader);
    // an own property like any other, as JSON.parse has it
    if (key === "__proto__")
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    else object[key] = value;
  }
  reader.at++;
  return object;
};
