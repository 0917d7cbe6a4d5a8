/** Proves from the model that the statement of a plan runs no user-defined code. Statements that are not proven are
 *  correct, but cost more: their connection is cleaned, they share no round trip, and no live result. */
import { definePlugin, planProofService } from "../../../core/index.ts";
import { isProvenPlan } from "./proof.ts";

export const planProof = definePlugin({
  name: "plan-proof",
  apply: (hooks, context) =>
    context.offer(planProofService, {
      isProven: (plan, envelope, model) => isProvenPlan(plan, envelope, { model, hooks, registry: context.registry }),
    }),
});
