/** Compiles the rows of a read to JSON. */
import type { Read } from "../plan/plan.ts";
import { quoteIdentifier, sql, type Sql } from "./fragment.ts";
import { compileArray, buildObject, isInvalidName, UNNAMED_COLUMN } from "./json.ts";
import type { ReadOptions } from "./from-clause.ts";
import { compileRows } from "./read.ts";
import type { Compiler } from "./scope.ts";

interface JsonRows {
  readonly from: Sql;
  /** One row as an argument of an aggregate or of row_to_json. */
  readonly element: Sql;
  /** One row as a json value. */
  readonly object: Sql;
}

/** Compiles the rows of a read for JSON. If a key is not a valid identifier, the object of each row is built from its
 *  members. */
const compileJsonRows = (compiler: Compiler, read: Read, options: ReadOptions): JsonRows => {
  const row = compiler.alias("_r");
  if (read.output.length === 0) {
    // Directives have skipped every field (G-DOC-12), but the rows remain.
    const nothing = sql`'{}'::json`;
    return {
      from: sql`(${compileRows(compiler, read, options).sql}) as ${quoteIdentifier(row)}`,
      element: nothing,
      object: nothing,
    };
  }
  /** The names that are not valid identifiers, by the identifiers that replace them. */
  const oddNames = new Map<string, string>();
  const outputs = read.output.map((output, i) => {
    if (output.kind === "all" || !isInvalidName(output.as)) return output;
    oddNames.set(`_relapi_${i}`, output.as);
    return { ...output, as: `_relapi_${i}` };
  });
  const rows = compileRows(compiler, oddNames.size === 0 ? read : { ...read, output: outputs }, options);
  const from = sql`(${rows.sql}) as ${quoteIdentifier(row)}`;
  // A flat embed may have a column with an empty name.
  if (oddNames.size === 0 && !rows.keys.includes(""))
    return { from, element: sql`${quoteIdentifier(row)}.*`, object: sql`row_to_json(${quoteIdentifier(row)}.*)` };
  const object = buildObject(
    rows.keys.map((key) => ({
      as: oddNames.get(key) ?? key,
      sql: quoteIdentifier(row, key === "" ? UNNAMED_COLUMN : key),
    })),
  );
  return { from, element: object, object };
};

/** Compiles `[…]` of all rows, as a scalar subquery. */
export const compileArrayQuery = (compiler: Compiler, read: Read, options: ReadOptions): Sql => {
  const rows = compileJsonRows(compiler, read, options);
  return sql`(select coalesce(${compileArray(compiler.style, rows.element)}, '[]') from ${rows.from})`;
};

/** Compiles the first row as an object, as a scalar subquery that is NULL without rows. */
export const compileObjectQuery = (compiler: Compiler, read: Read, options: ReadOptions): Sql => {
  const rows = compileJsonRows(compiler, read, options);
  return sql`(select ${rows.object} from ${rows.from} limit 1)`;
};
