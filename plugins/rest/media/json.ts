/** Returns rows as an array of objects, and the value of a function unchanged: `Accept: application/json`. */
import { definePlugin, sql } from "../../../core/index.ts";
import { compileEmptyBody, compileJsonRows } from "./json-body.ts";

/** @rule R-FMT-1 R-MED-1 */
export const jsonMedia = definePlugin({
  name: "json-media",
  apply: (hooks) => {
    hooks.compileMedia
      .for("application/json")
      .tap(
        { name: "json-media", builtIn: [] },
        (context) => sql`coalesce(${compileJsonRows(context)}::text, ${compileEmptyBody(context)})`,
      );
  },
});
