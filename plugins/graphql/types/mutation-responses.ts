/** `{ affected_rows returning { … } }`: adds the result type of inserts, updates and deletes. @rule G-OUT-7 G-GEN-14 */
import { GraphQLInt } from "graphql";
import { buildRowType } from "./type-names.ts";
import { buildEntry, collectFields, forTable } from "./field-taps.ts";
import { wrapNonNull, wrapNonNullList } from "./non-null-list.ts";

export const buildMutationResponseFields = forTable((build, table) => {
  const row = build.rights(table).select === undefined ? undefined : buildRowType(build, table);
  return collectFields([
    buildEntry(
      build.fieldName("affected_rows"),
      wrapNonNull(GraphQLInt),
      { kind: "affected-rows" },
      { description: "number of rows affected by the mutation" },
    ),
    buildEntry(
      "returning",
      row && wrapNonNullList(row),
      { kind: "returning" },
      { description: "data from the rows affected by the mutation" },
    ),
  ]);
});
