/** Compiles plans and caches the programs by the contents of the plans. */
import { defineCacheQuestion, type Ask, type CacheManager } from "./kernel/cache.ts";
import type { CurrentState } from "./kernel/current-state.ts";
import type { RelApiHooks } from "./hooks.ts";
import type { Model } from "./model/model.ts";
import type { Envelope, Plan } from "./plan/plan.ts";
import { observeSession, type SessionSource } from "./kernel/observed-session.ts";
import { planKey } from "./kernel/plan-key.ts";
import type { PlanProof, PluginContext, Registry } from "./plugin.ts";
import { getVisibility } from "./model/caller-visibility.ts";
import { compilePlan } from "./sql/compile.ts";
import type { Program } from "./sql/program.ts";

/** The source of a program's cache key. */
interface ProgramSource extends SessionSource {
  readonly plan: Plan;
  readonly envelope: Envelope;
  readonly surface: string;
  readonly model: Model;
}

const PLAN = defineCacheQuestion("plan", ({ plan }: ProgramSource) => plan, planKey);
const ENVELOPE = defineCacheQuestion("envelope", ({ envelope }: ProgramSource) => envelope, planKey);
const MODEL = defineCacheQuestion("model", ({ model }: ProgramSource) => model);
const SURFACE = defineCacheQuestion("surface", ({ surface }: ProgramSource) => surface);

/** An estimate for the text, its parts, and values derived from them. */
const BYTES_PER_CHARACTER = 4;

const estimateBytes = ({ statements, withRows }: Program): number =>
  statements.reduce(
    (bytes, { text, slots }) => bytes + text.length * BYTES_PER_CHARACTER + slots.length * 100,
    withRows === undefined ? 1000 : 1000 + estimateBytes(withRows.program),
  );

/** Creates `prepare` of the plugin context. @rule R-CAC-1 */
export const createPreparer = (
  hooks: RelApiHooks,
  registry: Registry,
  current: CurrentState,
  requireModel: () => Model,
  caches: CacheManager,
  proof: () => PlanProof | undefined,
): PluginContext["prepare"] => {
  const { taps } = hooks.transformPlan;
  const programs = caches.create({
    name: "programs",
    make: (ask: Ask<ProgramSource>): Program => {
      const plan = ask(PLAN);
      const envelope = ask(ENVELOPE);
      const model = ask(MODEL);
      const session = observeSession(ask);
      const context = {
        model,
        envelope,
        options: current.options,
        session,
        get surface() {
          return ask(SURFACE);
        },
      };
      const permittedPlan = taps.length === 0 ? plan : hooks.transformPlan.call(plan, context);
      const program = compilePlan(permittedPlan, envelope, {
        model,
        registry,
        hooks,
        proof: proof(),
        visibility: () => getVisibility(model, session, ask(SURFACE)),
      });
      return { ...program, planned: { plan, envelope } };
    },
    estimateBytes,
  });
  return ({ plan, envelope }, session, surface) =>
    programs.getAndCommit({ plan, envelope, session, surface, model: current.model ?? requireModel() });
};
