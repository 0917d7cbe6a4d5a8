/** `$1.id`, `$album[0].title`, `$1[*].id`: values of earlier responses in the bodies and filters of later requests. */
import { quoteRestValue } from "../../rest/api.ts";
import { isJsonObject, getNumberText, writeJson, type Json } from "../../../core/index.ts";

/** Reports a missing value, or a reference where none is allowed. */
export class BadReference extends Error {}

// References are, for example, `$1`, `$1.id`, `$album[0].title`, `$2.address["postal.code"]` and `$1[*].id`.
const STEP = String.raw`\.[A-Za-z_]\w*|\[(?:\d+|\*|"(?:[^"\\]|\\.)*")\]`;
const REFERENCE = String.raw`\$(\d+|[A-Za-z_]\w*)((?:${STEP})*)`;
const WHOLE_REFERENCE = new RegExp(`^${REFERENCE}$`, "s");
const STEPS = new RegExp(STEP, "gs");

export const isReference = (text: string): boolean => WHOLE_REFERENCE.test(text);

/**
 * Returns the response of an earlier request by its number or id. Undefined if there is no such request.
 * @throws BadReference
 */
export type AnswerLookup = (name: string) => Json | undefined;

/** The limit on the length that inserted values add to a request. */
interface ByteBudget {
  /** The number of characters that remain. */
  remainingCharacters: number;
  /** Returns the error of an exceeded limit. */
  buildError(): Error;
}

const takeBytes = (budget: ByteBudget, characters: number): void => {
  budget.remainingCharacters -= characters;
  if (budget.remainingCharacters < 0) throw budget.buildError();
};

const missingValue = (referenceText: string): BadReference =>
  new BadReference(`${referenceText}: the answer has no such value`);

/** Returns the member or index that a step names: `.id`, `[2]`, `["postal.code"]`. */
const parseStep = (step: string): string | number =>
  step.startsWith(".")
    ? step.slice(1)
    : step.startsWith('["')
      ? (JSON.parse(step.slice(1, -1)) as string) // the caller catches syntax errors
      : Number(step.slice(1, -1));

const followKeys = (referenceText: string, from: Json, keys: readonly (string | number)[]): Json => {
  let value = from;
  for (const key of keys) {
    // Without an index, a list means its first row.
    if (typeof key === "string" && Array.isArray(value)) value = value[0] as Json;
    if (!(Array.isArray(value) || isJsonObject(value)) || !Object.hasOwn(value, key)) throw missingValue(referenceText);
    value = (value as Readonly<Record<string | number, Json>>)[key] as Json; // the condition has found the member
  }
  return value;
};

const ELEMENTS = "[*]";

/** The maximum number of steps in a reference. No response is nested more deeply. */
const MAX_STEPS = 500;

/** The value of a reference, or a value for each row if it contains `[*]`. */
type ResolvedReference = { readonly value: Json } | { readonly values: readonly Json[] };

/** Returns the value to which a reference refers. @throws BadReference */
const resolveReference = (referenceText: string, findAnswer: AnswerLookup, budget: ByteBudget): ResolvedReference => {
  const [, name = "", path = ""] = WHOLE_REFERENCE.exec(referenceText) ?? [];
  const value = findAnswer(name);
  if (value === undefined)
    throw new BadReference(`${referenceText}: there is no request "${name}" with a body before this one`);
  const steps: readonly string[] = path.match(STEPS) ?? [];
  if (steps.length > MAX_STEPS) throw new BadReference(`a reference to "${name}" has more than ${MAX_STEPS} steps`);
  let keys: readonly (string | number)[];
  try {
    keys = steps.map((step) => (step === ELEMENTS ? ELEMENTS : parseStep(step)));
  } catch {
    throw new BadReference(`${referenceText}: the text in brackets is not JSON`);
  }
  const elementsIndex = steps.indexOf(ELEMENTS);
  if (elementsIndex === -1) return { value: followKeys(referenceText, value, keys) };
  if (steps.includes(ELEMENTS, elementsIndex + 1)) throw new BadReference(`${referenceText}: [*] can stand in it once`);
  const rows = followKeys(referenceText, value, keys.slice(0, elementsIndex));
  if (!Array.isArray(rows)) throw new BadReference(`${referenceText}: [*] is for lists, and this is none`);
  takeBytes(budget, rows.length);
  const remainingKeys = keys.slice(elementsIndex + 1);
  return { values: rows.map((row: Json) => followKeys(referenceText, row, remainingKeys)) };
};

/**
 * Inserts the values into the text of a body. `$$` at the start of a string means a dollar sign. @throws BadReference
 */
