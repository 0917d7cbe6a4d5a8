/** The one place that builds JSON objects and arrays. */
import { ident, join, literal, sql, type Sql } from "./fragment.ts";
import type { Compiler, JsonStyle } from "./scope.ts";

/** Identifiers are cut at 63 bytes. */
const MAX_NAME_BYTES = 63;

/** Column of a value whose key is empty, which no identifier is. @rule R-SEL-5 */
export const NAMELESS = "?column?";

/** No identifier can have that name. */
export const isOddName = (name: string): boolean => name === "" || isLongName(name);

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
  if (members.some((one) => isOddName(one.as))) {
    const parts = members.map(
      (one) => sql`${literal(`${JSON.stringify(one.as)}:`)} || coalesce(to_json(${one.sql})::text, 'null')`,
    );
    return sql`('{' || ${join(parts, " || ',' || ")} || '}')::json`;
  }
  return sql`(select row_to_json(_o.*) from (select ${join(members.map((one) => sql`${one.sql} as ${ident(one.as)}`))}) as _o)`;
};

/** An object made in FROM, where it becomes part of the level; a subquery in the select list would be planned by itself
 *  and run for each row. `joins`: of the level. @rule X-PLN-3 */
export const joinObject = (
  compiler: Compiler,
  joins: Sql[],
  members: readonly { readonly as: string; readonly sql: Sql }[],
): Sql => {
  if (members.length === 0 || members.some(({ as }) => isOddName(as))) return buildObject(members);
  const row = ident(compiler.alias("_o"));
  joins.push(
    sql`cross join lateral (select ${join(members.map((one) => sql`${one.sql} as ${ident(one.as)}`))}) as ${row}`,
  );
  return sql`row_to_json(${row}.*)`;
};

/** In halves: each text is copied as often as there are halvings. A function of many arguments would look up their types
 *  each time. */
const concatenate = (parts: readonly Sql[]): Sql => {
  const half = Math.ceil(parts.length / 2);
  return half < parts.length
    ? sql`(${concatenate(parts.slice(0, half))} || ${concatenate(parts.slice(half))})`
    : join(parts);
};

/** The text `{"a":1,"b":…}` of members that are JSON text: as JSON it would be planned as a row, and copied more often.
 *  None of them may be NULL. @rule X-PLN-3 */
export const textOfObject = (members: readonly { readonly as: string; readonly text: Sql }[]): Sql =>
  members.length === 0
    ? sql`'{}'`
    : concatenate([
        ...members.flatMap(({ as, text }, i) => [literal(`${i === 0 ? "{" : ","}${JSON.stringify(as)}:`), text]),
        literal("}"),
      ]);
