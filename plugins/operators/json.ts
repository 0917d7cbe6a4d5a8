/** Operators of jsonb documents for containment, keys and paths: `?specs=cs.{"a":1}`,
 *  `{ stats: { _has_key: "a" } }`. */
import { trustedSql, definePlugin, sql, type OperatorSpec } from "../../core/index.ts";
import { defineInfixOperator } from "./infix.ts";

const defineJsonbOperator = (
  name: string,
  symbol: string,
  description: string,
  overrides: Partial<OperatorSpec> = {},
): OperatorSpec => defineInfixOperator(symbol, { name, rest: false, types: ["jsonb"], description, ...overrides });

const defineJsonPathOperator = (name: string, symbol: string, description: string): OperatorSpec =>
  defineJsonbOperator(name, symbol, description, {
    operandType: "text",
    plansEachTime: true,
    compile: (column, operand) => sql`${column} ${trustedSql(symbol)} (${operand})::jsonpath`,
  });

/** Operators of `jsonb` documents for containment, keys and paths. @rule G-OP-10 G-OP-11 G-OP-12 G-OP-13 G-OP-14
 *  G-OP-15 G-OP-16 */
export const jsonOperators = definePlugin({
  name: "json-operators",
  operators: [
    defineJsonbOperator("contains", "@>", "does the column contain the given json value at the top level", {
      rest: "cs",
      takesRepresentation: true,
    }),
    defineJsonbOperator("contained-in", "<@", "is the column contained in the given json value", {
      rest: "cd",
      graphql: "_contained_in",
      takesRepresentation: true,
    }),
    defineJsonbOperator("has-key", "?", "does the string exist as a top-level key in the column", {
      graphql: "_has_key",
      operandType: "text",
      takesNull: true,
    }),
    defineJsonbOperator("has-keys-any", "?|", "do any of these strings exist as top-level keys in the column", {
      graphql: "_has_keys_any",
      operand: "list",
      operandType: "text",
    }),
    defineJsonbOperator("has-keys-all", "?&", "do all of these strings exist as top-level keys in the column", {
      graphql: "_has_keys_all",
      operand: "list",
      operandType: "text",
    }),
    {
      ...defineJsonPathOperator(
        "jsonb-path-exists",
        "@?",
        "does the jsonpath return any item for the specified JSON value",
      ),
      graphql: "_jsonb_path_exists",
    },
    {
      ...defineJsonPathOperator(
        "jsonb-path-match",
        "@@",
        "does the jsonpath predicate check return true for the specified JSON value",
      ),
      graphql: "_jsonb_path_match",
    },
  ],
});
