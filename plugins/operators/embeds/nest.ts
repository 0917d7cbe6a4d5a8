/** Embeds the related rows under a key, as an object or an array of objects: `author(name)`. */
import {
  definePlugin,
  quoteIdentifier,
  sql,
  type Embed,
  type EmbedContext,
  type EmbedSql,
} from "../../../core/index.ts";

/** Compiles scalar subqueries, or a lateral join if the parents are sorted by the embed (`needsJoin`). */
const compileNest = (embed: Embed, context: EmbedContext): EmbedSql => {
  const alias = context.needsJoin ? context.alias() : undefined;
  // A joined row is converted before sorting, for all parents, even beyond the limit.
  const isJoined = alias !== undefined && !(context.isLimited && context.isCertainlyOne);
  const value = isJoined
    ? sql`case when (${quoteIdentifier(alias)}.*) is distinct from null then row_to_json(${quoteIdentifier(alias)}.*) end`
    : context.isToOne
      ? context.object()
      : context.array();
  const columns = [{ as: embed.as, value: context.isGrouped ? sql`${value}::jsonb` : value }];
  if (alias === undefined) return { columns };
  return { join: context.lateral(context.rows(), alias), row: quoteIdentifier(alias), isInnerJoined: true, columns };
};

/** Embeds the related rows under a key, as an object or an array of objects. @rule R-EMB-9 R-EMB-12 G-REL-1 G-REL-2 */
export const nestEmbeds = definePlugin({
  name: "nest-embeds",
  embeds: [
    { mode: "nest", rest: { prefix: "" }, graphql: { suffix: "" }, builtIn: ["row_to_json"], compile: compileNest },
  ],
});
