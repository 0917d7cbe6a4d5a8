/** Media types of JSON: an array of rows or the value of a function, a single row, and both without null values. Only
 *  `json_agg` produces the bytes, because serializing them again would lose digits and key order. */
import { definePlugin, quoteIdentifier, sql, type MediaContext, type Sql } from "../../../core/index.ts";

/** Compiles one row as an element: the row itself, or its only column if a function returns values. */
const compileElement = ({ row, object = row, rowAlias, returns }: MediaContext): Sql =>
  returns === "value" || returns === "values" ? quoteIdentifier(rowAlias, "value") : object;

/** Compiles an array of rows or values, or a single row or value, as `json`. The result is NULL if there are no rows.
 *  @rule R-SQL-2 R-FMT-1 */
const compileJsonRows = (context: MediaContext): Sql =>
  context.returns === "rows" || context.returns === "values"
    ? sql`pg_catalog.json_agg(${compileElement(context)})`
    : sql`(pg_catalog.json_agg(${compileElement(context)})->0)`;

/** Compiles the first row as `json`. If a function returns a set of values, an object contains the first value.
 *  @rule R-RPC-13 */
const compileJsonObject = (context: MediaContext): Sql => {
  if (context.returns !== "values") return sql`(pg_catalog.json_agg(${compileElement(context)})->0)`;
  const scalarObject = sql`(select pg_catalog.row_to_json(_scalar) from (select ${compileElement(context)} as pgrst_scalar) as _scalar)`;
  return sql`(pg_catalog.json_agg(${scalarObject})->0)`;
};

/** Compiles the body of a result without rows. */
const compileEmptyBody = ({ returns }: MediaContext): Sql =>
  returns === "rows" || returns === "values" ? sql`'[]'` : sql`'null'`;

/** Returns rows as an array of objects, and the value of a function unchanged: `Accept: application/json`.
 *  @rule R-FMT-1 R-MED-1 */
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

/** Returns a single row as an object: `Accept: application/vnd.pgrst.object+json`. The surface checks that the
 *  result has exactly one row. @rule R-MED-1 R-RPC-13 */
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

/** Omits keys with null values at every depth: `Accept: application/vnd.pgrst.array+json;nulls=stripped`.
 *  @rule R-MED-1 R-SQL-2 */
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
