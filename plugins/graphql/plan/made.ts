/** What an operation is made of while it is planned: statements, and functions that run before them. */
import type { GqlOutput } from "../operations.ts";
import { planFunctionField, type CallTemplate } from "./call.ts";
import type { PartServedBy } from "./function-field.ts";
import type { Planner } from "./planner.ts";
import type { Selected } from "./selection.ts";
import type { StepTemplate } from "./writes.ts";

export interface Made {
  readonly steps: StepTemplate[];
  readonly calls: CallTemplate[];
}

export type CallPart = PartServedBy<"run">;

/** A field that a function of a plugin answers. */
export const isCall = (selected: Selected): selected is Selected & { readonly part: CallPart } =>
  selected.part?.kind === "custom" && "run" in selected.part;

export const planCall = (planner: Planner, selected: Selected, part: CallPart, { calls }: Made): GqlOutput => ({
  as: selected.as,
  call: calls.push({ field: planFunctionField(planner, selected, part), run: part.run, live: part.live }) - 1,
});
