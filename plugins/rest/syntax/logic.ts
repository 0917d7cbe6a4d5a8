/** `or=(tonnage.lt.100,and(tonnage.gt.900,name.not.like.A*))`: parses logic trees. */
import { checkDepth, checkPathLength } from "../errors.ts";
import type { AddressedPart, Grammar, LogicTree } from "../request.ts";
import { scanOperation, scanTreeValue } from "./filter.ts";
import {
  DELIMITER,
  throwSyntaxError,
  isFailure,
  isNameCharacter,
  findMismatch,
  NAME,
  requireToken,
  scanField,
  scanName,
  skipBlanks,
  type LexFailure,
  type LexerInput,
  type ScannedToken,
} from "./lex.ts";

const NEGATION = "negation operator (not)";
const LOGIC_OPERATOR = "logic operator (and, or)";
const TREE = [NAME, NEGATION, LOGIC_OPERATOR];

interface LogicPath {
  readonly path: readonly string[];
  /** The operator: `or`, `and`, `not.or` or `not.and`. */
  readonly operator: string;
}

/**
 * Parses the name of a logic tree. Any `not` among its parts negates, and the other parts are the path of embeds.
 * @throws RelApiError `parse-error` @rule R-LOG-2
 */
const parseLogicPath = (name: string): LogicPath => {
  if (!name.includes(".")) return { path: [], operator: name };
  const source: LexerInput = { text: name, name: "logic path", raw: name };
  const parts: string[] = [];
  for (let at = 0; ;) {
    const part = requireToken(source, scanName(name, at));
    parts.push(part.value.text);
    if (name[part.end] !== ".") break;
    at = part.end + 1;
  }
  const operator = name.slice(name.lastIndexOf(".") + 1);
  const path = parts.slice(0, -1);
  return { path: path.filter((part) => part !== "not"), operator: path.includes("not") ? `not.${operator}` : operator };
};

/**
 * Parses a logic tree. `name` is for example `or` or `voyages.not.and`, `value` is `(…)`. @throws RelApiError
 * `parse-error` @rule R-LOG-1 R-LOG-2
 */
export const parseLogic = (grammar: Grammar, name: string, value: string): AddressedPart<LogicTree> => {
  const { path, operator } = parseLogicPath(name);
  const source: LexerInput = { text: operator + value, name: "logic tree", raw: value };
  // Any text after the outer tree is ignored (R-LEX-13).
  return { path, part: readTree({ grammar, source }, 0, 0).value };
};

export const countConditions = (tree: LogicTree): number =>
  tree.kind === "condition" ? 1 : tree.members.reduce((count, part) => count + countConditions(part), 0);

interface TreeReader {
  readonly grammar: Grammar;
  readonly source: LexerInput;
}

/**
 * Parses a condition, and only if that fails a group, so that columns may be called `and`, `or` and `not`.
 * @rule R-LOG-6
 */
const readTree = (reader: TreeReader, start: number, depth: number): ScannedToken<LogicTree> => {
  const { source } = reader;
  const at = skipBlanks(source.text, start);
  const condition = scanCondition(reader, at);
  if (!isFailure(condition)) return condition;
  if (source.text.startsWith("not.", at)) {
    const word =
      scanLogicWord(source.text, at + 4) ??
      throwSyntaxError(source, {
        at: at + 4,
        expecting: [LOGIC_OPERATOR],
        shownAt: findMismatch(source.text, at + 4, "and"),
      });
    return readGroup(reader, word, true, at + 4 + word.length, depth);
  }
  const word = scanLogicWord(source.text, at);
  return word === undefined
    ? throwSyntaxError(source, condition)
    : readGroup(reader, word, false, at + word.length, depth);
};

const scanLogicWord = (text: string, at: number): "and" | "or" | undefined =>
  text.startsWith("and", at) ? "and" : text.startsWith("or", at) ? "or" : undefined;

const readGroup = (
  reader: TreeReader,
  kind: "and" | "or",
  isNegated: boolean,
  end: number,
  depth: number,
): ScannedToken<LogicTree> => {
  const {
    source,
    grammar: { limits },
  } = reader;
  checkDepth(limits, depth);
  let at = skipBlanks(source.text, end);
  if (source.text[at] !== "(") throwSyntaxError(source, { at, expecting: ['"("'] });
  const members: LogicTree[] = [];
  let itemEnd: number;
  do {
    const tree = readTree(reader, at + 1, depth + 1);
    members.push(tree.value);
    itemEnd = tree.end;
    at = skipBlanks(source.text, itemEnd);
  } while (source.text[at] === ",");
  // After a condition and a blank only a comma may follow, as after an embed.
  if (source.text[at] !== ")") throwSyntaxError(source, { at, expecting: at > itemEnd ? ['","'] : ['","', '")"'] });
  return { value: { kind, isNegated, members }, end: skipBlanks(source.text, at + 1) };
};

const scanCondition = ({ grammar, source }: TreeReader, at: number): ScannedToken<LogicTree> | LexFailure => {
  const { text } = source;
  if (text[at] !== '"' && !isNameCharacter(text, at)) return { at, expecting: TREE };
  const fieldToken = scanField(text, at);
  if (isFailure(fieldToken)) return fieldToken;
  const { field, continuations } = fieldToken.value;
  checkPathLength(grammar.limits, field);
  if (text[fieldToken.end] !== ".") {
    const isNot = text.slice(at, fieldToken.end) === "not";
    return { at: fieldToken.end, expecting: [...continuations, DELIMITER, ...(isNot ? [NEGATION] : [])] };
  }
  const operation = scanOperation(grammar, text, fieldToken.end + 1, scanTreeValue);
  return isFailure(operation)
    ? operation
    : { value: { kind: "condition", condition: { field, ...operation.value } }, end: operation.end };
};
