import { GraphQLInt, GraphQLString } from "graphql";
import { definePlugin } from "../../core/index.ts";
import type { GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";

/** `{ artist { name portrait(width: 200) } }`: an address that another server knows for each artist. `find` asks that
 *  server for all artists at once. */
export const loadedField = (find: (artists: readonly string[], width: number) => Promise<readonly (string | null)[]>) =>
  definePlugin({
    name: "loaded-field",
    requires: ["graphql-queries"],
    apply: (hooks) => {
      hooks.buildGqlField.tap("loaded-field", (fields: GqlFields, { scope, relation }: GqlFieldContext): GqlFields => {
        if (scope !== "row" || relation?.name !== "artist") return fields;
        return {
          ...fields,
          portrait: {
            config: { type: GraphQLString, args: { width: { type: GraphQLInt, defaultValue: 100 } } },
            toPlan: {
              kind: "custom",
              columns: ["name"],
              load: (rows, { arguments: { width } }) =>
                find(
                  rows.map(({ name }) => String(name)),
                  Number(width),
                ),
            },
          },
        };
      });
    },
  });
