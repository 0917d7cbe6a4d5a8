/** Runs one queue of graphile-worker for all plugins of a process that have jobs. */
import { setTimeout as pause } from "node:timers/promises";
import { getErrorMessage, defineService, type PluginContext } from "../../../core/index.ts";
import { createConcurrencyLimit } from "../webhook/concurrency-limit.ts";
import { databaseEmbedded } from "./errors.ts";
import { loadWorker, startQueue, type Queue, type Task, type Tasks } from "./queue.ts";

interface JobQueue {
  /** Replaces the tasks of an owner. Resolves when the queue takes the jobs of these tasks. @throws RelApiError
   *  `preset` if the package or the server is missing */
  setTasks(owner: string, tasks: Tasks): Promise<void>;
  /** Checks that the queue can run. @throws RelApiError `preset` if the package or the server is missing */
  check(): Promise<void>;
  /** Stops taking jobs, and waits for the running jobs until `SHUTDOWN_GRACE` has passed. */
  close(): Promise<void>;
}

/** The service of the plugin `job-queue`. */
export const jobQueueService = defineService<JobQueue>("job-queue");

/** The time before a start that failed is tried again. */
export const RESTART_DELAY_MS = 2000;
/** The time after `SHUTDOWN_GRACE` in which the queue returns its jobs. */
export const STOP_MS = 2000;

/** Creates the queue, which starts with the first tasks. @rule X-EVT-9 X-EVT-9a X-EVT-11 */
export const createJobQueue = ({ options, logger, findDatabaseUrl }: PluginContext): JobQueue => {
  const tasksByOwner = new Map<string, Tasks>();
  let queue: Queue | undefined;
  /** The earlier queues, whose last jobs are still running. */
  const draining = new Set<Queue>();
  /** The identifiers of the tasks whose jobs the queue takes. */
  let identifiers = "";
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  const runLimited = createConcurrencyLimit(options.eventsConcurrency);

  /** Limits the number of concurrent attempts. The limit also applies while a new queue takes jobs and the last jobs
   *  of an earlier queue are running. */
  const limit =
    (run: Task): Task =>
    (payload, signal) =>
      runLimited("jobs", async () => {
        if (!isClosed) await run(payload, signal);
      });

  /** Lets the queue finish its jobs, because a change of the metadata must not abort them. */
  const drain = (): void => {
    const endedQueue = queue;
    queue = undefined;
    if (endedQueue === undefined) return;
    draining.add(endedQueue);
    const forget = (): void => void draining.delete(endedQueue);
    endedQueue.stop().then(forget, forget);
  };

  /** Starts the queue again if it has to take other jobs. */
  const restart = async (): Promise<void> => {
    const tasks = new Map([...tasksByOwner.values()].flatMap((ownerTasks) => [...ownerTasks]));
    const next = JSON.stringify([...tasks.keys()].toSorted());
    if (queue !== undefined && next === identifiers) return;
    drain();
    identifiers = next;
    if (isClosed || tasks.size === 0 || options.eventsConcurrency === 0) return;
    const url = await findDatabaseUrl();
    if (url === undefined) throw databaseEmbedded();
    queue = await startQueue({
      url,
      concurrency: options.eventsConcurrency,
      tasks: new Map([...tasks].map(([identifier, run]) => [identifier, limit(run)])),
      logger,
      onLost: (reason) => {
        logger.warn("the job queue has stopped; restarting it", { reason });
        drain();
        restartLater();
      },
    });
  };

  const enqueue = (): Promise<void> => {
    clearTimeout(timer);
    const restartPromise = last.then(restart);
    last = restartPromise.catch(() => undefined); // the caller gets the error
    return restartPromise;
  };

  const restartLater = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => {
      enqueue().catch((error: unknown) => {
        if (!isClosed) logger.warn("failed to start the job queue", { reason: getErrorMessage(error) });
        restartLater();
      });
    }, RESTART_DELAY_MS);
    timer.unref();
  };

  return {
    check: async () => {
      await loadWorker();
      if ((await findDatabaseUrl()) === undefined) throw databaseEmbedded();
    },
    setTasks: (owner, tasks) => {
      tasksByOwner.set(owner, tasks);
      return enqueue();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      // A statement that waits for a lock, or a lost server, must not keep the process.
      const graceMs = options.shutdownGrace * 1000;
      const abortTimer = setTimeout(() => draining.forEach((drainingQueue) => drainingQueue.abort()), graceMs).unref();
      const stopPromise = last.then(() => {
        drain();
        return Promise.allSettled([...draining].map((drainingQueue) => drainingQueue.stop()));
      });
      await Promise.race([stopPromise, pause(graceMs + STOP_MS, undefined, { ref: false })]);
      clearTimeout(abortTimer);
    },
  };
};
