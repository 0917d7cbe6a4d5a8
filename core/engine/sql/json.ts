/** Builds all JSON objects and arrays. */
import { ident, join, literal, sql, type Sql } from "./fragment.ts";
import type { Compiler, JsonStyle } from "./scope.ts";

/** PostgreSQL truncates identifiers to 63 bytes. */
const MAX_NAME_BYTES = 63;

/** The column of a value with an empty key, which is not a valid identifier. @rule R-SEL-5 */
export const UNNAMED = "?column?";

/** Returns whether the name is not a valid identifier. */
export const isInvalidName = (name: string): boolean => name === "" || isLongName(name);

/** Returns whether the name is too long for an identifier. */
export const isLongName = (name: string): boolean =>
  name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES;

/** Builds an array of `element` over all rows; NULL without rows. For `compact`, array_to_json writes no spaces and is
 *  faster. */
export const compileArray = (style: JsonStyle, element: Sql): Sql =>
  style === "spaced" ? sql`json_agg(${element})` : sql`array_to_json(array_agg(${element}))`;

/** Builds `{"a":1,"b":…}` of values: a json value with the keys in the given order. */
export const buildObject = (members: readonly { readonly as: string; readonly sql: Sql }[]): Sql => {
  if (members.length === 0) return sql`'{}'::json`;
  if (members.some((one) => isInvalidName(one.as))) {
    const parts = members.map(
      (one) => sql`${literal(`${JSON.stringify(one.as)}:`)} || coalesce(to_json(${one.sql})::text, 'null')`,
    );
    return sql`('{' || ${join(parts, " || ',' || ")} || '}')::json`;
  }
  return sql`(select row_to_json(_o.*) from (select ${join(members.map((one) => sql`${one.sql} as ${ident(one.as)}`))}) as _o)`;
};

/** Builds an object in FROM, where it is planned with its level. A subquery in the select list would be planned
 *  separately, and run for each row. `joins` are the joins of the level. @rule X-PLN-3 */
export const joinObject = (
  compiler: Compiler,
  joins: Sql[],
  members: readonly { readonly as: string; readonly sql: Sql }[],
): Sql => {
  if (members.length === 0 || members.some(({ as }) => isInvalidName(as))) return buildObject(members);
  const row = ident(compiler.alias("_o"));
  joins.push(
    sql`cross join lateral (select ${join(members.map((one) => sql`${one.sql} as ${ident(one.as)}`))}) as ${row}`,
  );
  return sql`row_to_json(${row}.*)`;
};

/** Concatenates in halves, so that each text is copied only as often as there are halvings. A function with many
 *  arguments would look up their types each time. */
const concatenate = (parts: readonly Sql[]): Sql => {
  const half = Math.ceil(parts.length / 2);
  return half < parts.length
    ? sql`(${concatenate(parts.slice(0, half))} || ${concatenate(parts.slice(half))})`
    : join(parts);
};

/** Builds the text `{"a":1,"b":…}` of members that are JSON text. A json value would be planned as a row, and copied
 *  more often. No member may be NULL. @rule X-PLN-3 */
export const buildObjectText = (members: readonly { readonly as: string; readonly text: Sql }[]): Sql =>
  members.length === 0
    ? sql`'{}'`
    : concatenate([
        ...members.flatMap(({ as, text }, i) => [literal(`${i === 0 ? "{" : ","}${JSON.stringify(as)}:`), text]),
        literal("}"),
      ]);
