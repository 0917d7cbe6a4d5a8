/** The view of operators on live queries: the page of the admin listener, and `/metrics` by plan. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { capabilities, forGraphql } from "../support/api.ts";
import { initSocket, openEvents, subscribe } from "../support/live.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import type { TestSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";

let api: MeasuredApi;
let socket: TestSocket;

const page = async (testApi = api): Promise<{ readonly response: Response; readonly text: string }> => {
  const response = await fetch(`${testApi.adminUrl}/live-queries`);
  return { response, text: await response.text() };
};

/** The numbers of the table's rows, by relation. */
const rows = async (): Promise<Readonly<Record<string, readonly string[]>>> =>
  Object.fromEntries(
    [...(await page()).text.matchAll(/<tr><td>.*?<\/code> (.*?)<\/summary>.*?<\/tr>/gs)].map(([row, relation]) => [
      relation!,
      [...row.matchAll(/<td class="n">(.*?)<\/td>/g)].map(([, text]) => text!),
    ]),
  );

const BY_ID = "subscription ($id: Int!) { artist_by_pk(id: $id) { name country } }";

beforeAll(async () => {
  api = await startMeasured(forGraphql({ liveQueryInterval: 50 }));
});
beforeEach(async () => {
  socket = await initSocket(api);
});
afterEach(async () => {
  await socket.close();
  await until(async () => (await page()).text.includes(NOBODY), "no live query is left");
});
afterAll(() => api.close());

const NOBODY = "0 subscribers of 0 queries in 0 cohorts";

test("X-LQ-2 the page is empty without subscribers", async () => {
  const { response, text } = await page();
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(text).toContain(NOBODY);
  expect(text.match(/<script/g)).toHaveLength(1);
  expect(text).not.toMatch(/<script src|https?:\/\/|<link|<img/);
});

test("X-LQ-1 X-LQ-2 X-MET-8 the page and the metrics show cohorts, subscribers, queries, runs, rows and bytes sent, by plan and role", async () => {
  for (const [i, id] of [1, 1, 2, 3].entries()) subscribe(socket, `${i}`, BY_ID, { id });
  for (let i = 0; i < 4; i++) await socket.next(({ type }) => type === "next");
  subscribe(socket, "album", "subscription { album(limit: 1) { title } }");
  await socket.next(({ type }) => type === "next");
  const [subscribers, queries, cohorts] = (await rows())["public.artist"]!;
  expect([subscribers, queries, cohorts]).toEqual(["4", "3", "1 (1)"]);
  expect((await rows())["public.album"]!.slice(0, 2)).toEqual(["1", "1"]);

  const [, , , runs, , deliveries] = (await rows())["public.artist"]!;
  await api.sql("update artist set country = 'XX' where id = 1");
  await socket.next(({ type }) => type === "next");
  await socket.next(({ type }) => type === "next");
  const after = (await rows())["public.artist"]!;
  expect(Number(after[3])).toBeGreaterThan(Number(runs));
  expect(Number(after[5])).toBe(Number(deliveries) + 2);
  expect(after[7]).toMatch(/^[\d.,]+ ms$/);

  const numbers = await api.metrics();
  const subscriberCounts = Object.entries(numbers).filter(
    ([name]) => name.startsWith("relapi_live_plan_subscribers{") && name.includes('role="admin"'),
  );
  expect(subscriberCounts.map(([, count]) => count).sort()).toEqual([1, 4]);
  const key = subscriberCounts.find(([, count]) => count === 4)![0].match(/plan="([0-9a-f]{12})"/)![1]!;
  expect((await page()).text).toContain(`<code>${key}</code> public.artist`);
  const planMetric = (name: string): number => numbers[`relapi_live_plan_${name}{plan="${key}",role="admin"}`]!;
  expect([planMetric("cohorts"), planMetric("queries"), planMetric("deliveries_total")]).toEqual([
    1,
    3,
    Number(after[5]),
  ]);
  // The query may have run once more in between without a change.
  const laterRow = (await rows())["public.artist"]!;
  for (const [name, column] of [
    ["runs_total", 3],
    ["rows_total", 4],
  ] as const) {
    expect(planMetric(name)).toBeGreaterThanOrEqual(Number(after[column]));
    expect(planMetric(name)).toBeLessThanOrEqual(Number(laterRow[column]));
  }
  expect(planMetric("lag_seconds")).toBeGreaterThan(0);
  expect(numbers["relapi_live_cohorts"]).toBe(2);
  expect(numbers["relapi_live_rows_total"]).toBeGreaterThanOrEqual(planMetric("rows_total"));
});

