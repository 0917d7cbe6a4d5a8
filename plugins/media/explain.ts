/** `Accept: application/vnd.pgrst.plan+json; for="text/csv"; options=analyze`: the execution plan instead of the
 *  answer. */
import { definePlugin } from "../../core/index.ts";

/** The plan type is known to the surface where this plugin is present and `dbPlanEnabled` is on; core compiles
 *  `Envelope.explain` around whatever media type the plan is asked for. @rule R-MED-7 */
export const explainMedia = definePlugin({ name: "explain-media" });
