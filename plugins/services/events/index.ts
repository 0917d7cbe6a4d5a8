/** Delivers changes of rows to functions and webhooks: `eventHandlers({ "public.order": { insert: async ({ row }) => …
 *  } })`. */
import { definePlugin, requireService, type Model } from "../../../core/index.ts";
import { createProblemReport, getMetadataFacts, METADATA_PROBLEMS } from "../../metadata/api.ts";
import { tracingService } from "../../operations/api.ts";
import { eventsService, webhookService } from "../api.ts";
import { eventHandlersService } from "./handlers.ts";
import { ACTION_DELIVERIES, type EventTrigger } from "./event-trigger.ts";
import { createEventRuntime } from "./runtime.ts";
import { checkTriggers } from "./check.ts";
import { addTraceParent } from "./trace.ts";
import { listNames, readMetadataTriggers, type ReportProblem } from "./metadata-triggers.ts";

export { eventHandlers } from "./handlers.ts";
export type { EventHandler, EventHandlerOptions, RowEvent, TableEventHandlers } from "./handlers.ts";

const NAME = "events";
const PART = "event-triggers";
const NAMES = "event-trigger-names";

// Only the tap below writes this part.
const getTriggers = (model: Model): readonly EventTrigger[] =>
  (model.pluginFacts[PART] ?? []) as readonly EventTrigger[];

const getNames = (model: Model): ReadonlySet<string> => model.pluginFacts[NAMES] as ReadonlySet<string>;

/** Counts no write as proven, because the triggers read the session variables. Introspection has not seen the triggers
 *  that are about to be installed. Writes to other tables may cascade to the tables of these triggers. */
const distrustWrites = (model: Model): Model => ({
  ...model,
  relations: new Map(
    [...model.relations].map(([key, relation]) => [
      key,
      relation.provenAccess === "write" ? { ...relation, provenAccess: "read" } : relation,
    ]),
  ),
});

/** Records changes of rows as events, and delivers them. @rule X-EVT-1 … X-EVT-22 */
export const events = definePlugin({
  name: NAME,
  requires: ["catalog-introspection", "job-queue", "session-settings", "webhooks"],
  before: ["metadata"], // that tap reports the metadata problems
  apply: (hooks, context) => {
    const runtime = createEventRuntime(context);
    hooks.introspect.tapPromise(NAME, async (model, introspection) => {
      const { "metadata-event-triggers": entries = [] } = getMetadataFacts(model);
      const { problems, report } = createProblemReport(model, introspection);
      const reportMetadata: ReportProblem = (table, name, reason) =>
        report({ type: "event_trigger", owner: table, name }, `table ${table.name}: event trigger ${name}`, reason);
      const metadataTriggers = readMetadataTriggers(
        entries,
        () => requireService(context, webhookService),
        reportMetadata,
      );
      const handlerTriggers = context.use(eventHandlersService) ?? [];
      const { triggers, areMissing } = await checkTriggers(
        [...handlerTriggers, ...metadataTriggers],
        introspection,
        (trigger, reason) =>
          handlerTriggers.includes(trigger)
            ? introspection.warn(`event trigger ${trigger.name}: ${reason}; ignored`)
            : reportMetadata(trigger.table, trigger.name, reason),
      );
      // Only `addDeliveries` writes this list, whose events have no triggers of tables.
      const actionTriggers = (model.pluginFacts[ACTION_DELIVERIES] ?? []) as readonly EventTrigger[];
      const names = new Set([...handlerTriggers.map(({ name }) => name), ...listNames(entries)]);
      const pluginFacts = {
        ...model.pluginFacts,
        [PART]: [...triggers, ...actionTriggers],
        [NAMES]: names,
        [METADATA_PROBLEMS]: problems,
      };
      return { ...(areMissing ? distrustWrites(model) : model), pluginFacts };
    });
    let hasTriggers = false;
    context.beforeModel((model) => runtime.prepare(getTriggers(model), getNames(model)));
    context.onModel((model) => {
      hasTriggers = getTriggers(model).length > 0;
      runtime.start();
    });
    context.wrap({
      execute: (next) => (execution) => {
        const { exchange } = execution;
        if (!hasTriggers || exchange === undefined) return next(execution);
        return next(addTraceParent(execution, () => context.use(tracingService)?.findTraceParent(exchange)));
      },
    });
    context.onClose(runtime.close);
    context.offer(eventsService, runtime);
  },
});
