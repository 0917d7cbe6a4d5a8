/** Calls functions and webhooks at times: `schedules({ "0 3 * * *": async ({ scheduledAt }) => … })`. */
import { definePlugin, requireService, type Model } from "../../../core/index.ts";
import { createProblemReport, getMetadataFacts, METADATA_PROBLEMS } from "../../metadata/api.ts";
import { scheduledEventsService, webhookService } from "../api.ts";
import { readName } from "../queue/webhook-definition.ts";
import { schedulesService } from "./handlers.ts";
import { readCronTriggers, type ReportProblem } from "./metadata-schedules.ts";
import { createScheduleRuntime } from "./runtime.ts";
import type { Schedule } from "./schedule.ts";

export { schedules } from "./handlers.ts";
export type { ScheduledRun, ScheduleHandler, ScheduleOptions } from "./handlers.ts";

const NAME = "scheduled-events";
const PART = "schedules";
const NAMES = "schedule-names";

// Only the tap below writes this part.
const getSchedules = (model: Model): readonly Schedule[] => (model.pluginFacts[PART] ?? []) as readonly Schedule[];

const getNames = (model: Model): ReadonlySet<string> => model.pluginFacts[NAMES] as ReadonlySet<string>;

/** Makes events at the times of schedules, and delivers them. @rule X-SCH-1 … X-SCH-13 */
export const scheduledEvents = definePlugin({
  name: NAME,
  requires: ["catalog-introspection", "job-queue", "webhooks"],
  before: ["metadata"], // that tap reports the metadata problems
  apply: (hooks, context) => {
    const runtime = createScheduleRuntime(context);
    hooks.introspect.tapPromise(NAME, async (model, introspection) => {
      const { "metadata-cron-triggers": entries = [] } = getMetadataFacts(model);
      const { problems, report: reportProblem } = createProblemReport(model, introspection);
      const report: ReportProblem = (name, reason) =>
        reportProblem({ type: "cron_trigger", name }, `cron trigger ${name}`, reason);
      const handlerSchedules = context.use(schedulesService) ?? [];
      const schedulesByName = new Map(handlerSchedules.map((schedule) => [schedule.name, schedule]));
      for (const schedule of readCronTriggers(entries, () => requireService(context, webhookService), report)) {
        if (schedulesByName.has(schedule.name)) report(schedule.name, "another schedule has this name");
        else schedulesByName.set(schedule.name, schedule);
      }
      const names = new Set([...schedulesByName.keys(), ...entries.map(readName)]);
      const pluginFacts = {
        ...model.pluginFacts,
        [PART]: [...schedulesByName.values()],
        [NAMES]: names,
        [METADATA_PROBLEMS]: problems,
      };
      return { ...model, pluginFacts };
    });
    context.onModel((model) => runtime.use(getSchedules(model), getNames(model)));
    context.onClose(runtime.close);
    context.offer(scheduledEventsService, runtime);
  },
});
