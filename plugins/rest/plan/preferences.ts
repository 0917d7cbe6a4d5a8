/** Applies the preferences of plugins to plans: `Prefer: order=key`. */
import type { Plan } from "../../../core/index.ts";
import type { AppliedPreferences } from "../request.ts";
import type { PlanInput } from "./planning.ts";

/** Lets each preference of the request change the plan, and returns the preferences that had an effect. @rule
 *  R-PRF-7 */
export const applyPreferences = <Kind extends Plan>(
  { rest, model, preferences }: PlanInput,
  plan: Kind,
): { readonly plan: Kind; readonly appliedPreferences: AppliedPreferences } => {
  let changedPlan: Kind = plan;
  const appliedPreferences: Record<string, boolean> = {};
  for (const { name, plan: changePlan } of rest.grammar.preferences.values()) {
    const value = changePlan && preferences.acceptedValues.get(name);
    if (changePlan === undefined || value === undefined) continue;
    const nextPlan = changePlan(changedPlan, value, { model });
    if (nextPlan.kind !== plan.kind)
      throw new Error(`preference "${name}" turns a plan of kind "${plan.kind}" into one of kind "${nextPlan.kind}"`);
    appliedPreferences[name] = nextPlan !== changedPlan;
    changedPlan = nextPlan as Kind; // a preference does not change the kind of the plan
  }
  return { plan: changedPlan, appliedPreferences };
};
