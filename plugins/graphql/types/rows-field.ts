/** Builds plugins' own root fields with rows of a table. */
import { listArguments, buildRowType } from "./type-names.ts";
import { wrapNonNullList } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlRowsField } from "../field-types.ts";
import type { GqlTable } from "../catalog-types.ts";

/** Builds a plugin's own root field with rows of a table. @rule X-GQL-11 */
export const buildRowsField = (
  build: GqlBuild,
  table: GqlTable,
  { description, args, transformRead }: GqlRowsField,
): GqlField | undefined => {
  const row = build.rights(table).select && buildRowType(build, table);
  const { schema, name } = table.relation;
  return (
    row && {
      config: {
        type: wrapNonNullList(row),
        args: { ...listArguments(build, table), ...args },
        description,
      },
      toPlan: {
        kind: "custom",
        plan: (_, context) =>
          transformRead(
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
