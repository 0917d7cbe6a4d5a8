/**
 * Scans tokens of the query string, and builds errors with the position and the expected tokens. Scanning functions
 * accept the text and a position. They return a token with its end position, or a `LexFailure`, so that alternatives
 * can be tried. `requireToken` turns a failure into the error.
 */
import type { RelApiError } from "../../../core/index.ts";
import { queryPartInvalid } from "../errors.ts";
import type { Field, JsonPathKey } from "../request.ts";

/** A position at which the text does not match the grammar. */
export interface LexFailure {
  readonly at: number;
  /** The expected tokens in the grammar's order. */
  readonly expecting: readonly string[];
  /**
   * The position of the character that the message shows, by default `at`. A keyword is one token at its first column
   * (R-LEX-12).
   */
  readonly shownAt?: number;
}

export interface ScannedToken<Value> {
  readonly value: Value;
  readonly end: number;
}

/** A text being parsed, with its name in messages. */
export interface LexerInput {
  /** The text that positions refer to. */
  readonly text: string;
  readonly name: string;
  /** The text in messages. For logic trees it is `text` with the operator name in front. */
  readonly raw: string;
  /** Additional fields of the error. */
  readonly facts?: Readonly<Record<string, string>>;
}

export const isFailure = (result: object): result is LexFailure => "expecting" in result;

export const END = "end of input";
export const NAME = "field name (* or [a..z0..9_$])";
export const DELIMITER = "delimiter (.)";
const UNFINISHED_QUOTE = ['"\\\\"', '"\\""'];
const UNFINISHED_RUN = ['">"', "letter", "digit"];
const KEY = ['"-"', "digit", "any non reserved character different from: .,>()"];
const INDEX_END = ["digit", '"->"', '"::"', '"."', '","', END];

/** Throws the error of a failure. @throws RelApiError `parse-error` @rule R-LEX-10 R-LEX-11 */
export const throwSyntaxError = (source: LexerInput, failure: LexFailure): never => {
  throw buildSyntaxError(source, failure);
};

export const buildSyntaxError = (source: LexerInput, failure: LexFailure): RelApiError => {
  const { line, column } = findPosition(source.text, failure.at);
  const shownPosition = failure.shownAt ?? failure.at;
  const code = source.text.codePointAt(shownPosition);
  const isLeftOver = failure.expecting.includes(END);
  const unexpectedText =
    code === undefined ? END : isLeftOver ? `'${escapeCharacter(code, "'")}'` : `"${escapeCharacter(code, '"')}"`;
  return queryPartInvalid(
    source.name,
    source.raw,
    line,
    column,
    `unexpected ${unexpectedText} expecting ${listAlternatives(failure.expecting)}`,
    source.facts,
  );
};

/** Returns the token or throws the error. */
export const requireToken = <Value>(
  source: LexerInput,
  result: ScannedToken<Value> | LexFailure,
): ScannedToken<Value> => (isFailure(result) ? throwSyntaxError(source, result) : result);

const listAlternatives = (alternatives: readonly string[]): string => {
  const distinct = [...new Set(alternatives)];
  const last = distinct.pop() ?? "";
  return distinct.length === 0 ? last : `${distinct.join(", ")} or ${last}`;
};

const findPosition = (text: string, at: number): { readonly line: number; readonly column: number } => {
  let line = 1;
  let column = 1;
  for (const character of text.slice(0, at)) {
    if (character === "\n") {
      line++;
      column = 1;
    } else if (character === "\t") column += 8 - ((column - 1) % 8);
    else column++;
  }
  return { line, column };
};

const CONTROL_CHARACTER_NAMES =
  "NUL SOH STX ETX EOT ENQ ACK a b t n v f r SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(
    " ",
  );

/** Escapes a character as a Haskell literal does in PostgREST's messages: `\"`, `\n`, `\SOH`, `\233`. */
export const escapeCharacter = (code: number, quote: string): string => {
  const character = String.fromCodePoint(code);
  if (character === quote || character === "\\") return `\\${character}`;
  if (code < 32) return `\\${CONTROL_CHARACTER_NAMES[code]}`;
  if (code === 127) return "\\DEL";
  return code > 127 ? `\\${code}` : character;
};

