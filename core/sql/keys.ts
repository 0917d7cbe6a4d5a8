/** Finds rows by many keys at once. @rule X-SEQ-5 */
import { findColumn, type Relation } from "../model/model.ts";
import type { RowKeys } from "../plan/plan.ts";
import { trustedSql, quoteIdentifier, joinSql, sql, type Sql } from "./fragment.ts";
import { planInvalid, type Compiler, type Scope } from "./scope.ts";
import { compileValue } from "./value.ts";

/** Compiles a FROM item with a row per key, which has the key's columns and `number`, the position from 1 on. */
const compileKeyRows = (
  compiler: Compiler,
  { columns, values }: RowKeys,
  relation: Scope["relation"],
  row: string,
): Sql => {
  const lists = columns.map((name, i) => {
    const column = relation && findColumn(relation, name);
    if (column === undefined) throw planInvalid(`a key has no column "${name}"`);
    const list = values.flatMap((key) => (key[i] === undefined ? [] : [compileValue(compiler, key[i])]));
    return sql`pg_catalog.unnest(array[${joinSql(list)}]::${trustedSql(column.sqlType)}[])`;
  });
  const names = [...columns.map((name) => quoteIdentifier(name)), quoteIdentifier("number")];
  return sql`rows from (${joinSql(lists)}) with ordinality as ${quoteIdentifier(row)} (${joinSql(names)})`;
};

const compileKeyMatch = ({ columns }: RowKeys, key: string, row: Sql): Sql =>
  joinSql(
    columns.map((name) => sql`${quoteIdentifier(key, name)} = ${row}.${quoteIdentifier(name)}`),
    " and ",
  );

/** Compiles the condition that the row has one of the keys. */
export const compileHasKey = (compiler: Compiler, keys: RowKeys, { relation, row }: Scope): Sql => {
  const key = compiler.alias("_k");
  return sql`exists (select 1 from ${compileKeyRows(compiler, keys, relation, key)} where ${compileKeyMatch(keys, key, quoteIdentifier(row))})`;
};

/** The rows of a write that finds its rows by keys. */
interface WrittenRows {
  readonly relation: Relation;
  /** The CTE of the written rows. */
  readonly name: Sql;
  /** The rows before the write. */
  readonly rowsBefore?: Sql;
}

/** Compiles the number of the first key without a written row, or null. Returns 1 if a row was found but not written,
 *  because that row may belong to any key. */
export const compileMissingKey = (compiler: Compiler, keys: RowKeys, write: WrittenRows): Sql => {
  const { relation, name, rowsBefore } = write;
  const [key, row] = [compiler.alias("_k"), compiler.alias("_r")];
  const matchingRows = sql`select 1 from ${rowsBefore ?? name} as ${quoteIdentifier(row)} where ${compileKeyMatch(keys, key, quoteIdentifier(row))}`;
  const missingKey = sql`(select pg_catalog.min(${quoteIdentifier(key, "number")}) from ${compileKeyRows(compiler, keys, relation, key)} where not exists (${matchingRows}))`;
  if (rowsBefore === undefined) return missingKey;
  const count = (rows: Sql): Sql => sql`(select count(*) from ${rows} as _c)`;
  return sql`coalesce(${missingKey}, case when ${count(name)} < ${count(rowsBefore)} then 1 end)`;
};
