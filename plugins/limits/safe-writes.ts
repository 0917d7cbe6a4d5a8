/** Rejects updates and deletes without a filter, or with a filter that is true for every row. */
import { definePlugin, Stage, type Plan, type Predicate } from "../../core/index.ts";
import { writeUnfiltered } from "./errors.ts";
import { safeWriteSettings } from "./settings.ts";

/** Returns the value of the predicate if it is the same for all rows. Undefined if it depends on the row. */
const evaluateConstant = (predicate: Predicate): boolean | undefined => {
  if (predicate.kind === "not") {
    const inner = evaluateConstant(predicate.predicate);
    return inner === undefined ? undefined : !inner;
  }
  if (predicate.kind !== "and" && predicate.kind !== "or") return undefined;
  const [neutral, decisive] = predicate.kind === "and" ? [true, false] : [false, true];
  const inner = predicate.predicates.map(evaluateConstant);
  if (inner.includes(decisive)) return decisive;
  return inner.every((value) => value === neutral) ? neutral : undefined;
};

const checkPlan = (plan: Plan): void => {
  if (plan.kind === "sequence") for (const { write } of plan.steps) checkPlan(write);
  else if (
    (plan.kind === "update" || plan.kind === "delete") &&
    (plan.where === undefined || evaluateConstant(plan.where) === true)
  )
    throw writeUnfiltered(plan.kind === "update" ? "UPDATE" : "DELETE");
};

/** With `safeWrites: true`, an update or delete must have a filter of its own. A filter that a permission or a row
 *  policy adds does not count. @rule R-LIM-5 G-LIM-7 */
export const safeWrites = definePlugin({
  name: "safe-writes",
  stage: Stage.early, // before permissions add their filters
  settings: safeWriteSettings,
  apply: (hooks, context) => {
    if (!context.options.safeWrites) return;
    hooks.transformPlan.tap({ name: "safe-writes", keepsRows: true }, (plan) => {
      checkPlan(plan);
      return plan;
    });
  },
});