export const skipBlanks = (text: string, at: number): number => {
  let i = at;
  while (text[i] === " " || text[i] === "\t") i++;
  return i;
};

/** Returns the position at which the text stops matching the keyword. @rule R-LEX-12 */
export const findMismatch = (text: string, at: number, keyword: string): number => {
  let i = 0;
  while (i < keyword.length && text[at + i] === keyword[i]) i++;
  return at + i;
};

/** Matches letters of any alphabet, digits, `_`, blanks and `$`. */
const RUN = /[\p{L}0-9_ $]+/uy;

const findRunEnd = (text: string, at: number): number => {
  RUN.lastIndex = at;
  return RUN.test(text) ? RUN.lastIndex : at;
};

export const isNameCharacter = (text: string, at: number): boolean => findRunEnd(text, at) > at;

/** Scans a quoted value: `"a.b"`, `"say \"hi\""`. @rule R-LEX-2 */
export const scanQuoted = (text: string, at: number): ScannedToken<string> | LexFailure => {
  let value = "";
  for (let i = at + 1; i < text.length; i++) {
    const character = text[i] as string; // the index is below the length
    if (character === '"') return { value, end: i + 1 };
    if (character === "\\" && ++i === text.length) break;
    value += text[i] as string; // the condition has checked the index
  }
  return { at: text.length, expecting: UNFINISHED_QUOTE };
};

interface Name {
  readonly text: string;
  /** The tokens that could continue the name. After runs joined by dashes, only another dash is reported. */
  readonly continuations: readonly string[];
}

const RUN_CONTINUATIONS = ['"-"'];
const NAME_CONTINUATIONS = ["letter", "digit", ...RUN_CONTINUATIONS];

/** Scans a name: `first-mate`, `Just a Name`, `"a.b"`. @rule R-LEX-1 */
export const scanName = (text: string, at: number): ScannedToken<Name> | LexFailure => {
  if (text[at] === '"') {
    const quotedToken = scanQuoted(text, at);
    return isFailure(quotedToken)
      ? quotedToken
      : { value: { text: quotedToken.value, continuations: [] }, end: quotedToken.end };
  }
  let end = findRunEnd(text, at);
  if (end === at) return { at, expecting: [NAME] };
  let continuations = NAME_CONTINUATIONS;
  while (text[end] === "-" && text[end + 1] !== ">") {
    const next = findRunEnd(text, end + 1);
    if (next === end + 1) return { at: next, expecting: UNFINISHED_RUN };
    end = next;
    continuations = RUN_CONTINUATIONS;
  }
  return { value: { text: trimSpaces(text.slice(at, end)), continuations }, end };
};

const trimSpaces = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && text[from] === " ") from++;
  while (to > from && text[to - 1] === " ") to--;
  return text.slice(from, to);
};

/**
 * Scans the type name of a cast. Its alphabet is narrow, because statements contain the name unchanged. @rule R-LEX-7
 */
export const scanType = (text: string, at: number): ScannedToken<string> | LexFailure => {
  const end = findRunEnd(text, at);
  const value = text.slice(at, end).trim();
  return value === "" ? { at, expecting: ["letter", "digit"] } : { value, end };
};

const NO_PATH: readonly JsonPathKey[] = [];

/** Scans a path, which may be empty: `->a->>b`, `->0`, `->"x y"`. @rule R-LEX-6 */
const scanPath = (text: string, start: number): ScannedToken<readonly JsonPathKey[]> | LexFailure => {
  if (text[start] !== "-" || text[start + 1] !== ">") return { value: NO_PATH, end: start };
  const steps: JsonPathKey[] = [];
  let at = start;
  while (text[at] === "-" && text[at + 1] === ">") {
    const arrow = text[at + 2] === ">" ? "->>" : "->";
    const operand = scanOperand(text, at + arrow.length);
    if (isFailure(operand)) return operand;
    steps.push({ arrow, ...operand.value });
    at = operand.end;
  }
  return { value: steps, end: at };
};

type PathOperand = Omit<JsonPathKey, "arrow">;

