/** Exports metrics of live queries by plan and role. The plans with most subscribers have their own series; the other
 *  plans share one series. */
import type { CounterConfiguration, Registry } from "prom-client";
import type { PluginContext } from "../../../core/index.ts";
import { liveQueriesService, type PlanFigures } from "../../live/api.ts";
import type { RoleLabel } from "./labels.ts";
import type { PromClient } from "./prom-client.ts";

/** The largest number of plans with their own series in one process. */
const MAX_PLANS = 20;
const OTHER_LABEL = "other";
const MS_PER_SECOND = 1000;

const LABELS = ["plan", "role"] as const;

/** The current size of each plan. */
const GAUGES: readonly (readonly [name: string, help: string, read: (plan: PlanFigures) => number])[] = [
  ["cohorts", "Groups of live queries that share a statement, by plan", ({ cohorts }) => cohorts],
  ["subscribers", "Subscribers of live queries, by plan", ({ subscribers }) => subscribers],
  ["queries", "Different live queries, by plan", ({ queries }) => queries],
];

/** The counts since the cohorts began. The series that plans share has no counts, because its plans change. */
const COUNTERS: readonly (readonly [name: string, help: string, read: (plan: PlanFigures) => number])[] = [
  ["runs_total", "Statements that ran for live queries, by plan", ({ runs }) => runs],
  ["rows_total", "Results of live queries in these statements, by plan", ({ rows }) => rows],
  ["deliveries_total", "Results that were sent to subscribers, by plan", ({ deliveries }) => deliveries],
  [
    "skipped_total",
    "Live queries that did not run because a change concerned only others of their cohort, by plan",
    ({ skipped }) => skipped,
  ],
];

/** Registers the metrics of live queries by plan. @rule X-MET-8 */
export const registerLivePlans = (
  { Counter, Gauge }: PromClient,
  registry: Registry,
  context: PluginContext,
  labelRole: RoleLabel,
): void => {
  const readPlans = (): readonly PlanFigures[] => context.use(liveQueriesService)?.plans() ?? [];
  /** The statistics of the current scrape, which are computed once for all metrics. */
  let cachedPlans: readonly PlanFigures[] | undefined;
  const getPlans = (): readonly PlanFigures[] => {
    if (cachedPlans === undefined) setImmediate(() => (cachedPlans = undefined));
    return (cachedPlans ??= readPlans());
  };
  const buildLabels = (plan: PlanFigures) => ({ plan: plan.planKey, role: labelRole(plan, "graphql") });
  const buildConfiguration = (name: string, help: string): CounterConfiguration<string> => ({
    name: `relapi_live_plan_${name}`,
    help,
    labelNames: LABELS,
    registers: [registry],
  });
  for (const [name, help, read] of GAUGES)
    new Gauge({
      ...buildConfiguration(name, help),
      collect() {
        this.reset();
        for (const [i, plan] of getPlans().entries())
          this.inc(i < MAX_PLANS ? buildLabels(plan) : { plan: OTHER_LABEL, role: OTHER_LABEL }, read(plan));
      },
    });
  for (const [name, help, read] of COUNTERS)
    new Counter({
      ...buildConfiguration(name, help),
      collect() {
        this.reset();
        for (const plan of getPlans().slice(0, MAX_PLANS)) this.inc(buildLabels(plan), read(plan));
      },
    });
  new Gauge({
    ...buildConfiguration(
      "lag_seconds",
      "Time from the report of a change to its last result in the last run, by plan",
    ),
    aggregator: "max",
    collect() {
      this.reset();
      for (const plan of getPlans().slice(0, MAX_PLANS))
        if (plan.lagMs !== undefined) this.set(buildLabels(plan), plan.lagMs / MS_PER_SECOND);
    },
  });
};
