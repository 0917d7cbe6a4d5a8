/** `/metrics` of several workers. */
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/until.ts";
import { start } from "./run.ts";

describe.skipIf(!capabilities.realServer)("several workers", async () => {
  const database = await testDatabase();

  test("X-MET-6 /metrics adds up the counts of all workers and leaves out a worker that does not answer", async () => {
    const adminPort = await freePort(); // no line logs the port
    const running = start([], {
      DATABASE_URL: database.options.databaseUrl,
      DB_SCHEMAS: "sea",
      ANON_ROLE: "sea_anon",
      HOST: "127.0.0.1",
      PORT: "0",
      ADMIN_PORT: String(adminPort),
      WORKERS: "3",
      DB_SCHEMA_POLL_INTERVAL: "0", // roles of other tests would cause another load
      LOG_LEVEL: "info",
    });
    const [, url = ""] = await running.untilPrinted(/REST +(http\S+)/);
    const metrics = async (): Promise<Readonly<Record<string, number>>> => {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      return Object.fromEntries(
        text
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith("#"))
          .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
      );
    };
    const LOADS = 'pgrst_schema_cache_loads_total{status="SUCCESS"}';
    // One worker may listen before the others have forked.
    await until(async () => {
      const { relapi_workers: workers, [LOADS]: loads } = await metrics();
      return workers === 3 && (loads ?? 0) >= 3;
    }, "three workers have loaded the schema");
    for (let i = 0; i < 30; i++)
      expect((await fetch(`${url}/ports?select=id`, { headers: { connection: "close" } })).status).toBe(200);
    const all = await metrics();
    expect(all["relapi_workers"]).toBe(3);
    expect(all['relapi_requests_total{surface="rest",operation="read",role="sea_anon",status="200"}']).toBe(30);
    expect(all["pgrst_db_pool_max"]).toBe(30);
    // A worker may have loaded the schema more than once.
    const loadedLines = (): number => running.output().split("schema loaded").length - 1;
    await until(async () => (await metrics())[LOADS] === loadedLines(), "the sum is that of all lines of the log");
    const result = await running.stop();
    expect(result.code).toBe(0);
  });
});
