/** Returns a single row as an object: `Accept: application/vnd.pgrst.object+json`. The surface checks that there is
 *  exactly one. */
import { definePlugin, sql } from "../../../core/index.ts";
import { compileJsonObject } from "./json-body.ts";

/** @rule R-MED-1 R-RPC-13 */
export const singularMedia = definePlugin({
  name: "singular-media",
  apply: (hooks) => {
    hooks.compileMedia
      .for("application/vnd.pgrst.object+json")
      .tap(
        { name: "singular-media", builtIn: [] },
        (context) => sql`coalesce(${compileJsonObject(context)}::text, 'null')`,
      );
  },
});
