/** Operators for patterns and regular expressions on text: `?name=like.A*`, `{ name: { _ilike: "a%" } }`. */
import { catalogText, definePlugin, sql } from "../../core/index.ts";
import type { OperatorSpec } from "../../core/index.ts";

const TEXT_TYPES = ["text", "varchar", "bpchar", "citext"];

/** The operators that implement SQL keywords. */
const WORDS: Readonly<Record<string, string>> = {
  like: "~~",
  "not like": "!~~",
  ilike: "~~*",
  "not ilike": "!~~*",
  "similar to": "~",
  "not similar to": "!~",
};

const text = (name: string, symbol: string, description: string, more: Partial<OperatorSpec> = {}): OperatorSpec => {
  const operator = catalogText(` ${symbol} `);
  return {
    name,
    rest: false,
    types: TEXT_TYPES,
    operand: "scalar",
    description,
    builtIn: [WORDS[symbol] ?? symbol],
    plansEachTime: true,
    compile: (column, operand) => sql`${column}${operator}${operand}`,
    ...more,
  };
};

/** REST uses `*` instead of `%`, so that the pattern needs no escape in a URL. */
const asterisks = (pattern: string): string => pattern.replaceAll("*", "%");

/** @rule R-FLT-6 G-OP-5 G-OP-6 G-OP-7 G-OP-8 G-OP-9 */
export const textOperators = definePlugin({
  name: "text-operators",
  extensionTypes: ["citext"],
  operators: [
    text("like", "like", "does the column match the given pattern", {
      rest: "like",
      isQuantifiable: true,
      restOperand: asterisks,
    }),
    text("nlike", "not like", "does the column NOT match the given pattern"),
    text("ilike", "ilike", "does the column match the given case-insensitive pattern", {
      rest: "ilike",
      isQuantifiable: true,
      restOperand: asterisks,
    }),
    text("nilike", "not ilike", "does the column NOT match the given case-insensitive pattern"),
    text("similar", "similar to", "does the column match the given SQL regular expression"),
    text("nsimilar", "not similar to", "does the column NOT match the given SQL regular expression"),
    text("regex", "~", "does the column match the given POSIX regular expression, case sensitive", {
      rest: "match",
      isQuantifiable: true,
      takesRepresentation: true,
    }),
    text("nregex", "!~", "does the column NOT match the given POSIX regular expression, case sensitive"),
    text("iregex", "~*", "does the column match the given POSIX regular expression, case insensitive", {
      rest: "imatch",
      isQuantifiable: true,
      takesRepresentation: true,
    }),
    text("niregex", "!~*", "does the column NOT match the given POSIX regular expression, case insensitive"),
  ],
});
