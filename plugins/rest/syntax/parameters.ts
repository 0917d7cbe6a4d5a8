/**
 * `tonnage=gte.500`: decodes names and values of the query string. Query strings that differ only in values are parsed
 * and planned once.
 */
import { isUtf8 } from "node:buffer";
import type { BoundValue } from "../../../core/index.ts";
import { queryNotUtf8 } from "../errors.ts";
import type { Grammar, SlotPositions, QueryTemplate } from "../request.ts";

/** Decodes a name or a value. @throws RelApiError `parse-error` if it is not UTF-8 @rule R-URL-1 */
export const decodePart = (text: string): string =>
  decodeEscapes(text.includes("+") ? text.replaceAll("+", " ") : text, (bytes) => {
    if (!isUtf8(bytes)) throw queryNotUtf8();
    return bytes.toString("utf8");
  });

/** Decodes a segment of a path. Bytes that are not UTF-8 become U+FFFD. @rule R-PATH-5 */
export const decodePercent = (text: string): string => decodeEscapes(text, (bytes) => bytes.toString("utf8"));

/**
 * Decodes percent-encoding. Malformed escapes stay. Unescaped bytes above 127 are accepted; Node passes each as one
 * character.
 */
const decodeEscapes = (text: string, decodeBytes: (bytes: Buffer) => string): string => {
  if (/^[^%\u0080-\u00ff]*$/.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text);
    if (!/[\u0080-\u00ff]/.test(text)) return decoded;
  } catch {
    // the code after this block decodes byte by byte
  }
  const bytes = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return decodeBytes(Buffer.from(bytes, "latin1"));
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

// matches a bare name with its embed path: `tonnage`, `voyages.fare`
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
    // the search stays inside the parameter, because searching the whole query for each one would be quadratic
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

// matches a whole mark, such as \ue0003\ue001
const MARK = new RegExp(`^${OPEN}([0-9]+)${CLOSE}$`);

export const findSlotPositions = (planned: readonly BoundValue[]): SlotPositions =>
  planned.flatMap((bound, at) => {
    const mark = typeof bound === "string" ? MARK.exec(bound) : null;
    return mark === null ? [] : [[at, Number(mark[1])] as const];
  });

/** Splits a string at its percent-encoded marks into alternating texts and value numbers. */
export const splitAtMarks = (encoded: string, encode: (text: string) => string): readonly string[] =>
  encoded.split(new RegExp(`${encode(OPEN)}([0-9]+)${encode(CLOSE)}`));
