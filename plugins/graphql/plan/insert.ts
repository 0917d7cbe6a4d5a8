/** Plans `insert_T` and `insert_T_one` without nested data: one statement with one JSON payload. @rule G-INS-1 …
 *  G-INS-8 */
import type { StepTemplate } from "./function-field.ts";
import { memoize, type Json, type OnConflict, type Relation } from "../../../core/index.ts";
import { findValue, createUntrackedVariables } from "../document/tracked-variables.ts";
import { planConflict } from "./conflict.ts";
import type { ValueSource, VariableValues } from "../document/variables.ts";
import { openVariable } from "./input.ts";
import {
  checkValues,
  countInserts,
  hasNested,
  readRow,
  readRows,
  insertTooLarge,
  type InputRow,
} from "./insert-input.ts";
import { buildInsert, isFixed, buildPayloadRows, encodeRows, encodeRow } from "./insert-rows.ts";
import { planNestedInsert } from "./nested-insert.ts";
import { bind, type Planner, type SelectedField } from "./planner.ts";
import { createPlainRowReader, type PlainRowReader, type PlainRows } from "./plain-rows.ts";
import { visitArguments, type GivenArgument } from "./selection.ts";
import { encodeEmptyResult, planOneRow, planResponse, planWriteStep } from "./writes.ts";

/** Plans the insert. If no rows are written, it returns the response as a string, because nothing needs to run. */
export const planInsert = (
  planner: Planner,
  selectedField: SelectedField,
  relation: Relation,
  isOne: boolean,
): StepTemplate | string => {
  let rows: readonly InputRow[] = [];
  let reader: PlainRowReader | undefined;
  let rowsArgument: GivenArgument | undefined;
  let conflict: OnConflict | undefined;
  visitArguments(planner, selectedField, (argument) => {
    const { part, position } = argument;
    if (part?.kind !== "argument") return;
    if (part.name === "on_conflict") conflict = planConflict(planner, argument);
    else {
      rowsArgument = argument;
      if (isOne) {
        rows = [readRow(planner, argument)];
        return;
      }
      reader = createPlainRowReader(position.type);
      rows = readPlainRows(planner, argument, reader) ?? readRows(planner, argument);
    }
  });
  const result = isOne ? planOneRow(planner, selectedField) : planResponse(planner, selectedField);
  if (rowsArgument === undefined || rows.length === 0) return encodeEmptyResult(result);
  const { path } = rowsArgument;
  countInserts(planner, rows);
  if (hasNested(rows)) return planNestedInsert(planner, relation, rows, conflict, result, path);
  const payload = bind(planner, createPayloadSource(planner, rowsArgument, rows, reader));
  const write = buildInsert(
    relation,
    buildPayloadRows(relation, rows, { param: payload }, isOne ? "object" : "array"),
    conflict,
  );
  return planWriteStep(planner, write, result, path);
};

/** Reads a list for its rows or its errors, without effect on the plan. */
const readWithoutEffect = (
  planner: Planner,
  argument: GivenArgument,
  variables: VariableValues,
): readonly InputRow[] => {
  const budget = { ...planner.budget, insertValues: planner.budget.insertValues + planner.budget.variableInsertValues };
  return readRows(
    { ...planner, budget, variables: createUntrackedVariables(variables), sources: [], allSources: [] },
    argument,
  );
};

/** Returns the lists that a request has read. Planning and binding both need the lists, but each is read only once. */
const getReadLists = memoize((_variables: VariableValues) => new Map<PlainRowReader, PlainRows>());

const readCachedRows = (reader: PlainRowReader, list: Json, variables: VariableValues): PlainRows | undefined => {
  const lists = getReadLists(variables);
  const read = lists.get(reader) ?? reader.read(list);
  if (read !== undefined) lists.set(reader, read);
  return read;
};

/** Reads the rows of a variable, without nested data. The plan depends on their columns, and on whether all rows have
 *  them, but not on the number of rows. */
const readPlainRows = (
  planner: Planner,
  argument: GivenArgument,
  reader: PlainRowReader,
): readonly InputRow[] | undefined => {
  const openedInput = openVariable(planner, argument);
  if (openedInput.kind !== "variable") return undefined;
  const shape = openedInput.part.describe("rows", reader.readShape);
  if (shape === null) return undefined;
  const { boundValues } = planner.variables;
  const read = readCachedRows(reader, openedInput.part.boundValue, boundValues);
  // The call reports the error with its path.
  if (read === undefined) return readWithoutEffect(planner, argument, boundValues);
  checkValues(planner, read.valueCount);
  planner.budget.insertValues -= read.valueCount;
  planner.budget.variableInsertValues += read.valueCount;
  return reader.buildExamples(shape);
};

/** Checks the number of values again, because a plan is reused with lists of other lengths. @rule G-LIM-4 */
const checkValueCount = (planner: Planner, variables: VariableValues): void => {
  const { insertValues, variableInsertValues } = planner.budget;
  const total = [...getReadLists(variables).values()].reduce((sum, { valueCount }) => sum + valueCount, 0);
  if (total > insertValues + variableInsertValues) throw insertTooLarge(planner);
};

/** Creates the source of the payload. Each request reads its list in a variable again, because the number of rows
 *  varies. The values of cells do not change the plan. `reader` is undefined for a single row. */
const createPayloadSource = (
  planner: Planner,
  argument: GivenArgument,
  rows: readonly InputRow[],
  reader: PlainRowReader | undefined,
): ValueSource => {
  const openedInput = openVariable(planner, argument);
  if (reader !== undefined && openedInput.kind === "variable") {
    const { path } = openedInput.part;
    return {
      make: (variables) => {
        const read = readCachedRows(reader, findValue(variables, path), variables);
        if (read === undefined) return encodeRows(readWithoutEffect(planner, argument, variables), variables);
        checkValueCount(planner, variables);
        return read.list;
      },
    };
  }
  const encode = (variables: VariableValues): string =>
    // Without a reader there is exactly one row.
    reader === undefined ? encodeRow(rows[0] as InputRow, variables) : encodeRows(rows, variables);
  return isFixed(rows) ? { fixed: encode(planner.variables.boundValues) } : { make: encode };
};
