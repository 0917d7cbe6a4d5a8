/** JSON of tokens with all digits of its numbers: user 12345678901234567890 must not become another user. */
import { randomUUID } from "node:crypto";
import type { Json } from "../../core/index.ts";

/** Prefix of numbers stored as text. It is random, so no string of a token begins with it. */
const MARK = `${randomUUID()}:`;

// A number that a JavaScript number may not hold: `12345678901234567`, `0.1234567890123456`, `1e400`. Strings may match
// too; that costs time alone.
const MAY_LOSE_DIGITS = /\d(?:\d{15}|\.\d{14}|[eE][+]?\d{3})/;

// A string, or a number: `"a \" b"`, `-1.5e3`
const TOKEN = /"(?:[^"\\]|\\[^])*"?|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

const isExact = (number: string): boolean => {
  const digits = number
    .replace(/[eE][^]*$/, "")
    .replace(/\D/g, "")
    .replace(/^0+/, "");
  return String(Number(number)) === number || (digits.length < 16 && Number.isFinite(Number(number)));
};

/** Like `JSON.parse`; numbers that JavaScript cannot represent become marked strings, for `textOf` and `exactJson`
 *  only. `parsed`: the result of `JSON.parse`. */
export const parseExact = (text: string, parsed: Json): Json => {
  if (!MAY_LOSE_DIGITS.test(text)) return parsed;
  return JSON.parse(
    text.replace(TOKEN, (token) => (token.startsWith('"') || isExact(token) ? token : `"${MARK}${token}"`)),
  ) as Json; // JSON with some numbers quoted
};

const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");

/** JSON text with all digits. */
export const exactJson = (value: Json): string => JSON.stringify(value).replace(MARKED, "$1");

/** Strings as they are, anything else as JSON text. */
export const textOf = (value: Json): string => {
  if (typeof value !== "string") return exactJson(value);
  return value.startsWith(MARK) ? value.slice(MARK.length) : value;
};

/** A string of the token, not a number in disguise. */
export const isText = (value: Json | undefined): value is string =>
  typeof value === "string" && !value.startsWith(MARK);
