/** Reads request bodies of writes and function calls. JSON goes to the database unchanged, and is parsed only for its
 *  keys. */
import { isUtf8 } from "node:buffer";
import {
  exceedsJsonDepth,
  MAX_LIST_LENGTH,
  getNumberText,
  parseJson,
  splitJson,
  decodeUtf8Header,
  type Exchange,
  type Json,
  type RequestLimits,
  type TextRow,
} from "../../../core/index.ts";
import {
  restBodyTooDeep,
  contentTypeUnsupported,
  bodyJsonInvalid,
  bodyKeysDifferent,
  columnCountExceeded,
} from "../errors.ts";
import { buildFormRow, receiveForm } from "./form.ts";
import { readBodyHook, receiveBodyHook, type BodyRows, type MediaType, type Payload } from "../api.ts";
import type { RestSurface } from "../request.ts";
import { parseMediaType } from "./media-type.ts";

export const JSON_TYPE = "application/json";
export const FORM = "application/x-www-form-urlencoded";

/** Returns the body's type. @rule R-BODY-1 */
export const parseBodyType = (contentType: string | undefined): MediaType =>
  parseMediaType(contentType === undefined ? "application/json" : decodeUtf8Header(contentType));

/** Reads a body that has arrived. `hasColumns` says that the query names the columns. Every call returns the same
 *  result. @throws RelApiError `bad-body`, `body-too-large` */
export type ReceivedBody<Read> = (hasColumns: boolean) => Read;

/** Waits for a body. Errors of the body are thrown when it is read, because errors of the query come first. @rule
 *  R-PIPE-2 */
export const deferBodyErrors = async <Read>(
  receive: () => Promise<ReceivedBody<Read>>,
): Promise<ReceivedBody<Read>> => {
  let payloadRead: Read | undefined;
  try {
    const read = await receive();
    return (hasColumns) => (payloadRead ??= read(hasColumns));
  } catch (error) {
    return () => {
      throw error;
    };
  }
};

/** Receives the rows of a request's body, in pieces if a plugin can read pieces. @rule R-BODY-1 R-BODY-6 X-BODY-2 */
export const receivePayload = async (rest: RestSurface, exchange: Exchange): Promise<ReceivedBody<Payload>> => {
  const type = parseBodyType(exchange.header("content-type"));
  if (type.name === FORM) {
    const row = buildFormRow(await receiveForm(exchange, rest.context.options));
    return (hasColumns) => buildPayload(rest, row, hasColumns);
  }
  if (type.name === JSON_TYPE) {
    const text = await exchange.text();
    return (hasColumns) => readJson(rest, text, hasColumns);
  }
  const reader = rest.context.use(receiveBodyHook).call(type);
  if (reader !== undefined) {
    await exchange.streamBody(reader.take);
    return (hasColumns) => buildPayload(rest, reader.end(), hasColumns);
  }
  const body = await exchange.body();
  return (hasColumns) => {
    const rows = rest.context.use(readBodyHook).call(body, type);
    if (rows === undefined) throw contentTypeUnsupported(type.text);
    return buildPayload(rest, rows, hasColumns);
  };
};

/** Builds the payload of rows, which a plugin may have read from another format. @rule X-BODY-1 */
const buildPayload = (rest: RestSurface, rows: BodyRows, hasColumns: boolean): Payload =>
  "json" in rows
    ? readJson(rest, isUtf8(rows.json) ? rows.json.toString("utf8") : undefined, hasColumns)
    : { ...rows, isUninspected: false };

type Rows = Omit<Payload, "isUninspected">;

const NO_ROWS: Rows = { text: "[]", shape: "array", keys: [], isEmpty: true };

/** Reads a JSON body. `text` is undefined if the body is not UTF-8. @throws RelApiError `bad-body`, `body-too-large`
 *  @rule R-BODY-2 R-BODY-4 R-LIM-2 R-LIM-3 */
export const readJson = (
  { findHints, context: { options: limits } }: RestSurface,
  text: string | undefined,
  hasColumns: boolean,
): Payload => {
  if (text === undefined) throw bodyJsonInvalid();
  if (exceedsJsonDepth(text, limits.maxJsonDepth)) throw restBodyTooDeep(limits);
  if (hasColumns) return buildUninspectedPayload(text);
  try {
    return { ...parseRows(text, limits), isUninspected: false };
  } catch (error) {
    throw error instanceof SyntaxError ? bodyJsonInvalid(findHints()?.findJsonError(text)) : error;
  }
};

