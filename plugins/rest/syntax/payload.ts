/** Request bodies of writes and function calls. JSON goes to the database as it is written; it is parsed only for
 *  its keys. */
import { isUtf8 } from "node:buffer";
import {
  isNestedDeeper,
  numberText,
  parseJson,
  utf8Text,
  type Exchange,
  type Json,
  type JsonList,
  type Limits,
  type TextRow,
} from "../../../core/index.ts";
import { bodyTooDeep, contentTypeError, jsonError, keysError, tooManyColumns } from "../errors.ts";
import { formRow, receiveForm } from "./form.ts";
import type { BodyRows, MediaType, Payload } from "../api.ts";
import type { Rest } from "../request.ts";
import { parseMediaType } from "./media-type.ts";

export const JSON_TYPE = "application/json";
export const FORM = "application/x-www-form-urlencoded";

/** The body's type. @rule R-BODY-1 */
export const bodyType = (contentType: string | undefined): MediaType =>
  parseMediaType(contentType === undefined ? "application/json" : utf8Text(contentType));

/** The rows of a request's body, read while it arrives where a plugin can. `hasColumns`: the request names the columns
 *  itself. @throws RelApiError `bad-body`, `body-too-large` @rule R-BODY-1 R-BODY-6 X-BODY-2 */
export const receivePayload = async (rest: Rest, exchange: Exchange, hasColumns: boolean): Promise<Payload> => {
  const type = bodyType(exchange.header("content-type"));
  if (type.name === FORM)
    return payloadOf(rest, formRow(await receiveForm(exchange, rest.context.options)), hasColumns);
  const reader = type.name === JSON_TYPE ? undefined : rest.receiveBody.call(type);
  if (reader === undefined) return readPayload(rest, await exchange.body(), type, hasColumns);
  await exchange.bodyInPieces(reader.take);
  return payloadOf(rest, reader.end(), hasColumns);
};

/** @rule X-BODY-1 */
const payloadOf = (rest: Rest, rows: BodyRows, hasColumns: boolean): Payload =>
  "json" in rows ? readJson(rest, rows.json, hasColumns) : { ...rows, isUninspected: false };

/** @throws RelApiError `bad-body`, `body-too-large` @rule R-BODY-1 R-BODY-2 R-BODY-4 R-LIM-2 R-LIM-3 */
export const readPayload = (rest: Rest, body: Buffer, type: MediaType, hasColumns: boolean): Payload => {
  if (type.name === JSON_TYPE) return readJson(rest, body, hasColumns);
  const read = rest.readBody.call(body, type);
  if (read === undefined) throw contentTypeError(type.text);
  return payloadOf(rest, read, hasColumns);
};

const NO_ROWS: Payload = { text: "[]", shape: "array", keys: [], isEmpty: true, isUninspected: false };

const readJson = ({ hints, context: { options: limits } }: Rest, body: Buffer, hasColumns: boolean): Payload => {
  if (!isUtf8(body)) throw jsonError();
  const text = body.toString("utf8");
  if (isNestedDeeper(text, limits.maxJsonDepth)) throw bodyTooDeep(limits);
  if (hasColumns) return uninspected(text);
  const value = parsedOf(text);
  if (value === undefined) throw jsonError(hints()?.jsonFault(text));
  const inspected = { isEmpty: false, isUninspected: false };
  if (isRow(value)) return { text, shape: "object", keys: keysOf([value], limits), ...inspected };
  if (!Array.isArray(value) || value.length === 0) return NO_ROWS;
  return { text: listOf(text), shape: "array", keys: keysOf(value as readonly Json[], limits), ...inspected };
};

const parsedOf = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json; // what JSON.parse gives
  } catch {
    return undefined;
  }
};

type Row = Readonly<Record<string, Json>>;

const isRow = (value: Json): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** The keys that all rows have, sorted: their order in the body makes no other statement. @throws RelApiError `bad-body` */
const keysOf = (rows: readonly Json[], limits: Limits): readonly string[] => {
  let shared: ReadonlySet<string> | undefined;
  for (const row of rows) {
    if (!isRow(row)) throw keysError();
    const keys = Object.keys(row);
    if (keys.length > limits.maxColumns) throw tooManyColumns(limits);
    shared ??= new Set(keys);
    if (keys.length !== shared.size || !keys.every((key) => shared?.has(key))) throw keysError();
  }
  return [...(shared ?? [])].sort();
};

/** `json`: a list of objects. */
const listOf = (json: string): JsonList => ({
  json,
  rows: () => {
    const rows = (parseJson(json) as readonly Row[]).map(textsOf); // its keys have been read
    return rows.every((row) => row !== undefined) ? rows : undefined;
  },
});

/** Undefined if a value is an array or an object. */
const textsOf = (row: Row): TextRow | undefined => {
  const texts = Object.entries(row).map(([key, value]): [string, string | null | undefined] => [
    key,
    value === null || typeof value === "string"
      ? value
      : (numberText(value) ?? (typeof value === "boolean" ? String(value) : undefined)),
  ]);
  return texts.every((pair): pair is [string, string | null] => pair[1] !== undefined)
    ? Object.fromEntries(texts)
    : undefined;
};

/** The values of an object as the texts that PostgreSQL reads them from; undefined: not all of them are plain. What stands
 *  as `\\u` may be no text to PostgreSQL. @rule X-PLN-8 */
export const plainValues = (json: string): ReadonlyMap<string, string | null> | undefined => {
  const texts = json.includes("\\u") ? undefined : textsOf(parseJson(json) as Row); // its keys have been read
  return texts && new Map(Object.entries(texts));
};

/** The first character after spaces distinguishes objects from the rest; the database reports all other errors in the
 *  text. */
const uninspected = (text: string): Payload => ({
  text,
  shape: /^[ \t\r\n]*\{/.test(text) ? "object" : "array",
  keys: [],
  isEmpty: false,
  isUninspected: true,
});
