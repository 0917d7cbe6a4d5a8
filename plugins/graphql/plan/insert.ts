/** `insert_T` and `insert_T_one` without nested data: one statement with one JSON payload. @rule G-INS-1 … G-INS-8 */
import type { OnConflict, Relation } from "../../../core/index.ts";
import { heldIn, unobserved } from "../document/observed.ts";
import { planConflict } from "./conflict.ts";
import type { ValueSource, VariableValues } from "../document/variables.ts";
import { open } from "./input.ts";
import { hasNested, readRow, readRows, type InputRow } from "./insert-input.ts";
import { insertOf, isFixed, payloadRows, rowsText, rowText } from "./insert-rows.ts";
import { planNestedInsert } from "./nested-insert.ts";
import { bind, type Planner } from "./planner.ts";
import { quickRows, shapeOfRows } from "./quick-rows.ts";
import { eachArgument, type GivenArgument, type Selected } from "./selection.ts";
import { emptyAnswer, planOneRow, planResponse, writeStep, type StepTemplate } from "./writes.ts";

/** A string: nothing is written, and the response is known. */
export const planInsert = (
  planner: Planner,
  selected: Selected,
  relation: Relation,
  isOne: boolean,
): StepTemplate | string => {
  let rows: readonly InputRow[] = [];
  let given: GivenArgument | undefined;
  let conflict: OnConflict | undefined;
  eachArgument(planner, selected, (argument) => {
    const { part, input, place, path } = argument;
    if (part?.kind !== "argument") return;
    if (part.name === "on_conflict") conflict = planConflict(planner, input, place, path);
    else {
      given = argument;
      rows =
        part.name === "object"
          ? [readRow(planner, input, place, path)]
          : (readPlainRows(planner, argument) ?? readRows(planner, input, place, path));
    }
  });
  const answer = isOne ? planOneRow(planner, selected) : planResponse(planner, selected);
  if (given === undefined || rows.length === 0) return emptyAnswer(answer);
  const { path } = given;
  if (hasNested(rows)) return planNestedInsert(planner, relation, rows, conflict, answer, path);
  const payload = bind(planner, payloadSource(planner, given, rows, isOne));
  const write = insertOf(
    relation,
    payloadRows(relation, rows, { param: payload }, isOne ? "object" : "array"),
    conflict,
  );
  return writeStep(planner, write, answer, path);
};

const readAside = (
  planner: Planner,
  { input, place, path }: GivenArgument,
  variables: VariableValues,
): readonly InputRow[] =>
  readRows({ ...planner, variables: unobserved(variables), sources: [], opened: [] }, input, place, path);

/** Rows that a variable holds, without nested data: which columns they have, and whether all have the same, makes the
 *  plan, not how many rows there are. */
const readPlainRows = (planner: Planner, given: GivenArgument): readonly InputRow[] | undefined => {
  const opened = open(planner, given.input, given.place, given.path);
  if (opened.kind !== "held") return undefined;
  const shape = opened.held.described("rows", shapeOfRows(given.place.type));
  return shape === null ? undefined : readAside(planner, given, planner.variables.bound);
};

/** A list in a variable is read again each time, because the number of its rows varies; its cells do not decide the
 *  plan. */
const payloadSource = (
  planner: Planner,
  given: GivenArgument,
  rows: readonly InputRow[],
  isOne: boolean,
): ValueSource => {
  const opened = open(planner, given.input, given.place, given.path);
  if (!isOne && opened.kind === "held") {
    const quick = quickRows(given.place.type);
    const { place } = opened.held;
    return {
      make: (variables) => quick(heldIn(variables, place)) ?? rowsText(readAside(planner, given, variables), variables),
    };
  }
  if (isFixed(rows))
    return {
      fixed: isOne ? rowText(rows[0] as InputRow, planner.variables.bound) : rowsText(rows, planner.variables.bound),
    };
  return { make: (variables) => (isOne ? rowText(rows[0] as InputRow, variables) : rowsText(rows, variables)) };
};