type Row = Readonly<Record<string, Json>>;

const OBJECT = /^[ \t\r\n]*\{/;
const ARRAY = /^[ \t\r\n]*\[/;

const isRow = (value: Json): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value) && getNumberText(value) === undefined;

/** Parses rows and sorts their keys, so that the order of keys in the body does not change the statement. @throws
 *  SyntaxError, RelApiError `bad-body` */
const parseRows = (text: string, limits: RequestLimits): Rows => {
  const isShort = text.length <= MAX_LIST_LENGTH;
  const isList = ARRAY.test(text);
  if (!isList && !OBJECT.test(text)) {
    JSON.parse(text);
    return NO_ROWS;
  }
  const parsedRows: Row[] = [];
  let firstKeys: ReadonlySet<string> | undefined;
  let isUniform = true; // an error in the JSON text is reported before different keys
  for (const value of isShort ? parseAllValues(text) : parseEachValue(isList ? splitJson(text) : [text], limits)) {
    const keys = isRow(value) ? Object.keys(value) : [];
    if (keys.length > limits.maxColumns) throw columnCountExceeded(limits);
    firstKeys ??= new Set(keys);
    isUniform &&= isRow(value) && keys.length === firstKeys.size && keys.every((key) => firstKeys?.has(key));
    if (isShort) parsedRows.push(value as Row); // the list counts only if all values are rows
  }
  if (!isUniform) throw bodyKeysDifferent();
  if (firstKeys === undefined) return NO_ROWS;
  const keys = [...firstKeys].sort();
  if (!isList) return { text, shape: "object", keys, isEmpty: false };
  const encodeRows = (): readonly TextRow[] | undefined => {
    const texts = parsedRows.map(encodeTextRow);
    return texts.every((row) => row !== undefined) ? texts : undefined;
  };
  return { text: { json: text, rows: encodeRows }, shape: "array", keys, isEmpty: false };
};

const parseAllValues = (text: string): readonly Json[] => {
  const value = parseJson(text);
  return Array.isArray(value) ? value : [value];
};

/** Parses each value only when it is needed, because the values of a long list together are larger than the body. The
 *  members of an object are counted before it is parsed. */
function* parseEachValue(texts: Iterable<string>, limits: RequestLimits): Generator<Json> {
  for (const json of texts) {
    let count = 0;
    if (json.length > limits.maxColumns && OBJECT.test(json))
      for (const _ of splitJson(json)) if (++count > limits.maxColumns) throw columnCountExceeded(limits);
    yield JSON.parse(json) as Json; // `JSON.parse` returns JSON values
  }
}

const encodeText = (value: Json): string | null | undefined => {
  if (value === null || typeof value === "string") return value;
  return typeof value === "boolean" ? String(value) : getNumberText(value);
};

/** Encodes the values of a row as texts. Returns undefined if a value is an array or an object, or if a key cannot be
 *  assigned. */
const encodeTextRow = (row: Row): TextRow | undefined => {
  const texts: Record<string, string | null> = {};
  for (const key of Object.keys(row)) {
    const text = key === "__proto__" ? undefined : encodeText(row[key] ?? null);
    if (text === undefined) return undefined;
    texts[key] = text;
  }
  return texts;
};

/** Returns the values of an object as the texts that PostgreSQL reads, or undefined if not all values are plain. An
 *  escape `\\u` may encode a character that PostgreSQL rejects. @rule X-PLN-8 */
export const parsePlainValues = (json: string): ReadonlyMap<string, string | null> | undefined => {
  // `parseRows` has read the keys of the text.
  const texts = json.includes("\\u") ? undefined : encodeTextRow(parseJson(json) as Row);
  return texts && new Map(Object.entries(texts));
};

/** Builds a payload without parsing the text. The first character after spaces distinguishes objects, and the database
 *  reports errors in the text. */
const buildUninspectedPayload = (text: string): Payload => ({
  text,
  shape: OBJECT.test(text) ? "object" : "array",
  keys: [],
  isEmpty: false,
  isUninspected: true,
});
