/** Exports the counters of an api as metrics, which are read on each scrape. */
import type { GaugeConfiguration, Registry } from "prom-client";
import { nameRejectionCounter, type Counters, type Setting } from "../../../core/index.ts";
import type { PromClient } from "./prom-client.ts";

/** The metrics that show one counter each. The name of a metric that never decreases ends in `_total`. @rule R-ADM-2 */
const METRICS: readonly (readonly [name: string, counter: string, help: string])[] = [
  [
    "pgrst_schema_cache_query_time_seconds",
    "model-load-seconds",
    "Duration of the last load of the schema cache in seconds",
  ],
  ["pgrst_db_pool_timeouts_total", "pool-timeouts", "Requests that received no connection within the time limit"],
  ["pgrst_db_pool_available", "pool-available", "Connections that are available immediately"],
  ["pgrst_db_pool_waiting", "pool-waiting", "Requests waiting for a connection"],
  ["pgrst_db_pool_max", "pool-max", "Maximum number of connections"],
  ["relapi_db_pool_in_use", "pool-in-use", "Connections in use"],
  ["pgrst_jwt_cache_requests_total", "jwt-cache-requests", "Lookups in the cache of verified tokens"],
  ["pgrst_jwt_cache_hits_total", "jwt-cache-hits", "Lookups that found the token"],
  ["pgrst_jwt_cache_evictions_total", "jwt-cache-evictions", "Tokens that were removed for others"],
  ["relapi_jwt_cache_bytes", "jwt-cache-bytes", "Estimated size of the verified tokens in bytes"],
  [
    "relapi_cache_requests_total",
    "cache-requests",
    "Lookups in the caches of plans, statements, documents and other values",
  ],
  ["relapi_cache_hits_total", "cache-hits", "Lookups that found the value"],
  ["relapi_cache_evictions_total", "cache-evictions", "Cached values that were removed for others"],
  [
    "relapi_cache_conflicts_total",
    "cache-conflicts",
    "Cached values that were removed because two computations gave different results: 0 unless a plugin has an error",
  ],
  ["relapi_cache_entries", "cache-entries", "Cached values"],
  ["relapi_cache_bytes", "cache-bytes", "Estimated size of the cached values in bytes"],
  [
    "relapi_results_refused_total",
    "results-refused",
    "Responses of the database that were larger than MAX_RESULT_BYTES",
  ],
  ["relapi_coalesced_reads_total", "coalesced-reads", "Reads that shared a round trip with others"],
  ["relapi_prepared_statements", "prepared-statements", "Statements prepared on the pooled connections"],
  ["relapi_prepared_statement_bytes", "prepared-bytes", "Size of the SQL of the prepared statements in bytes"],
  ["relapi_unread_bytes", "unread-bytes", "Size of the responses that clients have not read yet in bytes"],
  [
    "relapi_unread_closed_total",
    "unread-closed",
    "Connections that were closed because the client did not read its response, or because of MAX_UNREAD_BYTES",
  ],
  ["relapi_streams_total", "streams", "Responses that were sent while they arrived from the database"],
  [
    "relapi_streams_waiting",
    "streams-waiting",
    "Such responses that hold a connection until their client has read them",
  ],
  [
    "relapi_bodies_refused_total",
    "bodies-refused",
    "Request bodies that were rejected because of MAX_BODY_BYTES or MAX_PENDING_BODY_BYTES",
  ],
  ["relapi_body_bytes", "body-bytes", "Size of the bodies of unanswered requests in bytes"],
  ["relapi_live_query_bytes", "live-query-bytes", "Estimated size of the state of live queries in bytes"],
  ["relapi_live_patch_bytes", "live-patch-bytes", "Size of the results that are stored to compute patches in bytes"],
  [
    "relapi_live_queries_refused_total",
    "live-queries-refused",
    "Live queries that were rejected because of MAX_LIVE_QUERY_BYTES",
  ],
  [
    "relapi_live_skipped_total",
    "live-queries-skipped",
    "Live queries that did not run because a change of their tables did not concern their rows",
  ],
  ["relapi_live_subscribers", "live-subscribers", "Subscribers of live queries"],
  ["relapi_live_queries", "live-queries", "Different live queries, each of which runs once for all its subscribers"],
  ["relapi_live_cohorts", "live-cohorts", "Groups of live queries that share a statement"],
  ["relapi_live_due", "live-queries-due", "Live queries that wait for a run or are running"],
  [
    "relapi_live_source_lag_seconds",
    "live-source-lag-seconds",
    "Time from the last commit in the change feed to its report; 0 if changes are detected in another way",
  ],
  ["relapi_sockets", "sockets", "Open WebSockets"],
  ["relapi_requests_running", "requests-running", "Unanswered requests"],
  ["relapi_requests_late_total", "requests-late", "Requests that were ended because their bodies arrived too slowly"],
];

/** The gauges whose value for several workers is the largest one. Other metrics are sums. */
const METRICS_WITH_MAXIMUM: ReadonlySet<string> = new Set([
  "pgrst_schema_cache_query_time_seconds",
  "relapi_live_source_lag_seconds",
]);

type ReadCounters = Counters["get"];

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** The labels of each sample, and the function that reads its value. */
  readonly samples: readonly (readonly [
    labels: Readonly<Record<string, string>>,
    read: (get: ReadCounters) => number,
  ])[];
}

const LOADS: Metric = {
  name: "pgrst_schema_cache_loads_total",
  help: "Loads of the schema cache",
  labels: ["status"],
  samples: [
    [{ status: "SUCCESS" }, (get) => get("model-loads")],
    [{ status: "FAIL" }, (get) => get("model-load-failures")],
  ],
};

const CACHE_MISSES: Metric = {
  name: "relapi_cache_misses_total",
  help: "Lookups that found no value",
  samples: [[{}, (get) => get("cache-requests") - get("cache-hits")]],
};

/** Counts the rejections by each limit of the preset's plugins. @rule R-LIM-1 G-LIM-1 */
const buildRejectionMetric = (settings: readonly Setting[]): Metric => ({
  name: "relapi_refused_total",
  help: "Requests that a limit of the settings rejected",
  labels: ["limit"],
  samples: settings
    .filter(({ isLimit }) => isLimit === true)
    .map(({ name }) => [{ limit: name }, (get) => get(nameRejectionCounter(name))]),
});

/** Registers the metrics of the counters. @rule R-ADM-2 */
export const registerCounterMetrics = (
  { Counter, Gauge }: PromClient,
  registry: Registry,
  { get }: Counters,
  settings: readonly Setting[],
): void => {
  for (const { name, help, labels = [], samples } of [
    ...METRICS.map(([name, counter, help]): Metric => ({ name, help, samples: [[{}, () => get(counter)]] })),
    LOADS,
    CACHE_MISSES,
    buildRejectionMetric(settings),
  ]) {
    const common: GaugeConfiguration<string> = {
      name,
      help,
      labelNames: labels,
      registers: [registry],
      aggregator: METRICS_WITH_MAXIMUM.has(name) ? "max" : "sum",
    };
    if (name.endsWith("_total"))
      new Counter({
        ...common,
        collect() {
          this.reset();
          for (const [sampleLabels, read] of samples) this.inc(sampleLabels, read(get));
        },
      });
    else
      new Gauge({
        ...common,
        collect() {
          for (const [sampleLabels, read] of samples) this.set(sampleLabels, read(get));
        },
      });
  }
};
