/** The one place that builds JSON objects and arrays of rows. */
import type { Read } from "../plan/plan.ts";
import { ident, join, literal, sql, type Sql } from "./fragment.ts";
import { compileRows, type ReadPlace } from "./read.ts";
import type { Compiler, JsonStyle } from "./scope.ts";

/** Identifiers are cut at 63 bytes. */
const MAX_NAME_BYTES = 63;

const isLongName = (name: string): boolean =>
  name.length > MAX_NAME_BYTES / 4 && Buffer.byteLength(name) > MAX_NAME_BYTES;

/** An array of the rows named `row`, NULL when there are none. `compact`: array_to_json prints no blanks and is faster.
 *  */
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

export interface JsonRows {
  /** FROM item. */
  readonly from: Sql;
  /** One row as an argument of an aggregate or of row_to_json. */
  readonly element: Sql;
  /** One row as a json value. */
  readonly object: Sql;
}

/** Rows of a read, ready to become JSON. Where a key is too long for an identifier the object is put together from
 *  text. */
export const jsonRows = (compiler: Compiler, read: Read, place: ReadPlace = {}): JsonRows => {
  const row = compiler.alias("_r");
  if (read.output.length === 0) {
    // every field was skipped (G-DOC-12): rows all the same
    const nothing = sql`'{}'::json`;
    return {
      from: sql`(${compileRows(compiler, read, place).sql}) as ${ident(row)}`,
      element: nothing,
      object: nothing,
    };
  }
  const long = read.output.some((output) => output.kind !== "all" && isLongName(output.as));
  if (!long) {
    const rows = compileRows(compiler, read, place);
    return {
      from: sql`(${rows.sql}) as ${ident(row)}`,
      element: sql`${ident(row)}.*`,
      object: sql`row_to_json(${ident(row)}.*)`,
    };
  }
  const short = read.output.map((output, i) => ("as" in output ? { ...output, as: `_${i}` } : output));
  const rows = compileRows(compiler, { ...read, output: short }, place);
  const object = buildObject(
    read.output.flatMap((output, i) =>
      output.kind === "all" || (output.kind === "embed" && output.isHidden === true)
        ? []
        : [{ as: output.as, sql: ident(row, `_${i}`) }],
    ),
  );
  return { from: sql`(${rows.sql}) as ${ident(row)}`, element: object, object };
};

/** `[…]` of all rows, as a scalar subquery. */
export const arrayQuery = (compiler: Compiler, read: Read, place: ReadPlace = {}): Sql => {
  const rows = jsonRows(compiler, read, place);
  return sql`(select coalesce(${arrayOf(compiler.style, rows.element)}, '[]') from ${rows.from})`;
};

/** The first row as an object, as a scalar subquery; NULL without one. */
export const objectQuery = (compiler: Compiler, read: Read, place: ReadPlace = {}): Sql => {
  const rows = jsonRows(compiler, read, place);
  return sql`(select ${rows.object} from ${rows.from} limit 1)`;
};
