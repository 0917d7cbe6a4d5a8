/** Exports the counters of an api as metrics, which are read on each scrape. */
import type { GaugeConfiguration, Registry } from "prom-client";
import { nameRefusalCounter, type Counters, type Setting } from "../../../core/index.ts";
import type { PromClient } from "./prom-client.ts";

interface Metric {
  readonly name: string;
  readonly kind: "gauge" | "counter";
  readonly help: string;
  /** How the values of several workers are combined. They are summed by default. */
  readonly combine?: "max";
  readonly labels?: readonly string[];
  /** The labels of each sample, and the function that reads its value. */
  readonly samples: readonly (readonly [
    labels: Readonly<Record<string, string>>,
    read: (counters: Counters) => number,
  ])[];
}

const buildMetric = (
  name: string,
  kind: Metric["kind"],
  counter: string | ((counters: Counters) => number),
  help: string,
): Metric => ({
  name,
  kind,
  help,
  samples: [[{}, typeof counter === "string" ? ({ get }) => get(counter) : counter]],
});

const subtractCounters =
  (all: string, some: string) =>
  ({ get }: Counters): number =>
    get(all) - get(some);

/** @rule R-ADM-2 */
const METRICS: readonly Metric[] = [
  {
    ...buildMetric(
      "pgrst_schema_cache_query_time_seconds",
      "gauge",
      "model-load-seconds",
      "Seconds that the last load of the schema cache took",
    ),
    combine: "max",
  },
  {
    name: "pgrst_schema_cache_loads_total",
    kind: "counter",
    help: "Loads of the schema cache",
    labels: ["status"],
    samples: [
      [{ status: "SUCCESS" }, ({ get }) => get("model-loads")],
      [{ status: "FAIL" }, ({ get }) => get("model-load-failures")],
    ],
  },
  buildMetric(
    "pgrst_db_pool_timeouts_total",
    "counter",
    "pool-timeouts",
    "Requests that waited in vain for a connection",
  ),
  buildMetric("pgrst_db_pool_available", "gauge", "pool-available", "Connections that could be used at once"),
  buildMetric("pgrst_db_pool_waiting", "gauge", "pool-waiting", "Requests waiting for a connection"),
  buildMetric("pgrst_db_pool_max", "gauge", "pool-max", "Connections at most"),
  buildMetric("relapi_db_pool_in_use", "gauge", "pool-in-use", "Connections that are running something"),
  buildMetric("pgrst_jwt_cache_requests_total", "counter", "jwt-cache-requests", "Look-ups of verified tokens"),
  buildMetric("pgrst_jwt_cache_hits_total", "counter", "jwt-cache-hits", "Look-ups that found the token"),
  buildMetric("pgrst_jwt_cache_evictions_total", "counter", "jwt-cache-evictions", "Tokens that made room for others"),
  buildMetric("relapi_jwt_cache_bytes", "gauge", "jwt-cache-bytes", "Bytes of verified tokens, estimated"),
  buildMetric(
    "relapi_cache_requests_total",
    "counter",
    "cache-requests",
    "Look-ups of plans, statements, documents and the like",
  ),
  buildMetric("relapi_cache_hits_total", "counter", "cache-hits", "Look-ups that found what was asked for"),
  buildMetric(
    "relapi_cache_misses_total",
    "counter",
    subtractCounters("cache-requests", "cache-hits"),
    "Look-ups that found nothing",
  ),
  buildMetric("relapi_cache_evictions_total", "counter", "cache-evictions", "Kept values that made room for others"),
  buildMetric(
    "relapi_cache_conflicts_total",
    "counter",
    "cache-conflicts",
    "Kept values that were dropped because their makers disagreed: 0 unless a plugin is at fault",
  ),
  buildMetric("relapi_cache_entries", "gauge", "cache-entries", "Kept values"),
  buildMetric("relapi_cache_bytes", "gauge", "cache-bytes", "Bytes of kept values, estimated"),
  // limits (R-BND)
  buildMetric(
    "relapi_results_refused_total",
    "counter",
    "results-refused",
    "Answers of the database larger than MAX_RESULT_BYTES",
  ),
  buildMetric(
    "relapi_coalesced_reads_total",
    "counter",
    "coalesced-reads",
    "Reads that had a round trip together with others",
  ),
  buildMetric(
    "relapi_prepared_statements",
    "gauge",
    "prepared-statements",
    "Statements prepared on the pooled connections",
  ),
  buildMetric("relapi_prepared_statement_bytes", "gauge", "prepared-bytes", "Bytes of their texts"),
  buildMetric("relapi_unread_bytes", "gauge", "unread-bytes", "Bytes of answers that clients have not read yet"),
  buildMetric(
    "relapi_unread_closed_total",
    "counter",
    "unread-closed",
    "Connections closed because the client did not read the answer, or too much was waiting",
  ),
  buildMetric("relapi_streams_total", "counter", "streams", "Answers sent while they arrived from the database"),
  buildMetric(
    "relapi_streams_waiting",
    "gauge",
    "streams-waiting",
    "Those that keep a connection until their client has read",
  ),
  buildMetric(
    "relapi_bodies_refused_total",
    "counter",
    "bodies-refused",
    "Request bodies larger than MAX_BODY_BYTES, or than MAX_PENDING_BODY_BYTES together with others",
  ),
  buildMetric("relapi_body_bytes", "gauge", "body-bytes", "Bytes of request bodies that are not answered yet"),
  buildMetric("relapi_live_query_bytes", "gauge", "live-query-bytes", "Bytes that live queries keep, estimated"),
  buildMetric("relapi_live_patch_bytes", "gauge", "live-patch-bytes", "Bytes of results that are kept to send patches"),
  buildMetric(
    "relapi_live_queries_refused_total",
    "counter",
    "live-queries-refused",
    "Live queries beyond MAX_LIVE_QUERY_BYTES",
  ),
  buildMetric(
    "relapi_live_skipped_total",
    "counter",
    "live-queries-skipped",
    "Live queries that were not run because a change of what they read did not concern them",
  ),
  buildMetric("relapi_live_subscribers", "gauge", "live-subscribers", "Subscribers of live queries"),
  buildMetric(
    "relapi_live_queries",
    "gauge",
    "live-queries",
    "Live queries that differ, each run once for all who ask it",
  ),
  buildMetric("relapi_live_cohorts", "gauge", "live-cohorts", "Groups of live queries that one statement answers each"),
  buildMetric(
    "relapi_live_due",
    "gauge",
    "live-queries-due",
    "Live queries that are to run, or whose run has not ended",
  ),
  {
    ...buildMetric(
      "relapi_live_source_lag_seconds",
      "gauge",
      "live-source-lag-seconds",
      "From the last commit that the change feed has reported to its notice; 0 where changes are found in another way",
    ),
    combine: "max",
  },
  buildMetric("relapi_sockets", "gauge", "sockets", "WebSockets that are open"),
  buildMetric("relapi_requests_running", "gauge", "requests-running", "Requests that are not answered yet"),
  buildMetric(
    "relapi_requests_late_total",
    "counter",
    "requests-late",
    "Requests given up because their bodies came in too slowly",
  ),
];

