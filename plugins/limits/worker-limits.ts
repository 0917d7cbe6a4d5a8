/** Shares rate limits between all workers of a machine, whose primary process counts the requests. @rule X-BUS-5 */
import type { Worker } from "node:cluster";
import { definePlugin } from "../../core/index.ts";
import { workerBucketsService, type SharedTokenBuckets } from "./api.ts";
import { createLocalTokenBuckets } from "./token-buckets.ts";

/** The message by which a worker asks the primary process for a token. */
interface TakeMessage {
  readonly relapi: "take-token";
  readonly id: number;
  readonly parts: readonly [key: string, perMinute: number, burst: number, isOwed: boolean];
}

/** The message by which the primary process responds. */
interface TakenMessage {
  readonly relapi: "token-taken";
  readonly id: number;
  readonly waitMs: number;
}

const isWorkerMessage = <Message extends { readonly relapi: string }>(
  message: unknown,
  kind: Message["relapi"],
): message is Message =>
  typeof message === "object" && message !== null && (message as { readonly relapi?: unknown }).relapi === kind;

/** Creates the counter of the primary process. The returned function adds a worker whose requests are counted. */
export const createWorkerCounter = (): ((worker: Worker) => void) => {
  const buckets = createLocalTokenBuckets();
  return (worker) => {
    worker.on("message", (message: unknown) => {
      if (!isWorkerMessage<TakeMessage>(message, "take-token") || !worker.isConnected()) return;
      const response: TakenMessage = { relapi: "token-taken", id: message.id, waitMs: buckets.take(...message.parts) };
      worker.send(response, () => undefined); // the worker may have ended
    });
  };
};

/** The time that a worker waits for the primary process, which may be busy or gone. */
const RESPONSE_TIMEOUT_MS = 500;

/** Provides shared buckets in a worker whose primary process has the counter of `createWorkerCounter`. */
export const workerLimits = definePlugin({
  name: "worker-limits",
  apply: (_hooks, context) => {
    const waiters = new Map<number, (waitMs: number | undefined) => void>();
    let lastId = 0;
    let hasWarned = false;
    const handleUnavailable = (): void => {
      if (hasWarned) return;
      hasWarned = true;
      context.logger.warn("rate limits are counted in each process: the primary process does not respond");
    };
    const receiveResponse = (message: unknown): void => {
      if (isWorkerMessage<TakenMessage>(message, "token-taken")) waiters.get(message.id)?.(message.waitMs);
    };
    process.on("message", receiveResponse);
    context.onClose(() => void process.off("message", receiveResponse));
    const buckets: SharedTokenBuckets = {
      take: (key, perMinute, burst, isOwed = false) =>
        new Promise((resolve) => {
          const id = ++lastId;
          const settle = (waitMs: number | undefined): void => {
            clearTimeout(timer);
            waiters.delete(id);
            if (waitMs === undefined) handleUnavailable();
            else hasWarned = false;
            resolve(waitMs);
          };
          const timer = setTimeout(settle, RESPONSE_TIMEOUT_MS, undefined);
          waiters.set(id, settle);
          const message: TakeMessage = { relapi: "take-token", id, parts: [key, perMinute, burst, isOwed] };
          if (process.connected) process.send?.(message, undefined, undefined, (error) => error && settle(undefined));
          else settle(undefined);
        }),
    };
    context.offer(workerBucketsService, buckets);
  },
});
