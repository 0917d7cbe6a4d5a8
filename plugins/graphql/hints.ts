/** `"extensions": {"suggestions": ["title"]}` for `{ album { titel } }`: adds suggestions to errors. The messages of
 *  the dialect stay unchanged. */
import { definePlugin, getVisibility } from "../../core/index.ts";
import { suggestLabels, suggestNames } from "../shared/name-hints.ts";
import { graphqlHintsService, type GqlHints } from "./api.ts";

/** Builds hints. The suggested names come from the types of the role, so a role without introspection gets no
 *  suggestions. @rule G-HNT-1 G-HNT-2 G-HNT-3 G-HNT-4 */
const hints: GqlHints = {
  buildHints: (error, session, schema) => {
    const { line, column, reason, misspelt } = error.facts;
    if (typeof line === "number" && typeof column === "number")
      return { position: { line, column }, ...(typeof reason === "string" ? { hint: reason } : {}) };
    if (misspelt === undefined && error.code !== "22P02") return undefined;
    const { model, isIntrospectionClosed, metaFields } = schema();
    if (isIntrospectionClosed || metaFields.size === 0) return undefined;
    const suggestions =
      misspelt === undefined
        ? suggestLabels(model, getVisibility(model, session, "graphql"), error)
        : suggestNames(error.facts);
    return suggestions === undefined || suggestions.length === 0 ? undefined : { suggestions };
  },
};

/** Adds hints to errors, except with `COMPAT_MODE`, because some clients compare whole errors. */
export const graphqlHints = definePlugin({
  name: "graphql-hints",
  requires: ["graphql"],
  apply: (_hooks, context) => context.offer(graphqlHintsService, hints),
});