/** Counts the refusals by each limit of the preset's plugins. @rule R-LIM-1 G-LIM-1 */
const buildRefusalMetric = (settings: readonly Setting[]): Metric => ({
  name: "relapi_refused_total",
  kind: "counter",
  help: "Requests beyond a limit of the settings",
  labels: ["limit"],
  samples: settings.flatMap(({ name, isLimit }) =>
    isLimit ? [[{ limit: name }, ({ get }: Counters) => get(nameRefusalCounter(name))] as const] : [],
  ),
});

/** @rule R-ADM-2 */
export const registerCounterMetrics = (
  { Counter, Gauge }: PromClient,
  registry: Registry,
  counters: Counters,
  settings: readonly Setting[],
): void => {
  for (const { name, kind, help, combine: together = "sum", labels = [], samples } of [
    ...METRICS,
    buildRefusalMetric(settings),
  ]) {
    const common: GaugeConfiguration<string> = {
      name,
      help,
      labelNames: labels,
      registers: [registry],
      aggregator: together,
    };
    if (kind === "gauge")
      new Gauge({
        ...common,
        collect() {
          for (const [of, read] of samples) this.set(of, read(counters));
        },
      });
    else
      new Counter({
        ...common,
        collect() {
          this.reset();
          for (const [of, read] of samples) this.inc(of, read(counters));
        },
      });
  }
};
