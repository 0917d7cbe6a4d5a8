/** Compiles the rows of a payload, from which an insert or an update reads its values. */
import { findColumn, type PgType, type Relation } from "../model/model.ts";
import type { PayloadColumn } from "../plan/plan.ts";
import type { PayloadRows } from "../plan/walk.ts";
import { trustedSql, empty, quoteIdentifier, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { findHstoreType, compileHstoreFromJson } from "./hstore.ts";
import { planInvalid, quoteQualifiedName, type Compiler } from "./scope.ts";
import { applyFunction, compileJson } from "./value.ts";

const findColumnType = (relation: Relation, name: string): Sql => {
  const column = findColumn(relation, name);
  if (column === undefined) throw planInvalid(`${relation.name} has no column "${name}"`);
  return trustedSql(column.sqlType);
};

/** Compiles a FROM item with the payload's rows under `_p`, and the value of each column. @rule R-SQL-11 R-BODY-3
 *  R-INS-4 R-REP-4 */
export const compilePayloadRows = (
  compiler: Compiler,
  relation: Relation,
  rows: PayloadRows,
  isFirstOnly: boolean,
): { readonly from: Sql; readonly compileColumnValue: (column: string) => Sql } => {
  const row = compiler.alias("_p");
  const json = compileJson(compiler, rows.payload, "json");
  const findParser = (name: string) => {
    const column = findColumn(relation, name);
    return column === undefined ? undefined : compiler.model.representations.get(column.type)?.fromJson;
  };
  const findHstore = (name: string): PgType | undefined => {
    const column = findColumn(relation, name);
    return column && findHstoreType(compiler.model, column.type);
  };
  /** Returns the type in which the statement reads the column's value from the payload. */
  const findPayloadType = ({ name, apply, isText }: PayloadColumn): Sql => {
    const hasParser = findParser(name) !== undefined;
    if (isText === true && !hasParser) return sql`text`;
    return apply !== undefined || hasParser || findHstore(name) !== undefined
      ? sql`json`
      : findColumnType(relation, name);
  };
  const definitions = joinSql(
    rows.columns.map((column) => sql`${quoteIdentifier(column.name)} ${findPayloadType(column)}`),
  );
  const readColumn = (name: string): Sql => {
    const parser = findParser(name);
    const { apply, isText } = rows.columns.find((column) => column.name === name) ?? {};
    if (isText === true && parser === undefined)
      return sql`${quoteIdentifier(row, name)}::${findColumnType(relation, name)}`;
    if (apply !== undefined) return applyFunction(compiler, sql`(${quoteIdentifier(row, name)} #>> '{}')`, apply);
    if (parser !== undefined) return sql`${quoteQualifiedName(parser)}(${quoteIdentifier(row, name)})`;
    const hstore = findHstore(name);
    return hstore === undefined
      ? quoteIdentifier(row, name)
      : compileHstoreFromJson(hstore, quoteIdentifier(row, name));
  };
  if (rows.missing === "null") {
    if (rows.columns.length === 0) {
      const from =
        rows.shape === "object" ? empty : sql`pg_catalog.json_array_elements(${json}) as ${quoteIdentifier(row)}`;
      return { from, compileColumnValue: readColumn };
    }
    const record =
      rows.shape === "object" ? sql`pg_catalog.json_to_record(${json})` : sql`pg_catalog.json_to_recordset(${json})`;
    const from = sql`${record} as ${quoteIdentifier(row)}(${definitions})`;
    return {
      from:
        isFirstOnly && rows.shape === "array" ? sql`(select * from ${from} limit 1) as ${quoteIdentifier(row)}` : from,
      compileColumnValue: readColumn,
    };
  }
  // Elements are read one by one, to distinguish an absent key from a null.
  const element = compiler.alias("_j");
  const elements =
    rows.shape === "object"
      ? sql`(select ${json} as value) as ${quoteIdentifier(element)}`
      : sql`pg_catalog.json_array_elements(${json}) as ${quoteIdentifier(element)}`;
  const limitedElements =
    isFirstOnly && rows.shape === "array"
      ? sql`(select * from ${elements} limit 1) as ${quoteIdentifier(element)}`
      : elements;
  const from =
    rows.columns.length === 0
      ? limitedElements
      : sql`${limitedElements}, lateral pg_catalog.json_to_record(${quoteIdentifier(element, "value")}) as ${quoteIdentifier(row)}(${definitions})`;
  return {
    from,
    compileColumnValue: (name) => {
      const column = findColumn(relation, name);
      const text = column?.baseDefault ?? column?.default;
      const fallback = text === undefined ? sql`null` : trustedSql(`(${text})`);
      const presentValue =
        text !== undefined && rows.missing === "computed-default"
          ? sql`case when ${fallback} is null then ${readColumn(name)} else ${readColumn(name)} end`
          : readColumn(name);
      return sql`case when (${quoteIdentifier(element, "value")} -> ${quoteLiteral(name)}) is not null then ${presentValue} else ${fallback} end`;
    },
  };
};

/** Compiles a FROM item whose rows have a column for each value of the payload, so that no JSON is read. @rule
 *  X-INS-1 */
export const compileGivenRows = (
  compiler: Compiler,
  rowsFrom: (row: Sql) => Sql,
): ReturnType<typeof compilePayloadRows> => {
  const row = compiler.alias("_p");
  return { from: rowsFrom(quoteIdentifier(row)), compileColumnValue: (name) => quoteIdentifier(row, name) };
};
