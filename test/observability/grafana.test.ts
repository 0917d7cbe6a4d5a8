/** The dashboard uses only metrics that /metrics has. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const dashboard = JSON.parse(readFileSync(new URL("../../docs/deploy/grafana.json", import.meta.url), "utf8"));
const panels = (dashboard.panels as readonly Panel[]).filter(({ type }) => type !== "row");
const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

/** Prometheus itself adds these labels. */
const OF_PROMETHEUS: ReadonlySet<string> = new Set(["job", "instance"]);
const METRIC = /\b(?:relapi|pgrst|process|nodejs)_\w+/g;

/** The metric names of a query, and the label names by which it groups, filters and shows. */
const readQuery = ({ expr, legendFormat }: { readonly expr: string; readonly legendFormat: string }) => ({
  metrics: [...expr.matchAll(METRIC)].map(([name]) => name),
  labels: [
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(",").map((label) => label.trim())),
    ...[...expr.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
    ...[...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label),
  ],
});

let api: MeasuredApi;
/** The label names by metric in the answer. */
const labelsByMetric = new Map<string, Set<string>>();

beforeAll(async () => {
  api = await startMeasured({ dbSchemas: ["sea", "land", "public"] });
  await api.get("/ports?select=id", { headers: bearer({ role: "sea_clerk" }) });
  await api.get("/nowhere");
  await api.gql("{ nothing }");
  const socket = await openSocket(api);
  await socket.init(asAdmin());
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { artist(limit: 1) { id } }" } });
  await socket.next(({ type }) => type === "next");
  const text = await (await fetch(`${api.adminUrl}/metrics`)).text();
  for (const line of text.split("\n")) {
    const [, name, list = ""] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const labels = labelsByMetric.get(name) ?? new Set();
    for (const [, label = ""] of list.matchAll(/(\w+)="/g)) labels.add(label);
    labelsByMetric.set(name, labels);
  }
  await socket.close();
});

test("X-MET-7 the dashboard has panels", () => {
  expect(panels).not.toEqual([]);
  expect(queries).not.toEqual([]);
  expect([...labelsByMetric.keys()]).toContain("relapi_requests_total");
});

test.each(queries.map((query) => [`${query.title}: ${query.expr}`, query] as const))(
  "X-MET-7 a panel uses existing metrics and labels: %s",
  (_, query) => {
    const { metrics, labels } = readQuery(query);
    expect(metrics.length).toBeGreaterThan(0);
    for (const metric of metrics) expect([...labelsByMetric.keys()], metric).toContain(metric);
    for (const label of labels) {
      if (OF_PROMETHEUS.has(label)) continue;
      for (const metric of metrics)
        expect([...(labelsByMetric.get(metric) ?? [])], `${metric} by ${label}`).toContain(label);
    }
  },
);

test("X-MET-7 the dashboard shows every metric of relapi that counts traffic", () => {
  const dashboardMetrics = new Set(queries.flatMap((query) => readQuery(query).metrics));
  for (const name of [
    "relapi_requests_total",
    "relapi_request_duration_seconds_bucket",
    "relapi_request_errors_total",
    "relapi_db_acquisition_seconds_bucket",
    "relapi_live_lag_seconds_bucket",
    "relapi_event_loop_delay_max_seconds",
  ])
    expect(dashboardMetrics).toContain(name);
});
