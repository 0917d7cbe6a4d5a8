/** Calls in the expression of a policy that PostgreSQL makes for each row, although each answers the same. */

/** Functions that answer the same for all rows of a statement. */
const CALL = /\b(current_setting|auth\.\w+)\(/g;

const LITERAL = String.raw`(?:E?'(?:[^']|'')*'|true|false|NULL|-?\d+(?:\.\d+)?)`;
const TYPE = String.raw`::(?:"[^"]+"|[a-z_][\w.]*(?: [a-z]+(?: time zone)?)?)(?:\([\d,]+\))?(?:\[\])?`;

/** What is given to them is the same for all rows too. */
const CONSTANTS = new RegExp(`^\\s*(?:${LITERAL}(?:${TYPE})*\\s*(?:,\\s*|$))*$`, "i");

/** `->> 'sub'::text` behind a value. */
const STEP = new RegExp(`^ (?:->>|->|#>>|#>) ${LITERAL}`, "i");
const CAST = new RegExp(`^${TYPE}`, "i");

/** Index behind the parenthesis that closes the one at `open`; -1: there is none. */
const closing = (text: string, open: number): number => {
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

/** Whether the call at `at` stands in the list of a subselect, `( SELECT current_setting(…) AS …)`: that is run once. */
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
    if (depth < 0) return false; // the subselect has ended
  }
  return true;
};

interface Call {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const callsIn = (expression: string): readonly Call[] =>
  [...expression.matchAll(CALL)].flatMap((match) => {
    const [whole, name = ""] = match;
    const open = match.index + whole.length - 1;
    const end = closing(expression, open);
    const isConstant = end !== -1 && CONSTANTS.test(expression.slice(open + 1, end - 1));
    return isConstant && !isInSubselect(expression, match.index) ? [{ name, start: match.index, end }] : [];
  });

/** With what is computed from the call alone: casts, steps into JSON, the parentheses around. */
const widened = (expression: string, { start, end }: Call): readonly [start: number, end: number] => {
  let [from, to] = [start, end];
  for (;;) {
    const rest = expression.slice(to);
    const more = CAST.exec(rest)?.[0] ?? STEP.exec(rest)?.[0];
    if (more !== undefined) to += more.length;
    else if (expression[from - 1] === "(" && rest.startsWith(")") && !/[\w"]/.test(expression[from - 2] ?? " ")) {
      from -= 1;
      to += 1;
    } else return [from, to];
  }
};

/** @rule C-DOK-1 */
export const callsPerRow = (expression: string): readonly string[] => [
  ...new Set(callsIn(expression).map(({ name }) => name)),
];

/** The catalog breaks lines before FROM and WHERE; texts keep theirs. */
const oneLine = (expression: string): string =>
  expression.replace(/'(?:[^']|'')*'|\s+/g, (part) => (part.startsWith("'") || !part.includes("\n") ? part : " "));

/** The same expression, with each of them in a subselect. */
export const withSubselects = (expression: string): string => {
  let text = expression;
  // from the end, so that what is in front stays where it is
  for (const call of [...callsIn(expression)].reverse()) {
    const [from, to] = widened(text, call);
    text = `${text.slice(0, from)}(select ${text.slice(from, to)})${text.slice(to)}`;
  }
  return oneLine(text);
};