test("X-LQ-1 neither the page nor the metrics contain a value of a caller", async () => {
  const secret = "a value that nobody else knows";
  subscribe(socket, "secret", "subscription ($name: String!) { artist(where: {name: {_eq: $name}}) { id } }", {
    name: secret,
  });
  subscribe(socket, "literal", `subscription { artist(where: {name: {_eq: "${secret} 2"}}) { id } }`);
  const stream = await openEvents(api, `/api/artist?name=eq.${encodeURIComponent(secret)}%203`);
  await socket.next(({ id }) => id === "secret");
  await socket.next(({ id }) => id === "literal");
  const metrics = await (await fetch(`${api.adminUrl}/metrics`)).text();
  for (const text of [(await page()).text, metrics]) expect(text).not.toContain("nobody else knows");
  stream.close();
});

test("X-LQ-2 the page escapes names of tables", async () => {
  const name = `<img src=x onerror="alert(1)">&'`;
  await api.sql(`create table public."${name.replaceAll('"', '""')}" (id int primary key)`);
  await api.reload();
  const path = `/api/${encodeURIComponent(name)}?select=id`;
  const stream = await openEvents(api, path, { headers: { "x-session-admin-secret": "wrong" } }).catch(() => undefined);
  stream?.close();
  const live = await openEvents(api, path, { headers: { "x-session-admin-secret": adminSecret } });
  await until(() => live.events.length === 1, "the rows arrive");
  const { text } = await page();
  expect(text).not.toContain("<img");
  expect(text).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;&#39;");
  live.close();
});

test("X-MET-8 the metrics sum up all plans after the first 20", async () => {
  for (let i = 0; i < 30; i++)
    subscribe(socket, `many ${i}`, `subscription { artist(limit: 1) { ${"name ".repeat(1)} a${i}: id } }`);
  for (let i = 0; i < 30; i++) await socket.next(({ type }) => type === "next");
  const names = Object.keys(await api.metrics());
  const listPlanMetrics = (name: string) => names.filter((metric) => metric.startsWith(`relapi_live_plan_${name}{`));
  expect(listPlanMetrics("subscribers")).toHaveLength(21);
  expect(listPlanMetrics("subscribers").filter((metric) => metric.includes('plan="other",role="other"'))).toHaveLength(
    1,
  );
  expect(listPlanMetrics("runs_total")).toHaveLength(20);
});

test.skipIf(!capabilities.logicalReplication)("X-MET-4 the metrics show the lag of the change feed", async () => {
  const lag = async (): Promise<number> => (await api.metrics())["relapi_live_source_lag_seconds"]!;
  subscribe(socket, "1", BY_ID, { id: 2 });
  await socket.next(({ type }) => type === "next");
  await until(async () => {
    await api.sql("update artist set country = coalesce(country, '') || 'x' where id = 2");
    return (await lag()) > 0;
  }, "a change is noticed");
  expect((await page()).text).toMatch(/The last change was noticed [\d.,]+ ms after its commit\./);
});

test("X-LQ-2 ended subscriptions disappear, and the totals stay", async () => {
  subscribe(socket, "1", BY_ID, { id: 2 });
  await socket.next(({ type }) => type === "next");
  expect((await page()).text).toContain("1 subscriber of 1 query in 1 cohort,");
  const before = (await api.metrics())["relapi_live_deliveries_total"]!;
  expect(before).toBeGreaterThan(0);
  await socket.close();
  await until(async () => (await page()).text.includes(NOBODY), "no live query is left");
  expect((await api.metrics())["relapi_live_deliveries_total"]).toBe(before);
});

test.each(["POST", "PUT", "DELETE"])("R-ADM-1 %s of the page is 404", async (method) =>
  expect((await fetch(`${api.adminUrl}/live-queries`, { method })).status).toBe(404),
);

test("X-LQ-2 without live queries the page does not exist", async () => {
  const transports = ["websocket-transport", "legacy-websocket", "sse", "multipart", "live-directive", "live-patches"];
  const names = [...transports, "replication-changes", "notify-changes", "poll-changes", "live-queries"];
  const otherApi = await startMeasured(forGraphql({}), names.map(without));
  expect((await page(otherApi)).response.status).toBe(404);
  expect((await fetch(`${otherApi.adminUrl}/live`)).status).toBe(200);
  await otherApi.close();
});
