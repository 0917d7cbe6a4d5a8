/** `Accept: text/csv`: a line of names, then each row as PostgreSQL prints it. */
import { definePlugin, literal, sql, type MediaContext, type Sql } from "../../core/index.ts";

/** What the one column of a function's values is called. */
const SCALAR = "pgrst_scalar";

/** Quoted where the name would read as more than one field. */
const headerField = (name: string): string => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

/** Names of the columns; of rows whose columns the model does not know, those of the first one. */
const header = ({ row, returns, outputs }: MediaContext): Sql => {
  const names = returns === "value" || returns === "values" ? [SCALAR] : outputs;
  if (names.length > 0)
    return sql`case when pg_catalog.count(*) = 0 then '' else ${literal(names.map(headerField).join(","))} end`;
  return sql`coalesce((select pg_catalog.string_agg(_key, ',') from pg_catalog.json_object_keys((pg_catalog.array_agg(pg_catalog.row_to_json(${row})))[1]) as _key), '')`;
};

/** @rule R-MED-2 */
export const csvMedia = definePlugin({
  name: "csv-media",
  apply: (hooks) => {
    hooks.compileMedia.for("text/csv").tap({ name: "csv-media", builtIn: [] }, (context) => {
      // the row's text without its parentheses
      const line = sql`pg_catalog.substring(${context.row}::text, 2, pg_catalog.length(${context.row}::text) - 2)`;
      return sql`${header(context)} || E'\n' || coalesce(pg_catalog.string_agg(${line}, E'\n'), '')`;
    });
  },
});
