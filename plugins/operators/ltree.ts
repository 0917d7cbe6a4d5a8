/** Operators of label trees: `{ path: { _descendant: "world.europe" } }`. */
import { trustedSql, definePlugin, quoteIdentifier, sql } from "../../core/index.ts";
import type { FilterContext, OperatorSpec, Sql } from "../../core/index.ts";

/** Qualifies the operator, because the extension may be outside the search path. */
const qualifyOperator = (context: FilterContext, symbol: string): Sql =>
  sql`operator(${quoteIdentifier(context.model.extensions.get("ltree") ?? "public")}.${trustedSql(symbol)})`;

const defineLtreeOperator = (
  name: string,
  graphql: string,
  symbol: string,
  description: string,
  overrides: Partial<OperatorSpec> = {},
): OperatorSpec => ({
  name,
  rest: false,
  graphql,
  types: ["ltree"],
  operand: "scalar",
  description,
  compile: (column, operand, context) => sql`${column} ${qualifyOperator(context, symbol)} ${operand}`,
  ...overrides,
});

/** Operators of label trees. @rule G-OP-19 G-OP-20 G-OP-21 G-OP-22 */
export const ltreeOperators = definePlugin({
  name: "ltree-operators",
  extensionTypes: ["ltree", "lquery", "ltxtquery"],
  operators: [
    defineLtreeOperator("ancestor", "_ancestor", "@>", "is the left argument an ancestor of right (or equal)?"),
    defineLtreeOperator("ancestor-any", "_ancestor_any", "@>", "does array contain an ancestor of `ltree`?", {
      operand: "list",
    }),
    defineLtreeOperator("descendant", "_descendant", "<@", "is the left argument a descendant of right (or equal)?"),
    defineLtreeOperator("descendant-any", "_descendant_any", "<@", "does array contain a descendant of `ltree`?", {
      operand: "list",
    }),
    defineLtreeOperator("matches", "_matches", "~", "does `ltree` match `lquery`?", { operandType: "lquery" }),
    defineLtreeOperator("matches-any", "_matches_any", "?", "does `ltree` match any `lquery` in array?", {
      operand: "list",
      operandType: "text",
      plansEachTime: true,
      compile: (column, operand, context) =>
        sql`${column} ${qualifyOperator(context, "?")} (${operand})::${quoteIdentifier(context.model.extensions.get("ltree") ?? "public", "lquery")}[]`,
    }),
    defineLtreeOperator("matches-fulltext", "_matches_fulltext", "@", "does `ltree` match `ltxtquery`?", {
      operandType: "ltxtquery",
    }),
  ],
});
