/** Several processes without a bus of their own, what they share beside changes, and the quiet after the last client. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { buildLiveTriggers } from "../../presets/live-triggers.ts";
import { eventually, freePort, has } from "./support.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { startMachine, startNats, startPlace, startRedis, watch, type Machine, type Place } from "./processes.ts";

// machines start, and wait for each other
vi.setConfig({ testTimeout: 90_000 });

const isServer = hasPostgres;

const get = (port: number, path = "/api/seat?select=n&id=eq.1"): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });

/** One after the other, to all machines in turn; how many were answered. */
const answered = async (machines: readonly Machine[], count: number): Promise<number> => {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const machine = machines[i % machines.length] as Machine; // within its length
    const response = await get(machine.port);
    await response.text();
    if (response.status === 200) found++;
    else expect(response.status).toBe(429);
  }
  return found;
};

describe.skipIf(!isServer)("the quiet after the last client", () => {
  let place: Place;
  let machine: Machine;

  beforeAll(async () => {
    place = await startPlace(["log_statement = all", "log_replication_commands = on", "log_connections = on"]);
    machine = await startMachine({ DATABASE_URL: place.url });
  });

  const logged = (): string => readFileSync(place.server.logFile, "utf8");
  const isRead = async (): Promise<boolean> => (await place.sql.run("select 1 from pg_stat_replication")).length === 1;

  test.each(["replication", "polling, where a view looks at the clock"])(
    "G-SUB-13 2 s after the last subscriber has left the database hears nothing: %s",
    async (source) => {
      if (source !== "replication") {
        await place.sql.run(
          "create view clock as select max(n) as n, clock_timestamp() as at from seat; grant select on clock to web_anon",
        );
        await place.sql.run("notify pgrst");
        await eventually(async () => (await get(machine.port, "/api/clock")).status === 200, 5000);
      }
      const first = watch(machine.port, 1);
      const second = watch(machine.port);
      await eventually(() => first.n() !== -1 && second.n() !== -1, 5000);
      await eventually(isRead, 5000, "replication");
      first.close();
      await sleep(300);
      second.close();
      await sleep(2000);
      const before = logged();
      await sleep(3000);
      expect(logged().slice(before.length)).toBe("");
      expect(await isRead()).toBe(false);
    },
  );

  test("G-SUB-13 the next subscriber misses nothing that comes after its first answer", async () => {
    for (let round = 1; round <= 15; round++) {
      const watcher = watch(machine.port, 2);
      await eventually(() => watcher.n() !== -1, 5000, "the first answer");
      await sleep((round * 37) % 500);
      await place.sql.run("update seat set n = $1 where id = 2", [round]);
      await eventually(() => watcher.n() === round, 5000, `change ${round}`);
      watcher.close();
      // some come while it is still being read, some when it is not any more
      await sleep(round % 2 === 0 ? 1500 : 100);
    }
  });
});

interface Source {
  readonly name: string;
  readonly settings: readonly string[];
  readonly count: number;
  /** Polling is no source of the arrangement: it would be too late. */
  readonly interval: string;
  readonly prepare?: (place: Place) => Promise<unknown>;
}

const sources: readonly Source[] = [
  { name: "polling", settings: ["wal_level = replica"], count: 1, interval: "500" },
  {
    name: "triggers",
    settings: ["wal_level = replica"],
    count: 1,
    interval: "20000",
    prepare: async ({ url, sql }) => sql.run(await buildLiveTriggers({ databaseUrl: url, dbSchemas: ["public"] })),
  },
  { name: "replication, read by one of two processes", settings: [], count: 2, interval: "20000" },
];

describe.skipIf(!isServer)("the quiet after the last client, by source", () => {
  test.each(sources)(
    "G-SUB-13 2 s after the last subscriber has left the database hears nothing: $name",
    async ({ settings, count, interval, prepare }) => {
      const place = await startPlace(["log_statement = all", "log_replication_commands = on", ...settings]);
      await prepare?.(place);
      const environment = { DATABASE_URL: place.url, LIVE_QUERY_INTERVAL: interval };
      const machines = await Promise.all(Array.from({ length: count }, () => startMachine(environment)));
      const watchers = machines.flatMap(({ port }) => [watch(port, 1), watch(port)]);
      await eventually(() => watchers.every((watcher) => watcher.n() !== -1), 5000, "the first answers");
      await sleep(3000); // the source is chosen
      await place.sql.run("update seat set n = 5 where id = 1");
      await eventually(() => watchers.every((watcher) => watcher.n() === 5), 3000, "the change");
      for (const watcher of watchers) watcher.close();
      await sleep(2000);
      const logged = (): string => readFileSync(place.server.logFile, "utf8");
      const before = logged();
      expect(before).toContain("update seat set n = 5");
      await sleep(4000);
      expect(logged().slice(before.length)).toBe("");
      // a change that nobody looks at is nobody's business
      await place.sql.run("update seat set n = 6 where id = 1");
      const after = logged().length;
      await sleep(1000);
      expect(logged().slice(after)).toBe("");
      expect(await place.sql.run("select slot_name from pg_replication_slots")).toEqual([]);
    },
  );
});

describe.skipIf(!isServer)("workers of one machine", () => {
  test("X-BUS-5 they count rate limits together", async () => {
    const place = await startPlace();
    const machine = await startMachine({
      DATABASE_URL: place.url,
      WORKERS: "3",
      DB_POOL: "3",
      RATE_LIMITS: "web_anon=6",
      RATE_LIMIT_BURST: "12",
    });
    expect(await answered([machine], 24)).toBe(12);
    const refused = await get(machine.port);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await sleep(10_000);
    // six a minute
    expect(await answered([machine], 4)).toBe(1);
  });
});

