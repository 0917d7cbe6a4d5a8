/** Rolling restarts behind HAProxy, under load: no request may fail, and every live query reconnects. */
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { startHaproxy } from "./haproxy.ts";
import { startLoad } from "./load.ts";
import { startStandalone, type Standalone } from "./standalone.ts";
import { startSubscribers } from "./subscribers.ts";
import { until } from "../support/until.ts";
import { has, LONG_MS } from "./support.ts";

/** The number of restarts, by default one of each kind of server. */
const RESTARTS = Number(process.env["ROLLING_RESTARTS"] ?? 2);
const SOCKETS = 6;
/** The health checks: a server is out after one failed response, however slow a successful one is on a busy machine. */
const CHECKS = { check: "inter 100ms fall 1", checkTimeout: "60s" };
/** The minimum number of requests between two restarts. */
const REQUESTS = 30;

interface StartedServer {
  readonly server: Standalone;
  readonly workers: string;
}

describe.skipIf(!has("haproxy") || !capabilities.realServer)("R-ADM-4 rolling restarts behind HAProxy", async () => {
  console.log(`ROLLING_RESTARTS=${RESTARTS}`);
  const database = await testDatabase();
  await database.query(
    "create table stone (id int primary key generated always as identity, n int); create table clock (id int primary key, at int); insert into clock values (1, 0); grant select, insert on stone, clock to sea_anon; grant usage on schema public to sea_anon",
  );
  const common = {
    DATABASE_URL: database.options.databaseUrl,
    ANON_ROLE: "sea_anon",
    DB_SCHEMAS: "public",
    // The time is much longer than HAProxy needs to detect a failed check.
    SHUTDOWN_DELAY: "2",
    DB_POOL: "5",
    LOG_LEVEL: "error",
  };

  test(
    `R-ADM-4 no request fails and no write is lost in ${RESTARTS} restarts of a single process and of workers in turn`,
    async () => {
      const start = async (workers: string, previousServer?: Standalone): Promise<StartedServer> => ({
        server: await startStandalone({ ...common, WORKERS: workers }, previousServer),
        workers,
      });
      let servers = await Promise.all([start("1"), start("2")]);
      const balancer = await startHaproxy(
        servers.map(({ server }) => server),
        CHECKS,
      );
      const load = startLoad({
        url: balancer.url,
        rest: "/api/stone?select=id,n&order=id.desc&limit=3",
        graphql: "{ stone(limit: 3, order_by: {id: desc}) { id n } }",
        writes: { relation: "stone", column: "n" },
        workers: 1,
        pauseMs: 20,
      });
      const subscribers = startSubscribers(balancer.url, SOCKETS, "subscription { clock { at } }");
      await until(() => subscribers.last().every((text) => text !== undefined), "all live queries have a result");
      const problems: string[] = [];
      const writtenValues: number[] = [];
      for (let i = 1; i <= RESTARTS; i++) {
        const [{ server, workers }, otherServer] = servers as [StartedServer, StartedServer];
        const code = await server.stop();
        if (code !== 0) problems.push(`restart ${i}: exit code ${code}, ${server.output().slice(-300)}`);
        servers = [otherServer, await start(workers, server)];
        await until(async () => (await balancer.upCount()) === 2, "HAProxy considers both servers ready");
        await database.query("update clock set at = $1", [i]);
        const expected = JSON.stringify({ data: { clock: [{ at: i }] } });
        await until(
          () => subscribers.last().every((text) => text === expected),
          "all live queries have the new result",
        );
        await until(() => load.sentCount() >= REQUESTS, "the requests between two restarts");
        const outcome = load.take();
        writtenValues.push(...outcome.writtenValues);
        problems.push(...outcome.failures.map(({ problem }) => problem));
      }
      const rest = await load.stop();
      writtenValues.push(...rest.writtenValues);
      expect([...problems, ...rest.failures.map(({ problem }) => problem)]).toEqual([]);
      expect(subscribers.faults()).toEqual([]);
      expect(subscribers.returns()).toBeGreaterThanOrEqual(SOCKETS);
      subscribers.stop();
      const rows = await database.query<{ n: number }>("select n from stone");
      const storedValues = new Set(rows.map(({ n }) => n));
      expect(writtenValues.filter((n) => !storedValues.has(n))).toEqual([]);
      expect(rows.length).toBe(writtenValues.length);
      await Promise.all(servers.map(({ server }) => server.stop()));
    },
    LONG_MS * Math.max(1, RESTARTS / 15),
  );
});
