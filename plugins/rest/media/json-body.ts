/** Converts the rows of a result to JSON text. Only `json_agg` produces the bytes, because serializing them again would
 *  lose digits and key order. */
import { ident, sql, type MediaContext, type Sql } from "../../../core/index.ts";

/** The value of a row: the row itself, or its only column for functions that return values. */
const compileElement = ({ row, object = row, rowAlias, returns }: MediaContext): Sql =>
  returns === "value" || returns === "values" ? ident(rowAlias, "value") : object;

/** One json value: an array of rows or values, or a single row or value. NULL if there are no rows. @rule R-SQL-2
 *  R-FMT-1 */
export const compileJsonRows = (context: MediaContext): Sql =>
  context.returns === "rows" || context.returns === "values"
    ? sql`pg_catalog.json_agg(${compileElement(context)})`
    : sql`(pg_catalog.json_agg(${compileElement(context)})->0)`;

/** The first row as a JSON value. A value of a set is wrapped in an object. @rule R-RPC-13 */
export const compileJsonObject = (context: MediaContext): Sql => {
  if (context.returns !== "values") return sql`(pg_catalog.json_agg(${compileElement(context)})->0)`;
  const named = sql`(select pg_catalog.row_to_json(_scalar) from (select ${compileElement(context)} as pgrst_scalar) as _scalar)`;
  return sql`(pg_catalog.json_agg(${named})->0)`;
};

/** The body of a result without rows. */
export const compileEmptyBody = ({ returns }: MediaContext): Sql =>
  returns === "rows" || returns === "values" ? sql`'[]'` : sql`'null'`;
