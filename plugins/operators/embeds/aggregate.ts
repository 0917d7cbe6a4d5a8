/** Embeds an aggregate of the related rows as one object:
 *  `albums_aggregate { aggregate { count } nodes { title } }`. */
import { definePlugin } from "../../../core/index.ts";

/** Embeds an aggregate of the related rows as one object. @rule G-AGG-6 */
export const aggregateEmbeds = definePlugin({
  name: "aggregate-embeds",
  embeds: [
    {
      mode: "aggregate",
      graphql: { suffix: "_aggregate", answers: "aggregate" },
      builtIn: [],
      compile: (embed, context) => ({ columns: [{ as: embed.as, value: context.aggregate() }] }),
    },
  ],
});
