/** Helpers for hints in error messages, shared by the surfaces: the position of a JSON syntax error, and similar
 *  names. */
import {
  baseTypeOf,
  closestNames,
  type Column,
  type Json,
  type Model,
  type PgType,
  type Relation,
  type Visibility,
} from "../../core/index.ts";

/** The position of a JSON syntax error. Lines and columns start at 1, and columns count characters. */
export type JsonFault = {
  readonly line: number;
  readonly column: number;
  /** For example `expected "," or "}", found "b"`. */
  readonly reason: string;
};

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const WORD = /[A-Za-z0-9_.+-]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** The end of a match at this position; the same position if there is no match. */
const endOfMatch = (expression: RegExp, text: string, at: number): number => {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
};

interface MismatchPosition {
  readonly at: number;
  readonly expected: string;
}

/** The position after the string, or of its syntax error. */
const readString = (text: string, start: number): number | MismatchPosition => {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] as string; // at is below the length
    if (character === '"') return at + 1;
    if (character < " ") return { at, expected: "a string without control characters" };
    if (character !== "\\") continue;
    const end = endOfMatch(ESCAPE, text, at);
    if (end === at) return { at, expected: "an escape that JSON has" };
    at = end - 1;
  }
  return { at: text.length, expected: 'the closing "\\"" of a string' };
};

const readScalar = (text: string, at: number, expected: string): number | MismatchPosition => {
  if (text[at] === '"') return readString(text, at);
  const end = endOfMatch(WORD, text, at);
  const word = text.slice(at, end);
  if (word === "true" || word === "false" || word === "null") return end;
  return end > at && endOfMatch(NUMBER, text, at) === end ? end : { at, expected };
};

const VALUE = "a value";
const KEY = "a key in double quotes";

/** The first position at which the text is not JSON. It is a loop, because texts may be deeply nested. */
const findMismatch = (text: string): MismatchPosition | undefined => {
  const open: ("}" | "]")[] = [];
  let at = endOfMatch(BLANKS, text, 0);
  /** The expected token: a value or key, or the first one of a list or object that may also end here. */
  let wanted: "value" | "first value" | "key" | "first key" = "value";
  for (;;) {
    const close = open.at(-1);
    const isEmpty = (wanted === "first value" || wanted === "first key") && text[at] === close;
    if (!isEmpty && (wanted === "key" || wanted === "first key")) {
      const expected = wanted === "key" ? KEY : `${KEY} or "}"`;
      if (text[at] !== '"') return { at, expected };
      const end = readString(text, at);
      if (typeof end !== "number") return end;
      at = endOfMatch(BLANKS, text, end);
      if (text[at] !== ":") return { at, expected: '":"' };
      at = endOfMatch(BLANKS, text, at + 1);
      wanted = "value";
    }
    if (isEmpty) {
      open.pop();
      at++;
    } else if (text[at] === "{" || text[at] === "[") {
      const isObject = text[at] === "{";
      open.push(isObject ? "}" : "]");
      wanted = isObject ? "first key" : "first value";
      at = endOfMatch(BLANKS, text, at + 1);
      continue;
    } else {
      const end = readScalar(text, at, wanted === "first value" ? `${VALUE} or "]"` : VALUE);
      if (typeof end !== "number") return end;
      at = end;
    }
    for (;;) {
      at = endOfMatch(BLANKS, text, at);
      const around = open.at(-1);
      if (around === undefined) return at === text.length ? undefined : { at, expected: "the end" };
      if (text[at] === ",") {
        wanted = around === "}" ? "key" : "value";
        at = endOfMatch(BLANKS, text, at + 1);
        break;
      }
      if (text[at] !== around) return { at, expected: `"," or "${around}"` };
      open.pop();
      at++;
    }
  }
};

/** Returns undefined if the text is JSON. */
export const jsonFault = (text: string): JsonFault | undefined => {
  const stop = findMismatch(text);
  if (stop === undefined) return undefined;
  const before = text.slice(0, stop.at);
  const lineStart = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let feed = before.indexOf("\n"); feed !== -1; feed = before.indexOf("\n", feed + 1)) line++;
  const code = text.codePointAt(stop.at);
  const found = code === undefined ? "the end" : JSON.stringify(String.fromCodePoint(code));
  return {
    line,
    column: Array.from(before.slice(lineStart)).length + 1,
    reason: `expected ${stop.expected}, found ${found}`,
  };
};

/** For example `line 2, column 5: expected ":", found "}"`. */
export const faultText = ({ line, column, reason }: JsonFault): string => `line ${line}, column ${column}: ${reason}`;

// for example: invalid input value for enum sea.mood: "hapy"
const ENUM_ERROR = "invalid input value for enum ";

/** The name of the enum and the invalid value. */
const readEnumError = (message: string): readonly [shown: string, given: string] | undefined => {
  const colon = message.indexOf(': "');
  return colon === -1 || !message.startsWith(ENUM_ERROR) || !message.endsWith('"')
    ? undefined
    : [message.slice(ENUM_ERROR.length, colon), message.slice(colon + 3, -1)];
};

const isNamed = ({ name, sqlName }: PgType, shown: string): boolean =>
  sqlName === shown || name === shown || JSON.stringify(name) === shown;

/** Labels that are similar to the invalid one of a database error. Undefined for other errors, or if no column that the
 *  caller knows has the enum. */
export const similarLabels = (
  model: Model,
  sight: Visibility,
  { code, message }: { readonly code: string; readonly message: string },
): readonly string[] | undefined => {
  const [shown = "", given = ""] = (code === "22P02" ? readEnumError(message) : undefined) ?? [];
  if (shown === "") return undefined;
  const isOfIt = ({ type }: Column): boolean => {
    const found = baseTypeOf(model, type);
    const element = found?.element === undefined ? found : baseTypeOf(model, found.element);
    return element?.labels !== undefined && isNamed(element, shown);
  };
  const columnOfIt = (relation: Relation): Column | undefined =>
    relation.columns.find((column) => isOfIt(column) && sight.knows(relation, column));
  for (const relation of model.relations.values()) {
    const column = columnOfIt(relation);
    const found = column && baseTypeOf(model, column.type);
    const labels =
      found?.labels ?? (found?.element === undefined ? [] : (baseTypeOf(model, found.element)?.labels ?? []));
    if (column !== undefined) return closestNames(given, labels);
  }
  return undefined;
};

/** For example `'a' or 'b'`. */
export const orList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(" or ");

/** Facts of an error about an unknown name, for `similarNames`. */
export const unknownNameFacts = (name: string, known: Iterable<string>): Readonly<Record<string, Json>> => ({
  misspelt: name,
  known: [...known],
});

/** With more names than this, the comparison would take too long. */
const MAX_LISTED_NAMES = 5000;

/** Names that are similar to the unknown one. Names that differ only in letter case take precedence. */
export const similarNames = ({ misspelt: name, known }: Readonly<Record<string, Json>>): readonly string[] => {
  if (typeof name !== "string" || !Array.isArray(known) || known.length > MAX_LISTED_NAMES) return [];
  const names = known as readonly string[]; // `misspelt` wrote them
  const lower = name.toLowerCase();
  const same = names.filter((one) => one.toLowerCase() === lower);
  return same.length > 0 ? same : closestNames(name, names);
};
