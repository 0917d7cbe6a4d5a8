/** Runs the standalone server in several processes that share its port. */
import cluster, { type Worker } from "node:cluster";
import { createWorkerCounter } from "../../plugins/limits/worker-limits.ts";
import type { Outputs } from "../cli/terminal.ts";

/** A message that a worker sends to one worker, by number, or to all others. */
interface RelayedMessage {
  readonly relay?: number | "all";
  readonly topic?: string;
  readonly requestId?: number;
}

const send = (worker: Worker | undefined, message: object): boolean => {
  if (worker?.isConnected() !== true) return false;
  worker.send(message, () => undefined); // a worker that has just exited cannot receive the message
  return true;
};

/** Passes a message on. A message to all others is answered with the list of receivers. */
const relayMessage = (from: Worker, message: unknown): void => {
  const { relay: to, topic, requestId } = (message ?? {}) as RelayedMessage; // workers may send any value
  if (typeof to === "number") send(cluster.workers?.[to], message as object);
  if (to !== "all") return;
  const otherWorkers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== from);
  const reachedIds = otherWorkers.flatMap((worker) => (send(worker, message as object) ? (worker?.id ?? []) : []));
  send(from, { reached: reachedIds, topic, requestId });
};

/** The number of a worker. The first one has the admin listener and prints the banner. */
export const WORKER_INDEX = "RELAPI_WORKER";

const RESTART_DELAY_MS = 1000;

/**
 * Replaces a worker that exits while the others run. A worker that exits before it listens stops all workers, because
 * they share its settings. @returns the exit code once all have exited
 */
export const runWorkers = (count: number, { env, stderr }: Outputs): Promise<number> => {
  /** Workers whose process has not exited. Node's own list keeps a worker until its channel is closed too. */
  const runningWorkers = new Set<Worker>();
  const listening = new Set<Worker>();
  const countTokensFor = createWorkerCounter();
  let isStopping = false;
  let exitCode = 0;
  let end: (exitCode: number) => void = () => undefined;

  const forkWorker = (index: number): void => {
    const worker = cluster.fork({ ...env, [WORKER_INDEX]: String(index) });
    runningWorkers.add(worker);
    worker.on("message", (message) => relayMessage(worker, message));
    countTokensFor(worker);
    worker.on("listening", () => listening.add(worker));
    worker.on("exit", (code, signal) => {
      runningWorkers.delete(worker);
      if (isStopping) {
        exitCode = Math.max(exitCode, code ?? 0);
        return endWithLastWorker();
      }
      if (listening.delete(worker)) {
        const exitReason = signal === null ? `with code ${code}` : `by ${signal}`;
        stderr.write(
          `relapi: worker ${index} (process ${worker.process.pid}) ended ${exitReason}: starting a new one\n`,
        );
        return void setTimeout(() => isStopping || forkWorker(index), RESTART_DELAY_MS);
      }
      exitCode = code || 1; // the code is null after a signal
      stop();
    });
  };

  const endWithLastWorker = (): void => {
    if (runningWorkers.size === 0) end(exitCode);
  };

  const forwardSignal = (signal: NodeJS.Signals): void => {
    for (const worker of runningWorkers) worker.process.kill(signal);
  };

  const stop = (): void => {
    isStopping = true;
    forwardSignal("SIGTERM");
    endWithLastWorker();
  };

  process.on("SIGTERM", stop).on("SIGINT", stop);
  process.on("SIGUSR1", forwardSignal).on("SIGUSR2", forwardSignal);
  for (let index = 1; index <= count; index++) forkWorker(index);
  return new Promise((resolve) => {
    end = resolve;
  });
};