describe.skipIf(!isServer)("metrics of workers", () => {
  const childrenOf = (pid: number): readonly number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);

  test("X-MET-6 one that is stopped holds /metrics up for a moment only, and what it has counted stays", async () => {
    const place = await startPlace();
    const adminPort = await freePort();
    const machine = await startMachine({
      DATABASE_URL: place.url,
      WORKERS: "2",
      DB_POOL: "3",
      ADMIN_PORT: String(adminPort),
    });
    const metrics = async (): Promise<Readonly<Record<string, number>>> => {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      return Object.fromEntries(
        lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
      );
    };
    const seen = async () => {
      const {
        relapi_workers: answering,
        relapi_workers_silent: silent,
        pgrst_db_pool_max: connections,
        ['relapi_requests_total{surface="rest",operation="read",role="web_anon",status="200"}']: requests,
        ['relapi_request_duration_seconds_count{surface="rest",operation="read",role="web_anon",status="200"}']: timed,
      } = await metrics();
      return { answering, silent, connections, requests, timed };
    };
    const whole = { answering: 2, silent: 0, connections: 6, requests: 20, timed: 20 };
    await eventually(async () => (await seen()).answering === 2, 10_000, "both answer");
    for (let i = 0; i < 20; i++) expect((await get(machine.port)).status).toBe(200);
    expect(await seen()).toEqual(whole);
    // the first one has the admin listener
    const second = childrenOf(machine.pid).find((pid) =>
      readFileSync(`/proc/${pid}/environ`, "utf8").includes("RELAPI_WORKER=2"),
    ) as number;
    process.kill(second, "SIGSTOP");
    for (let i = 0; i < 3; i++) {
      const startMs = performance.now();
      expect(await seen()).toEqual({ ...whole, answering: 1, silent: 1, connections: 3 });
      expect(performance.now() - startMs).toBeLessThan(3000);
    }
    process.kill(second, "SIGCONT");
    await eventually(async () => (await seen()).answering === 2, 10_000, "it answers again");
    expect(await seen()).toEqual(whole);
    // nor does anything fall when one ends and another comes
    process.kill(second, "SIGKILL");
    await eventually(async () => (await seen()).answering === 1, 10_000, "it is gone");
    expect(await seen()).toMatchObject({ requests: 20, timed: 20 });
    await eventually(async () => (await seen()).answering === 2, 10_000, "another one");
    expect(await seen()).toEqual(whole);
  });
});

describe.skipIf(!isServer || !has("redis-server"))("rate limits in Redis", () => {
  test("X-BUS-5 two machines count together; without Redis each for itself, with one warning, until it is back", async () => {
    const place = await startPlace();
    const port = await freePort();
    const redis = await startRedis(port);
    const settings = {
      DATABASE_URL: place.url,
      RATE_LIMIT_REDIS_URL: `redis://127.0.0.1:${port}`,
      RATE_LIMITS: "web_anon=6",
      RATE_LIMIT_BURST: "10",
    };
    const machines = [await startMachine(settings), await startMachine(settings)];
    await sleep(2000); // they are connected
    expect(await answered(machines, 30)).toBe(10);
    await redis.stop("SIGKILL");
    await sleep(200);
    const alone = await answered(machines, 60);
    expect(alone).toBeGreaterThanOrEqual(19);
    expect(alone).toBeLessThanOrEqual(22);
    for (const machine of machines)
      expect(machine.output().match(/rate limits are counted in each process/g)).toHaveLength(1);
    await startRedis(port);
    await sleep(2500);
    // an empty Redis: full buckets again, of both together
    expect(await answered(machines, 30)).toBe(10);
    for (const machine of machines) expect(machine.output()).toContain("rate limits are counted in Redis again");
    // operations of a socket do not wait for Redis: the first runs, and is owed; then it is known that there are none
    const { port: fresh } = await startMachine(settings);
    await sleep(2000); // it is connected
    await answered(machines, 20); // what has come back while it started
    const [first, second] = [watch(fresh, 1), watch(fresh, 2)];
    await eventually(() => first.n() !== -1 && second.n() !== -1, 5000, "what this process has not counted");
    await sleep(500);
    const third = watch(fresh, 3);
    await sleep(1000);
    expect(third.n()).toBe(-1);
  });
});

describe.skipIf(!isServer)("reloads", () => {
  const buses = [
    { name: "NATS", isThere: has("nats-server"), start: startNats, scheme: "nats" },
    { name: "NOTIFY", isThere: true, start: undefined, scheme: "" },
  ] as const;

  test.each(buses.filter(({ isThere }) => isThere))(
    "X-BUS-2 a signal to one process reaches all, over $name",
    async ({ start, scheme }) => {
      const place = await startPlace();
      const port = await freePort();
      await start?.(port);
      const settings: Record<string, string> = { DATABASE_URL: place.url, DB_SCHEMA_POLL_INTERVAL: "0" };
      if (start !== undefined) settings["BUS_URL"] = `${scheme}://127.0.0.1:${port}`;
      const machines = [await startMachine(settings), await startMachine({ ...settings, WORKERS: "2", DB_POOL: "3" })];
      await sleep(1000);
      await place.sql.run("create table late (id int); grant select on late to web_anon");
      for (const machine of machines) expect((await get(machine.port, "/api/late")).status).toBe(404);
      process.kill(machines[0]?.pid ?? 0, "SIGUSR1");
      await eventually(async () => (await get(machines[0]?.port ?? 0, "/api/late")).status === 200, 5000, "its own");
      const ofWorkers = async (): Promise<readonly number[]> =>
        Promise.all(Array.from({ length: 6 }, async () => (await get(machines[1]?.port ?? 0, "/api/late")).status));
      await eventually(async () => (await ofWorkers()).every((status) => status === 200), 5000, "that of the others");
    },
  );
});
