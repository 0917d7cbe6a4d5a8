/** Rolling restarts behind HAProxy, under load: no request may fail, and every live query comes back. */
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { startHaproxy } from "./haproxy.ts";
import { startLoad } from "./load.ts";
import { startStandalone, type Standalone } from "./standalone.ts";
import { startSubscribers } from "./subscribers.ts";
import { eventually, has } from "./support.ts";

const ARRANGEMENTS = [
  { restarts: 15, workers: 1 },
  { restarts: 3, workers: 2 },
];
const SOCKETS = 20;

describe.skipIf(!has("haproxy") || !capabilities.realServer)("R-ADM-4 rolling restarts behind HAProxy", async () => {
  const database = await testDatabase();
  await database.query(
    "create table stone (id int primary key generated always as identity, n int); create table clock (id int primary key, at int); insert into clock values (1, 0); grant select, insert on stone, clock to sea_anon; grant usage on schema public to sea_anon",
  );
  const common = {
    DATABASE_URL: database.options.databaseUrl,
    ANON_ROLE: "sea_anon",
    DB_SCHEMAS: "public",
    SHUTDOWN_DELAY: "1",
    DB_POOL: "5",
    LOG_LEVEL: "error",
  };

  test.each(ARRANGEMENTS)(
    "R-ADM-4 $restarts of $restarts without a failed request, and no write is lost; workers: $workers",
    async ({ restarts, workers }) => {
      const environment = { ...common, WORKERS: String(workers) };
      await database.query("truncate stone; update clock set at = 0");
      let servers: readonly Standalone[] = [await startStandalone(environment), await startStandalone(environment)];
      const balancer = await startHaproxy(servers);
      const load = startLoad({
        url: balancer.url,
        rest: "/api/stone?select=id,n&order=id.desc&limit=3",
        graphql: "{ stone(limit: 3, order_by: {id: desc}) { id n } }",
        writes: { relation: "stone", column: "n" },
        workers: 3,
        pauseMs: 2,
      });
      const subscribers = startSubscribers(balancer.url, SOCKETS, "subscription { clock { at } }");
      await eventually(() => subscribers.last().every((text) => text !== undefined), 10_000, "the first results");
      const failed: string[] = [];
      const written: number[] = [];
      let sent = 0;
      let whole = 0;
      for (let i = 0; i < restarts; i++) {
        const [oldest, other] = servers as [Standalone, Standalone];
        const code = await oldest.stop();
        const again = await startStandalone(environment, oldest);
        servers = [other, again];
        await eventually(async () => (await balancer.upCount()) === 2, 10_000, "the return of the server");
        await database.query("update clock set at = $1", [i + 1]);
        const wanted = JSON.stringify({ data: { clock: [{ at: i + 1 }] } });
        await eventually(() => subscribers.last().every((text) => text === wanted), 10_000, "the live results");
        const outcome = load.take();
        sent += outcome.sent;
        written.push(...outcome.written);
        failed.push(...outcome.failures.map(({ what }) => what));
        if (outcome.failures.length === 0 && code === 0) whole++;
        else failed.push(`restart ${i + 1}: exit code ${code}, ${oldest.output().slice(-300)}`);
      }
      const rest = await load.stop();
      written.push(...rest.written);
      expect([...failed, ...rest.failures.map(({ what }) => what)]).toEqual([]);
      expect(whole).toBe(restarts);
      expect(sent).toBeGreaterThan(restarts * 100);
      expect(subscribers.faults()).toEqual([]);
      expect(subscribers.returns()).toBeGreaterThanOrEqual(SOCKETS);
      subscribers.stop();
      const rows = await database.query<{ n: number }>("select n from stone");
      const found = new Set(rows.map(({ n }) => n));
      expect(written.filter((n) => !found.has(n))).toEqual([]);
      expect(rows.length).toBe(written.length);
      await Promise.all(servers.map((server) => server.stop()));
    },
    300_000,
  );
});
