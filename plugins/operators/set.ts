/** Sets columns to the given values: `_set: {…}`, and the body of PATCH. */
import { definePlugin } from "../../core/index.ts";

/** The update operator that sets columns to given values. @rule G-UPD-1a */
export const setOperator = definePlugin({
  name: "set-operator",
  updateOperators: [
    {
      name: "set",
      graphql: "_set",
      types: ["any"],
      description: "sets the columns of the filtered rows to the given values",
      inputDescription: "input type for updating data in table $table",
      builtIn: [],
      compile: (_column, operand) => operand,
    },
  ],
});
