/** Omits keys with null values at every depth: `Accept: application/vnd.pgrst.array+json;nulls=stripped`. */
import { definePlugin, sql } from "../../../core/index.ts";
import { compileEmptyBody, compileJsonObject, compileJsonRows } from "./json-body.ts";

/** @rule R-MED-1 R-SQL-2 */
export const strippedMedia = definePlugin({
  name: "stripped-media",
  apply: (hooks) => {
    hooks.compileMedia
      .for("application/vnd.pgrst.array+json;nulls=stripped")
      .tap(
        { name: "stripped-media", builtIn: [] },
        (context) =>
          sql`coalesce(pg_catalog.json_strip_nulls(${compileJsonRows(context)})::text, ${compileEmptyBody(context)})`,
      );
    hooks.compileMedia
      .for("application/vnd.pgrst.object+json;nulls=stripped")
      .tap(
        { name: "stripped-media", builtIn: [] },
        (context) => sql`coalesce(pg_catalog.json_strip_nulls(${compileJsonObject(context)})::text, 'null')`,
      );
  },
});
