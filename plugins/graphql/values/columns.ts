/** Coerces values to the type of a column. The result is the text to bind: `5` for an integer, `{a,b}` for a list.
 *  @rule G-TYP-32 G-TYP-39 G-COE-8 G-COE-9 */
import { encodeArrayLiteral, memoize, type Json } from "../../../core/index.ts";
import {
  valueUnexpected,
  floatOutOfRange,
  integerOutOfRange,
  enumValueInvalid,
  parseFailed,
  nullUnexpected,
} from "../errors.ts";
import { checkGeoJson } from "./geojson.ts";
import { getEnumLiteralName, describeValue, nameJsonKind } from "./leaf.ts";
import { parseDecimal, formatFixed, convertToInteger, getNumberText, formatNumber, writeJson } from "./numbers.ts";
import type { GqlEnumTable, GqlValueType } from "../value-types.ts";

/** Converts a value to the text of a base type. @throws RelApiError for a value that the type does not accept */
type Coercion = (value: Json, path: string) => string;

const getString = (value: Json): string | undefined => (typeof value === "string" ? value : getEnumLiteralName(value));

const createIntegerCoercion = (name: string, bits: bigint): Coercion => {
  const magnitudeLimit = 2 ** (Number(bits) - 1);
  return (value, path) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && Math.abs(value) < magnitudeLimit) return `${value}`;
    const text = getNumberText(value);
    if (text === undefined)
      return (
        getString(value) ??
        rejectValue(
          `parsing Integer expected for input type: ${name} failed, expected Number, but encountered ${nameJsonKind(value)}`,
          path,
        )
      );
    // The dialect converts literals to JSON first, so `3.0` is an integer.
    const integerText = convertToInteger(parseDecimal(text));
    const limit = 1n << (bits - 1n);
    if (integerText === undefined || integerText >= limit || integerText < -limit)
      throw integerOutOfRange(formatNumber(text), path);
    return integerText.toString();
  };
};

// Numbers round to infinity from halfway between the largest float4 and the next power of two.
const isTooBigForReal = (number: number): boolean => !Number.isFinite(Math.fround(number));
const isTooBigForDouble = (number: number): boolean => !Number.isFinite(number);

const createFloatCoercion =
  (name: string, isTooBig: (number: number) => boolean): Coercion =>
  (value, path) => {
    const text = getNumberText(value);
    if (text === undefined)
      return (
        getString(value) ??
        rejectValue(
          `parsing Float expected for input type: ${name} failed, expected Number, but encountered ${nameJsonKind(value)}`,
          path,
        )
      );
    if (isTooBig(Number(text))) throw floatOutOfRange(formatNumber(text), path);
    return text;
  };

const createNumberCoercion =
  (write: (text: string) => string): Coercion =>
  (value, path) => {
    const text = getNumberText(value);
    if (text !== undefined) return write(text);
    return (
      getString(value) ??
      rejectValue(`parsing Scientific failed, expected Number, but encountered ${nameJsonKind(value)}`, path)
    );
  };

/** Returns the coercion of a type that accepts only strings. The database parses them. */
const createStringCoercion =
  (message: (kind: string) => string): Coercion =>
  (value, path) =>
    getString(value) ?? rejectValue(message(nameJsonKind(value)), path);

const createNamedStringCoercion = (name: string): Coercion =>
  createStringCoercion((kind) => `parsing ${name} failed, expected String, but encountered ${kind}`);

const coerceBoolean: Coercion = (value, path) =>
  typeof value === "boolean"
    ? String(value)
    : (getString(value) ?? rejectValue(`expected Bool, but encountered ${nameJsonKind(value)}`, path));

const coerceGeometry: Coercion = (value, path) => {
  const text = getString(value);
  if (text !== undefined) return text;
  checkGeoJson(value, path);
  return writeJson(value);
};

/** Accepts a raster as hexadecimal text. @rule G-TYP-35 */
const coerceRaster: Coercion = (value, path) => {
  const text = getString(value);
  if (text === undefined || !/^[0-9A-Fa-f]*$/.test(text))
    throw parseFailed("invalid hexadecimal representation of raster well known binary format", path);
  return text;
};

/** Accepts the text of an ltree. @rule G-TYP-36 */
const coerceLtree: Coercion = (value, path) => {
  const text = getString(value);
  if (text === undefined || (text !== "" && text.split(".").includes("")))
    throw parseFailed(
      "Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3",
      path,
    );
  return text;
};

const quoteHstoreText = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** Accepts an object, as in responses, or a string in the format of PostgreSQL. @rule G-TYP-41 */
const coerceHstore: Coercion = (value, path) => {
  const text = getString(value);
  if (text !== undefined) return text;
  if (typeof value !== "object" || value === null || Array.isArray(value) || getNumberText(value) !== undefined)
    throw parseFailed(`A string or an object is expected for type: hstore`, path);
  return Object.entries(value)
    .map(
      ([key, item]) =>
        `${quoteHstoreText(key)}=>${item === null ? "NULL" : quoteHstoreText(getString(item) ?? writeJson(item))}`,
    )
    .join(",");
};

