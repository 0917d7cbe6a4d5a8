/** Operators of arrays and ranges: `?flags=cs.{PA}`, `?period=adj.[2,4)`, `{ tags: { _contains: ["rock"] } }`. */
import { definePlugin, type OperatorSpec } from "../../core/index.ts";
import { defineInfixOperator } from "./infix.ts";

const defineContainerOperator = (
  name: string,
  symbol: string,
  types: readonly string[],
  overrides: Partial<OperatorSpec> = {},
): OperatorSpec =>
  defineInfixOperator(symbol, { name, graphql: false, types, takesRepresentation: true, ...overrides });

/** Operators of arrays and ranges. @rule R-FLT-12 G-OP-18 */
export const arrayRangeOperators = definePlugin({
  name: "array-range-operators",
  operators: [
    defineContainerOperator("contains", "@>", ["array"], {
      rest: "cs",
      graphql: "_contains",
      description: "does the array contain the given value",
    }),
    defineContainerOperator("contained-in", "<@", ["array"], {
      rest: "cd",
      graphql: "_contained_in",
      description: "is the array contained in the given array value",
    }),
    defineContainerOperator("overlaps", "&&", ["array", "range"], { rest: "ov" }),
    defineContainerOperator("strictly-left", "<<", ["range"], { rest: "sl" }),
    defineContainerOperator("strictly-right", ">>", ["range"], { rest: "sr" }),
    defineContainerOperator("not-right", "&<", ["range"], { rest: "nxr" }),
    defineContainerOperator("not-left", "&>", ["range"], { rest: "nxl" }),
    defineContainerOperator("adjacent", "-|-", ["range"], { rest: "adj" }),
  ],
});
