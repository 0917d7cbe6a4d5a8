/** Operators for patterns and regular expressions on text: `?name=like.A*`, `{ name: { _ilike: "a%" } }`. */
import { definePlugin, type OperatorSpec } from "../../core/index.ts";
import { defineInfixOperator } from "./infix.ts";

const TEXT_TYPES = ["text", "varchar", "bpchar", "citext"];

/** The operators that implement SQL keywords. */
const OPERATOR_BY_KEYWORD: Readonly<Record<string, string>> = {
  like: "~~",
  "not like": "!~~",
  ilike: "~~*",
  "not ilike": "!~~*",
  "similar to": "~",
  "not similar to": "!~",
};

const defineTextOperator = (
  name: string,
  symbol: string,
  description: string,
  overrides: Partial<OperatorSpec> = {},
): OperatorSpec =>
  defineInfixOperator(symbol, {
    name,
    rest: false,
    types: TEXT_TYPES,
    description,
    builtIn: [OPERATOR_BY_KEYWORD[symbol] ?? symbol],
    plansEachTime: true,
    ...overrides,
  });

/** Replaces `*`, which REST uses instead of `%` so that patterns need no escape in a URL. */
const replaceAsterisks = (pattern: string): string => pattern.replaceAll("*", "%");

/** Operators for patterns and regular expressions on text. @rule R-FLT-6 G-OP-5 G-OP-6 G-OP-7 G-OP-8 G-OP-9 */
export const textOperators = definePlugin({
  name: "text-operators",
  extensionTypes: ["citext"],
  operators: [
    defineTextOperator("like", "like", "does the column match the given pattern", {
      rest: "like",
      isQuantifiable: true,
      restOperand: replaceAsterisks,
    }),
    defineTextOperator("nlike", "not like", "does the column NOT match the given pattern"),
    defineTextOperator("ilike", "ilike", "does the column match the given case-insensitive pattern", {
      rest: "ilike",
      isQuantifiable: true,
      restOperand: replaceAsterisks,
    }),
    defineTextOperator("nilike", "not ilike", "does the column NOT match the given case-insensitive pattern"),
    defineTextOperator("similar", "similar to", "does the column match the given SQL regular expression"),
    defineTextOperator("nsimilar", "not similar to", "does the column NOT match the given SQL regular expression"),
    defineTextOperator("regex", "~", "does the column match the given POSIX regular expression, case sensitive", {
      rest: "match",
      isQuantifiable: true,
      takesRepresentation: true,
    }),
    defineTextOperator("nregex", "!~", "does the column NOT match the given POSIX regular expression, case sensitive"),
    defineTextOperator("iregex", "~*", "does the column match the given POSIX regular expression, case insensitive", {
      rest: "imatch",
      isQuantifiable: true,
      takesRepresentation: true,
    }),
    defineTextOperator(
      "niregex",
      "!~*",
      "does the column NOT match the given POSIX regular expression, case insensitive",
    ),
  ],
});
