/** `{ artist { albums(limit: 2) { title } } }`, `{ album(where: { artist: { … } }, order_by: { artist: { … } }) { … }
 *  }`: adds related rows. @rule G-REL-1 G-REL-2 G-REL-3 */
import type { GraphQLInputType } from "graphql";
import { findColumn, definePlugin } from "../../../core/index.ts";
import { getRoleTable, type RoleTable } from "./role-table.ts";
import { buildBoolExpType, listArguments, buildOrderByType, buildRowType } from "./type-names.ts";
import { buildEntry, collectFields, forTable, tapFields } from "./field-taps.ts";
import { wrapNonNull, wrapNonNullList } from "./non-null-list.ts";
import type { GqlBuild } from "../field-types.ts";
import type { GqlRelationshipField, GqlTable } from "../catalog-types.ts";
import { relationshipSettings } from "../settings.ts";

export const buildRelationshipPart = ({ relationship, target, isAfter }: GqlRelationshipField) =>
  ({ kind: "relationship", relationship, target, ...(isAfter === undefined ? {} : { isAfter }) }) as const;

/** Returns whether the related row always exists: the table itself has the foreign key, whose columns are all NOT NULL.
 *  With `nullableRelationships`, the role must also be able to see all rows of the target. */
const isCertain = (
  build: GqlBuild,
  table: GqlTable,
  { relationship, table: target }: RoleTable["relationships"][number],
): boolean =>
  !(build.schema.options.nullableRelationships && build.mayHideRows(target)) &&
  relationship.isOwnKey &&
  relationship.isManual !== true &&
  relationship.columns.length > 0 &&
  relationship.columns.every(([source]) => findColumn(table.relation, source)?.notNull === true);

const buildRowFields = forTable((build, table) => {
  const modes = listRowModes(build);
  return collectFields(
    getRoleTable(build, table).relationships.flatMap((relationshipField) => {
      const row = buildRowType(build, relationshipField.table);
      if (row === undefined) return [];
      return modes.map(({ mode, suffix, isOne }) => {
        const config = relationshipField.relationship.isToOne
          ? {
              type: isCertain(build, table, relationshipField) ? wrapNonNull(row) : row,
              description: "An object relationship",
            }
          : {
              type: isOne ? row : wrapNonNullList(row),
              args: listArguments(build, relationshipField.table),
              description: isOne ? "An object out of an array relationship" : "An array relationship",
            };
        const name =
          suffix === ""
            ? relationshipField.name
            : build.fieldName({ text: relationshipField.name, isCustom: true }, suffix);
        return [name, { config, toPlan: { ...buildRelationshipPart(relationshipField), mode } }] as const;
      });
    }),
  );
});

/** Returns the embedding modes that return rows. Each adds a field per relationship: `albums`, `albums_first`. */
const listRowModes = ({ schema }: GqlBuild) =>
  schema.registry.embeds.flatMap(({ mode, graphql }) =>
    graphql === undefined || graphql.answers === "aggregate"
      ? []
      : [{ mode, suffix: graphql.suffix.replace(/^_/, ""), isOne: graphql.answers === "row" }],
  );

/** Builds an input field for each relationship for which `findType` returns a type. */
const buildInputFields = (
  findType: (build: GqlBuild, relationshipField: RoleTable["relationships"][number]) => GraphQLInputType | undefined,
) =>
  forTable((build, table) =>
    collectFields(
      getRoleTable(build, table).relationships.map((relationshipField) =>
        buildEntry(
          relationshipField.name,
          findType(build, relationshipField),
          buildRelationshipPart(relationshipField),
        ),
      ),
    ),
  );

/** Adds related rows as fields of a row. */
export const graphqlRelationships = definePlugin({
  name: "graphql-relationships",
  settings: relationshipSettings,
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-relationships", {
      row: buildRowFields,
      bool_exp: buildInputFields((build, { table }) => buildBoolExpType(build, table)),
      order_by: buildInputFields((build, { relationship, table }) =>
        relationship.isToOne ? buildOrderByType(build, table) : undefined,
      ),
    }),
});
