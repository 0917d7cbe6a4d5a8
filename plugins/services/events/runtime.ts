/** Runs events in a process: installs the triggers of each model, and delivers events until the api closes. */
import { requireService, sql, type PluginContext } from "../../../core/index.ts";
import type { EventsService } from "../api.ts";
import { createDispatcher } from "../queue/dispatcher.ts";
import { jobQueueService } from "../queue/job-queue.ts";
import { createRemovedNames } from "../queue/removed-names.ts";
import { createEventStore } from "../queue/store.ts";
import { createTask } from "../queue/worker.ts";
import { createEventLog } from "./event-log.ts";
import { eventTriggersNotInstalled } from "./errors.ts";
import { EVENT_COLUMNS, type EventTrigger, type StoredEvent } from "./event-trigger.ts";
import { installTriggers, loadEventCounts, loadTriggerStatus, removeTriggers } from "./install.ts";

interface EventRuntime extends EventsService {
  /** Installs these triggers, so that no write to their tables is missed once the model is current. Removes the
   *  triggers of earlier names that are not in `names`, which has the names of ignored triggers too. */
  prepare(triggers: readonly EventTrigger[], names: ReadonlySet<string>): Promise<void>;
  /** Delivers events of the prepared triggers. */
  start(): void;
  close(): Promise<void>;
}

/** The tables of the events of triggers. @rule X-EVT-21 X-EVT-21a */
const TABLES = {
  events: sql`relapi.event`,
  invocations: sql`relapi.event_invocation`,
  columns: EVENT_COLUMNS,
  job: sql`trigger_name`,
  isBlocked: sql`relapi.has_earlier(e)`,
  nextJob: sql`relapi.add_next_job(stored)`,
};

/** Creates the runtime of an api. @rule X-EVT-3 X-EVT-4 X-EVT-9 X-EVT-10 */
export const createEventRuntime = (context: PluginContext): EventRuntime => {
  const { logger, options } = context;
  const store = createEventStore<StoredEvent>(context, TABLES);
  let triggers: readonly EventTrigger[] = [];
  /** True if the delivery has to start again. */
  let isChanged = false;
  let loggedUnknown = "";
  const removedNames = createRemovedNames(options.eventsInstall);

  // A later model may have other rules for the trigger.
  const findTrigger = (name: string): EventTrigger | undefined => triggers.find((trigger) => trigger.name === name);

  /** Logs the triggers of the database whose events this process does not deliver. */
  const reportUnknown = async (): Promise<void> => {
    const states = await loadTriggerStatus(context, triggers);
    const unknown = new Set(states.filter(({ state }) => state === "unknown").map(({ trigger }) => trigger));
    const names = [...unknown].join(", ");
    if (names !== "" && names !== loggedUnknown)
      logger.warn("event triggers without a handler or metadata store events that this process does not deliver", {
        triggers: names,
      });
    loggedUnknown = names;
  };

  const installMissing = async (): Promise<void> => {
    if (options.eventsInstall) {
      if (removedNames.names.size > 0) await removeTriggers(context, removedNames.names);
      removedNames.names.clear();
      const count = triggers.length === 0 ? 0 : (await installTriggers(context, triggers)).triggerCount;
      if (count > 0) logger.info("event triggers are installed", { count });
      return;
    }
    const states = await loadTriggerStatus(context, triggers);
    const missingTriggers = states.filter(({ state }) => state === "missing" || state === "changed");
    if (missingTriggers.length > 0)
      throw eventTriggersNotInstalled(new Set(missingTriggers.map(({ trigger }) => trigger)));
  };

  const install = async (): Promise<void> => {
    await installMissing();
    if (triggers.length > 0) await reportUnknown();
  };

  const dispatcher = createDispatcher(context, {
    name: "events",
    failure: "event triggers do not work",
    store,
    install,
    listTasks: () =>
      new Map(triggers.map(({ name }) => [`event/${name}`, createTask(() => findTrigger(name), store, logger)])),
  });

  const loadStatus: EventsService["loadStatus"] = async () => ({
    triggers: await loadTriggerStatus(context, triggers),
    events: await loadEventCounts(context),
  });

  return {
    prepare: async (next, names) => {
      removedNames.update(names);
      // JSON omits functions. They need no comparison, because a task finds its trigger when it runs.
      const isSame = JSON.stringify(next) === JSON.stringify(triggers);
      triggers = next;
      // The login role may have received missing rights in the meantime.
      isChanged ||= !isSame || removedNames.names.size > 0 || dispatcher.isRejected;
      if (isChanged) await dispatcher.install();
    },
    start: () => {
      if (isChanged) void dispatcher.takeJobs();
      isChanged = false;
    },
    checkQueue: async () => {
      if (triggers.length > 0) await requireService(context, jobQueueService).check();
    },
    install: () => installTriggers(context, triggers),
    remove: (names) => removeTriggers(context, names),
    findTrigger,
    ...createEventLog(context, findTrigger),
    loadStatus,
    close: dispatcher.close,
  };
};
