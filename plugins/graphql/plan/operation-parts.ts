/** Declares the parts of an operation during its planning: statements, and functions that run before them. */
import type { GqlOutput } from "../operations.ts";
import { planFunctionField, type CallTemplate } from "./call.ts";
import { planForward, type ForwardTemplate } from "./forward.ts";
import type { CustomPartWith } from "./function-field.ts";
import type { Planner } from "./planner.ts";
import type { SelectedField } from "./selection.ts";
import type { StepTemplate } from "./writes.ts";

export interface OperationParts {
  readonly steps: StepTemplate[];
  readonly calls: (CallTemplate | ForwardTemplate)[];
}

export type CallPart = CustomPartWith<"run"> | CustomPartWith<"forward">;

/** Returns true if a plugin's function resolves the field. */
export const isCall = (selected: SelectedField): selected is SelectedField & { readonly part: CallPart } =>
  selected.part?.kind === "custom" && ("run" in selected.part || "forward" in selected.part);

export const planCall = (
  planner: Planner,
  selected: SelectedField,
  part: CallPart,
  { calls, steps }: OperationParts,
): GqlOutput => ({
  as: selected.as,
  call:
    calls.push(
      "forward" in part
        ? planForward(planner, selected, part, steps.length)
        : { field: planFunctionField(planner, selected, part), run: part.run, live: part.live },
    ) - 1,
});
