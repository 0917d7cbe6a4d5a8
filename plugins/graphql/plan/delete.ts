/** `delete_T`, `delete_T_by_pk`. @rule G-DEL-1 G-DEL-2 G-DEL-3 */
import type { Predicate, Relation } from "../../../core/index.ts";
import type { Planner } from "./planner.ts";
import { planKey } from "./query.ts";
import { eachArgument, type Selected } from "./selection.ts";
import { nameOf, narrowed, planWhere } from "./where.ts";
import { planOneRow, planResponse, writeStep, type StepTemplate } from "./writes.ts";

export const planDelete = (planner: Planner, selected: Selected, relation: Relation): StepTemplate => {
  const isOne = selected.part?.kind === "delete-by-pk";
  let where: Predicate | undefined;
  if (isOne) where = planKey(planner, selected);
  else {
    eachArgument(planner, selected, ({ part, input, place, path }) => {
      if (part?.kind === "argument" && part.name === "where") where = narrowed(planWhere(planner, input, place, path));
    });
  }
  const answer = isOne ? planOneRow(planner, selected) : planResponse(planner, selected);
  return writeStep(planner, { kind: "delete", from: nameOf(relation), ...(where && { where }) }, answer, "$");
};
