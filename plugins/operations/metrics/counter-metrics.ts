/** Exports the counters of an api as metrics, which are read on each scrape. */
import type { GaugeConfiguration, Registry } from "prom-client";
import { refusalCounter, type Counters, type Setting } from "../../../core/index.ts";
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

const counterMetric = (
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

const difference =
  (all: string, some: string) =>
  ({ get }: Counters): number =>
    get(all) - get(some);

/** @rule R-ADM-2 */
const METRICS: readonly Metric[] = [
  {
    ...counterMetric(
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
  counterMetric(
    "pgrst_db_pool_timeouts_total",
    "counter",
    "pool-timeouts",
    "Requests that waited in vain for a connection",
  ),
  counterMetric("pgrst_db_pool_available", "gauge", "pool-available", "Connections that could be used at once"),
  counterMetric("pgrst_db_pool_waiting", "gauge", "pool-waiting", "Requests waiting for a connection"),
  counterMetric("pgrst_db_pool_max", "gauge", "pool-max", "Connections at most"),
  counterMetric("relapi_db_pool_in_use", "gauge", "pool-in-use", "Connections that are running something"),
  counterMetric("pgrst_jwt_cache_requests_total", "counter", "jwt-cache-requests", "Look-ups of verified tokens"),
  counterMetric("pgrst_jwt_cache_hits_total", "counter", "jwt-cache-hits", "Look-ups that found the token"),
  counterMetric(
    "pgrst_jwt_cache_evictions_total",
    "counter",
    "jwt-cache-evictions",
    "Tokens that made room for others",
  ),
  counterMetric("relapi_jwt_cache_bytes", "gauge", "jwt-cache-bytes", "Bytes of verified tokens, estimated"),
  counterMetric(
    "relapi_cache_requests_total",
    "counter",
    "cache-requests",
    "Look-ups of plans, statements, documents and the like",
  ),
  counterMetric("relapi_cache_hits_total", "counter", "cache-hits", "Look-ups that found what was asked for"),
  counterMetric(
    "relapi_cache_misses_total",
    "counter",
    difference("cache-requests", "cache-hits"),
    "Look-ups that found nothing",
  ),
  counterMetric("relapi_cache_evictions_total", "counter", "cache-evictions", "Kept values that made room for others"),
  counterMetric(
    "relapi_cache_conflicts_total",
    "counter",
    "cache-conflicts",
    "Kept values that were dropped because their makers disagreed: 0 unless a plugin is at fault",
  ),
  counterMetric("relapi_cache_entries", "gauge", "cache-entries", "Kept values"),
  counterMetric("relapi_cache_bytes", "gauge", "cache-bytes", "Bytes of kept values, estimated"),
  // limits (R-BND)
  counterMetric(
    "relapi_results_refused_total",
    "counter",
    "results-refused",
    "Answers of the database larger than MAX_RESULT_BYTES",
  ),
  counterMetric(
    "relapi_coalesced_reads_total",
    "counter",
    "coalesced-reads",
    "Reads that had a round trip together with others",
  ),
  counterMetric(
    "relapi_prepared_statements",
    "gauge",
    "prepared-statements",
    "Statements prepared on the pooled connections",
  ),
  counterMetric("relapi_prepared_statement_bytes", "gauge", "prepared-bytes", "Bytes of their texts"),
  counterMetric("relapi_unread_bytes", "gauge", "unread-bytes", "Bytes of answers that clients have not read yet"),
  counterMetric(
    "relapi_unread_closed_total",
    "counter",
    "unread-closed",
    "Connections closed because the client did not read the answer, or too much was waiting",
  ),
  counterMetric("relapi_streams_total", "counter", "streams", "Answers sent while they arrived from the database"),
  counterMetric(
    "relapi_streams_waiting",
    "gauge",
    "streams-waiting",
    "Those that keep a connection until their client has read",
  ),
  counterMetric(
    "relapi_bodies_refused_total",
    "counter",
    "bodies-refused",
    "Request bodies larger than MAX_BODY_BYTES, or than MAX_PENDING_BODY_BYTES together with others",
  ),
  counterMetric("relapi_body_bytes", "gauge", "body-bytes", "Bytes of request bodies that are not answered yet"),
  counterMetric("relapi_live_query_bytes", "gauge", "live-query-bytes", "Bytes that live queries keep, estimated"),
  counterMetric(
    "relapi_live_patch_bytes",
    "gauge",
    "live-patch-bytes",
    "Bytes of results that are kept to send patches",
  ),
  counterMetric(
    "relapi_live_queries_refused_total",
    "counter",
    "live-queries-refused",
    "Live queries beyond MAX_LIVE_QUERY_BYTES",
  ),
  counterMetric(
    "relapi_live_skipped_total",
    "counter",
    "live-queries-skipped",
    "Live queries that were not run because a change of what they read did not concern them",
  ),
  counterMetric("relapi_live_subscribers", "gauge", "live-subscribers", "Subscribers of live queries"),
  counterMetric(
    "relapi_live_queries",
    "gauge",
    "live-queries",
    "Live queries that differ, each run once for all who ask it",
  ),
  counterMetric(
    "relapi_live_cohorts",
    "gauge",
    "live-cohorts",
    "Groups of live queries that one statement answers each",
  ),
  counterMetric(
    "relapi_live_due",
    "gauge",
    "live-queries-due",
    "Live queries that are to run, or whose run has not ended",
  ),
  {
    ...counterMetric(
      "relapi_live_source_lag_seconds",
      "gauge",
      "live-source-lag-seconds",
      "From the last commit that the change feed has reported to its notice; 0 where changes are found in another way",
    ),
    combine: "max",
  },
  counterMetric("relapi_sockets", "gauge", "sockets", "WebSockets that are open"),
  counterMetric("relapi_requests_running", "gauge", "requests-running", "Requests that are not answered yet"),
  counterMetric(
    "relapi_requests_late_total",
    "counter",
    "requests-late",
    "Requests given up because their bodies came in too slowly",
  ),
];

/** Counts the refusals by each limit of the preset's plugins. @rule R-LIM-1 G-LIM-1 */
const refusalMetric = (settings: readonly Setting[]): Metric => ({
  name: "relapi_refused_total",
  kind: "counter",
  help: "Requests beyond a limit of the settings",
  labels: ["limit"],
  samples: settings.flatMap(({ name, isLimit }) =>
    isLimit ? [[{ limit: name }, ({ get }: Counters) => get(refusalCounter(name))] as const] : [],
  ),
});

/** @rule R-ADM-2 */
export const registerCounted = (
  { Counter, Gauge }: PromClient,
  registry: Registry,
  counters: Counters,
  settings: readonly Setting[],
): void => {
  for (const { name, kind, help, combine: together = "sum", labels = [], samples } of [
    ...METRICS,
    refusalMetric(settings),
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
