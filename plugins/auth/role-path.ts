/** Reads the location of the REST role in the claims: `JWT_ROLE_CLAIM_KEY=$.resource.roles[?(@ == 'editor')]`. */
import { JSONPathEnvironment } from "json-p3";
import { getErrorMessage, type Json } from "../../core/index.ts";
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

type PathStep =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "filter"; readonly test: (item: string) => boolean };

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
    if (match === null || steps.at(-1)?.kind === "filter")
      throw roleClaimKeyInvalid(expression, `cannot be read at ${JSON.stringify(remainingText)}`);
    const [matchedText, key, quotedKey, index, operator, operand] = match;
    if (operator !== undefined) {
      const test = TESTS[operator] as (typeof TESTS)[string]; // the pattern matches only these
      const text = removeEscapes(operand ?? "");
      steps.push({ kind: "filter", test: (item) => test(item, text) });
    } else if (index !== undefined) {
      steps.push({ kind: "index", index: Number(index) });
    } else {
      steps.push({ kind: "key", key: key ?? removeEscapes(quotedKey ?? "") });
    }
    remainingText = remainingText.slice(matchedText.length);
  }
  if (steps[0]?.kind !== "key") throw roleClaimKeyInvalid(expression, "does not start with a name");
  return (claims) => {
    let current: Json | undefined = claims;
    for (const step of steps) current = current === undefined ? undefined : followStep(current, step);
    return current;
  };
};

const followStep = (from: Json, step: PathStep): Json | undefined => {
  if (step.kind === "key") {
    if (typeof from !== "object" || from === null || Array.isArray(from) || !Object.hasOwn(from, step.key))
      return undefined;
    return (from as Readonly<Record<string, Json>>)[step.key]; // it is an object, as checked above
  }
  if (!Array.isArray(from)) return undefined;
  const items = from as readonly Json[];
  return step.kind === "index" ? items[step.index] : items.find((item) => typeof item === "string" && step.test(item));
};
