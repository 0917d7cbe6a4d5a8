/** Applies the preferences of plugins to plans: `Prefer: order=key`. */
import type { Plan } from "../../../core/index.ts";
import type { AppliedPreferences } from "../request.ts";
import type { Planning } from "./planning.ts";

/** Lets each preference of the request change the plan, and returns those that had an effect. @rule R-PRF-7 */
export const applyPreferences = <Kind extends Plan>(
  { rest, model, preferences }: Planning,
  plan: Kind,
): { readonly plan: Kind; readonly applied: AppliedPreferences } => {
  let current: Kind = plan;
  const applied: Record<string, boolean> = {};
  for (const { name, plan: change } of rest.grammar.preferences.values()) {
    const value = change && preferences.given.get(name);
    if (change === undefined || value === undefined) continue;
    const changed = change(current, value, { model });
    if (changed.kind !== plan.kind)
      throw new Error(`preference "${name}" turns a plan of kind "${plan.kind}" into one of kind "${changed.kind}"`);
    applied[name] = changed !== current;
    current = changed as Kind; // a preference does not change the kind of the plan
  }
  return { plan: current, applied };
};
