import { definePlugin, sql } from "../../../core/index.ts";

/** `?name=starts.Ab` and `{ name: { _starts: "Ab" } }`: texts that begin with the operand. */
export const prefixOperator = definePlugin({
  name: "prefix-operator",
  operators: [
    {
      name: "starts",
      types: ["text", "varchar"],
      operand: "scalar",
      description: "does the column begin with the given text",
      compile: (column, operand) => sql`pg_catalog.starts_with(${column}, ${operand})`,
    },
  ],
});
