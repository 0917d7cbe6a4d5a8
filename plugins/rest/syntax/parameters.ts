/**
 * `tonnage=gte.500`: decodes names and values of query strings and forms. Query strings that differ only in values are
 * parsed and planned once.
 */
import { isUtf8 } from "node:buffer";
import type { BoundValue, RelApiError } from "../../../core/index.ts";
import { queryNotUtf8 } from "../errors.ts";
import type { Grammar, SlotPositions, QueryTemplate } from "../request.ts";

const PLUS_SIGN = "+".charCodeAt(0);
const SPACE = " ".charCodeAt(0);
const PERCENT_SIGN = "%".charCodeAt(0);

/** Decodes a name or a value of a query string or a form, in which a plus sign means a space. @throws RelApiError of
 *  `createError` if it is not UTF-8 @rule R-URL-1 R-BODY-7 */
export const decodePart = (text: string, createError: () => RelApiError = queryNotUtf8): string => {
  if (!/[+%\u0080-\u00ff]/.test(text)) return text;
  const bytes = decodeBytes(text, SPACE);
  if (!isUtf8(bytes)) throw createError();
  return bytes.toString("utf8");
};

/** Decodes a segment of a path. Bytes that are not UTF-8 become U+FFFD. @rule R-PATH-5 */
export const decodePercent = (text: string): string =>
  /[%\u0080-\u00ff]/.test(text) ? decodeBytes(text, PLUS_SIGN).toString("utf8") : text;

/** Decodes percent-encoding in place, because a string for each escape of a long form would need much memory. Malformed
 *  escapes stay. Node passes an unescaped byte above 127 as one character. `plusByte`: the meaning of a plus sign. */
const decodeBytes = (text: string, plusByte: number): Buffer => {
  const bytes = Buffer.from(text, "latin1");
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at];
    if (byte === PLUS_SIGN) byte = plusByte;
    else if (byte === PERCENT_SIGN) {
      const escapedByte = readHexDigit(bytes[at + 1]) * 16 + readHexDigit(bytes[at + 2]);
      if (!Number.isNaN(escapedByte)) {
        byte = escapedByte;
        at += 2;
      }
    }
    bytes[length++] = byte as number; // the index is within the length
  }
  return bytes.subarray(0, length);
};

/** Returns the value of a hexadecimal digit, or NaN for another byte or the end of the text. */
const readHexDigit = (byte = 0): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lowerCase = byte | 0x20;
  return lowerCase >= 0x61 && lowerCase <= 0x66 ? lowerCase - 0x61 + 10 : Number.NaN;
};

/** Parameters of logic trees. */
export const LOGIC: ReadonlySet<string> = new Set(["and", "or"]);

/** Returns the last dot-separated part of a name, which may reserve the name. @rule R-URL-3 */
export const getLastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Returns the name under which plugins tap a parameter of embeds and of functions that return rows. @rule X-PAR-1 */
export const buildNestedHookName = (name: string): string => `*.${name}`;

export const isReserved = (name: string): boolean => {
  if (name === "select" || name === "columns" || name === "on_conflict") return true;
  const last = getLastPart(name);
  return last === "order" || last === "limit" || last === "offset" || LOGIC.has(last);
};

/** Private-use characters that enclose the number of a value. A query string that contains them is used unchanged. */
const OPEN = "\ue000";
const CLOSE = "\ue001";
const MARK_IN_QUERY = /%ee%80|\u00ee/i;

// Matches a bare name with its embed path: `tonnage`, `voyages.fare`.
const NAME = /^[A-Za-z_][A-Za-z0-9_.]*$/;

/**
 * Replaces values that the grammar uses verbatim (`eq.…`, but not lists, keywords or patterns) by marks. Returns
 * undefined if there is no such value.
 */
export const buildTemplate = (grammar: Grammar, query: string | undefined): QueryTemplate | undefined => {
  if (query === undefined || MARK_IN_QUERY.test(query)) return undefined;
  const values: string[] = [];
  let text = "";
  let start = 0;
  while (start <= query.length) {
    let end = start;
    while (end < query.length && query[end] !== "&" && query[end] !== ";") end++;
    // The search stays inside the parameter, because searching the whole query for each one would be quadratic.
    const parameter = query.slice(start, end);
    const inside = parameter.indexOf("=");
    const equals = start + inside;
    const dot = inside === -1 ? -1 : start + parameter.indexOf(".", inside);
    if (dot > equals && grammar.plainOperators.has(query.slice(equals + 1, dot))) {
      const name = query.slice(start, equals);
      if (
        NAME.test(name) &&
        !isReserved(name) &&
        !grammar.isPluginParameter(name) &&
        !grammar.isPluginParameter(buildNestedHookName(getLastPart(name)))
      ) {
        text += `${query.slice(start, dot + 1)}${OPEN}${values.length}${CLOSE}`;
        values.push(decodePart(query.slice(dot + 1, end)));
      } else text += query.slice(start, end);
    } else text += query.slice(start, end);
    if (end < query.length) text += query[end];
    start = end + 1;
  }
  return values.length === 0 ? undefined : { text, values };
};

// Matches a whole mark, such as `\ue0003\ue001`.
const MARK = new RegExp(`^${OPEN}([0-9]+)${CLOSE}$`);

export const findSlotPositions = (values: readonly BoundValue[]): SlotPositions =>
  values.flatMap((boundValue, at) => {
    const mark = typeof boundValue === "string" ? MARK.exec(boundValue) : null;
    return mark === null ? [] : [[at, Number(mark[1])] as const];
  });

/** Splits a string at its percent-encoded marks into alternating texts and value numbers. */
export const splitAtMarks = (encodedText: string, encode: (text: string) => string): readonly string[] =>
  encodedText.split(new RegExp(`${encode(OPEN)}([0-9]+)${encode(CLOSE)}`));
