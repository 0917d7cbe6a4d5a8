/** Plans plugins' own root fields that the database resolves. @rule X-GQL-2 X-GQL-3 */
import { getNamedType, isObjectType } from "graphql";
import type { BundleField } from "../../../core/index.ts";
import { getTypeExtension } from "../field-types.ts";
import { describeOrigin, isListField, fieldMisplaced, planPluginRoot, planStatement } from "./plugin-fields.ts";
import type { CustomPart, CustomPartWith, StepTemplate } from "./function-field.ts";
import type { Planner, SelectedField } from "./planner.ts";
import { planOneRow, planResponse, planWriteStep } from "./writes.ts";

/** Plans a field that reads. @throws TypeError if its plan writes */
export const planCustomRead = (planner: Planner, selectedField: SelectedField, part: CustomPart): BundleField => {
  if ("statement" in part) return planStatement(planner, selectedField, part);
  if (!("plan" in part)) throw fieldMisplaced(part);
  const read = planPluginRoot(planner, selectedField, part);
  if (read.kind !== "read") throw new TypeError(`${describeOrigin(selectedField, part)}: only mutations may write`);
  return { as: selectedField.as, read, ...(isListField(selectedField) ? {} : { isOne: true }) };
};

/** Plans a field of a mutation as a part of a bundle or as a step. */
export const planCustomField = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"plan">,
): BundleField | StepTemplate => {
  const plan = planPluginRoot(planner, selectedField, part);
  if (plan.kind === "read")
    return { as: selectedField.as, read: plan, ...(isListField(selectedField) ? {} : { isOne: true }) };
  const type = getNamedType(selectedField.field.type);
  const scope = isObjectType(type) ? getTypeExtension(type)?.scope : undefined;
  if (scope === "mutation_response")
    return planWriteStep(planner, plan, planResponse(planner, selectedField), `${selectedField.path}.args`);
  if (scope !== "row" || isListField(selectedField))
    throw new TypeError(
      `${describeOrigin(selectedField, part)}: a write answers a mutation response, or one row of the table`,
    );
  return planWriteStep(planner, plan, planOneRow(planner, selectedField), `${selectedField.path}.args`);
};
