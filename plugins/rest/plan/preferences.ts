/** Applies the preferences of plugins to plans: `Prefer: order=key`. */
import type { Plan } from "../../../core/index.ts";
import type { AppliedPreferences } from "../request.ts";
import type { PlanInput } from "./planning.ts";

/** Lets each preference of the request change the plan, and returns the preferences that had an effect. @rule
 *  R-PRF-7 */
export const applyPreferences = <Kind extends Plan>(
  { rest, model, preferences }: PlanInput,
  plan: Kind,
): { readonly plan: Kind; readonly applied: AppliedPreferences } => {
  let changedPlan: Kind = plan;
  const applied: Record<string, boolean> = {};
  for (const { name, plan: changePlan } of rest.grammar.preferences.values()) {
    const value = changePlan && preferences.acceptedValues.get(name);
    if (changePlan === undefined || value === undefined) continue;
    const changed = changePlan(changedPlan, value, { model });
    if (changed.kind !== plan.kind)
      throw new Error(`preference "${name}" turns a plan of kind "${plan.kind}" into one of kind "${changed.kind}"`);
    applied[name] = changed !== changedPlan;
    changedPlan = changed as Kind; // a preference does not change the kind of the plan
  }
  return { plan: changedPlan, applied };
};
