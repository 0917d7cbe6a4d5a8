/** Rows of a read as JSON. */
import type { Read } from "../plan/plan.ts";
import { ident, sql, type Sql } from "./fragment.ts";
import { arrayOf, buildObject, isOddName } from "./json.ts";
import type { ReadOptions } from "./level.ts";
import { compileRows } from "./read.ts";
import type { Compiler } from "./scope.ts";

export interface JsonRows {
  /** FROM item. */
  readonly from: Sql;
  /** One row as an argument of an aggregate or of row_to_json. */
  readonly element: Sql;
  /** One row as a json value. */
  readonly object: Sql;
}

/** Rows of a read, ready to become JSON. Where a key is no identifier the object is put together from
 *  text. */
export const jsonRows = (compiler: Compiler, read: Read, place: ReadOptions = {}): JsonRows => {
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
  const odd = read.output.some((output) => output.kind !== "all" && isOddName(output.as));
  if (!odd) {
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
export const arrayQuery = (compiler: Compiler, read: Read, place: ReadOptions = {}): Sql => {
  const rows = jsonRows(compiler, read, place);
  return sql`(select coalesce(${arrayOf(compiler.style, rows.element)}, '[]') from ${rows.from})`;
};

/** The first row as an object, as a scalar subquery; NULL without one. */
export const objectQuery = (compiler: Compiler, read: Read, place: ReadOptions = {}): Sql => {
  const rows = jsonRows(compiler, read, place);
  return sql`(select ${rows.object} from ${rows.from} limit 1)`;
};