export const fillBody = (body: Json, findAnswer: AnswerLookup, budget: ByteBudget): string => {
  const write = (value: Json): string => {
    if (typeof value === "string") {
      if (!value.startsWith("$")) return JSON.stringify(value);
      if (value.startsWith("$$")) return JSON.stringify(value.slice(1));
      if (!isReference(value)) return JSON.stringify(value);
      const reference = resolveReference(value, findAnswer, budget);
      const text = writeJson("value" in reference ? reference.value : (reference.values as Json));
      takeBytes(budget, text.length);
      return text;
    }
    if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
    if (!isJsonObject(value)) return writeJson(value);
    return `{${Object.entries(value)
      .map(([key, part]) => `${JSON.stringify(key)}:${write(part)}`)
      .join(",")}}`;
  };
  return write(body);
};

const encodeText = (referenceText: string, value: Json): string => {
  const text = typeof value === "string" ? value : typeof value === "boolean" ? String(value) : getNumberText(value);
  if (text === undefined)
    throw new BadReference(`${referenceText}: only texts, numbers and truth values can stand in a path`);
  return text;
};

const IN_TEXT = new RegExp(`\\$\\$|${REFERENCE}`, "gs");

/** The text before a value that is the whole operand: `eq.`, `not.gte.`. */
const OPERATOR = /^(?:not\.)?([a-z]+)\.$/;

/** Operators that interpret their operand as syntax. */
const SYNTAX_OPERATORS: ReadonlySet<string> = new Set(["in", "is"]);

/** The text before the parenthesis of a list: `in.`, `.in.`. */
const IN_LIST = /(?:^|[.,(])in\.$/;

/** Parameters that contain names instead of values. */
const NAME_PARAMETERS = /(?:^|\.)(?:select|order|columns|on_conflict|limit|offset)$/;

/**
 * Replaces references in a filter by values: as whole operands, or as quoted elements of a list or tree. Values are
 * therefore never parsed as syntax.
 */
const fillParameter = (name: string, parameterValue: string, findAnswer: AnswerLookup, budget: ByteBudget): string => {
  if (!parameterValue.includes("$")) return parameterValue;
  let filledText = "";
  let end = 0;
  let paren = -1; // the last parenthesis before the reference
  for (const match of parameterValue.matchAll(IN_TEXT)) {
    const [referenceText] = match;
    const between = parameterValue.slice(end, match.index);
    const last = Math.max(between.lastIndexOf("("), between.lastIndexOf(")"));
    if (last !== -1) paren = end + last;
    filledText += between;
    end = match.index + referenceText.length;
    if (referenceText === "$$") {
      filledText += "$";
      continue;
    }
    if (NAME_PARAMETERS.test(name))
      throw new BadReference(`${referenceText} stands where a name or a number of rows is expected`);
    const reference = resolveReference(referenceText, findAnswer, budget);
    const operator =
      end === parameterValue.length ? OPERATOR.exec(parameterValue.slice(0, match.index))?.[1] : undefined;
    const [before = "", after = ""] = [parameterValue[match.index - 1], parameterValue[end]];
    const isElement = paren !== -1 && "(,.".includes(before) && (after === "," || after === ")");
    const isListed =
      isElement && parameterValue[paren] === "(" && IN_LIST.test(parameterValue.slice(Math.max(0, paren - 4), paren));
    let value: string;
    if ("values" in reference) {
      if (!isListed) throw new BadReference(`${referenceText} must be in a list: id=in.(${referenceText})`);
      const texts = reference.values.flatMap((element) =>
        element === null ? [] : [quoteRestValue(encodeText(referenceText, element))],
      );
      if (texts.length === 0) {
        // A missing element is removed together with its comma.
        if (after === ",") end++;
        else if (filledText.endsWith(",")) filledText = filledText.slice(0, -1);
      }
      value = texts.join(",");
    } else if (operator !== undefined && !SYNTAX_OPERATORS.has(operator))
      value = encodeText(referenceText, reference.value);
    else if (isElement) value = quoteRestValue(encodeText(referenceText, reference.value));
    else
      throw new BadReference(
        `${referenceText} must be the value of a filter: id=eq.${referenceText}, id=in.(${referenceText},2)`,
      );
    takeBytes(budget, value.length);
    filledText += value;
  }
  return filledText + parameterValue.slice(end);
};

/** Inserts the values into the filters of a path with a query string, percent-encoded. @throws BadReference for a
 *  reference in any other place; URIError */
export const fillPath = (path: string, findAnswer: AnswerLookup, budget: ByteBudget): string => {
  if (!/\$|%24/.test(path)) return path;
  const [pathname = "", ...queryParts] = path.split("?");
  if (/\$|%24/.test(pathname)) throw new BadReference("references stand in filters, not in front of the question mark");
  const query = queryParts
    .join("?")
    .split("&")
    .map((pair) => {
      const equals = pair.indexOf("=");
      if (equals === -1) return pair;
      const decode = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
      const [name, value] = [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
      if (name.includes("$")) throw new BadReference("references stand in the values of filters, not in their names");
      const filledText = fillParameter(name, value, findAnswer, budget);
      return filledText === value ? pair : `${pair.slice(0, equals)}=${encodeURIComponent(filledText)}`;
    });
  return `${pathname}?${query.join("&")}`;
};
