/** What hints are made of, the same on each surface: where a JSON text breaks off, and what an enum takes. */
import {
  baseTypeOf,
  nearestNames,
  type Column,
  type Json,
  type Model,
  type PgType,
  type Relation,
  type Visibility,
} from "../core/index.ts";

/** Where a text is no JSON. Lines and columns count from 1, columns in characters. */
export type JsonFault = {
  readonly line: number;
  readonly column: number;
  /** `expected "," or "}", found "b"` */
  readonly reason: string;
};

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const WORD = /[A-Za-z0-9_.+-]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** Where the expression ends that begins there; the same position: it does not fit. */
const after = (expression: RegExp, text: string, at: number): number => {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
};

interface Stop {
  readonly at: number;
  readonly expected: string;
}

/** Behind the string, or where it breaks off. */
const readString = (text: string, start: number): number | Stop => {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] as string; // below the length
    if (character === '"') return at + 1;
    if (character < " ") return { at, expected: "a string without control characters" };
    if (character !== "\\") continue;
    const end = after(ESCAPE, text, at);
    if (end === at) return { at, expected: "an escape that JSON has" };
    at = end - 1;
  }
  return { at: text.length, expected: 'the closing "\\"" of a string' };
};

const readScalar = (text: string, at: number, expected: string): number | Stop => {
  if (text[at] === '"') return readString(text, at);
  const end = after(WORD, text, at);
  const word = text.slice(at, end);
  if (word === "true" || word === "false" || word === "null") return end;
  return end > at && after(NUMBER, text, at) === end ? end : { at, expected };
};

const VALUE = "a value";
const KEY = "a key in double quotes";

/** The first place where no JSON can go on. A loop, since texts may be nested deeply. */
const findStop = (text: string): Stop | undefined => {
  const open: ("}" | "]")[] = [];
  let at = after(BLANKS, text, 0);
  /** What may stand here: a value, a value or the end of an empty list, a key, a key or the end of an empty object. */
  let wanted: "value" | "first value" | "key" | "first key" = "value";
  for (;;) {
    const close = open.at(-1);
    const isEmpty = (wanted === "first value" || wanted === "first key") && text[at] === close;
    if (!isEmpty && (wanted === "key" || wanted === "first key")) {
      const expected = wanted === "key" ? KEY : `${KEY} or "}"`;
      if (text[at] !== '"') return { at, expected };
      const end = readString(text, at);
      if (typeof end !== "number") return end;
      at = after(BLANKS, text, end);
      if (text[at] !== ":") return { at, expected: '":"' };
      at = after(BLANKS, text, at + 1);
      wanted = "value";
    }
    if (isEmpty) {
      open.pop();
      at++;
    } else if (text[at] === "{" || text[at] === "[") {
      const isObject = text[at] === "{";
      open.push(isObject ? "}" : "]");
      wanted = isObject ? "first key" : "first value";
      at = after(BLANKS, text, at + 1);
      continue;
    } else {
      const end = readScalar(text, at, wanted === "first value" ? `${VALUE} or "]"` : VALUE);
      if (typeof end !== "number") return end;
      at = end;
    }
    for (;;) {
      at = after(BLANKS, text, at);
      const around = open.at(-1);
      if (around === undefined) return at === text.length ? undefined : { at, expected: "the end" };
      if (text[at] === ",") {
        wanted = around === "}" ? "key" : "value";
        at = after(BLANKS, text, at + 1);
        break;
      }
      if (text[at] !== around) return { at, expected: `"," or "${around}"` };
      open.pop();
      at++;
    }
  }
};

/** Undefined: it is JSON. */
export const jsonFault = (text: string): JsonFault | undefined => {
  const stop = findStop(text);
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

/** `line 2, column 5: expected ":", found "}"` */
export const faultText = ({ line, column, reason }: JsonFault): string => `line ${line}, column ${column}: ${reason}`;

// invalid input value for enum sea.mood: "hapy"
const ENUM_ERROR = "invalid input value for enum ";

/** The name of the enum and the wrong value. */
const readEnumError = (message: string): readonly [shown: string, given: string] | undefined => {
  const colon = message.indexOf(': "');
  return colon === -1 || !message.startsWith(ENUM_ERROR) || !message.endsWith('"')
    ? undefined
    : [message.slice(ENUM_ERROR.length, colon), message.slice(colon + 3, -1)];
};

const isNamed = ({ name, sqlName }: PgType, shown: string): boolean =>
  sqlName === shown || name === shown || JSON.stringify(name) === shown;

/** Labels near the wrong one of a database error; undefined: it is another error, or of an enum that no column has
 *  which the caller knows. */
export const nearLabels = (
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
    if (column !== undefined) return nearestNames(given, labels);
  }
  return undefined;
};

/** `'a' or 'b'` */
export const orList = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(" or ");

/** What an error says of a misspelt name: facts for `nearOf`. */
export const misspelt = (name: string, known: Iterable<string>): Readonly<Record<string, Json>> => ({
  misspelt: name,
  known: [...known],
});

/** More names are not compared: it would take long, and who has that many needs another remedy. */
const MAX_KNOWN = 5000;

/** Names near the misspelt one, in any letter case first. */
export const nearOf = ({ misspelt: name, known }: Readonly<Record<string, Json>>): readonly string[] => {
  if (typeof name !== "string" || !Array.isArray(known) || known.length > MAX_KNOWN) return [];
  const names = known as readonly string[]; // of `misspelt`
  const lower = name.toLowerCase();
  const same = names.filter((one) => one.toLowerCase() === lower);
  return same.length > 0 ? same : nearestNames(name, names);
};
