/** Builds plugins' own root fields with rows of a table. */
import { listArguments, rowType } from "./type-names.ts";
import { requiredList } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlRowsField } from "../build.ts";
import type { GqlTable } from "../catalog-types.ts";

/** @rule X-GQL-11 */
export const rowsField = (
  build: GqlBuild,
  table: GqlTable,
  { description, args, change }: GqlRowsField,
): GqlField | undefined => {
  const row = build.rights(table).select && rowType(build, table);
  const { schema, name } = table.relation;
  return (
    row && {
      config: {
        type: requiredList(row),
        args: { ...listArguments(build, table), ...args },
        description,
      },
      toPlan: {
        kind: "custom",
        plan: (_, context) =>
          change(
            {
              kind: "read",
              from: { relation: { schema, name } },
              shape: "rows",
              output: context.rows(),
              ...context.list(),
            },
            context,
          ),
      },
    }
  );
};
