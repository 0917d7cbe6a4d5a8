/** Writes a header line, and each row as PostgreSQL prints it: `Accept: text/csv`. */
import { definePlugin, quoteLiteral, sql, type MediaContext, type Sql } from "../../../core/index.ts";
import { chooseMediaHook } from "../api.ts";

/** The name of the only column if a function returns values. */
const VALUE_COLUMN = "pgrst_scalar";

/** Quotes a column name that CSV readers would otherwise split into several fields or lines. */
const quoteHeaderField = (name: string): string => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
const KEY_FIELD = sql`case when _key ~ '[",\\r\\n]' then '"' || pg_catalog.replace(_key, '"', '""') || '"' else _key end`;

/** Compiles the header line. The names come from the first row if the statement does not name its columns. The
 *  table may have changed since its columns were read. */
const compileHeader = ({ row, returns, outputs, areOutputsNamed }: MediaContext): Sql => {
  const names = returns === "value" || returns === "values" ? [VALUE_COLUMN] : areOutputsNamed ? outputs : [];
  if (names.length > 0)
    return sql`case when pg_catalog.count(*) = 0 then '' else ${quoteLiteral(names.map(quoteHeaderField).join(","))} end`;
  const first = sql`pg_catalog.row_to_json((pg_catalog.array_agg(${row}))[1])`;
  return sql`coalesce((select pg_catalog.string_agg(${KEY_FIELD}, ',') from pg_catalog.json_object_keys(${first}) as _key), '')`;
};

/**
 * Compiles a line that can be written back unchanged. `line` is the text of a row without its parentheses. Backslashes
 * are unescaped, and the text `NULL` is quoted, because an unquoted `NULL` is a null value. An empty line is the null
 * value of a single column. Without `offset`, PostgreSQL would print the row again for each mention of the line. @rule
 * R-MED-2 R-BODY-6
 */
const compilePlainLine = (line: Sql): Sql => sql`(
  select case
      when _l.line = '' then 'NULL'
      when pg_catalog.strpos(_l.line, 'NULL') > 0 and _l.line ~ '(^|,)NULL(,|$)' then (
        select pg_catalog.string_agg(case _f.parts[1] when 'NULL' then '"NULL"' else _f.parts[1] end, ',' order by _f.nth)
        from pg_catalog.regexp_matches(',' || _l.line, ',("(?:[^"]|"")*"|[^,"]*)', 'g') with ordinality as _f (parts, nth)
      )
      else _l.line
    end
  from (select pg_catalog.replace(${line}, E'\\\\\\\\', E'\\\\') as line offset 0) as _l
)`;

/** Returns rows as CSV: `Accept: text/csv`. Outside of the compatibility mode, values with a JSON representation are
 *  written as its text. @rule R-MED-2 */
export const csvMedia = definePlugin({
  name: "csv-media",
  requires: ["rest"],
  apply: (hooks, { options, use }) => {
    // The stage gives precedence to handlers that the database declares.
    if (!options.compatMode)
      use(chooseMediaHook).tap({ name: "csv-media", stage: 1 }, ({ name }) =>
        name === "text/csv" ? { envelope: { media: "text/csv", domains: "text" } } : undefined,
      );
    hooks.compileMedia.for("text/csv").tap({ name: "csv-media", builtIn: ["=", ">", "~", "||"] }, (context) => {
      // PostgreSQL prints a row in parentheses.
      const text = sql`pg_catalog.left(pg_catalog.right(${context.row}::text, -1), -1)`;
      const line = options.compatMode ? text : compilePlainLine(text);
      return sql`${compileHeader(context)} || E'\n' || coalesce(pg_catalog.string_agg(${line}, E'\n'), '')`;
    });
  },
});