const scanOperand = (text: string, at: number): ScannedToken<PathOperand> | LexFailure => {
  const isSigned = text[at] === "-";
  const digits = isSigned ? at + 1 : at;
  let end = digits;
  while (isDigit(text[end])) end++;
  if (end > digits && endsIndex(text, end)) return { value: { key: text.slice(at, end), isIndex: true }, end };
  if (isSigned) return end === digits ? { at: digits, expecting: ["digit"] } : { at: end, expecting: INDEX_END };
  if (text[at] === '"') {
    const quotedToken = scanQuoted(text, at);
    return isFailure(quotedToken)
      ? quotedToken
      : { value: { key: quotedToken.value, isIndex: false }, end: quotedToken.end };
  }
  return scanKey(text, at);
};

/** Matches a run of characters that do not end a key. */
const KEY_RUN = /[^(\-:.,>)]+/uy;

const findKeyRunEnd = (text: string, at: number): number => {
  KEY_RUN.lastIndex = at;
  return KEY_RUN.test(text) ? KEY_RUN.lastIndex : at;
};

const scanKey = (text: string, at: number): ScannedToken<PathOperand> | LexFailure => {
  let end = findKeyRunEnd(text, at);
  if (end === at) return { at, expecting: KEY };
  while (text[end] === "-" && text[end + 1] !== ">") {
    const next = findKeyRunEnd(text, end + 1);
    if (next === end + 1) return { at: next, expecting: ['">"'] };
    end = next;
  }
  return { value: { key: text.slice(at, end).trim(), isIndex: false }, end };
};

const isDigit = (character: string | undefined): boolean =>
  character !== undefined && character >= "0" && character <= "9";

/** Returns whether an array index ends here, so that `0x` and `12-a` stay keys. */
const endsIndex = (text: string, at: number): boolean => {
  const character = text[at];
  if (character === undefined || character === "." || character === "," || character === ")") return true;
  return (character === "-" && text[at + 1] === ">") || (character === ":" && text[at + 1] === ":");
};

interface ScannedField {
  readonly field: Field;
  /** The tokens that could continue the name or its path. */
  readonly continuations: readonly string[];
}

const PATH_CONTINUATIONS = ['"->>"', '"->"'];

/** Scans a name and its JSON path. */
export const scanField = (text: string, at: number): ScannedToken<ScannedField> | LexFailure => {
  const name = scanName(text, at);
  if (isFailure(name)) return name;
  const path = scanPath(text, name.end);
  if (isFailure(path)) return path;
  // After a path, only another key is reported.
  const continuations =
    path.value.length > 0 ? PATH_CONTINUATIONS : [...name.value.continuations, ...PATH_CONTINUATIONS];
  return { value: { field: { name: name.value.text, path: path.value }, continuations }, end: path.end };
};

interface TreePath {
  readonly names: readonly string[];
  readonly field: Field;
}

/**
 * Parses the name of a filter, order or limit parameter: `crew.sailors.name->>a`. Any text after it is ignored.
 * @rule R-LEX-8 R-LEX-13
 */
export const parseTreePath = (raw: string): TreePath => {
  const source: LexerInput = { text: raw, name: "tree path", raw };
  const names: string[] = [];
  for (let at = 0; ;) {
    const name = requireToken(source, scanName(raw, at));
    if (raw[name.end] !== ".") {
      const path = requireToken(source, scanPath(raw, name.end));
      return { names, field: { name: name.value.text, path: path.value } };
    }
    names.push(name.value.text);
    at = name.end + 1;
  }
};

/**
 * Returns the embeds named before the last part of an order, limit or offset parameter. @throws RelApiError
 * `parse-error` @rule R-LEX-8
 */
export const parseNodePath = (name: string): readonly string[] => (name.includes(".") ? parseTreePath(name).names : []);

/**
 * Parses the names of `columns` and `on_conflict`: `id, name`. Any text after the last name is ignored. @rule R-LEX-9
 * R-LEX-13
 */
export const parseNames = (raw: string, inputName: string): readonly string[] => {
  const source: LexerInput = { text: raw, name: inputName, raw };
  const names: string[] = [];
  for (let at = 0; ;) {
    const name = requireToken(source, scanName(raw, skipBlanks(raw, at)));
    names.push(name.value.text);
    at = skipBlanks(raw, name.end);
    if (raw[at] !== ",") return names;
    at++;
  }
};
