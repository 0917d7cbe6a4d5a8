/** `Accept: application/vnd.pgrst.plan+json; for="text/csv"; options=analyze`: the execution plan instead of the
 *  result. */
import { definePlugin } from "../../core/index.ts";

/** The surface knows the plan type if this plugin is present and `dbPlanEnabled` is on; core compiles
 *  `Envelope.explain` around whatever media type the plan is requested for. @rule R-MED-7 */
export const explainMedia = definePlugin({ name: "explain-media" });
