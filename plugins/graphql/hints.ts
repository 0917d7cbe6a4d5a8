/** `"extensions": {"suggestions": ["title"]}` for `{ album { titel } }`: what may have been meant, beside the words of the
 *  dialect, which stay as they are. */
import { definePlugin, visibilityOf } from "../../core/index.ts";
import { nearLabels, nearOf } from "../hints.ts";
import { graphqlHintsService, type GqlHints } from "./api.ts";

/** Names come from the types of the role. A role that may not look at them is not told their names. @rule G-HNT-1
 *  G-HNT-2 G-HNT-3 G-HNT-4 */
const hints: GqlHints = {
  hintsFor: (error, session, schema) => {
    const { line, column, reason, misspelt } = error.facts;
    if (typeof line === "number" && typeof column === "number")
      return { position: { line, column }, ...(typeof reason === "string" ? { hint: reason } : {}) };
    if (misspelt === undefined && error.code !== "22P02") return undefined;
    const { model, isIntrospectionClosed, metaFields } = schema();
    if (isIntrospectionClosed || metaFields.size === 0) return undefined;
    const suggestions =
      misspelt === undefined ? nearLabels(model, visibilityOf(model, session, "graphql"), error) : nearOf(error.facts);
    return suggestions === undefined || suggestions.length === 0 ? undefined : { suggestions };
  },
};

/** Not with `COMPAT_MODE`: clients that compare whole errors get the dialect's. */
export const graphqlHints = definePlugin({
  name: "graphql-hints",
  requires: ["graphql"],
  apply: (_hooks, context) => context.offer(graphqlHintsService, hints),
});
