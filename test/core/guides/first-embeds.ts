import { definePlugin, quoteIdentifier, sql } from "../../../core/index.ts";

/** `select=name,~album(title)&album.order=album_id.desc`, `{ artist { albums_first(order_by: { album_id: desc }) {
 *  title } } }`: the first related row as an object, or null. */
export const firstEmbeds = definePlugin({
  name: "first-embeds",
  requires: ["relationships"],
  embeds: [
    {
      mode: "first",
      rest: { prefix: "~", takesAlias: true },
      graphql: { suffix: "_first", answers: "row" },
      compile: (embed, context) => {
        if (!context.needsJoin) {
          const first = context.object();
          return { columns: [{ as: embed.as, value: context.isGrouped ? sql`${first}::jsonb` : first }] };
        }
        const row = quoteIdentifier(context.alias()); // the parents are sorted by it, which only a to-one relationship allows
        const rowJson = sql`case when ${row}.* is distinct from null then row_to_json(${row}.*) end`;
        return {
          join: sql`left join lateral (${context.rows()}) as ${row} on true`,
          row,
          columns: [{ as: embed.as, value: rowJson }],
        };
      },
    },
  ],
});