const rejectValue = (message: string, path: string): never => {
  throw parseFailed(message, path);
};

const COERCIONS: ReadonlyMap<string, Coercion> = new Map<string, Coercion>([
  ["int2", createIntegerCoercion("PGSmallInt", 16n)],
  ["int4", createIntegerCoercion("PGInteger", 32n)],
  ["int8", createIntegerCoercion("PGBigInt", 64n)],
  ["float4", createFloatCoercion("PGFloat", isTooBigForReal)],
  ["float8", createFloatCoercion("PGDouble", isTooBigForDouble)],
  ["numeric", createNumberCoercion((text) => text)],
  ["money", createNumberCoercion((text) => (/[eE.]/.test(text) ? formatFixed(text, 2) : text))],
  ["bool", coerceBoolean],
  ["text", createNamedStringCoercion("Text")],
  ["varchar", createNamedStringCoercion("Text")],
  ["citext", createNamedStringCoercion("Text")],
  ["bpchar", createNamedStringCoercion("Char")],
  ["char", createNamedStringCoercion("Char")],
  ["date", createNamedStringCoercion("Day")],
  ["timestamp", createNamedStringCoercion("LocalTime")],
  ["timestamptz", createNamedStringCoercion("UTCTime")],
  ["uuid", createNamedStringCoercion("UUID")],
  ["json", writeJson],
  ["jsonb", writeJson],
  ["geometry", coerceGeometry],
  ["geography", coerceGeometry],
  ["raster", coerceRaster],
  ["ltree", coerceLtree],
  ["hstore", coerceHstore],
]);

export const isJson = (value: GqlValueType): boolean => value.type.name === "json" || value.type.name === "jsonb";

/** Returns the name of the declared function that parses the bound text, or undefined for types without one. @rule
 *  G-TYP-34 G-TYP-35 */
export const findInputFunction = (value: GqlValueType): string | undefined => {
  if (value.type.name === "geometry" || value.type.name === "geography") return "from-geojson";
  return value.type.name === "raster" ? "from-hexwkb" : undefined;
};

/** Returns the name of the type in messages: `Int`, `[String!]`. */
const formatType = (value: GqlValueType): string =>
  value.element === undefined ? value.scalar : `[${formatType(value.element)}!]`;

/** Returns the text to bind, or null for NULL. @throws RelApiError `parse-failed`, `validation-failed` at `path` */
export const coerceColumn = (value: GqlValueType, json: Json, path: string): string | null => {
  if (json !== null) return coerceNonNull(value, json, path);
  if (!value.isNullable) throw nullUnexpected(formatType(value), path);
  return null;
};

const coerceNonNull = (value: GqlValueType, json: Json, path: string): string => {
  if (value.element !== undefined) return coerceArray(value.element, json, path);
  if (value.enumTable !== undefined) return findEnumKey(value.enumTable, value.scalar, json, path);
  const coercion = COERCIONS.get(value.type.name);
  if (coercion !== undefined) return coercion(json, path);
  return getString(json) ?? rejectValue(`A string is expected for type: ${value.type.name}`, path);
};

/** Returns the key of an enum table's value. @rule G-ENM-6 G-COE-7 */
const findEnumKey = (table: GqlEnumTable, type: string, json: Json, path: string): string => {
  const name = getString(json);
  if (name === undefined) throw valueUnexpected("an enum value", type, describeValue(json), path);
  const enumValue = table.values.find((value) => value.name === name);
  if (enumValue === undefined)
    throw enumValueInvalid(
      table.values.map((value) => value.name),
      type,
      name,
      path,
    );
  return enumValue.key;
};

const getListTexts = memoize((_list: readonly Json[]) => new Map<string, string>());

/** Returns the text of a list. A document may use a list variable in many positions, so the text of each type is built
 *  once. @rule G-LIM-2a */
export const shareListText = (list: readonly Json[], type: string, build: () => string): string => {
  const texts = getListTexts(list);
  const text = texts.get(type) ?? build();
  texts.set(type, text);
  return text;
};

/** Returns an array literal. A string already contains one. @rule G-TYP-37 */
const coerceArray = (element: GqlValueType, json: Json, path: string): string => {
  const text = getString(json);
  if (text !== undefined) return text;
  if (!Array.isArray(json))
    throw parseFailed(`parsing [] failed, expected Array, but encountered ${nameJsonKind(json)}`, path);
  const list = json as readonly Json[];
  return shareListText(list, `array ${element.scalar} ${element.type.name}`, () =>
    encodeArrayLiteral(
      list.map((item) => (item === null ? null : coerceNonNull(element, parseJsonElement(element, item), path))),
      element.type.name,
    ),
  );
};

/** Parses an element of `json[]` that is a string. Clients of the dialect send elements as JSON or as JSON text. @rule
 *  G-TYP-33 */
const parseJsonElement = (element: GqlValueType, item: Json): Json => {
  if (!isJson(element) || typeof item !== "string" || !/^\s*[[{]/.test(item)) return item;
  try {
    return JSON.parse(item) as Json; // JSON.parse returns only JSON values
  } catch {
    return item; // text that is not JSON is an ordinary string
  }
};
