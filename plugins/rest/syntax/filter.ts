/** `tonnage=gte.500`, `name=not.like(any).{A*,*z}`: parses operator expressions. Plugins declare the operators. */
import { encodeArrayLiteral, type OperatorSpec } from "../../../core/index.ts";
import { checkPathLength } from "../errors.ts";
import type { AddressedPart, Condition, Grammar } from "../request.ts";
import {
  DELIMITER,
  isFailure,
  findMismatch,
  requireToken,
  parseTreePath,
  scanQuoted,
  skipBlanks,
  type LexFailure,
  type LexerInput,
  type ScannedToken,
} from "./lex.ts";

/** An operator expression without its field. */
type Operation = Omit<Condition, "field">;

const OPERATOR = "operator (eq, gt, ...)";

/** Parses a filter parameter. `name` and `value` are decoded. @throws RelApiError `parse-error` @rule R-FLT-1 */
export const parseFilter = (grammar: Grammar, name: string, value: string): AddressedPart<Condition> => {
  const { names, field } = parseTreePath(name);
  checkPathLength(grammar.limits, field);
  const source = { text: value, name: "filter", raw: value, facts: { parameter: name, value } };
  const { value: operation } = requireToken(source, scanOperation(grammar, value, 0, scanPlainValue));
  return { path: names, part: { field, ...operation } };
};

/** Parses an operator expression without a field. @throws RelApiError `parse-error` */
export const parseOperation = (grammar: Grammar, source: LexerInput): Operation =>
  requireToken(source, scanOperation(grammar, source.text, 0, scanPlainValue)).value;

/** Parses the value, or returns undefined if it is not an operator expression. @rule R-RPC-2 */
export const parseOptionalOperation = (grammar: Grammar, value: string): Operation | undefined => {
  const result = scanOperation(grammar, value, 0, scanPlainValue);
  return isFailure(result) ? undefined : result.value;
};

type ScanValue = (text: string, at: number) => ScannedToken<string> | LexFailure;

/** Scans a value up to the end of the text, including quotes. @rule R-LEX-5 */
const scanPlainValue: ScanValue = (text, at) => ({ value: text.slice(at), end: text.length });

/** Scans a value inside a logic tree. @rule R-LEX-4 */
export const scanTreeValue: ScanValue = (text, at) => {
  const quotedToken = scanQuotedElement(text, at);
  if (quotedToken !== undefined) return quotedToken;
  if (text[at] === "{") {
    const inner = findAnyCharacter(text, at + 1, "{}");
    if (text[inner] === "}") return { value: text.slice(at, inner + 1), end: inner + 1 };
  }
  const end = findAnyCharacter(text, at, ",)");
  return { value: text.slice(at, end), end };
};

/** Scans a quoted value that ends where its element ends. @rule R-LEX-3 */
const scanQuotedElement = (text: string, at: number): ScannedToken<string> | undefined => {
  if (text[at] !== '"') return undefined;
  const quotedToken = scanQuoted(text, at);
  return isFailure(quotedToken) || (text[quotedToken.end] !== "," && text[quotedToken.end] !== ")")
    ? undefined
    : quotedToken;
};

/** Returns the position of the first of the characters, or the end. */
const findAnyCharacter = (text: string, from: number, characters: string): number => {
  let i = from;
  while (i < text.length && !characters.includes(text[i] as string)) i++; // the index is below the length
  return i;
};

/** Scans `[not.]operator[(…)].value` from `start`. */
export const scanOperation = (
  grammar: Grammar,
  text: string,
  start: number,
  scanValue: ScanValue,
): ScannedToken<Operation> | LexFailure => {
  const isNegated = text.startsWith("not.", start);
  const at = isNegated ? start + 4 : start;
  const operator = findOperator(grammar, text, at);
  if (operator === undefined) {
    if (isNegated)
      return { at, expecting: [OPERATOR], shownAt: findMismatch(text, at, findFirstListOperator(grammar)) };
    if (text.startsWith("not", at)) return { at: at + 3, expecting: [DELIMITER] };
    return { at, expecting: ['"not"', OPERATOR], shownAt: findMismatch(text, at, "not") };
  }
  const [name, specs] = operator;
  const suffix = scanSuffix(text, at + name.length, specs);
  if (isFailure(suffix)) return suffix;
  const operand = scanOperand(text, suffix.end, specs, scanValue);
  if (isFailure(operand)) return operand;
  return { value: { isNegated, operator: name, specs, ...suffix.value, ...operand.value }, end: operand.end };
};

const findOperator = (
  grammar: Grammar,
  text: string,
  at: number,
): readonly [name: string, specs: readonly OperatorSpec[]] | undefined => {
  // In valid input, the text before the delimiter is the name; the search handles invalid input.
  const end = findAnyCharacter(text, at, ".(");
  const exact = grammar.operators.get(text.slice(at, end));
  if (exact !== undefined) return [text.slice(at, end), exact];
  let longestMatch: readonly [string, readonly OperatorSpec[]] | undefined;
  for (const entry of grammar.operators)
    if (text.startsWith(entry[0], at) && (longestMatch === undefined || entry[0].length > longestMatch[0].length))
      longestMatch = entry;
  return longestMatch;
};

