/** Builds plugins' own fields with rows of a table, and fields that lead to other GraphQL schemas. */
import type { GraphQLFieldConfig } from "graphql";
import { listArguments, buildRowType } from "./type-names.ts";
import { wrapNonNullList } from "./non-null-list.ts";
import type { GqlBuild, GqlDelegatedField, GqlField, GqlJoinedField, GqlRowsField } from "../field-types.ts";
import { withPart } from "../plan-parts.ts";
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

/** Builds a field of a plugin's own object type with rows of a table. @rule X-GQL-13 */
export const buildJoinedField = (
  build: GqlBuild,
  table: GqlTable,
  { description, columns, isToOne }: GqlJoinedField,
): GraphQLFieldConfig<unknown, unknown> | undefined => {
  const row = build.rights(table).select && buildRowType(build, table);
  const join = { relation: table.relation, columns, isToOne };
  return (
    row && {
      type: isToOne ? row : wrapNonNullList(row),
      args: isToOne ? {} : listArguments(build, table),
      description,
      extensions: withPart({ kind: "custom", join }),
    }
  );
};

/** Builds a field of a forwarded schema's type that belongs to another GraphQL schema. @rule X-GQL-15 */
export const buildDelegatedField = ({
  plugin,
  config,
  members,
  delegate,
}: GqlDelegatedField): GraphQLFieldConfig<unknown, unknown> => ({
  ...config,
  extensions: withPart({ kind: "custom", plugin, columns: members, delegate }),
});
