import { GraphQLFloat, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from "graphql";
import { definePlugin, RelApiError, sql } from "../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";

const ALBUM = { schema: "public", name: "album" };

const Rate = new GraphQLObjectType({
  name: "exchange_rate",
  fields: { currency: { type: new GraphQLNonNull(GraphQLString) }, rate: { type: new GraphQLNonNull(GraphQLFloat) } },
});

/** `{ charts(top: 3) { title } sales(country: "SE") exchange_rate(currency: "EUR") { rate } }`: a plan, a statement,
 *  and a function of one's own. `rates`: asks a server for the rate of a currency. */
export const rootFields = (rates: (currency: string, signal: AbortSignal) => Promise<number | undefined>) =>
  definePlugin({
    name: "root-fields",
    requires: ["graphql-queries"],
    statements: [
      {
        name: "sales",
        compile: (argument) => sql`
          select json_build_object('albums', count(*), 'sold', sum(album.sold))
          from public.album join public.artist on artist.id = album.artist_id
          where artist.country = ${argument("country", "text")}`,
      },
    ],
    apply: (hooks) => {
      hooks.buildGqlField.tap("root-fields", (fields: GqlFields, { scope, build, role }: GqlFieldContext) => {
        if (scope !== "query_root") return fields;
        const album = build.table(ALBUM);
        const albums = album && build.rights(album).select?.columns.has("sold") ? build.rowType(album) : undefined;
        const json = build.valueType("json");
        const added: Record<string, GqlField> = {
          exchange_rate: {
            config: { type: Rate, args: { currency: { type: new GraphQLNonNull(GraphQLString) } } },
            toPlan: {
              kind: "custom",
              run: async ({ arguments: { currency }, signal }) => {
                const rate = await rates(String(currency), signal);
                if (rate === undefined)
                  throw new RelApiError({
                    code: "no-such-currency",
                    status: 404,
                    message: `no currency "${currency}"`,
                  });
                return { currency: String(currency), rate };
              },
            },
          },
        };
        if (albums !== undefined)
          added["charts"] = {
            config: {
              type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(albums))),
              args: { top: { type: GraphQLInt, defaultValue: 2 } },
            },
            toPlan: {
              kind: "custom",
              plan: (_, { argument, rows }) => {
                const limit = argument("top", "bigint");
                return {
                  kind: "read",
                  from: { relation: ALBUM },
                  shape: "rows",
                  output: rows(),
                  orderBy: [{ expression: { kind: "column", name: "sold" }, direction: "desc", nulls: "last" }],
                  ...(limit && { limit }),
                };
              },
            },
          };
        if (role === "admin" && json !== undefined)
          added["sales"] = {
            config: { type: build.valueOutput(json), args: { country: { type: GraphQLString } } },
            toPlan: { kind: "custom", statement: "sales" },
          };
        return { ...fields, ...added };
      });
    },
  });
