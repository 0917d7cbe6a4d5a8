/** Collects the metrics of all workers when one of them is scraped. Workers communicate through the primary process. */
import cluster from "node:cluster";
import type { MetricObject, Registry } from "prom-client";
import type { PromClient } from "./prom-client.ts";

type MetricValues = readonly MetricObject[];

/** The request of a worker for the metrics of all others. The primary process forwards a message with `relay` to the
 *  worker with that number, or to all other workers. It sends the numbers of these workers back (`reached`). */
interface RequestMessage {
  readonly relay: "all";
  readonly topic: typeof TOPIC;
  readonly requestId: number;
  readonly from: number;
}

interface ResponseMessage {
  readonly relay: number;
  readonly topic: typeof TOPIC;
  readonly answer: number;
  readonly worker: number;
  readonly metrics: MetricValues;
}

interface ReachedMessage {
  readonly reached: readonly number[];
  readonly topic: typeof TOPIC;
  readonly requestId: number;
}

type Message = Partial<Omit<RequestMessage, "relay"> & Omit<ResponseMessage, "relay"> & ReachedMessage>;

const TOPIC = "metrics";

/** Adds the number of workers in the metrics of the registry, and the number of missing workers. */
export const addWorkerCounts = ({ Gauge }: PromClient, registry: Registry, count: number, silent: number): void => {
  const registers = [registry];
  new Gauge({ name: "relapi_workers", help: "Workers whose metrics are included", registers }).set(count);
  new Gauge({
    name: "relapi_workers_silent",
    help: "Workers that did not answer in time: their gauges are missing, and their counters have the last reported values",
    registers,
  }).set(silent);
};

/** The time in which a worker must answer. A worker that does not is blocked, or has just ended. */
const RESPONSE_TIMEOUT_MS = 1000;

interface PendingRequest {
  /** The metrics that other workers have sent, by the number of the worker. */
  readonly responses: Map<number, MetricValues>;
  workerIds: readonly number[];
  readonly complete: () => void;
}

interface WorkerMetrics {
  text(): Promise<string>;
  close(): void;
}

/** Selects metrics that never decrease, which stay in the sum when their worker does not answer or has ended. Otherwise
 *  Prometheus would treat the smaller sum as a restart, and count all of it again. */
const filterCumulative = (metrics: MetricValues): MetricValues =>
  metrics.filter(({ type }) => CUMULATIVE_TYPES.has(type));

const CUMULATIVE_TYPES: ReadonlySet<unknown> = new Set(["counter", "histogram"]);

/** Creates the exchange of metrics between workers. `registry` holds the metrics of this worker. @rule X-MET-6 */
export const createWorkerMetrics = (prom: PromClient, registry: Registry): WorkerMetrics => {
  // The types of the library do not allow lists, but the library accepts them.
  const aggregateMetrics = (metrics: readonly MetricValues[]): Registry =>
    prom.AggregatorRegistry.aggregate(metrics as object[]);
  const pendingRequests = new Map<number, PendingRequest>();
  let lastRequest = 0;
  const self = cluster.worker?.id ?? 0;
  const readOwnMetrics = (): Promise<MetricValues> => registry.getMetricsAsJSON();
  const send = (message: RequestMessage | ResponseMessage): void => void process.send?.(message);

  const receiveMessage = (message: Message): void => {
    if (message?.topic !== TOPIC) return;
    if (message.from !== undefined && message.requestId !== undefined) {
      const { from, requestId } = message;
      void readOwnMetrics().then((metrics) =>
        send({ relay: from, topic: TOPIC, answer: requestId, worker: self, metrics }),
      );
      return;
    }
    const pendingRequest = pendingRequests.get(message.answer ?? message.requestId ?? 0);
    if (pendingRequest === undefined) return;
    if (message.metrics !== undefined && message.worker !== undefined)
      pendingRequest.responses.set(message.worker, message.metrics);
    if (message.reached !== undefined) pendingRequest.workerIds = message.reached;
    if (pendingRequest.workerIds.every((id) => pendingRequest.responses.has(id))) pendingRequest.complete();
  };
  process.on("message", receiveMessage);

  const requestOthers = async (): Promise<PendingRequest> => {
    const requestId = ++lastRequest;
    let timer: NodeJS.Timeout | undefined;
    let pendingRequest: PendingRequest | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, RESPONSE_TIMEOUT_MS);
      // The list contains this worker, which never answers itself. So the request waits until the primary process
      // reports the other workers.
      pendingRequest = { responses: new Map(), workerIds: [self], complete: resolve };
      pendingRequests.set(requestId, pendingRequest);
      send({ relay: "all", topic: TOPIC, requestId, from: self });
    });
    clearTimeout(timer);
    pendingRequests.delete(requestId);
    // The executor of the promise assigns the variable synchronously.
    return pendingRequest as unknown as PendingRequest;
  };

  /** The last metrics of each other worker. */
  const lastMetrics = new Map<number, MetricValues>();
  /** The sum of the metrics of the workers that have ended. */
  let endedMetrics: MetricValues = [];

  return {
    text: async () => {
      const { responses, workerIds } = await requestOthers();
      const isPrimarySilent = workerIds.includes(self);
      const cumulative: MetricValues[] = [];
      for (const [id, metrics] of lastMetrics) {
        if (responses.has(id)) continue;
        if (isPrimarySilent || workerIds.includes(id)) cumulative.push(filterCumulative(metrics));
        else {
          lastMetrics.delete(id);
          endedMetrics = aggregateMetrics([endedMetrics, filterCumulative(metrics)]).getMetricsAsArray();
        }
      }
      for (const [id, metrics] of responses) lastMetrics.set(id, metrics);
      const silent = workerIds.filter((id) => id !== self && !responses.has(id)).length;
      const sum = aggregateMetrics([await readOwnMetrics(), ...responses.values(), ...cumulative, endedMetrics]);
      addWorkerCounts(prom, sum, responses.size + 1, silent);
      return sum.metrics();
    },
    close: () => void process.off("message", receiveMessage),
  };
};
