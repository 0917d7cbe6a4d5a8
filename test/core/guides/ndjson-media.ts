import { definePlugin, quoteIdentifier, sql } from "../../../core/index.ts";

/** `Accept: application/x-ndjson`: one JSON text per line. */
export const ndjsonMedia = definePlugin({
  name: "ndjson-media",
  apply: (hooks) => {
    hooks.compileMedia.for("application/x-ndjson").tap("ndjson-media", ({ row, rowAlias, returns }) => {
      const isValue = returns === "value" || returns === "values"; // a function's result that is no row
      const line = isValue
        ? sql`pg_catalog.to_json(${quoteIdentifier(rowAlias, "value")})`
        : sql`pg_catalog.row_to_json(${row})`;
      return sql`coalesce(pg_catalog.string_agg(${line}::text, E'\n'), '')`;
    });
  },
});
