/** Defines operators that are written between a column and an operand, such as `column @> operand`. */
import { trustedSql, sql, type OperatorSpec } from "../../core/index.ts";

/** Defines an operator with this symbol, which is also its name in the catalog unless `builtIn` is given. */
export const defineInfixOperator = (
  symbol: string,
  spec: Omit<OperatorSpec, "compile" | "operand"> & Partial<OperatorSpec>,
): OperatorSpec => {
  const operator = trustedSql(` ${symbol} `);
  return {
    operand: "scalar",
    builtIn: [symbol],
    compile: (column, operand) => sql`${column}${operator}${operand}`,
    ...spec,
  };
};
