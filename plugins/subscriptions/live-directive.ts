/** `query @live { album { title } }`: any query of GraphQL as a live query, on every transport that has those; with
 *  `@live(patch: true)`, changes as patches. @rule G-LIV-1 G-LIV-2 */
import { definePlugin } from "../../core/index.ts";
import type { GqlDirectives } from "../graphql/api.ts";
import { directiveSettings } from "./settings.ts";

const DESCRIPTION = "answers again whenever the result has changed; with patch, what has changed as JSON Patch";

export const liveDirective = definePlugin({
  name: "live-directive",
  settings: directiveSettings,
  requires: ["graphql", "live-queries"],
  apply: (hooks, context) => {
    if (!context.options.liveDirective) return;
    const defaults: Record<string, boolean> = context.registry.has("live-patches")
      ? { if: true, patch: false }
      : { if: true };
    hooks
      .use<GqlDirectives>("gqlDirectives")
      .tap("live-directive", (directives) => [
        ...directives,
        { name: "live", description: DESCRIPTION, on: ["query", "subscription"], arguments: defaults },
      ]);
  },
});
