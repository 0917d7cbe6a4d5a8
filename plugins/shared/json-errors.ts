/** Finds the position and the reason of a JSON syntax error, for error messages. */

/** A JSON syntax error. Lines and columns start at 1, and columns count characters. */
type JsonSyntaxError = {
  readonly line: number;
  readonly column: number;
  /** For example `expected "," or "}", found "b"`. */
  readonly reason: string;
};

const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const WORD = /[A-Za-z0-9_.+-]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** Returns the end of a match at this position, or the position itself without a match. */
const findMatchEnd = (expression: RegExp, text: string, at: number): number => {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
};

interface MismatchPosition {
  readonly at: number;
  readonly expectedText: string;
}

/** Returns the position after the string, or its syntax error. */
const readString = (text: string, start: number): number | MismatchPosition => {
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] as string; // `at` is less than the length
    if (character === '"') return at + 1;
    if (character < " ") return { at, expectedText: "a string without control characters" };
    if (character !== "\\") continue;
    const end = findMatchEnd(ESCAPE, text, at);
    if (end === at) return { at, expectedText: "an escape that JSON has" };
    at = end - 1;
  }
  return { at: text.length, expectedText: 'the closing "\\"" of a string' };
};

const readScalar = (text: string, at: number, expectedText: string): number | MismatchPosition => {
  if (text[at] === '"') return readString(text, at);
  const end = findMatchEnd(WORD, text, at);
  const word = text.slice(at, end);
  if (word === "true" || word === "false" || word === "null") return end;
  return end > at && findMatchEnd(NUMBER, text, at) === end ? end : { at, expectedText };
};

const VALUE = "a value";
const KEY = "a key in double quotes";

/** Returns the first position at which the text is not JSON. It uses a loop, because texts may be deeply nested. */
const findMismatch = (text: string): MismatchPosition | undefined => {
  const open: ("}" | "]")[] = [];
  let at = findMatchEnd(BLANKS, text, 0);
  /** The expected token. At the first value or key, the list or object may also end. */
  let expectedPart: "value" | "first value" | "key" | "first key" = "value";
  for (;;) {
    const close = open.at(-1);
    const isEmpty = (expectedPart === "first value" || expectedPart === "first key") && text[at] === close;
    if (!isEmpty && (expectedPart === "key" || expectedPart === "first key")) {
      const expectedText = expectedPart === "key" ? KEY : `${KEY} or "}"`;
      if (text[at] !== '"') return { at, expectedText };
      const end = readString(text, at);
      if (typeof end !== "number") return end;
      at = findMatchEnd(BLANKS, text, end);
      if (text[at] !== ":") return { at, expectedText: '":"' };
      at = findMatchEnd(BLANKS, text, at + 1);
      expectedPart = "value";
    }
    if (isEmpty) {
      open.pop();
      at++;
    } else if (text[at] === "{" || text[at] === "[") {
      const isObject = text[at] === "{";
      open.push(isObject ? "}" : "]");
      expectedPart = isObject ? "first key" : "first value";
      at = findMatchEnd(BLANKS, text, at + 1);
      continue;
    } else {
      const end = readScalar(text, at, expectedPart === "first value" ? `${VALUE} or "]"` : VALUE);
      if (typeof end !== "number") return end;
      at = end;
    }
    for (;;) {
      at = findMatchEnd(BLANKS, text, at);
      const enclosingBracket = open.at(-1);
      if (enclosingBracket === undefined) return at === text.length ? undefined : { at, expectedText: "the end" };
      if (text[at] === ",") {
        expectedPart = enclosingBracket === "}" ? "key" : "value";
        at = findMatchEnd(BLANKS, text, at + 1);
        break;
      }
      if (text[at] !== enclosingBracket) return { at, expectedText: `"," or "${enclosingBracket}"` };
      open.pop();
      at++;
    }
  }
};

/** Returns the syntax error, or undefined if the text is JSON. */
export const findJsonError = (text: string): JsonSyntaxError | undefined => {
  const stop = findMismatch(text);
  if (stop === undefined) return undefined;
  const before = text.slice(0, stop.at);
  const lineStart = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let lineEnd = before.indexOf("\n"); lineEnd !== -1; lineEnd = before.indexOf("\n", lineEnd + 1)) line++;
  const code = text.codePointAt(stop.at);
  const actualText = code === undefined ? "the end" : JSON.stringify(String.fromCodePoint(code));
  return {
    line,
    column: Array.from(before.slice(lineStart)).length + 1,
    reason: `expected ${stop.expectedText}, found ${actualText}`,
  };
};

/** Formats the error, for example `line 2, column 5: expected ":", found "}"`. */
export const formatJsonError = ({ line, column, reason }: JsonSyntaxError): string =>
  `line ${line}, column ${column}: ${reason}`;
