/** Operators for equality, order, lists and null tests of any type: `?id=eq.5`, `{ id: { _eq: 5 } }`. */
import { trustedSql, definePlugin, sql } from "../../core/index.ts";
import type { OperatorSpec } from "../../core/index.ts";

const ORDERED_TYPES = { exceptTypes: ["raster"] } as const;

const defineComparison = (name: string, symbol: string, overrides: Partial<OperatorSpec> = {}): OperatorSpec => {
  const operator = trustedSql(` ${symbol} `);
  return {
    name,
    types: ["any"],
    operand: "scalar",
    isQuantifiable: true,
    takesRepresentation: true,
    builtIn: [symbol],
    compile: (column, operand) => sql`${column}${operator}${operand}`,
    ...overrides,
  };
};

const KEYWORDS: Readonly<Record<string, string>> = {
  null: "null",
  not_null: "not null",
  true: "true",
  false: "false",
  unknown: "unknown",
};

/** Operators for equality, order, lists and null tests. @rule R-FLT-8 G-OP-1 G-OP-2 G-OP-3 G-OP-4 G-OP-32 */
export const comparisonOperators = definePlugin({
  name: "comparison-operators",
  extensionTypes: ["raster"],
  operators: [
    defineComparison("eq", "="),
    defineComparison("neq", "<>", { isQuantifiable: false }),
    defineComparison("gt", ">", ORDERED_TYPES),
    defineComparison("gte", ">=", ORDERED_TYPES),
    defineComparison("lt", "<", ORDERED_TYPES),
    defineComparison("lte", "<=", ORDERED_TYPES),
    {
      name: "in",
      types: ["any"],
      operand: "list",
      takesRepresentation: true,
      builtIn: ["="],
      compile: (column, operand) => sql`${column} = any(${operand})`,
    },
    {
      name: "nin",
      rest: false,
      types: ["any"],
      operand: "list",
      builtIn: ["="],
      compile: (column, operand) => sql`not (${column} = any(${operand}))`,
    },
    {
      name: "is",
      graphql: { name: "_is_null", keywords: { true: "null", false: "not_null" } },
      types: ["any"],
      operand: "keyword",
      keywords: Object.keys(KEYWORDS),
      builtIn: [],
      compile: (column, _operand, context) =>
        sql`${column} is ${trustedSql(KEYWORDS[context.keyword ?? "null"] ?? "null")}`,
    },
    {
      name: "isdistinct",
      graphql: false,
      types: ["any"],
      operand: "scalar",
      takesRepresentation: true,
      builtIn: ["="],
      compile: (column, operand) => sql`${column} is distinct from ${operand}`,
    },
  ],
});
