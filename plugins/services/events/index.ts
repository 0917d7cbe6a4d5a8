/** Delivers changes of rows to functions and webhooks: `eventHandlers({ "public.order": { insert: async ({ row }) => … } })`. */
import { definePlugin, nameKey, type Model } from "../../../core/index.ts";
import { eventHandlersService } from "./handlers.ts";
import type { EventTrigger } from "./event-trigger.ts";
import { createEventRuntime, eventsService } from "./runtime.ts";
import { eventSettings } from "./settings.ts";
import { checkTriggers } from "./check.ts";

export { eventHandlers } from "./handlers.ts";
export type { EventHandler, EventHandlerOptions, RowEvent, TableEventHandlers } from "./handlers.ts";

const NAME = "events";
const PART = "event-triggers";

// only the tap below writes it
const getTriggers = (model: Model): readonly EventTrigger[] =>
  (model.pluginFacts[PART] ?? []) as readonly EventTrigger[];

/** Makes writes to tables with event triggers count as user code, which reads the session variables, also before the
 *  triggers are installed. */
const markTables = (model: Model, triggers: readonly EventTrigger[]): Model => {
  const relations = new Map(model.relations);
  for (const { table } of triggers) {
    const key = nameKey(table);
    const relation = relations.get(key);
    if (relation?.provenAccess === "write") relations.set(key, { ...relation, provenAccess: "read" });
  }
  return { ...model, relations };
};

/** Records changes of rows as events, and delivers them. @rule X-EVT-1 … X-EVT-12 */
export const events = definePlugin({
  name: NAME,
  settings: eventSettings,
  requires: ["catalog-introspection", "session-settings"],
  before: ["metadata"], // that tap reports the metadata problems
  apply: (hooks, context) => {
    const runtime = createEventRuntime(context);
    hooks.introspect.tapPromise(NAME, async (model, introspection) => {
      const declared = context.use(eventHandlersService) ?? [];
      const triggers = await checkTriggers(declared, introspection, ({ name }, reason) =>
        introspection.warn(`event trigger ${name}: ${reason}; ignored`),
      );
      return { ...markTables(model, triggers), pluginFacts: { ...model.pluginFacts, [PART]: triggers } };
    });
    context.onModel((model) => runtime.use(getTriggers(model)));
    context.onClose(runtime.close);
    context.offer(eventsService, runtime);
  },
});
