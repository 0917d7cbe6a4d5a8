import { definePlugin, sql } from "../../../core/index.ts";

/** `select=name,~vessels(name)&vessels.order=tonnage.desc`, `{ artist { albums_first(order_by: { sold: desc }) { title } } }`:
 *  the first of the related rows as an object, or null. */
export const firstEmbeds = definePlugin({
  name: "first-embeds",
  requires: ["relationships"],
  embeds: [
    {
      mode: "first",
      rest: { prefix: "~", takesAlias: true },
      graphql: { suffix: "_first", answers: "row" },
      compile: (embed, context) => {
        const row = context.object();
        return { columns: [{ as: embed.as, value: context.isGrouped ? sql`${row}::jsonb` : row }] };
      },
    },
  ],
});
