/** `/metrics`: its metrics and their labels. */
import { beforeAll, expect, test } from "vitest";
import { asAdmin, type TestApi } from "../support/api.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";

let api: MeasuredApi;
beforeAll(async () => {
  api = await startMeasured({ dbSchemas: ["sea", "land", "public"] });
});

const requests = (surface: string, operation: string, role: string, status: number): string =>
  `relapi_requests_total{surface="${surface}",operation="${operation}",role="${role}",status="${status}"}`;

/** The increase of each number. */
const measureGrowth = async (names: readonly string[], run: () => Promise<unknown>): Promise<readonly number[]> => {
  const before = await api.metrics();
  await run();
  const after = await api.metrics();
  return names.map((name) => (after[name] ?? 0) - (before[name] ?? 0));
};

test("X-MET-2 requests are counted by surface, kind of operation, role and status", async () => {
  const rolledBack = { prefer: "tx=rollback" };
  const clerk = bearer({ role: "sea_clerk" });
  expect(
    await measureGrowth(
      [
        requests("rest", "read", "sea_anon", 200),
        requests("rest", "read", "sea_anon", 404),
        requests("rest", "insert", "sea_anon", 201),
        requests("rest", "call", "sea_anon", 404),
        requests("rest", "read", "none", 401),
        requests("rest", "read", "sea_clerk", 200),
        requests("graphql", "query", "admin", 200),
      ],
      async () => {
        await api.get("/ports?select=id");
        await api.head("/ports?select=id");
        await api.get("/nowhere");
        await api.post("/ports", { headers: rolledBack, body: { name: "Nowhere" } });
        await api.post("/rpc/not_there", { body: {} });
        await api.get("/ports", { headers: { authorization: "Bearer nonsense" } });
        await api.get("/ports", { headers: clerk });
        await api.gql("{ artist { id } }");
        await api.gql("{ nothing }");
      },
    ),
  ).toEqual([2, 1, 1, 1, 0, 1, 2]);
  const all = await api.metrics();
  expect(all[requests("rest", "other", "none", 401)]).toBe(1); // rejected before the path is read
  const seconds = 'relapi_request_duration_seconds_count{surface="rest",operation="read",role="sea_anon",status="200"}';
  expect(all[seconds]).toBe(all[requests("rest", "read", "sea_anon", 200)]);
  expect(all['relapi_request_errors_total{surface="graphql",operation="query",code="validation-failed"}']).toBe(1);
});

test("X-MET-2 all unknown roles are counted under one label", async () => {
  expect(
    await measureGrowth(
      [requests("graphql", "query", "other", 200), requests("graphql", "query", "made_up_7", 200)],
      async () => {
        for (let i = 0; i < 20; i++) await api.gql("{ __typename }", {}, asAdmin(`made_up_${i}`));
      },
    ),
  ).toEqual([20, 0]);
});

test("X-MET-3 the wait for a connection and the time of the transaction are measured", async () => {
  expect(
    await measureGrowth(
      [
        "relapi_db_acquisition_seconds_count",
        'relapi_db_transaction_seconds_count{outcome="ok"}',
        'relapi_db_transaction_seconds_count{outcome="error"}',
      ],
      async () => {
        await api.get("/ports?select=id");
        await api.get("/ports?select=id&id=eq.x");
      },
    ),
  ).toEqual([2, 1, 1]);
  await until(async () => {
    const all = await api.metrics();
    return all["relapi_db_pool_in_use"] === 0 && all["relapi_requests_running"] === 0;
  }, "the requests are over and the connections are free");
});

