/** Computes statistics of live queries for operators, by plan and role. They contain statements and numbers, and
 *  nothing about callers except the role. @rule X-LQ-1 */
import { createHash } from "node:crypto";
import { memoize, type Program } from "../../../core/index.ts";
import type { PlanFigures } from "../api.ts";
import type { Cohort } from "./cohort.ts";

/** The length of the keys of plans, which suffices to distinguish the plans of one server. */
const KEY_LENGTH = 12;

type PlanStatistics = { -readonly [Name in keyof PlanFigures]: PlanFigures[Name] };

const listTexts = ({ statements }: Program): readonly string[] => statements.map(({ text }) => text);

/** Returns the statistics of each plan, ordered by the number of subscribers, largest first. */
export const computePlanFigures = (cohorts: Iterable<Cohort>): readonly PlanFigures[] => {
  const hashProgram = memoize((program: Program) =>
    createHash("sha256").update(listTexts(program).join(";")).digest("hex").slice(0, KEY_LENGTH),
  );
  const byPlan = new Map<string, PlanStatistics>();
  for (const { properties, entries, counts } of cohorts) {
    const [first] = entries.values();
    if (first === undefined) continue; // the cohort has no entry if it is about to end
    const programs = first.query.programs.map(({ program }) => program);
    const { role, isAdmin } = properties.session;
    const planKey = programs.map(hashProgram).join(".");
    let plan = byPlan.get(`${planKey} ${role}`);
    if (plan === undefined) {
      const statements = programs.flatMap(listTexts);
      plan = { planKey, role, isAdmin, statements, relations: [...properties.relations], ...NO_COUNTS };
      byPlan.set(`${planKey} ${role}`, plan);
    }
    plan.cohorts++;
    if (properties.isShared) plan.sharedCohorts++;
    for (const { subscriptions } of entries.values()) plan.subscribers += subscriptions.size;
    plan.queries += entries.size;
    plan.runs += counts.runs;
    plan.rows += counts.rows;
    plan.deliveries += counts.deliveries;
    plan.skipped += counts.skipped;
    if (counts.lagMs !== undefined) plan.lagMs = Math.max(plan.lagMs ?? 0, counts.lagMs);
  }
  return [...byPlan.values()].sort((a, b) => b.subscribers - a.subscribers);
};

const NO_COUNTS = {
  cohorts: 0,
  sharedCohorts: 0,
  subscribers: 0,
  queries: 0,
  runs: 0,
  rows: 0,
  deliveries: 0,
  skipped: 0,
  lagMs: undefined,
};
