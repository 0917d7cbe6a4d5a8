/** Reads templates in a part of Kriti, the language of Hasura's transforms: `{"id": {{$body.event.data.new.id}}}`.
 *  @rule X-HTTP-8 */
import { isJsonObject, getNumberText, parseJson, type Json } from "../../../core/index.ts";
import { readMember } from "../../shared/json-values.ts";

/** The variables of a template by name, such as `$body`. */
export type TemplateVariables = Readonly<Record<string, Json>>;

/** Returns the value of a template. @throws TemplateError */
export type Template<Value extends Json = Json> = (variables: TemplateVariables) => Value;

/** A template that cannot be read, or that has no value. The message contains only text of the template. */
export class TemplateError extends Error {}

const SPACE = /[ \t\r\n]*/y;
const WORD = /[A-Za-z_$][A-Za-z0-9_$-]*/y; // `$body`
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y; // `-1.5e3`
const INDEX = /\d{1,9}/y;
const QUOTED_NAME = /'[^']*'/y;
const STRING_PIECE = /(?:[^"\\{]|\\[^]|\{(?!\{))+/y; // `a \"b\" {c}`, up to `"` or `{{`
const TEXT_PIECE = /(?:[^{]|\{(?!\{))+/y; // `/orders/{id}`, up to `{{`

const MAX_DEPTH = 100;

const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

const requireText = (value: Json, name: string): string => {
  if (typeof value !== "string") throw new TemplateError(`${name} needs a string`);
  return value;
};

type TemplateFunction = (value: Json, variables: TemplateVariables) => Json;

const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ["escapeUri", (value) => encodeURIComponent(requireText(value, "escapeUri"))],
  ["toLower", (value) => requireText(value, "toLower").toLowerCase()],
  [
    "getSessionVariable",
    (value, { $session_variables: session = null }) => {
      const name = requireText(value, "getSessionVariable").toLowerCase();
      return findValue(session, [{ key: name, isOptional: false }], `the session variable ${name}`);
    },
  ],
]);

interface Step {
  readonly key: string | number;
  readonly isOptional: boolean;
}

const findValue = (root: Json, steps: readonly Step[], name: string): Json => {
  let value = root;
  for (const { key, isOptional } of steps) {
    const member = readMember(value, key);
    if (member === undefined && isOptional) return null;
    if (member === undefined) throw new TemplateError(`${name} has no value`);
    value = member;
  }
  return value;
};

const writeText = (value: Json): string => {
  if (typeof value === "string") return value;
  if (Array.isArray(value) || isJsonObject(value))
    throw new TemplateError("a list or an object cannot be a part of a text");
  return getNumberText(value) ?? String(value as boolean | null); // all other values were returned above
};

const joinParts =
  (parts: readonly Template[]): Template<string> =>
  (variables) =>
    parts.map((part) => writeText(part(variables))).join("");

/** Parses the text of one template. `names` are the names of its variables. */
const createReader = (text: string, names: ReadonlySet<string>) => {
  let at = 0;
  let depth = 0;

  const fail = (reason: string, position = at): never => {
    throw new TemplateError(`character ${position + 1}: ${reason}`);
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [matchedText] = pattern.exec(text) ?? [];
    at += matchedText?.length ?? 0;
    return matchedText;
  };
  const takeHere = (symbol: string): boolean => {
    if (!text.startsWith(symbol, at)) return false;
    at += symbol.length;
    return true;
  };
  const take = (symbol: string): boolean => {
    match(SPACE);
    return takeHere(symbol);
  };
  const require = (symbol: string): void => {
    if (!take(symbol)) fail(`${symbol} is expected`);
  };
  const nest = (read: () => Template): Template => {
    depth += 1;
    if (depth > MAX_DEPTH) fail("it is nested too deeply");
    const template = read();
    depth -= 1;
    return template;
  };

  const readPiece = (escapedText: string): Template => {
    try {
      const value = JSON.parse(`"${escapedText}"`) as string; // a string in quotes
      return () => value;
    } catch {
      return fail("a string is not valid");
    }
  };

  /** Reads a string after its first quote. */
  const readString = (): Template<string> => {
    const parts: Template[] = [];
    while (!takeHere('"')) {
      if (takeHere("{{")) parts.push(readExpression());
      else parts.push(readPiece(match(STRING_PIECE) ?? fail('" is expected')));
    }
    return joinParts(parts);
  };

  const readPath = (root: string, start: number): Template => {
    const steps: Step[] = [];
    for (;;) {
      const isOptional = text.startsWith("?.", at) || text.startsWith("?[", at);
      if (isOptional) at += 1;
      if (takeHere(".")) steps.push({ key: match(WORD) ?? fail("the name of a member is expected"), isOptional });
      else if (takeHere("[")) steps.push({ key: readKey(), isOptional });
      else break;
    }
    const name = text.slice(start, at);
    return (variables) => findValue(variables[root] ?? null, steps, name);
  };

  const readKey = (): string | number => {
    const quotedName = match(QUOTED_NAME);
    const key = quotedName?.slice(1, -1) ?? Number(match(INDEX) ?? fail("an index or a name in ' is expected"));
    require("]");
    return key;
  };

  const readOperand = (): Template => {
    if (take("(")) {
      const inner = nest(readAlternatives);
      require(")");
      return inner;
    }
    if (takeHere('"')) return readString();
    const start = at;
    const number = match(NUMBER);
    if (number !== undefined) return readNumber(number);
    const word = match(WORD) ?? fail("a variable is expected");
    if (names.has(word)) return readPath(word, start);
    const constant = WORDS.get(word);
    if (constant !== undefined) return () => constant;
    const call = FUNCTIONS.get(word) ?? fail(`${word} is not supported`, start);
    const operand = nest(readOperand);
    return (variables) => call(operand(variables), variables);
  };

  const readNumber = (number: string): Template => {
    const value = parseJson(number.replace(/^(-?)0+(?=\d)/, "$1"));
    return () => value;
  };

  const readAlternatives = (): Template => {
    let template = readOperand();
    while (take("??")) {
      const [first, second] = [template, readOperand()];
      template = (variables) => first(variables) ?? second(variables);
    }
    return template;
  };

  /** Reads an expression after `{{`. */
  const readExpression = (): Template => {
    const template = nest(readAlternatives);
    require("}}");
    return template;
  };

  const readMember = (): readonly [name: string, value: Template] => {
    require('"');
    const start = at;
    const name = match(STRING_PIECE) ?? "";
    if (text.startsWith("{{", at)) fail("the name of a member cannot be computed");
    const read = readPiece(name);
    if (!takeHere('"')) fail('" is expected', start);
    require(":");
    return [read({}) as string, nest(readValue)]; // a piece is a string
  };

  const readObject = (): Template => {
    const members: (readonly [name: string, value: Template])[] = [];
    while (!take("}")) {
      if (members.length > 0) require(",");
      members.push(readMember());
    }
    return (variables) => Object.fromEntries(members.map(([name, value]) => [name, value(variables)]));
  };

  const readList = (): Template => {
    const items: Template[] = [];
    while (!take("]")) {
      if (items.length > 0) require(",");
      items.push(nest(readValue));
    }
    return (variables) => items.map((item) => item(variables));
  };

  const readValue = (): Template => {
    if (take("{{")) return readExpression();
    if (takeHere("{")) return readObject();
    if (takeHere("[")) return readList();
    return readOperand();
  };

  return {
    readJson: (): Template => {
      const template = readValue();
      match(SPACE);
      if (at < text.length) fail("the end is expected");
      return template;
    },
    readText: (): Template<string> => {
      const parts: Template[] = [];
      while (at < text.length) {
        const piece = match(TEXT_PIECE);
        if (piece !== undefined) parts.push(() => piece);
        else if (takeHere("{{")) parts.push(readExpression());
      }
      return joinParts(parts);
    },
  };
};

/** Parses a template of JSON. @throws TemplateError with the position */
export const parseJsonTemplate = (text: string, names: ReadonlySet<string>): Template =>
  createReader(text, names).readJson();

/** Parses a text with `{{…}}`. @throws TemplateError with the position */
export const parseTextTemplate = (text: string, names: ReadonlySet<string>): Template<string> =>
  createReader(text, names).readText();
