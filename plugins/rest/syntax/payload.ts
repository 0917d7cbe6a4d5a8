/** Request bodies of writes and function calls. JSON goes to the database unchanged; only its keys are read here. */
import { isUtf8 } from "node:buffer";
import {
  isNestedDeeper,
  numberText,
  parseJson,
  utf8Text,
  type Exchange,
  type Json,
  type JsonList,
  type TextRow,
} from "../../../core/index.ts";
import { bodyTooDeep, contentTypeError, jsonError, keysError, tooManyColumns } from "../errors.ts";
import { formRow } from "./form.ts";
import { scanJson } from "./json-keys.ts";
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
  const reader = type.name === JSON_TYPE || type.name === FORM ? undefined : rest.receiveBody.call(type);
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
  const read = type.name === FORM ? formRow(body, rest.context.options) : rest.readBody.call(body, type);
  if (read === undefined) throw contentTypeError(type.text);
  return payloadOf(rest, read, hasColumns);
};

const NO_ROWS: Payload = { text: "[]", shape: "array", keys: [], isEmpty: true, isUninspected: false };

const readJson = ({ hints, context: { options: limits } }: Rest, body: Buffer, hasColumns: boolean): Payload => {
  if (!isUtf8(body)) throw jsonError();
  if (hasColumns) {
    if (isNestedDeeper(body, limits.maxJsonDepth)) throw bodyTooDeep(limits);
    return uninspected(body);
  }
  const scan = scanJson(body, limits);
  if (scan === "too-deep") throw bodyTooDeep(limits);
  if (scan === "too-many") throw tooManyColumns(limits);
  if (scan === "invalid") throw jsonError(hints()?.jsonFault(body.toString("utf8")));
  if (scan === "mismatch") throw keysError();
  if (scan.isEmpty) return NO_ROWS;
  const text = body.toString("utf8");
  return { text: scan.shape === "array" ? listOf(text) : text, ...scan, isUninspected: false };
};

/** `json`: a list of objects. */
const listOf = (json: string): JsonList => ({
  json,
  rows: () => {
    const rows = (parseJson(json) as readonly Readonly<Record<string, Json>>[]).map(textsOf); // as it was scanned
    return rows.every((row) => row !== undefined) ? rows : undefined;
  },
});

const textsOf = (row: Readonly<Record<string, Json>>): TextRow | undefined => {
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

/** The first character after spaces distinguishes objects from the rest; the database reports all other errors in the
 *  text. */
const uninspected = (body: Buffer): Payload => {
  const first = body.find((byte) => !SPACES.has(byte));
  return {
    text: body.toString("utf8"),
    shape: first === OPEN_BRACE ? "object" : "array",
    keys: [],
    isEmpty: false,
    isUninspected: true,
  };
};

const OPEN_BRACE = 0x7b;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0x0a]);
