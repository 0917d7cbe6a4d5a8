/** Reads the location of the REST role in the claims: `JWT_ROLE_CLAIM_KEY=$.resource.roles[?(@ == 'editor')]`. */
import { JSONPathEnvironment } from "json-p3";
import { getErrorMessage, type Json } from "../../core/index.ts";
import { readMember } from "../shared/json-values.ts";
import { roleClaimKeyInvalid } from "./errors.ts";

/** Returns the first value at the path. Undefined if no value is there. */
type ReadRoleClaim = (claims: Readonly<Record<string, Json>>) => Json | undefined;

/** Parses a path in the syntax of RFC 9535, or in the older form that starts with a dot. @throws RelApiError `preset`
 *  if it is neither @rule R-AUT-7 */
export const parseRoleClaimKey = (expression: string): ReadRoleClaim => {
  if (expression.startsWith("$")) return parseJsonPath(expression);
  return parseDottedPath(expression);
};

const parseJsonPath = (expression: string): ReadRoleClaim => {
  try {
    const path = new JSONPathEnvironment({ strict: true }).compile(expression);
    // The result is a part of the given claims, which are JSON.
    return (claims) => path.match(claims as Parameters<typeof path.match>[0])?.value as Json | undefined;
  } catch (error) {
    throw roleClaimKeyInvalid(expression, `is not a JSON Path (${getErrorMessage(error)})`);
  }
};

/** The key of an object, the index of a list, or the test of the items of a list. */
type PathStep = string | number | ((item: Json) => boolean);

// Matches the next step of the path: `.key`, `."b c"`, `[0]`, `[?(@ == "x")]`.
const STEP =
  /^(?:\.([\p{L}\p{N}_$@-]+)|\."((?:[^"\\]|\\.)*)"|\[(\d+)\]|\[\?\(\s*@\s*(==\^|\^==|\*==|==|!=)\s*"((?:[^"\\]|\\.)*)"\s*\)\])/u;

const TESTS: Readonly<Record<string, (item: string, operand: string) => boolean>> = {
  "==": (item, operand) => item === operand,
  "!=": (item, operand) => item !== operand,
  "^==": (item, operand) => item.startsWith(operand),
  "==^": (item, operand) => item.endsWith(operand),
  "*==": (item, operand) => item.includes(operand),
};

const removeEscapes = (quotedText: string): string => quotedText.replace(/\\(.)/gs, "$1");

const parseDottedPath = (expression: string): ReadRoleClaim => {
  const steps: PathStep[] = [];
  let remainingText = expression;
  while (remainingText !== "") {
    const match = STEP.exec(remainingText);
    if (match === null || typeof steps.at(-1) === "function")
      throw roleClaimKeyInvalid(expression, `cannot be read at ${JSON.stringify(remainingText)}`);
    const [matchedText, key, quotedKey, index, operator, operand] = match;
    if (operator !== undefined) {
      const test = TESTS[operator] as (typeof TESTS)[string]; // the pattern matches only these
      const text = removeEscapes(operand ?? "");
      steps.push((item) => typeof item === "string" && test(item, text));
    } else steps.push(index === undefined ? (key ?? removeEscapes(quotedKey ?? "")) : Number(index));
    remainingText = remainingText.slice(matchedText.length);
  }
  if (typeof steps[0] !== "string") throw roleClaimKeyInvalid(expression, "does not start with a name");
  return (claims) => steps.reduce<Json | undefined>(followStep, claims);
};

const followStep = (from: Json | undefined, step: PathStep): Json | undefined => {
  if (typeof step !== "function") return readMember(from, step);
  return Array.isArray(from) ? (from as readonly Json[]).find(step) : undefined;
};
