/** Workers reach each other through the primary process. */
import cluster, { type Worker } from "node:cluster";

/** What a worker wants passed on: to the worker of that number, or to all others. */
interface Relayed {
  readonly relay?: number | "all";
  readonly topic?: string;
  readonly ask?: number;
}

const send = (worker: Worker | undefined, message: object): boolean => {
  if (worker?.isConnected() !== true) return false;
  worker.send(message, () => undefined); // one that has just ended hears nothing
  return true;
};

/** A message to all others is answered with who those are. */
export const relay = (from: Worker, message: unknown): void => {
  const { relay: to, topic, ask } = (message ?? {}) as Relayed; // anything may be sent
  if (typeof to === "number") send(cluster.workers?.[to], message as object);
  if (to !== "all") return;
  const others = Object.values(cluster.workers ?? {}).filter((worker) => worker !== from);
  const reached = others.flatMap((worker) => (send(worker, message as object) ? (worker?.id ?? []) : []));
  send(from, { reached, topic, ask });
};
