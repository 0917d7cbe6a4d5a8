/** Operators that change a column in an update: `_inc: { sold: 1 }`, `_append: {…}`. */
import { definePlugin, sql } from "../../core/index.ts";
import type { UpdateOperatorSpec } from "../../core/index.ts";

const NUMERIC = ["int2", "int4", "int8", "float4", "float8", "numeric", "money"];
const JSONB = ["jsonb"];

/** The update operator that adds to a number. @rule G-UPD-1b */
export const incOperator = definePlugin({
  name: "inc-operator",
  updateOperators: [
    {
      name: "inc",
      graphql: "_inc",
      types: NUMERIC,
      description: "increments the numeric columns with given value of the filtered values",
      inputDescription: "input type for incrementing numeric columns in table $table",
      builtIn: ["+"],
      compile: (column, operand) => sql`${column} + ${operand}`,
    },
  ],
});

const defineDocumentOperator = (
  name: string,
  graphql: string,
  description: string,
  operandType: string | undefined,
  compile: UpdateOperatorSpec["compile"],
  overrides: Partial<UpdateOperatorSpec> = {},
): UpdateOperatorSpec => ({
  name,
  graphql,
  types: JSONB,
  description,
  inputDescription: description,
  operandType,
  builtIn: ["||", "-", "#-"],
  compile,
  ...overrides,
});

/** The update operators of `jsonb` documents. With `rejectsNull`, the GraphQL surface rejects a null operand. @rule
 *  G-UPD-1c G-UPD-1d G-UPD-1e G-UPD-1f G-UPD-1g */
export const documentOperators = definePlugin({
  name: "document-operators",
  updateOperators: [
    defineDocumentOperator(
      "append",
      "_append",
      "append existing jsonb value of filtered columns with new jsonb value",
      undefined,
      (column, operand) => sql`${column} || ${operand}`,
    ),
    defineDocumentOperator(
      "prepend",
      "_prepend",
      "prepend existing jsonb value of filtered columns with new jsonb value",
      undefined,
      (column, operand) => sql`${operand} || ${column}`,
    ),
    defineDocumentOperator(
      "delete-key",
      "_delete_key",
      "delete key/value pair or string element. key/value pairs are matched based on their key value",
      "text",
      (column, operand) => sql`${column} - ${operand}`,
    ),
    defineDocumentOperator(
      "delete-elem",
      "_delete_elem",
      "delete the array element with specified index (negative integers count from the end). throws an error if top level container is not an array",
      "int4",
      (column, operand) => sql`${column} - ${operand}`,
      { rejectsNull: true },
    ),
    defineDocumentOperator(
      "delete-at-path",
      "_delete_at_path",
      "delete the field or element with specified path (for JSON arrays, negative integers count from the end)",
      "_text",
      (column, operand) => sql`${column} #- ${operand}`,
      { rejectsNull: true },
    ),
  ],
});
