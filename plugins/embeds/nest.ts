/** `author(name)`: the related rows as an object, or as an array of objects, under a key. */
import { definePlugin, sql, ident, type EmbedContext, type EmbedSql } from "../../core/index.ts";
import type { Embed } from "../../core/index.ts";

const compileNest = (embed: Embed, context: EmbedContext): EmbedSql => {
  if (context.needsJoin) {
    const row = context.alias();
    const value = sql`case when (${ident(row)}.*) is distinct from null then row_to_json(${ident(row)}.*) end`;
    return {
      join: context.lateral(context.rows(), row),
      row: ident(row),
      isInnerJoined: true,
      columns: [{ as: embed.as, value: context.isGrouped ? sql`${value}::jsonb` : value }],
    };
  }
  const value = context.isToOne ? context.object() : context.array();
  return { columns: [{ as: embed.as, value: context.isGrouped ? sql`${value}::jsonb` : value }] };
};

/** @rule R-EMB-9 R-EMB-12 G-REL-1 G-REL-2 */
export const nestEmbeds = definePlugin({
  name: "nest-embeds",
  embeds: [
    { mode: "nest", rest: { prefix: "" }, graphql: { suffix: "" }, builtIn: ["row_to_json"], compile: compileNest },
  ],
});
