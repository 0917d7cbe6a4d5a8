/** Runs events in a process: installs the triggers of each model, and delivers events until the api closes. */
import { setTimeout as pause } from "node:timers/promises";
import { RelApiError, type PluginContext } from "../../../core/index.ts";
import type { EventsService } from "../api.ts";
import { createEventLog } from "./event-log.ts";
import { databaseEmbedded, notInstalled } from "./errors.ts";
import type { EventTrigger } from "./event-trigger.ts";
import { installTriggers, loadEventCounts, loadTriggerStatus, hasEventSchema, removeTriggers } from "./install.ts";
import { describeError, startQueue, type Queue } from "./queue.ts";
import { createEventStore } from "./store.ts";
import { createTask } from "./worker.ts";

interface EventRuntime extends EventsService {
  /** Delivers events of these triggers. Removes the triggers of earlier names that are not in `names`. */
  use(triggers: readonly EventTrigger[], names: ReadonlySet<string>): void;
  close(): Promise<void>;
}

/** How often a process looks for events that were left by others. */
const SWEEP_MS = 10_000;
const CLEAN_MS = 600_000;
const RESTART_MS = 2000;
/** The time after `SHUTDOWN_GRACE` in which the queue gives its jobs back. */
const STOP_MS = 2000;

/** A mistake of the installation needs a person. Any other reason may pass. */
const isFinal = (error: unknown): boolean => error instanceof RelApiError && error.code === "preset";

/** Creates the runtime of an api. @rule X-EVT-3 X-EVT-4 X-EVT-9 X-EVT-10 */
export const createEventRuntime = (context: PluginContext): EventRuntime => {
  const { logger, healthProblems, options } = context;
  const store = createEventStore(context);
  let triggers: readonly EventTrigger[] = [];
  let queue: Queue | undefined;
  /** The triggers whose jobs the queue takes. */
  let queueNames = "";
  let isClosed = false;
  let loggedReason: string | undefined;
  /** The last installation was refused. */
  let isRefused = false;
  let loggedUnknown = "";
  /** The names of the last model, with those of triggers that are ignored. */
  let declared: ReadonlySet<string> = new Set();
  /** Triggers that an earlier model of the process declared. */
  const removed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const intervals: NodeJS.Timeout[] = [];
  /** Models arrive while an earlier one is installed. */
  let last: Promise<void> = Promise.resolve();

  // a later model may have other rules for the trigger
  const findTrigger = (name: string): EventTrigger | undefined => triggers.find((one) => one.name === name);

  const reportProblem = (error: unknown): void => {
    const reason = describeError(error);
    isRefused = isFinal(error);
    healthProblems.set("events", reason);
    // each further attempt may fail for the same reason
    if (reason !== loggedReason) logger.error("event triggers do not work", { reason });
    loggedReason = reason;
  };

  const reportIfFinal = (error: unknown): void => {
    if (!isFinal(error)) throw error;
    reportProblem(error);
  };

  const logFailure = (what: string) => (error: unknown) => {
    if (!isClosed) logger.warn(what, { reason: describeError(error) });
  };

  /** Says which triggers of the database store events that this process does not deliver. */
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

  const install = async (): Promise<void> => {
    if (options.eventsInstall) {
      if (removed.size > 0) await removeTriggers(context, removed);
      removed.clear();
      const count = triggers.length === 0 ? 0 : await installTriggers(context, triggers);
      if (count === 0) return;
      logger.info("event triggers are installed", { count });
      context.requestReload(); // writes to the tables run the triggers now
      return;
    }
    const states = await loadTriggerStatus(context, triggers);
    const missing = states.filter(({ state }) => state === "missing" || state === "changed");
    if (missing.length > 0) throw notInstalled(new Set(missing.map(({ trigger }) => trigger)));
  };

  const startWorkers = async (): Promise<void> => {
    const url = await context.findDatabaseUrl();
    if (url === undefined) throw databaseEmbedded();
    queue = await startQueue({
      url,
      concurrency: options.eventsConcurrency,
      graceMs: options.shutdownGrace * 1000,
      tasks: new Map(triggers.map(({ name }) => [`event/${name}`, createTask(() => findTrigger(name), store, logger)])),
      logger,
      onLost: (reason) => {
        logger.warn("the queue of events stopped; starting it again", { reason });
        queue = undefined;
        restartLater();
      },
    });
    if (intervals.length > 0) return;
    const sweep = (): void => void store.sweep().catch(logFailure("failed to look for events that were left"));
    const clean = (): void =>
      void store.clean(options.eventsRetention).catch(logFailure("failed to delete old events"));
    sweep();
    intervals.push(setInterval(sweep, SWEEP_MS).unref());
    if (options.eventsRetention > 0) {
      clean();
      intervals.push(setInterval(clean, CLEAN_MS).unref());
    }
  };

  /** Starts the queue again if other triggers have jobs now. */
  const restartQueue = async (): Promise<void> => {
    const names = triggers.map(({ name }) => name).join("\n");
    if (queue !== undefined && names === queueNames) return;
    await queue?.stop();
    queue = undefined;
    queueNames = names;
    const delivers = options.eventsConcurrency > 0 && triggers.length > 0 && !isClosed;
    if (delivers && (await hasEventSchema(context))) await startWorkers();
  };

  const restartLater = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => void enqueue(restart), RESTART_MS);
    timer.unref();
  };

  const restart = async (): Promise<void> => {
    clearTimeout(timer);
    const hasWork = options.eventsInstall || options.eventsConcurrency > 0;
    if (isClosed || !hasWork) return;
    healthProblems.set("events", undefined);
    isRefused = false;
    try {
      await install().catch(reportIfFinal); // the triggers that are installed work
      if (triggers.length > 0) await reportUnknown();
      await restartQueue();
    } catch (error) {
      reportProblem(error);
      if (!isFinal(error)) restartLater();
    }
  };

  const enqueue = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch(logFailure("failed to start the delivery of events"));
    return last;
  };

  const loadStatus: EventsService["loadStatus"] = async () => ({
    triggers: await loadTriggerStatus(context, triggers),
    events: await loadEventCounts(context),
  });

  return {
    use: (next, names) => {
      for (const name of names) removed.delete(name);
      if (options.eventsInstall) for (const name of declared) if (!names.has(name)) removed.add(name);
      declared = names;
      // functions have no text, and a task finds its trigger when it runs
      const isSame = JSON.stringify(next) === JSON.stringify(triggers);
      triggers = next;
      // a role may have got the rights since
      if (!isSame || removed.size > 0 || isRefused) void enqueue(restart);
    },
    install: () => installTriggers(context, triggers),
    remove: () => removeTriggers(context),
    findTrigger,
    ...createEventLog(context, findTrigger),
    loadStatus,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      for (const interval of intervals) clearInterval(interval);
      // a statement that waits for a lock, or a lost server, must not keep the process
      const limit = pause(options.shutdownGrace * 1000 + STOP_MS, undefined, { ref: false });
      await Promise.race([last.then(() => queue?.stop()), limit]);
    },
  };
};
