/** `/metrics` of several workers. */
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { start } from "./run.ts";

/** A port that was free a moment ago. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo; // it listens
      server.close(() => resolve(port));
    });
  });

describe.skipIf(!capabilities.realServer)("several workers", async () => {
  const database = await testDatabase();

  test("X-MET-6 /metrics sums up what all workers have answered, and leaves out one that does not answer", async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const running = start([], {
      DATABASE_URL: database.options.databaseUrl,
      DB_SCHEMAS: "sea",
      ANON_ROLE: "sea_anon",
      HOST: "127.0.0.1",
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      WORKERS: "3",
      LOG_LEVEL: "info",
    });
    await running.said(/Try:/);
    const metrics = async (): Promise<Readonly<Record<string, number>>> => {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      return Object.fromEntries(
        text
          .split("\n")
          .filter((line) => line !== "" && !line.startsWith("#"))
          .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
      );
    };
    // they may listen before the others have forked
    for (const endMs = Date.now() + 15_000; (await metrics())["relapi_workers"] !== 3 && Date.now() < endMs;);
    for (let i = 0; i < 30; i++)
      expect(
        (await fetch(`http://127.0.0.1:${port}/api/ports?select=id`, { headers: { connection: "close" } })).status,
      ).toBe(200);
    const all = await metrics();
    expect(all["relapi_workers"]).toBe(3);
    expect(all['relapi_requests_total{surface="rest",operation="read",role="sea_anon",status="200"}']).toBe(30);
    expect(all["pgrst_db_pool_max"]).toBe(30);
    expect(all['pgrst_schema_cache_loads_total{status="SUCCESS"}']).toBe(3);
    const ended = await running.stop();
    expect(ended.code).toBe(0);
  });
});
