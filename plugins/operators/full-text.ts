/** Operators of full-text search: `?entry=fts(english).storm`. */
import { definePlugin, quoteIdentifier, sql } from "../../core/index.ts";
import type { OperatorSpec } from "../../core/index.ts";

const defineSearchOperator = (name: string, query: string): OperatorSpec => ({
  name,
  graphql: false,
  types: ["any"],
  operand: "scalar",
  hasOption: true,
  plansEachTime: true,
  builtIn: ["@@"],
  compile: (column, operand, context) => {
    const language = context.option === undefined ? sql`` : sql`${context.option}::regconfig, `;
    // A column that the model lacks may be a tsvector already, so it is not converted (R-FLT-9).
    const isDocument = context.type === undefined || context.type.name === "tsvector";
    const document = isDocument ? column : sql`pg_catalog.to_tsvector(${language}${column})`;
    return sql`${document} @@ ${quoteIdentifier("pg_catalog", query)}(${language}${operand})`;
  },
});

/** Operators of full-text search. @rule R-FLT-9 */
export const fullTextOperators = definePlugin({
  name: "full-text-operators",
  operators: [
    defineSearchOperator("fts", "to_tsquery"),
    defineSearchOperator("plfts", "plainto_tsquery"),
    defineSearchOperator("phfts", "phraseto_tsquery"),
    defineSearchOperator("wfts", "websearch_to_tsquery"),
  ],
});
