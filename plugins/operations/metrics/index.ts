/** Exports the activity of the api for Prometheus: `GET :3001/metrics`. */
import cluster from "node:cluster";
import type { Registry } from "prom-client";
import { definePlugin } from "../../../core/index.ts";
import { metricsService } from "../api.ts";
import { registerCounterMetrics } from "./counter-metrics.ts";
import { registerEventLoop } from "./event-loop.ts";
import { loadPromClient, type PromClient } from "./prom-client.ts";
import { registerTraffic } from "./traffic.ts";
import { addWorkerCounts, createWorkerMetrics } from "./workers.ts";

/** The metrics of the process, which all apis in it share. */
let sharedRegistry: Registry | undefined;

const getProcessRegistry = ({ collectDefaultMetrics, Registry }: PromClient): Registry => {
  if (sharedRegistry === undefined) {
    sharedRegistry = new Registry();
    collectDefaultMetrics({ register: sharedRegistry });
  }
  return sharedRegistry;
};

/** Provides counters, histograms and gauges of requests, transactions, the pool, live queries, caches and the process.
 *  They are the response of `GET /metrics` of the admin listener and of `api.metrics()`. The metrics require the
 *  package `prom-client`. @rule R-ADM-2 X-MET-1 */
export const metrics = definePlugin({
  name: "metrics",
  apply: (_hooks, context) => {
    const prom = loadPromClient(context.logger);
    if (prom === undefined) return;
    const { Registry } = prom;
    const registry = new Registry();
    registerCounterMetrics(prom, registry, context.counters, context.settings);
    registerTraffic(prom, registry, context);
    context.onClose(registerEventLoop(prom, registry));
    const allMetrics = Registry.merge([registry, getProcessRegistry(prom)]);
    const workers = cluster.isWorker ? createWorkerMetrics(prom, allMetrics) : undefined;
    if (workers === undefined) addWorkerCounts(prom, allMetrics, 1, 0);
    else context.onClose(workers.close);
    const text = workers?.text ?? (() => allMetrics.metrics());
    context.offer(metricsService, { text });
    context.addMethod("metrics", text);
  },
});
