/** Plans `update_T`, `update_T_by_pk` and `update_T_many`. @rule G-UPD-1a … G-UPD-9 */
import type { StepTemplate } from "./function-field.ts";
import type { Relation } from "../../../core/index.ts";
import { getFieldPart } from "../plan-parts.ts";
import { planUpdateAdditions } from "./update-additions.ts";
import { visitInputItems, visitInputFields } from "./input.ts";
import { countWrites, openStep, type Planner, type SelectedField } from "./planner.ts";
import { visitArguments } from "./selection.ts";
import { createParts, addPart, buildUpdate, type UpdateParts } from "./update-parts.ts";
import { planOneRow, planResponse, planWriteStep, type WriteResult } from "./writes.ts";

/** Plans the parts of an update. Errors of its arguments precede errors of the selection. */
const planParts = (
  planner: Planner,
  relation: Relation,
  parts: UpdateParts,
  path: string,
): ((result: WriteResult) => StepTemplate) => {
  if (parts.pluginArguments.length > 0) return planUpdateAdditions(planner, relation, parts, path);
  countWrites(planner);
  const update = buildUpdate(planner, relation, parts, path);
  return (result) => planWriteStep(planner, update, result, "$");
};

/** Plans `update_T` and `update_T_by_pk`. */
export const planUpdate = (planner: Planner, selectedField: SelectedField, relation: Relation): StepTemplate => {
  const parts = createParts();
  visitArguments(planner, selectedField, (argument) => addPart(planner, parts, argument, argument.part));
  const planStep = planParts(planner, relation, parts, `${selectedField.path}.args`);
  const isOne = selectedField.part?.kind === "update-by-pk";
  return planStep(isOne ? planOneRow(planner, selectedField) : planResponse(planner, selectedField));
};

/** Plans one step per element of `updates`, in order. @rule G-UPD-8 */
export const planUpdateMany = (
  planner: Planner,
  selectedField: SelectedField,
  relation: Relation,
): readonly StepTemplate[] => {
  const updates: { readonly planner: Planner; readonly planStep: (result: WriteResult) => StepTemplate }[] = [];
  visitArguments(planner, selectedField, (argument) => {
    if (argument.part?.kind !== "argument" || argument.part.name !== "updates") return;
    for (const item of visitInputItems(planner, argument)) {
      const stepPlanner = openStep(planner);
      const parts = createParts();
      visitInputFields(stepPlanner, item, (member) => addPart(stepPlanner, parts, member, getFieldPart(member.field)));
      updates.push({ planner: stepPlanner, planStep: planParts(stepPlanner, relation, parts, item.path) });
    }
  });
  // The selection is checked even if there is nothing to update.
  if (updates.length === 0) planResponse(planner, selectedField);
  return updates.map(({ planner: stepPlanner, planStep }) => planStep(planResponse(stepPlanner, selectedField)));
};