test("X-MET-4 subscribers, distinct queries, runs and deliveries of live queries are counted, and their lag is measured", async () => {
  const first = await openSocket(api);
  const second = await openSocket(api);
  for (const [i, socket] of [first, second].entries()) {
    await socket.init(asAdmin());
    socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { artist_by_pk(id: 4) { country } }" } });
    await socket.next((message: any) => message.type === "next");
    expect((await api.metrics())["relapi_live_subscribers"]).toBe(i + 1);
  }
  const before = await api.metrics();
  expect([before["relapi_live_queries"], before["relapi_sockets"]]).toEqual([1, 2]);
  expect(before[requests("graphql", "subscription", "admin", 200)]).toBe(2);
  await api.sql("update artist set country = 'XX' where id = 4");
  for (const socket of [first, second]) await socket.next((message: any) => message.type === "next");
  await api.sql("update artist set country = null where id = 4");
  for (const socket of [first, second]) await socket.next((message: any) => message.type === "next");
  const after = await api.metrics();
  expect(after["relapi_live_deliveries_total"]! - before["relapi_live_deliveries_total"]!).toBe(4);
  expect(after["relapi_live_lag_seconds_count"]! - before["relapi_live_lag_seconds_count"]!).toBe(2);
  expect(after["relapi_live_reruns_total"]!).toBeGreaterThanOrEqual(before["relapi_live_reruns_total"]! + 2);
  for (const socket of [first, second]) await socket.close();
});

test("X-MET-4 live queries that are due are counted once, also if a change makes a running one due again", async () => {
  await api.sql(`create table public.tardy (id int primary key);
    create table public.brisk (id int primary key);
    create view public.tardy_brisk as select brisk.id from public.brisk left join public.tardy using (id)`);
  await api.reload();
  const untilDue = (count: number): Promise<void> =>
    until(async () => (await api.metrics())["relapi_live_due"] === count, `${count} live queries are due`);
  await untilDue(0);
  const client = await api.database.connect();
  await client.query("begin; lock table public.tardy in access exclusive mode");
  const socket = await openSocket(api);
  await socket.init(asAdmin());
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { tardy_brisk { id } }" } });
  await untilDue(1);
  socket.send({ id: "2", type: "subscribe", payload: { query: "subscription { brisk { id } }" } });
  await socket.next((message: any) => message.id === "2" && message.type === "next");
  await api.sql("insert into public.brisk values (1)");
  await socket.next((message: any) => message.payload?.data?.brisk?.length === 1);
  await untilDue(1);
  await client.query("commit");
  await client.end();
  await socket.next((message: any) => message.payload?.data?.tardy_brisk?.length === 1);
  await untilDue(0);
  await socket.close();
});

test("X-MET-5 a blocked event loop is visible in the metrics", async () => {
  const shortDelays = 'relapi_event_loop_delay_seconds_bucket{le="0.25"}';
  const allDelays = "relapi_event_loop_delay_seconds_count";
  const countLongDelays = async (): Promise<number> => {
    const metrics = await api.metrics();
    return metrics[allDelays]! - metrics[shortDelays]!;
  };
  const before = await countLongDelays();
  const endMs = performance.now() + 600;
  while (performance.now() < endMs);
  await until(async () => (await countLongDelays()) > before, "the delay is counted");
  const metrics = await api.metrics();
  expect(metrics["relapi_event_loop_delay_max_seconds"]).toBeGreaterThan(0.5);
  expect(metrics["relapi_event_loop_active_seconds_total"]).toBeGreaterThan(0);
});

test("X-MET-1 the metrics of the process are included, and api.metrics() returns the same text", async () => {
  const text = await (api.relApi as TestApi["relApi"]).metrics();
  for (const name of [
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "nodejs_eventloop_lag_p99_seconds",
    "nodejs_heap_size_used_bytes",
    "relapi_cache_misses_total",
    "relapi_jwt_cache_bytes",
  ])
    expect(text).toContain(`# TYPE ${name} `);
});

test("X-MET-1 without the plugin /metrics does not exist", async () => {
  const bare = await startMeasured({}, []);
  expect((await fetch(`${bare.adminUrl}/metrics`)).status).toBe(404);
  expect((await fetch(`${bare.adminUrl}/live`)).status).toBe(200);
  expect("metrics" in bare.relApi).toBe(false);
});
