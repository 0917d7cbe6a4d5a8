/** `insert_T` and `insert_T_one` without nested data: one statement with one JSON payload. @rule G-INS-1 … G-INS-8 */
import type { OnConflict, Relation } from "../../../core/index.ts";
import { createShapes } from "../document/shapes.ts";
import { planConflict } from "./conflict.ts";
import type { VariableValues } from "../document/variables.ts";
import { heldIn, open, type Input } from "./input.ts";
import { hasNested, readRow, readRows, type InputRow } from "./insert-input.ts";
import { insertOf, isFixed, payloadRows, rowsText, rowText } from "./insert-rows.ts";
import { planNestedInsert } from "./nested-insert.ts";
import { bind, type Planner, type ValueSource } from "./planner.ts";
import { quickRows } from "./quick-rows.ts";
import { eachArgument, type GivenArgument, type Selected } from "./selection.ts";
import { emptyAnswer, planOneRow, planResponse, writeStep, type StepTemplate } from "./writes.ts";

/** A text: nothing is written, the answer is known. */
export const planInsert = (planner: Planner, selected: Selected, relation: Relation, isOne: boolean): StepTemplate | string => {
  let rows: readonly InputRow[] = [];
  let given: GivenArgument | undefined;
  let conflict: OnConflict | undefined;
  eachArgument(selected, (argument) => {
    const { part, input, place, path } = argument;
    if (part?.kind !== "argument") return;
    if (part.name === "on_conflict") conflict = planConflict(planner, input, place, path);
    else {
      given = argument;
      rows = part.name === "object" ? [readRow(planner, input, place, path)] : readRows(planner, input, place, path);
    }
  });
  const answer = isOne ? planOneRow(planner, selected) : planResponse(planner, selected);
  if (given === undefined || rows.length === 0) return emptyAnswer(answer);
  const { path } = given;
  if (hasNested(rows)) return planNestedInsert(planner, relation, rows, conflict, answer, path);
  const payload = bind(planner, payloadSource(planner, given, rows, isOne));
  const write = insertOf(relation, payloadRows(relation, rows, { param: payload }, isOne ? "object" : "array"), conflict);
  return writeStep(planner, write, answer, path);
};

/** A list that a variable holds is read anew each time, since the number of its rows changes; its cells alone do not make the plan. */
const payloadSource = (planner: Planner, { input, place, path }: GivenArgument, rows: readonly InputRow[], isOne: boolean): ValueSource => {
  const opened: Input = open(planner, input, place, path);
  if (!isOne && opened.kind === "held") {
    planner.shapes.isRows(opened.variable, opened.keys);
    const quick = quickRows(place.type);
    const again = (variables: VariableValues): string => rowsText(readRows({ ...planner, variables, shapes: createShapes(), sources: [] }, input, place, path), variables);
    return { make: (variables) => quick(heldIn(variables, opened)) ?? again(variables) };
  }
  if (isFixed(rows)) return { fixed: isOne ? rowText(rows[0] as InputRow, planner.variables) : rowsText(rows, planner.variables) };
  return { make: (variables) => (isOne ? rowText(rows[0] as InputRow, variables) : rowsText(rows, variables)) };
};
