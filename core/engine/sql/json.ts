/** The one place that builds JSON objects and arrays. */
import { ident, join, literal, sql, type Sql } from "./fragment.ts";
import type { JsonStyle } from "./scope.ts";

/** Identifiers are cut at 63 bytes. */
const MAX_NAME_BYTES = 63;

/** Too long for an identifier. */
export const isLongName = (name: string): boolean =>
  name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES;

/** An array of the rows named `row`, NULL when there are none. `compact`: array_to_json writes no spaces and is
 *  faster. */
export const arrayOf = (style: JsonStyle, element: Sql): Sql =>
  style === "spaced" ? sql`json_agg(${element})` : sql`array_to_json(array_agg(${element}))`;

/** `{"a":1,"b":…}` of ready values: a json value, keys in the given order. */
export const buildObject = (members: readonly { readonly as: string; readonly sql: Sql }[]): Sql => {
  if (members.length === 0) return sql`'{}'::json`;
  if (members.some((one) => isLongName(one.as))) {
    const parts = members.map(
      (one) => sql`${literal(`${JSON.stringify(one.as)}:`)} || coalesce(to_json(${one.sql})::text, 'null')`,
    );
    return sql`('{' || ${join(parts, " || ',' || ")} || '}')::json`;
  }
  return sql`(select row_to_json(_o.*) from (select ${join(members.map((one) => sql`${one.sql} as ${ident(one.as)}`))}) as _o)`;
};
