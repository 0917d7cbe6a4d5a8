/** Exports the counters of an api as metrics, which are read on each scrape. */
import type { GaugeConfiguration, Registry } from "prom-client";
import { nameRefusalCounter, type Counters, type Setting } from "../../../core/index.ts";
import type { PromClient } from "./prom-client.ts";

/** The metrics that show one counter each. The name of a metric that never decreases ends in `_total`. @rule R-ADM-2 */
const METRICS: readonly (readonly [name: string, counter: string, help: string])[] = [
  [
    "pgrst_schema_cache_query_time_seconds",
    "model-load-seconds",
    "Seconds that the last load of the schema cache took",
  ],
  ["pgrst_db_pool_timeouts_total", "pool-timeouts", "Requests that waited in vain for a connection"],
  ["pgrst_db_pool_available", "pool-available", "Connections that could be used at once"],
  ["pgrst_db_pool_waiting", "pool-waiting", "Requests waiting for a connection"],
  ["pgrst_db_pool_max", "pool-max", "Connections at most"],
  ["relapi_db_pool_in_use", "pool-in-use", "Connections that are running something"],
  ["pgrst_jwt_cache_requests_total", "jwt-cache-requests", "Look-ups of verified tokens"],
  ["pgrst_jwt_cache_hits_total", "jwt-cache-hits", "Look-ups that found the token"],
  ["pgrst_jwt_cache_evictions_total", "jwt-cache-evictions", "Tokens that made room for others"],
  ["relapi_jwt_cache_bytes", "jwt-cache-bytes", "Bytes of verified tokens, estimated"],
  ["relapi_cache_requests_total", "cache-requests", "Look-ups of plans, statements, documents and the like"],
  ["relapi_cache_hits_total", "cache-hits", "Look-ups that found what was asked for"],
  ["relapi_cache_evictions_total", "cache-evictions", "Kept values that made room for others"],
  [
    "relapi_cache_conflicts_total",
    "cache-conflicts",
    "Kept values that were dropped because their makers disagreed: 0 unless a plugin is at fault",
  ],
  ["relapi_cache_entries", "cache-entries", "Kept values"],
  ["relapi_cache_bytes", "cache-bytes", "Bytes of kept values, estimated"],
  ["relapi_results_refused_total", "results-refused", "Answers of the database larger than MAX_RESULT_BYTES"],
  ["relapi_coalesced_reads_total", "coalesced-reads", "Reads that had a round trip together with others"],
  ["relapi_prepared_statements", "prepared-statements", "Statements prepared on the pooled connections"],
  ["relapi_prepared_statement_bytes", "prepared-bytes", "Bytes of their texts"],
  ["relapi_unread_bytes", "unread-bytes", "Bytes of answers that clients have not read yet"],
  [
    "relapi_unread_closed_total",
    "unread-closed",
    "Connections closed because the client did not read the answer, or too much was waiting",
  ],
  ["relapi_streams_total", "streams", "Answers sent while they arrived from the database"],
  ["relapi_streams_waiting", "streams-waiting", "Those that keep a connection until their client has read"],
  [
    "relapi_bodies_refused_total",
    "bodies-refused",
    "Request bodies larger than MAX_BODY_BYTES, or than MAX_PENDING_BODY_BYTES together with others",
  ],
  ["relapi_body_bytes", "body-bytes", "Bytes of request bodies that are not answered yet"],
  ["relapi_live_query_bytes", "live-query-bytes", "Bytes that live queries keep, estimated"],
  ["relapi_live_patch_bytes", "live-patch-bytes", "Bytes of results that are kept to send patches"],
  ["relapi_live_queries_refused_total", "live-queries-refused", "Live queries beyond MAX_LIVE_QUERY_BYTES"],
  [
    "relapi_live_skipped_total",
    "live-queries-skipped",
    "Live queries that were not run because a change of what they read did not concern them",
  ],
  ["relapi_live_subscribers", "live-subscribers", "Subscribers of live queries"],
  ["relapi_live_queries", "live-queries", "Live queries that differ, each run once for all who ask it"],
  ["relapi_live_cohorts", "live-cohorts", "Groups of live queries that one statement answers each"],
  ["relapi_live_due", "live-queries-due", "Live queries that are to run, or whose run has not ended"],
  [
    "relapi_live_source_lag_seconds",
    "live-source-lag-seconds",
    "From the last commit that the change feed has reported to its notice; 0 where changes are found in another way",
  ],
  ["relapi_sockets", "sockets", "WebSockets that are open"],
  ["relapi_requests_running", "requests-running", "Requests that are not answered yet"],
  ["relapi_requests_late_total", "requests-late", "Requests given up because their bodies came in too slowly"],
];

/** The gauges that show the largest value of several workers. Other metrics show the sum. */
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
  help: "Look-ups that found nothing",
  samples: [[{}, (get) => get("cache-requests") - get("cache-hits")]],
};

/** Counts the refusals by each limit of the preset's plugins. @rule R-LIM-1 G-LIM-1 */
const buildRefusalMetric = (settings: readonly Setting[]): Metric => ({
  name: "relapi_refused_total",
  help: "Requests beyond a limit of the settings",
  labels: ["limit"],
  samples: settings
    .filter(({ isLimit }) => isLimit === true)
    .map(({ name }) => [{ limit: name }, (get) => get(nameRefusalCounter(name))]),
});

/** @rule R-ADM-2 */
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
    buildRefusalMetric(settings),
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
