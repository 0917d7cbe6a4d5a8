/** Numbers that a JavaScript number cannot represent, stored as text among JSON values. @rule G-TYP-3 G-TYP-6
 *  G-MET-13 */
import { randomUUID } from "node:crypto";
import { findStringEnd } from "../kernel/json-text.ts";
import type { Json, JsonObject } from "../plan/plan.ts";

/** The key of a raw number, which no other value has. */
const RAW_NUMBER: unique symbol = Symbol("raw number");

/** The text of a number that a JavaScript number cannot represent exactly. */
interface RawNumber {
  readonly [RAW_NUMBER]: string;
  /** True if the document writes the number as a float. Integer positions then reject the number (G-TYP-32). */
  readonly isFloatLiteral?: boolean;
}

/** Creates a number that keeps all its digits among JSON values. */
export const createRawNumber = (text: string, isFloatLiteral = false): Json =>
  // The number is passed on among JSON values, and only this file reads it.
  ({ [RAW_NUMBER]: text, ...(isFloatLiteral ? { isFloatLiteral } : {}) }) as unknown as Json;

/** Returns whether the value is a number that is stored as text. @experimental */
export const isRawNumber = (value: unknown): value is RawNumber =>
  typeof value === "object" && value !== null && RAW_NUMBER in value;

/** Returns whether the value is a JSON object, not a number that is stored as text. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** Returns the original text of a number. Undefined if the value is not a number. @experimental */
export const getNumberText = (value: unknown): string | undefined =>
  typeof value === "number" ? String(value) : isRawNumber(value) ? value[RAW_NUMBER] : undefined;

/** Returns whether the number was written as a float. */
export const isFloatLiteral = (value: unknown): boolean => isRawNumber(value) && value.isFloatLiteral === true;

/** Returns a JavaScript number if that is exact, otherwise a raw number. */
export const exactNumber = (text: string): Json => (survivesRoundTrip(text) ? Number(text) : createRawNumber(text));

const survivesRoundTrip = (number: string): boolean => String(Number(number)) === number;

/** Returns whether the value is or contains a number that is stored as text. @experimental */
export const holdsRawNumber = (value: Json): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (isRawNumber(value)) return true;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsRawNumber);
};

/** Returns the JSON text with all digits. */
export const writeJson = (value: Json): string => (holdsRawNumber(value) ? writeRaw(value) : JSON.stringify(value));

const writeRaw = (value: Json): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isRawNumber(value)) return value[RAW_NUMBER];
  if (Array.isArray(value)) return `[${value.map(writeRaw).join(",")}]`;
  return `{${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}:${writeRaw(part)}`)
    .join(",")}}`;
};

// 16 digits and more, exponents, a fraction that begins with six zeros or ends in one, minus zero: `12345678901234567`,
// `1e400`, `0.0000001`, `1.50`, `-0`.
// Strings may match too, which only costs time. All forms that begin with a digit are one alternative, because a search
// for one after the other takes three times as long.
const MAY_LOSE_DIGITS = /\d(?:\d{15}|[\d.]{16}|[eE][-+]?\d|\.0{6})|\.\d*0(?!\d)|-0(?![.\d])/;

/** The prefix of strings that replace numbers until they are parsed. It is random, so no client knows it. */
const MARK = `${randomUUID()}:`;

/** Parses JSON as `JSON.parse` does, but keeps inexact numbers as text (`getNumberText`). By default, a number is exact
 *  if it is written again as it was read. @throws SyntaxError */
export const parseJson = (text: string, isExact = survivesRoundTrip): Json => {
  const parsedJson = JSON.parse(text) as Json; // JSON.parse returns only JSON values
  const markedText = MAY_LOSE_DIGITS.test(text) ? markNumbers(text, isExact) : text;
  if (markedText === text) return parsedJson;
  try {
    return JSON.parse(markedText, (_key, value: unknown) =>
      typeof value === "string" && value.startsWith(MARK) ? createRawNumber(value.slice(MARK.length)) : value,
    ) as Json; // the reviver returns JSON values and raw numbers
  } catch (error) {
    // A reviver cannot process deeply nested values, which later checks reject.
    if (error instanceof RangeError) return parsedJson;
    throw error;
  }
};

/** Returns the valid JSON text with marked strings instead of inexact numbers. */
const markNumbers = (text: string, isExact: (number: string) => boolean): string => {
  const chunks: string[] = [];
  const token = /"|-?\d[\d.eE+-]*/g;
  let from = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const { index, 0: matchText } = match;
    if (matchText === '"') token.lastIndex = findStringEnd(text, index);
    else if (!isExact(matchText)) {
      chunks.push(text.slice(from, index), `"${MARK}${matchText}"`);
      from = token.lastIndex;
    }
  }
  return chunks.join("") + text.slice(from);
};
