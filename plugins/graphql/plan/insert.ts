/** `insert_T` and `insert_T_one` without nested data: one statement with one JSON payload. @rule G-INS-1 … G-INS-8 */
import { memoize, type OnConflict, type Relation } from "../../../core/index.ts";
import { valueAt, withoutTracking } from "../document/tracked-variables.ts";
import { planConflict } from "./conflict.ts";
import type { ValueSource, VariableValues } from "../document/variables.ts";
import { open } from "./input.ts";
import {
  checkValues,
  countInserts,
  hasNested,
  readRow,
  readRows,
  tooManyValues,
  type InputRow,
} from "./insert-input.ts";
import { insertOf, isFixed, payloadRows, rowsText, rowText } from "./insert-rows.ts";
import { planNestedInsert } from "./nested-insert.ts";
import { bind, type Planner } from "./planner.ts";
import { createPlainRowReader, rowsOfShape, shapeOfRows, type ReadPlainRows } from "./plain-rows.ts";
import { eachArgument, type GivenArgument, type SelectedField } from "./selection.ts";
import { emptyAnswer, planOneRow, planResponse, writeStep, type StepTemplate } from "./writes.ts";

/** Returns a string if no rows are written, because the response is then known. */
export const planInsert = (
  planner: Planner,
  selected: SelectedField,
  relation: Relation,
  isOne: boolean,
): StepTemplate | string => {
  let rows: readonly InputRow[] = [];
  let quick: ReadPlainRows = readNoPlainRows;
  let given: GivenArgument | undefined;
  let conflict: OnConflict | undefined;
  eachArgument(planner, selected, (argument) => {
    const { part, input, place, path } = argument;
    if (part?.kind !== "argument") return;
    if (part.name === "on_conflict") conflict = planConflict(planner, input, place, path);
    else {
      given = argument;
      if (part.name !== "object") quick = createPlainRowReader(place.type);
      rows =
        part.name === "object"
          ? [readRow(planner, input, place, path)]
          : (readPlainRows(planner, argument, quick) ?? readRows(planner, input, place, path));
    }
  });
  const answer = isOne ? planOneRow(planner, selected) : planResponse(planner, selected);
  if (given === undefined || rows.length === 0) return emptyAnswer(answer);
  const { path } = given;
  countInserts(planner, rows);
  if (hasNested(rows)) return planNestedInsert(planner, relation, rows, conflict, answer, path);
  const payload = bind(planner, payloadSource(planner, given, rows, isOne, quick));
  const write = insertOf(
    relation,
    payloadRows(relation, rows, { param: payload }, isOne ? "object" : "array"),
    conflict,
  );
  return writeStep(planner, write, answer, path);
};

const readNoPlainRows: ReadPlainRows = () => undefined;

/** Reads a list for its rows or its errors, without effect on the plan. */
const readWithoutEffect = (
  planner: Planner,
  { input, place, path }: GivenArgument,
  variables: VariableValues,
): readonly InputRow[] => {
  const budget = { ...planner.budget, insertValues: planner.budget.insertValues + planner.budget.heldValues };
  return readRows(
    { ...planner, budget, variables: withoutTracking(variables), sources: [], opened: [] },
    input,
    place,
    path,
  );
};

/** Reads the rows of a variable, without nested data. The plan depends on their columns, and on whether all rows have
 *  them, but not on the number of rows. */
const readPlainRows = (
  planner: Planner,
  given: GivenArgument,
  quick: ReadPlainRows,
): readonly InputRow[] | undefined => {
  const opened = open(planner, given.input, given.place, given.path);
  if (opened.kind !== "held") return undefined;
  const shape = opened.part.described("rows", shapeOfRows(given.place.type));
  if (shape === null) return undefined;
  const read = quick(opened.part.bound);
  if (read === undefined) return readWithoutEffect(planner, given, planner.variables.bound); // reports the error with its path
  checkValues(planner, read.valueCount);
  planner.budget.insertValues -= read.valueCount;
  planner.budget.heldValues += read.valueCount;
  return rowsOfShape(given.place.type, shape);
};

/** The numbers of values in the lists of a request. */
const valueCounts = memoize((_variables: VariableValues) => new Map<ReadPlainRows, number>());

/** Checks the number of values again, because a plan is reused with lists of other lengths. @rule G-LIM-4 */
const checkValueCount = (
  planner: Planner,
  variables: VariableValues,
  quick: ReadPlainRows,
  valueCount: number,
): void => {
  const counts = valueCounts(variables);
  counts.set(quick, valueCount);
  const { budget } = planner;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total > budget.insertValues + budget.heldValues) throw tooManyValues(planner);
};

/** Each request reads its list in a variable again, because the number of rows varies. The values of cells do not
 *  change the plan. */
const payloadSource = (
  planner: Planner,
  given: GivenArgument,
  rows: readonly InputRow[],
  isOne: boolean,
  quick: ReadPlainRows,
): ValueSource => {
  const opened = open(planner, given.input, given.place, given.path);
  if (!isOne && opened.kind === "held") {
    const { place } = opened.part;
    return {
      make: (variables) => {
        const read = quick(valueAt(variables, place));
        if (read === undefined) return rowsText(readWithoutEffect(planner, given, variables), variables);
        checkValueCount(planner, variables, quick, read.valueCount);
        return read.list;
      },
    };
  }
  if (isFixed(rows))
    return {
      fixed: isOne ? rowText(rows[0] as InputRow, planner.variables.bound) : rowsText(rows, planner.variables.bound),
    };
  return { make: (variables) => (isOne ? rowText(rows[0] as InputRow, variables) : rowsText(rows, variables)) };
};
