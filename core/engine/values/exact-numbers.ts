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
