/** Runs jobs with graphile-worker, which is an optional package. */
import { EventEmitter, setMaxListeners } from "node:events";
import type { WorkerEvents } from "graphile-worker";
import type { Pool } from "pg";
import { getErrorMessage, importPackage, type Logger } from "../../../core/index.ts";
import { QUEUE_SCHEMA } from "./schema.ts";

type Worker = typeof import("graphile-worker");

/** Loads the package that runs the jobs. @throws RelApiError `preset` if the package is missing */
export const loadWorker = async (): Promise<Worker> =>
  (await importPackage("graphile-worker", "job-queue", "graphile-worker@0.16")) as Worker;

/** Logs errors of the queue. The other log lines of graphile-worker describe single jobs. */
const createQueueLogger = ({ Logger: QueueLogger }: Worker, logger: Logger): InstanceType<Worker["Logger"]> =>
  new QueueLogger(() => (level, message) => {
    if (level === "error") logger.warn("the job queue reports a problem", { reason: message });
  });

/** Opens a pool for graphile-worker. A pool that graphile-worker opens has no listener while it ends. A connection that
 *  the server closes at that moment would end the process. */
const openPool = async (connectionString: string, max: number): Promise<Pool> => {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString, max });
  // Either graphile-worker or the failing statement reports these errors.
  const ignore = (): void => undefined;
  pool.on("error", ignore);
  pool.on("connect", (client) => client.on("error", ignore));
  return pool;
};

/** Creates the tables of the queue, or brings them up to date. @throws RelApiError `preset` if the package is
 *  missing */
export const installQueue = async (url: string, logger: Logger): Promise<void> => {
  const worker = await loadWorker();
  const pgPool = await openPool(url, 1);
  try {
    await worker.runMigrations({ pgPool, schema: QUEUE_SCHEMA, logger: createQueueLogger(worker, logger) });
  } finally {
    await pgPool.end();
  }
};

/** Runs a job. */
export type Task = (payload: unknown, signal: AbortSignal) => Promise<void>;

/** The tasks by the identifier of their jobs. */
export type Tasks = ReadonlyMap<string, Task>;

interface QueueOptions {
  readonly url: string;
  readonly concurrency: number;
  readonly tasks: Tasks;
  readonly logger: Logger;
  /** Called once if the queue stops unexpectedly. */
  readonly onLost: (reason: string) => void;
}

export interface Queue {
  /** Stops taking jobs. Resolves when the running jobs have ended. */
  stop(): Promise<void>;
  /** Aborts the signal of the running jobs. */
  abort(): void;
}

/** The longest delay of a Node timer. */
const NEVER_MS = 2 ** 31 - 1;

/** The period of the search for jobs whose notification was lost, and for jobs that are due. */
const POLL_MS = 1000;

/** Starts a queue that takes the jobs of these tasks. @throws RelApiError `preset` if the package is missing */
export const startQueue = async (options: QueueOptions): Promise<Queue> => {
  const { url, concurrency, tasks, logger, onLost } = options;
  const worker = await loadWorker();
  const pgPool = await openPool(url, concurrency + 1); // one additional connection listens
  let stopPromise: Promise<void> | undefined;
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // all running jobs have the same signal
  const events: WorkerEvents = new EventEmitter();
  events.on("worker:create", ({ worker: createdWorker }) => {
    // No other worker takes the place of one that has failed, and graphile-worker would print the stack of the error.
    createdWorker.promise = createdWorker.promise.catch((error: unknown) => reportLoss(getErrorMessage(error)));
  });
  const runnerPromise = worker.run({
    pgPool,
    events,
    schema: QUEUE_SCHEMA,
    concurrency,
    noHandleSignals: true,
    noPreparedStatements: true, // a pooler may give each statement another backend
    parsedCronItems: worker.parseCronItems([]),
    pollInterval: POLL_MS,
    gracefulShutdownAbortTimeout: NEVER_MS,
    logger: createQueueLogger(worker, logger),
    taskList: Object.fromEntries(
      [...tasks].map(([identifier, run]) => [identifier, (payload: unknown) => run(payload, controller.signal)]),
    ),
  });
  const end = async (): Promise<void> => {
    try {
      await (await runnerPromise).stop();
    } finally {
      await pgPool.end();
    }
  };
  const stop = (): Promise<void> => (stopPromise ??= end());
  const reportLoss = (reason: string): void => {
    if (stopPromise !== undefined) return;
    stop().catch(() => undefined);
    onLost(reason);
  };
  const runner = await runnerPromise.catch(async (error: unknown) => {
    stop().catch(() => undefined);
    throw error;
  });
  runner.promise.then(
    () => reportLoss("it stopped"),
    (error: unknown) => reportLoss(getErrorMessage(error)),
  );
  return { stop, abort: () => controller.abort() };
};
