/** `mutation { delete_album(where: { sold: { _is_null: true } }) { affected_rows } delete_album_by_pk(id: 1) { title }
 *  }`. @rule G-ROOT-13 G-ROOT-14 */
import { definePlugin } from "../../../core/index.ts";
import { roleTableOf } from "./role-table.ts";
import { boolExp, keyArguments, mutationResponse, quoted, rootComment, rootNameOf, rowType } from "./shapes.ts";
import { argument, fieldsOf, tapFields } from "./tap.ts";
import { required } from "./wrap.ts";
import type { GqlFieldContext, GqlFields } from "../parts.ts";

const rootFields = ({ build }: GqlFieldContext): GqlFields =>
  fieldsOf(
    build.source.tables.flatMap((table) => {
      const lens = roleTableOf(build, table);
      const where = lens.rights.delete === true ? boolExp(build, table) : undefined;
      const response = where && mutationResponse(build, table);
      if (where === undefined || response === undefined) return [];
      const row = lens.hasKey ? rowType(build, table) : undefined;
      const { relation } = table;
      return [
        [
          rootNameOf(build, table, "delete", "delete", table.word),
          {
            config: {
              type: response,
              get args() {
                return {
                  where: argument(
                    required(where),
                    { kind: "argument", name: "where" },
                    "filter the rows which have to be deleted",
                  ),
                };
              },
              description: rootComment(table, "delete", `delete data from the table: ${quoted(table)}`),
            },
            toPlan: { kind: "delete", relation },
          },
        ] as const,
        row &&
          ([
            rootNameOf(build, table, "delete_by_pk", "delete", table.word, "by_pk"),
            {
              config: {
                type: row,
                get args() {
                  return keyArguments(build, table);
                },
                description: rootComment(table, "delete_by_pk", `delete single row from the table: ${quoted(table)}`),
              },
              toPlan: { kind: "delete-by-pk", relation },
            },
          ] as const),
      ];
    }),
  );

export const graphqlDeletes = definePlugin({
  name: "graphql-deletes",
  requires: ["graphql-queries"],
  apply: (hooks) => tapFields(hooks, "graphql-deletes", { mutation_root: rootFields }),
});
