/** Compiled plans, kept: by the plan object first, then by what it says. Emptied with each load of the model. */
import { planKey, createCache, type Cache } from "./plan/key.ts";
import type { RelApiHooks } from "./hooks.ts";
import type { Model } from "./model/model.ts";
import type { ResolvedOptions } from "./options.ts";
import type { Envelope, Plan } from "./plan/plan.ts";
import type { PluginContext, Registry } from "./plugin.ts";
import type { Session } from "./session.ts";
import { compilePlan } from "./sql/compile.ts";
import type { Program } from "./sql/program.ts";

interface Kept {
  readonly version: number;
  /** By caller, where plans depend on it, and envelope. */
  readonly programs: Map<string, Program>;
}

/** The `prepare` of the plugin context. */
export const createPreparer = (hooks: RelApiHooks, registry: Registry, options: () => ResolvedOptions, demand: () => Model): PluginContext["prepare"] => {
  const byPlan = new WeakMap<Plan, Kept>();
  const envelopeKeys = new WeakMap<Envelope, string>();
  const byKey: Cache<Program> = createCache(options().cacheEntries);
  const { taps } = hooks.transformPlan;
  let version = -1;

  const envelopeKey = (envelope: Envelope): string => {
    let key = envelopeKeys.get(envelope);
    if (key === undefined) {
      key = planKey(envelope);
      envelopeKeys.set(envelope, key);
    }
    return key;
  };

  return ({ plan, envelope }, session, surface) => {
    const model = demand();
    if (model.version !== version) {
      byKey.clear();
      version = model.version;
    }
    const isTransformed = taps.length > 0;
    const variant = isTransformed ? `${callerKey(session, surface)}\n${envelopeKey(envelope)}` : envelopeKey(envelope);
    let kept = byPlan.get(plan);
    if (kept === undefined || kept.version !== version) {
      kept = { version, programs: new Map() };
      byPlan.set(plan, kept);
    }
    const known = kept.programs.get(variant);
    if (known !== undefined) return known;
    const key = `${variant}\n${planKey(plan)}`;
    let program = byKey.get(key);
    if (program === undefined) {
      const permitted = isTransformed ? hooks.transformPlan.call(plan, { model, session, surface, options: options() }) : plan;
      program = compilePlan(permitted, envelope, { model, registry, hooks });
      byKey.set(key, program);
    }
    if (kept.programs.size >= MAX_VARIANTS) kept.programs.clear();
    kept.programs.set(variant, program);
    return program;
  };
};

/** Callers and envelopes one plan object is kept for. */
const MAX_VARIANTS = 100;

/** What taps of `transformPlan` may let a plan depend on: values of session variables are slots, so only their holder's kind counts. */
const callerKey = (session: Session, surface: string): string =>
  `${surface} ${session.isAdmin ? "admin" : "role"} ${session.isBackend === true ? "backend" : ""} ${session.databaseRole ?? ""} ${session.role}`;
