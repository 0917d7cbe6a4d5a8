/** Parses and formats the text of numbers without losing digits. @rule G-TYP-3 G-TYP-6 */
import { trimEndCharacter } from "../../../core/index.ts";

export {
  exactNumber,
  isFloatLiteral,
  isRawNumber,
  getNumberText,
  parseJson,
  createRawNumber,
  writeJson,
} from "../../../core/index.ts";

/** The number 0.`digits` × 10^`exponent`. Zero has no digits. */
interface Decimal {
  readonly isNegative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Splits the text of a number into its digits and its power of ten. */
export const parseDecimal = (text: string): Decimal => {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const isNegative = mantissa.startsWith("-");
  const [integerDigits = "", fraction = ""] = mantissa.replace(/^[-+]/, "").split(".");
  const coefficient = integerDigits + fraction;
  const leadingZeros = /^0*/.exec(coefficient)?.[0].length ?? 0;
  const digits = trimEndCharacter(coefficient.slice(leadingZeros), "0");
  return { isNegative, digits, exponent: digits === "" ? 0 : integerDigits.length - leadingZeros + Number(power) };
};

const isIntegral = (decimal: Decimal): boolean => decimal.exponent >= decimal.digits.length;

/** The number of digits that no integer type exceeds. */
const MAX_INTEGER_DIGITS = 40;

/** Converts a decimal to an integer. Returns undefined for a fraction, or for more digits than any integer type has. */
export const convertToInteger = (decimal: Decimal): bigint | undefined => {
  if (!isIntegral(decimal) || decimal.exponent > MAX_INTEGER_DIGITS) return undefined;
  const magnitude = BigInt(decimal.digits.padEnd(decimal.exponent, "0") || "0");
  return decimal.isNegative ? -magnitude : magnitude;
};

/** Formats a number for messages: `1500.0`, `0.5`, `2.147483648e9`, `1.0e-3`. @rule G-COE-10 */
export const formatNumber = (text: string): string => {
  const { isNegative, digits, exponent } = parseDecimal(text);
  const sign = isNegative && digits !== "" ? "-" : "";
  if (digits === "") return "0.0";
  if (exponent > 7 || exponent < 0) return `${sign}${digits[0]}.${digits.slice(1) || "0"}e${exponent - 1}`;
  const integerDigits = digits.slice(0, exponent).padEnd(exponent, "0") || "0";
  return `${sign}${integerDigits}.${digits.slice(exponent) || "0"}`;
};

/** Writes the number without an exponent, rounded half away from zero to `decimals`: `-2E-2` is `-0.02`. @rule
 *  G-TYP-7 */
export const formatFixed = (text: string, decimals: number): string => {
  const { isNegative, digits, exponent } = parseDecimal(text);
  if (exponent > MAX_INTEGER_DIGITS) return text;
  const keptDigits = exponent + decimals;
  let units = keptDigits < 0 ? 0n : BigInt(digits.slice(0, keptDigits).padEnd(keptDigits, "0") || "0");
  if (keptDigits >= 0 && (digits[keptDigits] ?? "0") >= "5") units += 1n;
  const paddedDigits = units.toString().padStart(decimals + 1, "0");
  return `${isNegative && units !== 0n ? "-" : ""}${paddedDigits.slice(0, -decimals)}.${paddedDigits.slice(-decimals)}`;
};
