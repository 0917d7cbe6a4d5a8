/** Returns the execution plan instead of the result:
 *  `Accept: application/vnd.pgrst.plan+json; for="text/csv"; options=analyze`. */
import { definePlugin, explainStatement } from "../../../core/index.ts";
import { chooseMediaHook } from "../api.ts";
import { explainSettings } from "../settings.ts";
import { EXPLAIN_OPTIONS } from "../syntax/media-type.ts";

interface ExplainOptions {
  readonly format: "text" | "json";
  readonly options: readonly string[];
}

/** Returns the option, which becomes a keyword of EXPLAIN and so must not be other text. @throws TypeError for an
 *  option that is not in the list */
const checkOption = (option: string): string => {
  if (!EXPLAIN_OPTIONS.includes(option)) throw new TypeError(`"${option}" is not an EXPLAIN option`);
  return option;
};

/** Returns the execution plan instead of the result, to callers that may see it, if `dbPlanEnabled` is set. @rule
 *  R-MED-7 */
export const explainMedia = definePlugin({
  name: "explain-media",
  settings: explainSettings,
  requires: ["rest"],
  wrappers: [
    {
      name: "explain",
      builtIn: [],
      compile: (statement, wrapperOptions) => {
        // The tap in this file writes the options.
        const { format, options } = wrapperOptions as unknown as ExplainOptions;
        const words = [...options.map(checkOption), `format ${format === "json" ? "json" : "text"}`];
        return explainStatement(statement, words.join(", "));
      },
    },
  ],
  apply: (_hooks, context) => {
    context.use(chooseMediaHook).tap("explain-media", ({ plan }, negotiation) => {
      if (plan === undefined || !context.options.dbPlanEnabled) return undefined;
      if (plan.mediaType.plan !== undefined || !negotiation.maySeePlans) return undefined;
      const { format, mediaType, options } = plan;
      const inner = negotiation.chooseFor(mediaType);
      return inner && { envelope: { ...inner.envelope, wrapper: { name: "explain", options: { format, options } } } };
    });
  },
});
