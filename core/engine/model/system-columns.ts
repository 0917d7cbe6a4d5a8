/** Columns that PostgreSQL keeps for each row of a table, beside those that were declared. */
import { columnOf, type Relation } from "./model.ts";

/** Their types. */
const SYSTEM_COLUMNS: ReadonlyMap<string, string> = new Map([
  ["tableoid", "oid"],
  ["ctid", "tid"],
  ["xmin", "xid"],
  ["xmax", "xid"],
  ["cmin", "cid"],
  ["cmax", "cid"],
]);

/** The type of a system column of the relation's rows; undefined: it is no system column, or the relation is a view.
 *  @rule R-NAM-7 */
export const systemColumnType = (relation: Relation | undefined, name: string): string | undefined =>
  relation === undefined || relation.kind === "view" || columnOf(relation, name) !== undefined
    ? undefined
    : SYSTEM_COLUMNS.get(name);
