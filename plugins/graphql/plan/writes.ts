/** Plans the results of writes, and the steps that run them. @rule G-INS-5 G-INS-6 G-UPD-7 G-DEL-1 */
import type { StepTemplate } from "./function-field.ts";
import type { GraphQLObjectType } from "graphql";
import type {
  Delete,
  Envelope,
  Insert,
  Output,
  Plan,
  QualifiedName,
  Read,
  Rejection,
  Sequence,
  SequenceStep,
  Update,
} from "../../../core/index.ts";
import type { Planner, SelectedField } from "./planner.ts";
import { readsOtherRows, planRow } from "./row-selection.ts";
import { visitSelections, checkSubselection } from "./selection.ts";

/** The envelopes for compact JSON of the whole result, or of the first row. */
const DOCUMENT: Envelope = Object.freeze({ media: "document" });
const DOCUMENT_ONE: Envelope = Object.freeze({ media: "document-one" });

/** Builds the step of an operation that runs one plan. */
export const buildStep = (planner: Planner, plan: Plan, path: string, isOne = false): StepTemplate => ({
  planned: { plan, envelope: isOne ? DOCUMENT_ONE : DOCUMENT },
  sources: planner.sources,
  path,
});

/** The result of a write: an object with the written rows, or the only row. */
export interface WriteResult {
  readonly isOne: boolean;
  readonly output: readonly Output[];
}

/** Plans the fields of `T_mutation_response`. @rule G-OUT-7 */
export const planResponse = (planner: Planner, selectedField: SelectedField): WriteResult => {
  const output: Output[] = [];
  const type = checkSubselection(selectedField) as GraphQLObjectType; // a mutation response is an object
  visitSelections(planner, type, selectedField, (selection) => {
    if (selection.kind === "typename") output.push({ kind: "constant", as: selection.as, value: selection.value });
    else if (selection.part?.kind === "returning") {
      const row = checkSubselection(selection) as GraphQLObjectType; // `returning` is a list of rows
      output.push({
        kind: "nodes",
        as: selection.as,
        outputs: planRow(planner, row, selection),
      });
    } else {
      checkSubselection(selection);
      output.push({ kind: "affected", as: selection.as });
    }
  });
  return { isOne: false, output };
};

/** Plans the answer of a write by primary key, which is the written row. */
export const planOneRow = (planner: Planner, selectedField: SelectedField): WriteResult => {
  const type = checkSubselection(selectedField) as GraphQLObjectType; // fields that write one row return it
  return { isOne: true, output: planRow(planner, type, selectedField) };
};

const buildResultRead = (target: QualifiedName, result: WriteResult, steps?: readonly number[]): Read => ({
  kind: "read",
  from: { written: target, ...(steps && { steps }) },
  shape: result.isOne ? "rows" : "aggregate",
  output: result.output,
});

type WritePlan = Insert | Update | Delete;

const getTarget = (write: WritePlan): QualifiedName =>
  write.kind === "insert" ? write.into : write.kind === "update" ? write.relation : write.from;

/** Plans one write. If the result contains related rows, a separate statement reads it after the write. @rule
 *  G-INS-5 */
export const planWriteStep = (planner: Planner, write: WritePlan, result: WriteResult, path: string): StepTemplate => {
  if (readsOtherRows(result.output))
    return planSequenceStep(planner, getTarget(write), [{ write, path }], [0], result, path);
  return buildStep(planner, { ...write, returning: buildResultRead(getTarget(write), result) }, path, result.isOne);
};

/** Plans several writes. The result is read from the rows of some of them. */
export const planSequenceStep = (
  planner: Planner,
  target: QualifiedName,
  steps: readonly SequenceStep[],
  rootSteps: readonly number[],
  result: WriteResult,
  path: string,
  rejection?: Rejection,
  isCurrent?: true,
): StepTemplate => {
  const read = buildResultRead(target, result, rootSteps);
  const plan: Sequence = {
    kind: "sequence",
    steps,
    result: isCurrent ? { ...read, from: { ...read.from, isCurrent } } : read,
    ...(result.isOne ? { isOne: true } : {}),
    ...(rejection && { rejection }),
  };
  return buildStep(planner, plan, path, result.isOne);
};

/** Returns the result of a write without rows. @rule G-INS-2 */
export const encodeEmptyResult = (result: WriteResult): string =>
  result.isOne
    ? "null"
    : `{${result.output.map((output) => `${JSON.stringify("as" in output ? output.as : "")}:${encodeEmptyValue(output)}`).join(",")}}`;

const encodeEmptyValue = (output: Output): string => {
  if (output.kind === "affected") return "0";
  return output.kind === "constant" ? JSON.stringify(output.value) : "[]";
};
