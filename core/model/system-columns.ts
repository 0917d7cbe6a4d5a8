/** Finds the columns that PostgreSQL adds to each table besides the declared ones. */
import { findColumn, type Relation } from "./model.ts";

/** The types of the system columns. */
const SYSTEM_COLUMNS: ReadonlyMap<string, string> = new Map([
  ["tableoid", "oid"],
  ["ctid", "tid"],
  ["xmin", "xid"],
  ["xmax", "xid"],
  ["cmin", "cid"],
  ["cmax", "cid"],
]);

/** Returns the type of a system column. Returns undefined if the name is not a system column, or the relation is a
 *  view. @rule R-NAM-7 */
export const findSystemColumnType = (relation: Relation | undefined, name: string): string | undefined =>
  relation === undefined || relation.kind === "view" || findColumn(relation, name) !== undefined
    ? undefined
    : SYSTEM_COLUMNS.get(name);
