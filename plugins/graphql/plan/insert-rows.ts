/** Writes the rows of an insert as one JSON text, and plans the write that reads it. @rule G-INS-1 G-INS-3 G-OP-36 */
import {
  getQualifiedName,
  joinJsonArray,
  type Insert,
  type OnConflict,
  type PayloadColumn,
  type Relation,
  type ValueRef,
  type WriteRows,
} from "../../../core/index.ts";
import { findInputFunction, isJson } from "../values/columns.ts";
import { computeValue, type VariableValues } from "../document/variables.ts";
import type { InputCell, InputRow } from "./insert-input.ts";

/** Builds the plan that inserts the rows. */
export const buildInsert = (relation: Relation, rows: WriteRows, conflict: OnConflict | undefined): Insert => ({
  kind: "insert",
  into: getQualifiedName(relation),
  rows,
  ...(conflict && { onConflict: conflict }),
});

/** Builds the payload's rows. They have the columns that any row has, in the order of the table. @rule X-PLN-4 */
export const buildPayloadRows = (
  relation: Relation,
  rows: readonly InputRow[],
  payload: ValueRef,
  shape: "object" | "array",
): WriteRows => {
  const valueTypes = new Map(rows.flatMap((row) => row.cells.map((cell) => [cell.column.name, cell.value] as const)));
  const columns = relation.columns.flatMap((column): PayloadColumn[] => {
    const value = valueTypes.get(column.name);
    if (value === undefined) return [];
    const apply = findInputFunction(value);
    return [{ name: column.name, ...(apply && { apply }) }];
  });
  // If every row has all columns, rows need not be compared one by one.
  const isComplete = rows.every((row) => row.cells.length === valueTypes.size);
  return { payload, shape, columns, missing: isComplete ? "null" : "default" };
};

const encodeCell = (cell: InputCell, variables: VariableValues): string => {
  const text = computeValue(cell.source, variables) as string | null; // coerceColumn returns only strings and null
  if (text === null) return "null";
  return isJson(cell.value) && cell.value.element === undefined ? text : JSON.stringify(text);
};

export const encodeRow = (row: InputRow, variables: VariableValues): string =>
  `{${row.cells.map((cell) => `${JSON.stringify(cell.column.name)}:${encodeCell(cell, variables)}`).join(",")}}`;

export const encodeRows = (rows: readonly InputRow[], variables: VariableValues): string =>
  joinJsonArray(rows.map((row) => encodeRow(row, variables)));

/** Returns whether the rows do not depend on variables. */
export const isFixed = (rows: readonly InputRow[]): boolean =>
  rows.every((row) => row.cells.every((cell) => "fixed" in cell.source));
