/** Builds all JSON objects and arrays. */
import { quoteIdentifier, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import type { Compiler, JsonStyle } from "./scope.ts";

/** The length to which PostgreSQL truncates identifiers. */
const MAX_NAME_BYTES = 63;

/** The column name of a value with an empty key, because an empty name is not a valid identifier. @rule R-SEL-5 */
export const UNNAMED_COLUMN = "?column?";

/** Returns whether the name is not a valid identifier. */
export const isInvalidName = (name: string): boolean => name === "" || isLongName(name);

/** Returns whether the name is too long for an identifier. */
const isLongName = (name: string): boolean =>
  name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES;

/** Builds an array of `element` over all rows, which is NULL without rows. The style `compact` uses array_to_json,
 *  which writes no spaces and is faster. */
export const compileArray = (style: JsonStyle, element: Sql): Sql =>
  style === "spaced" ? sql`json_agg(${element})` : sql`array_to_json(array_agg(${element}))`;

/** Builds a json value `{"a":1,"b":…}` from values, with the keys in the given order. */
export const buildObject = (members: readonly { readonly as: string; readonly sql: Sql }[]): Sql => {
  if (members.length === 0) return sql`'{}'::json`;
  if (members.some((member) => isInvalidName(member.as))) {
    const parts = members.map(
      (member) =>
        sql`${quoteLiteral(`${JSON.stringify(member.as)}:`)} || coalesce(to_json(${member.sql})::text, 'null')`,
    );
    return sql`('{' || ${joinSql(parts, " || ',' || ")} || '}')::json`;
  }
  return sql`(select row_to_json(_o.*) from (select ${joinSql(members.map((member) => sql`${member.sql} as ${quoteIdentifier(member.as)}`))}) as _o)`;
};

/** Builds an object in FROM, where PostgreSQL plans the object together with its level. A subquery in the select list
 *  would be planned separately, and run for each row. `joins` are the joins of the level. @rule X-PLN-3 */
export const joinObject = (
  compiler: Compiler,
  joins: Sql[],
  members: readonly { readonly as: string; readonly sql: Sql }[],
): Sql => {
  if (members.length === 0 || members.some(({ as }) => isInvalidName(as))) return buildObject(members);
  const row = quoteIdentifier(compiler.alias("_o"));
  joins.push(
    sql`cross join lateral (select ${joinSql(members.map((member) => sql`${member.sql} as ${quoteIdentifier(member.as)}`))}) as ${row}`,
  );
  return sql`row_to_json(${row}.*)`;
};

/** Concatenates in halves, so that each text is copied only once per halving. A function with many arguments would look
 *  up the types of the arguments for each row. */
const concatenate = (parts: readonly Sql[]): Sql => {
  const half = Math.ceil(parts.length / 2);
  return half < parts.length
    ? sql`(${concatenate(parts.slice(0, half))} || ${concatenate(parts.slice(half))})`
    : joinSql(parts);
};

/** Builds the text `{"a":1,"b":…}` from members that are JSON text. PostgreSQL would plan a json value as a row, and
 *  copy the value more often. No member may be NULL. @rule X-PLN-3 */
export const buildObjectText = (members: readonly { readonly as: string; readonly text: Sql }[]): Sql =>
  members.length === 0
    ? sql`'{}'`
    : concatenate([
        ...members.flatMap(({ as, text }, i) => [quoteLiteral(`${i === 0 ? "{" : ","}${JSON.stringify(as)}:`), text]),
        quoteLiteral("}"),
      ]);
