/** `{ affected_rows returning { … } }`: adds the result type of inserts, updates and deletes. @rule G-OUT-7 G-GEN-14 */
import { GraphQLInt } from "graphql";
import { buildRowType } from "./type-names.ts";
import { collectFields, forTable } from "./field-taps.ts";
import { wrapNonNull, wrapNonNullList } from "./non-null-list.ts";

export const buildMutationResponseFields = forTable((build, table) => {
  const row = build.rights(table).select === undefined ? undefined : buildRowType(build, table);
  return collectFields([
    [
      build.fieldName("affected_rows"),
      {
        config: { type: wrapNonNull(GraphQLInt), description: "number of rows affected by the mutation" },
        toPlan: { kind: "affected-rows" },
      },
    ],
    row && [
      "returning",
      {
        config: { type: wrapNonNullList(row), description: "data from the rows affected by the mutation" },
        toPlan: { kind: "returning" },
      },
    ],
  ]);
});
