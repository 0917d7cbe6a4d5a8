/** Numbers with all their digits, read from JSON, and the value of their text. @rule G-TYP-3 G-TYP-6 */
import { exactNumber, type Json } from "../../../core/index.ts";

export { exactNumber, isFloatLiteral, isRawNumber, numberText, rawNumber, writeJson } from "../../../core/index.ts";

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

// --- decimals -------------------------------------------------------------------------------------------------------

/** 0.`digits` × 10^`exponent`; zero has no digits. */
export interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

export const decimalOf = (text: string): Decimal => {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const isNegative = mantissa.startsWith("-");
  const [whole = "", fraction = ""] = mantissa.replace(/^[-+]/, "").split(".");
  const all = whole + fraction;
  const leading = /^0*/.exec(all)?.[0].length ?? 0;
  const digits = all.slice(leading).replace(/0+$/, "");
  return { isNegative, digits, exponent: digits === "" ? 0 : whole.length - leading + Number(power) };
};

export const isIntegral = (decimal: Decimal): boolean => decimal.exponent >= decimal.digits.length;

// No integer type has as many digits.
const MAX_INTEGER_DIGITS = 40;

/** The integer it is; undefined: it has a fraction, or more digits than any integer type. */
export const integerOf = (decimal: Decimal): bigint | undefined => {
  if (!isIntegral(decimal) || decimal.exponent > MAX_INTEGER_DIGITS) return undefined;
  const magnitude = BigInt(decimal.digits.padEnd(decimal.exponent, "0") || "0");
  return decimal.isNegative ? -magnitude : magnitude;
};

/** As messages show numbers: `1500.0`, `0.5`, `2.147483648e9`, `1.0e-3`. @rule G-COE-10 */
export const shownNumber = (text: string): string => {
  const { isNegative, digits, exponent } = decimalOf(text);
  const sign = isNegative && digits !== "" ? "-" : "";
  if (digits === "") return "0.0";
  if (exponent > 7 || exponent < 0) return `${sign}${digits[0]}.${digits.slice(1) || "0"}e${exponent - 1}`;
  const whole = digits.slice(0, exponent).padEnd(exponent, "0") || "0";
  return `${sign}${whole}.${digits.slice(exponent) || "0"}`;
};

/** Without an exponent, rounded half away from zero to so many decimals: `-2E-2` is `-0.02`. @rule G-TYP-7 */
export const fixedText = (text: string, decimals: number): string => {
  const { isNegative, digits, exponent } = decimalOf(text);
  if (exponent > MAX_INTEGER_DIGITS) return text;
  const kept = exponent + decimals;
  let units = kept < 0 ? 0n : BigInt(digits.slice(0, kept).padEnd(kept, "0") || "0");
  if (kept >= 0 && (digits[kept] ?? "0") >= "5") units += 1n;
  const padded = units.toString().padStart(decimals + 1, "0");
  return `${isNegative && units !== 0n ? "-" : ""}${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`;
};
