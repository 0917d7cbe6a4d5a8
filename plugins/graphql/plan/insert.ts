/** `insert_T` and `insert_T_one` without nested data: one statement with one JSON payload. @rule G-INS-1 … G-INS-8 */
import { memoize, type OnConflict, type Relation } from "../../../core/index.ts";
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
  tooManyValues,
  type InputRow,
} from "./insert-input.ts";
import { buildInsert, isFixed, buildPayloadRows, encodeRows, encodeRow } from "./insert-rows.ts";
import { planNestedInsert } from "./nested-insert.ts";
import { bind, type Planner } from "./planner.ts";
import { createPlainRowReader, buildExampleRows, createShapeReader, type ReadPlainRows } from "./plain-rows.ts";
import { visitArguments, type GivenArgument, type SelectedField } from "./selection.ts";
import { encodeEmptyAnswer, planOneRow, planResponse, planWriteStep, type StepTemplate } from "./writes.ts";

/** Returns a string if no rows are written, because the response is then known. */
export const planInsert = (
  planner: Planner,
  selected: SelectedField,
  relation: Relation,
  isOne: boolean,
): StepTemplate | string => {
  let rows: readonly InputRow[] = [];
  let readPlain: ReadPlainRows = readNoPlainRows;
  let given: GivenArgument | undefined;
  let conflict: OnConflict | undefined;
  visitArguments(planner, selected, (argument) => {
    const { part, input, place, path } = argument;
    if (part?.kind !== "argument") return;
    if (part.name === "on_conflict") conflict = planConflict(planner, input, place, path);
    else {
      given = argument;
      if (part.name !== "object") readPlain = createPlainRowReader(place.type);
      rows =
        part.name === "object"
          ? [readRow(planner, input, place, path)]
          : (readPlainRows(planner, argument, readPlain) ?? readRows(planner, input, place, path));
    }
  });
  const answer = isOne ? planOneRow(planner, selected) : planResponse(planner, selected);
  if (given === undefined || rows.length === 0) return encodeEmptyAnswer(answer);
  const { path } = given;
  countInserts(planner, rows);
  if (hasNested(rows)) return planNestedInsert(planner, relation, rows, conflict, answer, path);
  const payload = bind(planner, createPayloadSource(planner, given, rows, isOne, readPlain));
  const write = buildInsert(
    relation,
    buildPayloadRows(relation, rows, { param: payload }, isOne ? "object" : "array"),
    conflict,
  );
  return planWriteStep(planner, write, answer, path);
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
    { ...planner, budget, variables: createUntrackedVariables(variables), sources: [], allSources: [] },
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
  const opened = openVariable(planner, given.input, given.place, given.path);
  if (opened.kind !== "held") return undefined;
  const shape = opened.part.describe("rows", createShapeReader(given.place.type));
  if (shape === null) return undefined;
  const read = quick(opened.part.bound);
  if (read === undefined) return readWithoutEffect(planner, given, planner.variables.bound); // reports the error with its path
  checkValues(planner, read.valueCount);
  planner.budget.insertValues -= read.valueCount;
  planner.budget.heldValues += read.valueCount;
  return buildExampleRows(given.place.type, shape);
};

/** The numbers of values in the lists of a request. */
const getValueCounts = memoize((_variables: VariableValues) => new Map<ReadPlainRows, number>());

/** Checks the number of values again, because a plan is reused with lists of other lengths. @rule G-LIM-4 */
const checkValueCount = (
  planner: Planner,
  variables: VariableValues,
  quick: ReadPlainRows,
  valueCount: number,
): void => {
  const counts = getValueCounts(variables);
  counts.set(quick, valueCount);
  const { budget } = planner;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total > budget.insertValues + budget.heldValues) throw tooManyValues(planner);
};

/** Each request reads its list in a variable again, because the number of rows varies. The values of cells do not
 *  change the plan. */
const createPayloadSource = (
  planner: Planner,
  given: GivenArgument,
  rows: readonly InputRow[],
  isOne: boolean,
  quick: ReadPlainRows,
): ValueSource => {
  const opened = openVariable(planner, given.input, given.place, given.path);
  if (!isOne && opened.kind === "held") {
    const { place } = opened.part;
    return {
      make: (variables) => {
        const read = quick(findValue(variables, place));
        if (read === undefined) return encodeRows(readWithoutEffect(planner, given, variables), variables);
        checkValueCount(planner, variables, quick, read.valueCount);
        return read.list;
      },
    };
  }
  if (isFixed(rows))
    return {
      fixed: isOne
        ? encodeRow(rows[0] as InputRow, planner.variables.bound)
        : encodeRows(rows, planner.variables.bound),
    };
  return { make: (variables) => (isOne ? encodeRow(rows[0] as InputRow, variables) : encodeRows(rows, variables)) };
};