/** Returns the operator that messages name. Operators with lists are tried first. @rule R-LEX-12 */
const findFirstListOperator = (grammar: Grammar): string =>
  [...grammar.operators].find(([, [spec]]) => spec?.operand === "list")?.[0] ?? "eq";

type Suffix = Pick<Condition, "quantifier" | "option">;

const LANGUAGE = /[\p{L}0-9_]*/uy;

/** Scans `.`, `(any).` or `(english).` and returns the position of the operand. @rule R-FLT-6 */
const scanSuffix = (text: string, at: number, specs: readonly OperatorSpec[]): ScannedToken<Suffix> | LexFailure => {
  if (text[at] === ".") return { value: {}, end: at + 1 };
  if (text[at] !== "(") return { at, expecting: [OPERATOR] };
  if (specs.some((spec) => spec.isQuantifiable === true)) return scanQuantifier(text, at + 1);
  if (specs.some((spec) => spec.hasOption === true)) {
    LANGUAGE.lastIndex = at + 1;
    LANGUAGE.test(text);
    const end = LANGUAGE.lastIndex;
    return end === at + 1
      ? { at: end, expecting: [OPERATOR] }
      : closeSuffix(text, end, { option: text.slice(at + 1, end) });
  }
  return { at, expecting: [OPERATOR] };
};

const scanQuantifier = (text: string, at: number): ScannedToken<Suffix> | LexFailure => {
  for (const quantifier of ["any", "all"] as const)
    if (text.startsWith(quantifier, at)) return closeSuffix(text, at + 3, { quantifier });
  return { at, expecting: [OPERATOR], shownAt: findMismatch(text, at, "any") };
};

const closeSuffix = (text: string, at: number, suffix: Suffix): ScannedToken<Suffix> | LexFailure => {
  if (text[at] !== ")") return { at, expecting: [OPERATOR] };
  return text[at + 1] === "." ? { value: suffix, end: at + 2 } : { at: at + 1, expecting: [OPERATOR] };
};

type ConditionOperand = Pick<Condition, "value" | "keyword">;

const scanOperand = (
  text: string,
  at: number,
  specs: readonly OperatorSpec[],
  scanValue: ScanValue,
): ScannedToken<ConditionOperand> | LexFailure => {
  const [spec] = specs;
  if (spec?.operand === "keyword") return scanKeyword(text, at, spec.keywords ?? []);
  if (spec?.operand === "list") {
    const list = scanList(text, at);
    return isFailure(list) ? list : { value: { value: encodeArrayLiteral(list.value) }, end: list.end };
  }
  const scalar = scanValue(text, at);
  if (isFailure(scalar)) return scalar;
  return {
    value: { value: spec?.restOperand === undefined ? scalar.value : spec.restOperand(scalar.value) },
    end: scalar.end,
  };
};

/**
 * Scans one of the keywords in any letter case. An error is reported at the first character that matches no keyword.
 * @rule R-FLT-8 R-LEX-12
 */
const scanKeyword = (
  text: string,
  at: number,
  keywords: readonly string[],
): ScannedToken<ConditionOperand> | LexFailure => {
  let longest: string | undefined;
  let furthestPosition = at;
  for (const keyword of keywords) {
    const lower = text.slice(at, at + keyword.length).toLowerCase();
    const matchLength = findMismatch(lower, 0, keyword);
    if (matchLength === keyword.length && keyword.length > (longest?.length ?? -1)) longest = keyword;
    if (at + matchLength > furthestPosition) furthestPosition = at + matchLength;
  }
  if (longest !== undefined) return { value: { keyword: longest }, end: at + longest.length };
  return { at: furthestPosition, expecting: [`isVal: (${keywords.join(", ")})`] };
};

/** Scans a list: `(v1,v2)`. @rule R-LEX-3 R-LEX-9 R-FLT-7 */
const scanList = (text: string, start: number): ScannedToken<readonly string[]> | LexFailure => {
  const at = skipBlanks(text, start);
  if (text[at] !== "(") return { at, expecting: ['"("'] };
  const elements: string[] = [];
  let i = skipBlanks(text, at + 1);
  if (text[i] === ")") return { value: elements, end: skipBlanks(text, i + 1) };
  for (;;) {
    const quotedToken = scanQuotedElement(text, i);
    const end = quotedToken?.end ?? findAnyCharacter(text, i, ",)");
    elements.push(quotedToken?.value ?? text.slice(i, end));
    if (text[end] === ")") return { value: elements, end: skipBlanks(text, end + 1) };
    if (text[end] !== ",") return { at: end, expecting: [...(end === i ? ['"\\""'] : []), '","', '")"'] };
    i = end + 1;
  }
};
