/** Request bodies of writes and function calls. JSON goes to the database unchanged; only its keys are read here. */
import { isUtf8 } from "node:buffer";
import { isNestedDeeper, utf8Text, type Exchange, type Limits } from "../../../core/index.ts";
import { bodyTooDeep, contentTypeError, jsonError, keysError, tooManyColumns } from "../errors.ts";
import { scanJson } from "./json-keys.ts";
import type { MediaType, Payload } from "../api.ts";
import type { Rest } from "../request.ts";
import { parseMediaType } from "./media-type.ts";
import { decodePercent } from "./parameters.ts";

export const JSON_TYPE = "application/json";
export const FORM = "application/x-www-form-urlencoded";

/** The body's type. @rule R-BODY-1 */
export const bodyType = (contentType: string | undefined): MediaType =>
  parseMediaType(contentType === undefined ? "application/json" : utf8Text(contentType));

/** The rows of a request's body, read while it arrives if a plugin can. `hasColumns`: the request names the columns
 *  itself. @throws RelApiError `bad-body`, `body-too-large` @rule R-BODY-1 R-BODY-6 X-BODY-2 */
export const receivePayload = async (rest: Rest, exchange: Exchange, hasColumns: boolean): Promise<Payload> => {
  const type = bodyType(exchange.header("content-type"));
  const reader = type.name === JSON_TYPE ? undefined : rest.receiveBody.call(type);
  if (reader === undefined) return readPayload(rest, await exchange.body(), type, hasColumns);
  await exchange.bodyInPieces(reader.take);
  return { ...reader.end(), isUninspected: false };
};

/** @throws RelApiError `bad-body`, `body-too-large` @rule R-BODY-1 R-BODY-2 R-BODY-4 R-BODY-7 R-LIM-2 R-LIM-3 */
export const readPayload = (rest: Rest, body: Buffer, type: MediaType, hasColumns: boolean): Payload => {
  const { options } = rest.context;
  if (type.name === JSON_TYPE) return readJson(rest, body, hasColumns);
  if (type.name === FORM) return formPayload(parseForm(body, options));
  const read = rest.readBody.call(body, type);
  if (read === undefined) throw contentTypeError(type.text);
  return { ...read, isUninspected: false };
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
  return { text: { utf8: [body] }, ...scan, isUninspected: false };
};

/** The first character after spaces distinguishes objects from the rest; the database reports all other errors in the
 *  text. */
const uninspected = (body: Buffer): Payload => {
  const first = body.find((byte) => !SPACES.has(byte));
  return {
    text: { utf8: [body] },
    shape: first === OPEN_BRACE ? "object" : "array",
    keys: [],
    isEmpty: false,
    isUninspected: true,
  };
};

const OPEN_BRACE = 0x7b;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, 0x0a]);
const PLUS = 0x2b;
const BLANK = 0x20;

/** `+` stands for a blank. The body may be nothing else, so bytes are changed, which takes a hundredth of what texts
 *  do. */
const withBlanks = (body: Buffer): string => {
  const bytes = Buffer.from(body);
  for (let at = bytes.indexOf(PLUS); at !== -1 && at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = BLANK;
  return bytes.toString("utf8");
};

/** Name and value pairs in order. @throws RelApiError `bad-body` @rule R-BODY-7 R-LIM-3 */
export const parseForm = (body: Buffer, limits: Limits): readonly (readonly [name: string, value: string])[] => {
  const parts: string[] = [];
  for (const [part] of withBlanks(body).matchAll(/[^&]+/g)) {
    if (parts.push(part) > limits.maxColumns) throw tooManyColumns(limits);
  }
  return parts.map((part) => {
    const at = part.indexOf("=");
    return at === -1
      ? [decodePercent(part), ""]
      : [decodePercent(part.slice(0, at)), decodePercent(part.slice(at + 1))];
  });
};

const formPayload = (pairs: readonly (readonly [name: string, value: string])[]): Payload => {
  const row = new Map(pairs); // the last of repeated names wins
  const json = objectText(row);
  // bytes are not copied on their way
  const text = json.length > MAX_STRING_LENGTH ? { utf8: [Buffer.from(json)] } : json;
  return { text, shape: "object", keys: [...row.keys()].sort(), isEmpty: false, isUninspected: false };
};

const MAX_STRING_LENGTH = 64 * 1024;

/** JSON text of an object whatever its keys are called. */
const objectText = (entries: Iterable<readonly [name: string, value: string | readonly string[]]>): string =>
  `{${[...entries].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
