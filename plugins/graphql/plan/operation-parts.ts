/** Declares the parts of an operation during its planning: statements, and functions that resolve root fields. */
import type { GqlCall, GqlOutput } from "../operations.ts";
import { planFunctionField, type CallTemplate } from "./call.ts";
import { planForward, type ForwardTemplate } from "./forward.ts";
import type { CustomPartWith, StepTemplate } from "./function-field.ts";
import type { Planner, SelectedField } from "./planner.ts";

export interface OperationParts {
  readonly steps: StepTemplate[];
  readonly calls: ((CallTemplate | ForwardTemplate) & Pick<GqlCall, "afterSteps">)[];
}

export type CallPart = CustomPartWith<"run"> | CustomPartWith<"forward">;

/** Returns whether a plugin's function resolves the field. */
export const isCall = (selectedField: SelectedField): selectedField is SelectedField & { readonly part: CallPart } =>
  selectedField.part?.kind === "custom" && ("run" in selectedField.part || "forward" in selectedField.part);

/** Plans a field that a function resolves, and adds it to the operation. */
export const planCall = (
  planner: Planner,
  selectedField: SelectedField,
  part: CallPart,
  { calls, steps }: OperationParts,
): GqlOutput => {
  // The functions of a query run at the same time.
  const afterSteps = planner.operation === "mutation" && steps.length > 0 ? steps.length : undefined;
  return {
    as: selectedField.as,
    call:
      calls.push(
        "forward" in part
          ? { ...planForward(planner, selectedField, part), afterSteps }
          : {
              field: planFunctionField(planner, selectedField, part, planner.planJoin),
              run: part.run,
              live: part.live,
              afterSteps,
            },
      ) - 1,
  };
};
