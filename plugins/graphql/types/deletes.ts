/** `mutation { delete_album(where: { sold: { _is_null: true } }) { affected_rows } delete_album_by_pk(id: 1) { title }
 *  }`: adds deletes as root fields. @rule G-ROOT-13 G-ROOT-14 */
import { definePlugin } from "../../../core/index.ts";
import { getRoleTable } from "./role-table.ts";
import {
  buildBoolExpType,
  listKeyArguments,
  buildMutationResponseType,
  quoteTableName,
  forEachTable,
  buildRowType,
} from "./type-names.ts";
import { argument, tapFields } from "./field-taps.ts";
import { wrapNonNull } from "./non-null-list.ts";

const buildRootFields = forEachTable((build, table) => {
  const { rights, hasKey } = getRoleTable(build, table);
  const where = rights.delete === true ? buildBoolExpType(build, table) : undefined;
  const type = where && buildMutationResponseType(build, table);
  if (where === undefined || type === undefined) return {};
  const row = hasKey ? buildRowType(build, table) : undefined;
  return {
    delete: {
      kind: "delete",
      type,
      args: {
        where: argument(
          wrapNonNull(where),
          { kind: "argument", name: "where" },
          "filter the rows which have to be deleted",
        ),
      },
      description: `delete data from the table: ${quoteTableName(table)}`,
    },
    delete_by_pk: row && {
      kind: "delete-by-pk",
      type: row,
      args: listKeyArguments(build, table),
      description: `delete single row from the table: ${quoteTableName(table)}`,
    },
  };
});

/** Adds the root fields that delete rows. */
export const graphqlDeletes = definePlugin({
  name: "graphql-deletes",
  requires: ["graphql-queries"],
  apply: (hooks) => tapFields(hooks, "graphql-deletes", { mutation_root: buildRootFields }),
});
