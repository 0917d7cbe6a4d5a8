/** JSON texts of the rows of an answer. `json_agg` alone makes the bytes: whatever prints them again would lose digits
 *  and key order. */
import { ident, sql, type MediaContext, type Sql } from "../../core/index.ts";

/** The value of a row: the row itself, or the one column of functions that return values. */
const element = ({ row, rowAlias, returns }: MediaContext): Sql =>
  returns === "value" || returns === "values" ? ident(rowAlias, "value") : row;

/** One json value: an array of rows or values, or the one row or value there is; NULL over no rows. @rule R-SQL-2
 *  R-FMT-1 */
export const jsonRows = (context: MediaContext): Sql =>
  context.returns === "rows" || context.returns === "values"
    ? sql`pg_catalog.json_agg(${element(context)})`
    : sql`(pg_catalog.json_agg(${element(context)})->0)`;

/** The first row as a json value; a value out of a set gets a key of its own. @rule R-RPC-13 */
export const jsonObject = (context: MediaContext): Sql => {
  if (context.returns !== "values") return sql`(pg_catalog.json_agg(${element(context)})->0)`;
  const named = sql`(select pg_catalog.row_to_json(_scalar) from (select ${element(context)} as pgrst_scalar) as _scalar)`;
  return sql`(pg_catalog.json_agg(${named})->0)`;
};

/** What an answer without rows is. */
export const emptyJson = ({ returns }: MediaContext): Sql =>
  returns === "rows" || returns === "values" ? sql`'[]'` : sql`'null'`;
