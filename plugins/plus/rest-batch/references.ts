/** `$1.id`, `$album[0].title`: values of earlier answers, in the bodies and filters of later requests. */
import { randomUUID } from "node:crypto";
import { isRawNumber, numberText, rawNumber, type Json } from "../../../core/index.ts";

/** Says which value is missing, or where none may stand. */
export class BadReference extends Error {}

// strings, which are passed over, and numbers
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** In front of a number's text. No client can know it, and write it in a text of its own. */
const MARK = randomUUID();

/** With every digit of its numbers. @throws SyntaxError */
export const parseExactly = (text: string): Json => {
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : JSON.stringify(MARK + token),
  );
  const revive = (_: string, value: unknown): unknown =>
    typeof value === "string" && value.startsWith(MARK) && !Number.isNaN(Number(value.slice(MARK.length)))
      ? rawNumber(value.slice(MARK.length))
      : value;
  return JSON.parse(marked, revive) as Json;
};

// $1.id     $album[0].title     $2.address.city
const REFERENCE = String.raw`\$(\d+|[A-Za-z_]\w*)((?:\.[A-Za-z_]\w*|\[\d+\])+)`;
const WHOLE = new RegExp(`^${REFERENCE}$`);
const STEP = /\.([A-Za-z_]\w*)|\[(\d+)\]/g;

/** The answer of the request that is called so; undefined: there is none before. */
export type Answered = (name: string) => Json | undefined;

const valueOf = (text: string, answered: Answered): Json => {
  const [, name = "", path = ""] = WHOLE.exec(text) ?? [];
  let value = answered(name);
  if (value === undefined) throw new BadReference(`${text}: there is no request "${name}" with a body before this one`);
  for (const [, key, index] of path.matchAll(STEP)) {
    // of rows the first, unless it is said which
    if (key !== undefined && Array.isArray(value)) value = value[0];
    const at: string | number = key ?? Number(index);
    const isHolder = typeof value === "object" && value !== null && !isRawNumber(value);
    if (!isHolder || !Object.hasOwn(value as object, at))
      throw new BadReference(`${text}: the answer has no such value`);
    value = (value as Readonly<Record<string | number, Json>>)[at];
  }
  return value as Json; // each step was there
};

/** A body with the values; `$$` at the start of a text is a dollar sign. @throws BadReference */
export const fillBody = (body: Json, answered: Answered): Json => {
  if (typeof body === "string")
    return WHOLE.test(body) ? valueOf(body, answered) : body.startsWith("$$") ? body.slice(1) : body;
  if (typeof body !== "object" || body === null || isRawNumber(body)) return body;
  if (Array.isArray(body)) return body.map((item: Json) => fillBody(item, answered));
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, fillBody(value, answered)]));
};

const textOf = (written: string, value: Json): string => {
  const text = typeof value === "string" ? value : typeof value === "boolean" ? String(value) : numberText(value);
  if (text === undefined)
    throw new BadReference(`${written}: only texts, numbers and truth values can stand in a path`);
  return text;
};

const IN_TEXT = new RegExp(`\\$\\$|${REFERENCE}`, "g");

/** In front of a value that is the whole operand: `eq.`, `not.gte.`. */
const OPERATOR = /^(?:not\.)?([a-z]+)\.$/;

/** What their words are depends on the text. */
const NO_PLAIN_OPERAND: ReadonlySet<string> = new Set(["in", "is"]);

/** Parameters that hold names. */
const NAMES = /(?:^|\.)(?:select|order|columns|on_conflict|limit|offset)$/;

/** A value of a filter with values in place of references: as a whole operand, or as a quoted element of a list or tree,
 *  so that whatever it says is a value. */
const fillParameter = (name: string, given: string, answered: Answered): string => {
  if (!given.includes("$")) return given;
  return given.replace(IN_TEXT, (written: string, _name: unknown, _path: unknown, at: number) => {
    if (written === "$$") return "$";
    const before = given.slice(0, at);
    const isLast = at + written.length === given.length;
    const operator = OPERATOR.exec(before)?.[1];
    if (NAMES.test(name)) throw new BadReference(`${written} stands where a name or a number of rows is expected`);
    const text = textOf(written, valueOf(written, answered));
    if (isLast && operator !== undefined && !NO_PLAIN_OPERAND.has(operator)) return text;
    if (/[(,.]$/.test(before) && before.includes("(") && /^[,)]/.test(given.slice(at + written.length)))
      return `"${text.replace(/["\\]/g, "\\$&")}"`;
    throw new BadReference(`${written} must be the value of a filter: id=eq.${written}, id=in.(${written},2)`);
  });
};

/** A path with the values, percent-encoded. @throws BadReference, URIError */
export const fillPath = (path: string, answered: Answered): string => {
  if (!/\$|%24/.test(path)) return path;
  const [place = "", ...rest] = path.split("?");
  if (/\$|%24/.test(place)) throw new BadReference("references stand in filters, not in front of the question mark");
  const query = rest
    .join("?")
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      if (equals === -1) return pair;
      const decoded = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
      const [name, given] = [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))];
      if (name.includes("$")) throw new BadReference("references stand in the values of filters, not in their names");
      const filled = fillParameter(name, given, answered);
      return filled === given ? pair : `${pair.slice(0, equals)}=${encodeURIComponent(filled)}`;
    });
  return `${place}?${query.join("&")}`;
};
