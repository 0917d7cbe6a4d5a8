/** Global ids and cursors: base64 of JSON, written by SQL and read here. */
import {
  quoteLiteral,
  getNumberText,
  RelApiError,
  sql,
  joinSql,
  type Json,
  type PgType,
  type PlanFunction,
  type Sql,
} from "../../../core/index.ts";
import { isKeysetPosition, decodeList, type KeysetPosition } from "./keyset.ts";

/** `[1,"public","album",7]`: identifies the row with that primary key. */
interface GlobalId {
  readonly schema: string;
  readonly name: string;
  readonly key: readonly string[];
}

const inputInvalid = (message: string, path: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message, path });

/** Returns the error for a global id that is not valid. @rule P-RLY-3 */
export const idInvalid = (): RelApiError => inputInvalid("the global id is invalid", "$.selectionSet.node.args.id");

/** Returns the error for arguments that define no window. @rule P-RLY-5 */
export const windowInvalid = (message: string, path: string): RelApiError => inputInvalid(message, path);

/** Returns a key value as a string that its type accepts. */
const encodeKeyValue = (value: Json): string | undefined =>
  typeof value === "string" ? value : typeof value === "boolean" ? String(value) : getNumberText(value);

/** Returns the table and the key that a global id contains. @throws RelApiError @rule P-RLY-3 */
export const decodeId = (text: string, parse: (json: string) => Json): GlobalId => {
  const [version, schema, name, ...values] = decodeList(text, parse);
  const key = values.map(encodeKeyValue);
  const isRight =
    version !== undefined &&
    getNumberText(version) === "1" &&
    typeof schema === "string" &&
    typeof name === "string" &&
    key.every((value) => value !== undefined && !value.includes("\u0000"));
  if (!isRight) throw idInvalid();
  return { schema, name, key: key as readonly string[] }; // the checks above have proven the type
};

const WHOLE_NUMBER_BOUNDS: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  int2: [-32_768n, 32_767n],
  int4: [-2_147_483_648n, 2_147_483_647n],
  int8: [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n],
  oid: [0n, 4_294_967_295n],
};

/** Returns whether the date exists in the calendar. */
const isCalendarDate = (year: number, month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();

const isMoment = (text: string, pattern: RegExp): boolean => {
  const match = pattern.exec(text);
  return (
    match !== null && (text.endsWith(" BC") || isCalendarDate(Number(match[1]), Number(match[2]), Number(match[3])))
  );
};

const TIME = "[T ](?:[01]\\d|2[0-4]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?";
const DAY = "(\\d{4,6})-(\\d\\d)-(\\d\\d)";
const MOMENTS: Readonly<Record<string, RegExp>> = {
  date: new RegExp(`^${DAY}(?: BC)?$`),
  timestamp: new RegExp(`^${DAY}${TIME}(?: BC)?$`),
  timestamptz: new RegExp(`^${DAY}${TIME}[+-]\\d\\d(?::?\\d\\d){0,2}(?: BC)?$`),
};

const SHAPES: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  bool: /^(?:true|false)$/,
  numeric: /^-?(?:\d+(?:\.\d+)?|Infinity)$|^NaN$/,
  float4: /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)$|^NaN$/i,
  float8: /^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)$|^NaN$/i,
};

/** Returns whether a string is a valid id value of the type. The database validates types that this function does not
 *  know. */
export const isPossibleValue = (text: string, type: PgType | undefined): boolean => {
  if (type === undefined) return true;
  const bounds = WHOLE_NUMBER_BOUNDS[type.name];
  if (bounds !== undefined) return /^-?\d{1,19}$/.test(text) && BigInt(text) >= bounds[0] && BigInt(text) <= bounds[1];
  const moment = MOMENTS[type.name];
  if (moment !== undefined) return /^-?infinity$/.test(text) || isMoment(text, moment);
  return SHAPES[type.name]?.test(text) ?? type.labels?.includes(text) ?? true;
};

/** Returns the row's values for the terms of the order `form`. Returns undefined if the cursor is for another order.
 *  @rule P-RLY-4 */
export const decodeConnectionCursor = (text: string, form: string, terms: number): KeysetPosition | undefined => {
  const [cursorForm, ...values] = decodeList(text);
  return cursorForm === form && values.length === terms && isKeysetPosition(values) ? values : undefined;
};

const compileBase64 = (json: Sql): Sql =>
  sql`pg_catalog.translate(pg_catalog.encode(pg_catalog.convert_to((${json})::pg_catalog.text, 'UTF8'), 'base64'), ${quoteLiteral("\n")}, '')`;

const compileArray = (values: readonly Sql[]): Sql => sql`pg_catalog.json_build_array(${joinSql(values)})`;

/**
 * Computes a global id from the first value of the key. The operands are the schema and name of the table, and the
 * other values.
 */
export const ID = "relay-id";
/** Computes a cursor from the first value of the order. The operands are the order's name and the other values. */
export const CURSOR = "relay-cursor";
/** Provides its operand, a number, as the argument of an aggregate. */
export const SIZE = "relay-size";

export const idFunction: PlanFunction = {
  name: ID,
  builtIn: [],
  compile: (first, _model, [schema, table, ...remainingColumns] = []) =>
    compileBase64(compileArray([sql`1`, schema ?? first, table ?? first, first, ...remainingColumns])),
};

/** The plan functions of pages. */
export const functions: readonly PlanFunction[] = [
  {
    name: CURSOR,
    builtIn: [],
    // A function accepts only 100 arguments, so the values are passed in an array.
    compile: (first, _model, [form, ...otherTerms] = []) => {
      const texts = [form ?? first, first, ...otherTerms].map((value) => sql`(${value})::pg_catalog.text`);
      return compileBase64(sql`pg_catalog.array_to_json(array[${joinSql(texts)}])`);
    },
  },
  { name: SIZE, builtIn: [], compile: (_first, _model, [size] = []) => size ?? sql`null::int4` },
];
