/** Runs one kind of events in a process: installs its tables, takes its jobs, and adds jobs for events without one. */
import { setTimeout as pause } from "node:timers/promises";
import { getErrorMessage, RelApiError, requireService, type PluginContext } from "../../../core/index.ts";
import { hasEventSchema } from "./install.ts";
import { jobQueueService, RESTART_DELAY_MS, STOP_MS } from "./job-queue.ts";
import { type Tasks } from "./queue.ts";
import type { EventStore } from "./store.ts";

interface DispatcherOptions {
  /** Names the kind of events in health problems: `events`. */
  readonly name: string;
  /** The log message of an error: `event triggers do not work`. */
  readonly failure: string;
  readonly store: Pick<EventStore<object>, "addMissingJobs" | "clean">;
  /** Installs the tables of the queue.
   *  @throws RelApiError `preset` if an administrator must correct the installation */
  install(): Promise<void>;
  /** The tasks of the current model. */
  listTasks(): Tasks;
  /** Called each time that the process takes the jobs of a model. */
  onTasks?(): void;
}

interface Dispatcher {
  /** Installs the database objects that the current model needs, and reports the problems. */
  install(): Promise<void>;
  /** Takes the jobs of the current model, for which `install` was called. */
  takeJobs(): Promise<void>;
  /** True if the last installation was rejected. */
  readonly isRejected: boolean;
  close(): Promise<void>;
}

/** The period of the search for events whose process has ended, and for events without a job. */
const MISSING_JOBS_INTERVAL_MS = 10_000;
const CLEANING_INTERVAL_MS = 600_000;

/** Returns whether an administrator must correct the installation. Any other failure may be temporary. */
const isFinal = (error: unknown): boolean => error instanceof RelApiError && error.code === "preset";

/** Creates the dispatcher of one kind of events. @rule X-EVT-3 X-EVT-4 X-EVT-9 X-EVT-10 X-SCH-4 */
export const createDispatcher = (
  context: PluginContext,
  { name, failure, store, install, listTasks, onTasks }: DispatcherOptions,
): Dispatcher => {
  const { logger, healthProblems, options } = context;
  let isClosed = false;
  let isStarted = false;
  let isRejected = false;
  /** True if an installation that failed has to be tried again. */
  let isIncomplete = false;
  /** The reasons that were logged since the last start without a problem. */
  const loggedReasons = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const intervals: NodeJS.Timeout[] = [];
  /** Resolves when the last model is installed. The next model waits for it. */
  let last: Promise<void> = Promise.resolve();

  const reportProblem = (error: unknown): void => {
    const reason = getErrorMessage(error);
    // If a later step of the same start fails too, the rejected installation remains the reason.
    if (!isRejected) healthProblems.set(name, reason);
    isRejected ||= isFinal(error);
    if (!loggedReasons.has(reason)) logger.error(failure, { reason });
    loggedReasons.add(reason);
  };

  const logFailure = (message: string) => (error: unknown) => {
    if (!isClosed) logger.warn(message, { reason: getErrorMessage(error) });
  };

  const startRoutines = (): void => {
    if (isStarted) return;
    isStarted = true;
    const addMissingJobs = (): void =>
      void store.addMissingJobs().catch(logFailure("failed to look for events that were left"));
    const clean = (): void =>
      void store.clean(options.eventsRetention).catch(logFailure("failed to delete old events"));
    addMissingJobs();
    intervals.push(setInterval(addMissingJobs, MISSING_JOBS_INTERVAL_MS).unref());
    if (options.eventsRetention > 0) {
      clean();
      intervals.push(setInterval(clean, CLEANING_INTERVAL_MS).unref());
    }
  };

  const restartLater = (): void => {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      void enqueue(installAndReport);
      void enqueue(startTasks);
    }, RESTART_DELAY_MS);
    timer.unref();
  };

  const takesJobs = options.eventsConcurrency > 0;
  const isUsed = options.eventsInstall || takesJobs;

  const installAndReport = async (): Promise<void> => {
    clearTimeout(timer);
    if (isClosed || !isUsed) return;
    healthProblems.set(name, undefined);
    isRejected = false;
    isIncomplete = false;
    try {
      await install();
    } catch (error) {
      if (isClosed && !isFinal(error)) return;
      reportProblem(error);
      isIncomplete = !isFinal(error); // after a rejection, the objects that are installed continue to work
    }
  };

  const startTasks = async (): Promise<void> => {
    if (isClosed || !isUsed) return;
    if (isIncomplete) return restartLater();
    try {
      const tasks = listTasks();
      const hasJobs = takesJobs && tasks.size > 0 && (await hasEventSchema(context));
      await requireService(context, jobQueueService).setTasks(name, hasJobs ? tasks : new Map());
      if (!isRejected) loggedReasons.clear();
      if (!hasJobs || isClosed) return;
      startRoutines();
      onTasks?.();
    } catch (error) {
      if (isClosed) return;
      reportProblem(error);
      if (!isFinal(error)) restartLater();
    }
  };

  const enqueue = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work).catch(logFailure("failed to start the delivery of events"));
    return last;
  };

  return {
    install: () => enqueue(installAndReport),
    takeJobs: () => enqueue(startTasks),
    get isRejected() {
      return isRejected;
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      for (const interval of intervals) clearInterval(interval);
      const limit = pause(options.shutdownGrace * 1000 + STOP_MS, undefined, { ref: false });
      await Promise.race([last, limit]);
    },
  };
};
