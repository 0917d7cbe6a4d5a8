/** Finds calls in a policy's expression that PostgreSQL makes for every row although the result is always the same. */

/** Matches calls of functions that return the same value for all rows of a statement. */
const CALL = /\b(current_setting|auth\.\w+)\(/g;

const LITERAL = String.raw`(?:E?'(?:[^']|'')*'|true|false|NULL|-?\d+(?:\.\d+)?)`;
const TYPE = String.raw`::(?:"[^"]+"|[a-z_][\w.]*(?: [a-z]+(?: time zone)?)?)(?:\([\d,]+\))?(?:\[\])?`;

/** Matches arguments that are constant for all rows. */
const CONSTANTS = new RegExp(`^\\s*(?:${LITERAL}(?:${TYPE})*\\s*(?:,\\s*|$))*$`, "i");

/** Matches a step into JSON after a value: `->> 'sub'::text`. */
const STEP = new RegExp(`^ (?:->>|->|#>>|#>) ${LITERAL}`, "i");
const CAST = new RegExp(`^${TYPE}`, "i");

/** Returns the index after the parenthesis that closes the one at `open`, or -1. */
const findClosing = (text: string, open: number): number => {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    const letter = text[i];
    if (letter === "'") i = text.indexOf("'", i + 1);
    if (i === -1) return -1;
    if (letter === "(") depth += 1;
    if (letter === ")" && --depth === 0) return i + 1;
  }
  return -1;
};

/** Returns whether the call at `at` is in the list of a subselect, `( SELECT current_setting(…) AS …)`, which runs
 *  once. */
const isInSubselect = (expression: string, at: number): boolean => {
  const before = expression.slice(0, at);
  const start = before.toLowerCase().lastIndexOf("select ");
  if (start === -1) return false;
  const between = before.slice(start);
  if (/\b(from|where)\b/i.test(between)) return false;
  let depth = 0;
  for (const letter of between) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (depth < 0) return false; // the subselect ends before the call
  }
  return true;
};

interface FunctionCall {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const findCalls = (expression: string): readonly FunctionCall[] =>
  [...expression.matchAll(CALL)].flatMap((match) => {
    const [matchedText, name = ""] = match;
    const open = match.index + matchedText.length - 1;
    const end = findClosing(expression, open);
    const isConstant = end !== -1 && CONSTANTS.test(expression.slice(open + 1, end - 1));
    return isConstant && !isInSubselect(expression, match.index) ? [{ name, start: match.index, end }] : [];
  });

/** Extends the call by the operations on its result: casts, steps into JSON, enclosing parentheses. */
const widenCall = (expression: string, { start, end }: FunctionCall): readonly [start: number, end: number] => {
  let [from, to] = [start, end];
  for (;;) {
    const remainder = expression.slice(to);
    const suffix = CAST.exec(remainder)?.[0] ?? STEP.exec(remainder)?.[0];
    if (suffix !== undefined) to += suffix.length;
    else if (expression[from - 1] === "(" && remainder.startsWith(")") && !/[\w"]/.test(expression[from - 2] ?? " ")) {
      from -= 1;
      to += 1;
    } else return [from, to];
  }
};

/** Lists the calls of an expression that PostgreSQL makes for each row. @rule C-DOK-1 */
export const listCallsPerRow = (expression: string): readonly string[] => [
  ...new Set(findCalls(expression).map(({ name }) => name)),
];

/** Removes the line breaks that the catalog adds before FROM and WHERE. Line breaks in strings stay. */
const joinLines = (expression: string): string =>
  expression.replace(/'(?:[^']|'')*'|\s+/g, (part) => (part.startsWith("'") || !part.includes("\n") ? part : " "));

/** Returns the expression with each call in a subselect, which PostgreSQL runs once. */
export const addSubselects = (expression: string): string => {
  let text = expression;
  // Replacing from the end keeps earlier positions valid.
  for (const call of [...findCalls(expression)].reverse()) {
    const [from, to] = widenCall(text, call);
    text = `${text.slice(0, from)}(select ${text.slice(from, to)})${text.slice(to)}`;
  }
  return joinLines(text);
};
