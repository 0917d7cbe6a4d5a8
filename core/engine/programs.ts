/** Compiles plans and caches the programs, first by the plan object and then by its contents. */
import { membersOf, type Ask, type Caches } from "../kernel/cache.ts";
import type { Current } from "./current.ts";
import type { RelApiHooks } from "../hooks.ts";
import type { Model } from "./model/model.ts";
import type { Envelope, Plan } from "./plan/plan.ts";
import { observeSession, type WithSession } from "../kernel/observed-session.ts";
import { planKey } from "../kernel/key.ts";
import type { PlanProof, PluginContext, Registry } from "../plugin.ts";
import { visibilityOf } from "./visibility.ts";
import { compilePlan } from "./sql/compile.ts";
import type { Program } from "./sql/program.ts";

/** The source of a program's cache key. */
interface Wanted extends WithSession {
  readonly plan: Plan;
  readonly envelope: Envelope;
  readonly surface: string;
  readonly model: Model;
}

const member = membersOf<Wanted>();
const PLAN = member("plan");
const ENVELOPE = member("envelope");
const PLAN_TEXT = member("plan", planKey);
const ENVELOPE_TEXT = member("envelope", planKey);
const MODEL = member("model");
const SURFACE = member("surface");

/** An estimate for the text, its parts, and values derived from them. */
const BYTES_PER_CHARACTER = 4;

const bytesOf = ({ statements, withRows }: Program): number =>
  statements.reduce(
    (bytes, { text, slots }) => bytes + text.length * BYTES_PER_CHARACTER + slots.length * 100,
    withRows === undefined ? 1000 : 1000 + bytesOf(withRows.program),
  );

/** Creates `prepare` of the plugin context. @rule R-CAC-1 */
export const createPreparer = (
  hooks: RelApiHooks,
  registry: Registry,
  current: Current,
  demand: () => Model,
  caches: Caches,
  proof: () => PlanProof | undefined,
): PluginContext["prepare"] => {
  const { taps } = hooks.transformPlan;
  const byText = caches.create({
    name: "programs",
    make: (ask: Ask<Wanted>): Program => {
      const plan = ask(PLAN_TEXT);
      const envelope = ask(ENVELOPE_TEXT);
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
      const permitted = taps.length === 0 ? plan : hooks.transformPlan.call(plan, context);
      const program = compilePlan(permitted, envelope, {
        model,
        registry,
        hooks,
        proof: proof(),
        sight: () => visibilityOf(model, session, ask(SURFACE)),
      });
      return { ...program, planned: { plan, envelope } };
    },
    bytesOf,
  });
  // finds the program of the same plan object without serializing it
  const byObject = caches.create({
    name: "programs of plans",
    make: (ask: Ask<Wanted>): Program => {
      ask(PLAN);
      ask(ENVELOPE);
      const found = byText.within(ask);
      found.keep();
      return found.made;
    },
    bytesOf: () => 0,
  });
  return ({ plan, envelope }, session, surface) =>
    byObject.take({ plan, envelope, session, surface, model: current.model ?? demand() });
};
