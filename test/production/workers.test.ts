/** Several processes without a separate bus, their shared counters, and the silence after the last client. */
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { buildLiveTriggers } from "../../presets/cli/live-triggers-command.ts";
import { readEnvironment } from "../../presets/server/environment.ts";
import { openSocket } from "../support/socket.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { signToken } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { askRedis, startMachine, startPlace, startRedis, watch, type Machine, type Place } from "./processes.ts";
import { freePort, has, LONG_MS } from "./support.ts";

vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS });

const isServer = hasPostgres;

const get = (port: number, path = "/api/seat?select=n&id=eq.1", headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close", ...headers } });

/** Returns a function that waits until each machine has sent two more heartbeats to an idle socket. It resolves to true
 *  if the machines sent nothing to the database. The second between the heartbeats covers all frequent polls. */
const startQuiet = async (machines: readonly Machine[], readLog: () => string): Promise<() => Promise<boolean>> => {
  const sockets = await Promise.all(
    machines.map(async ({ port }) => {
      const socket = await openSocket({ wsUrl: `ws://127.0.0.1:${port}` });
      socket.send({ type: "connection_init" });
      let signs = 0;
      socket.socket.on("message", (data: Buffer) => {
        if (data.toString().startsWith('{"type":"ping"')) signs++;
      });
      return () => signs;
    }),
  );
  return async () => {
    const before = readLog();
    const expected = sockets.map((signs) => signs() + 2);
    await until(() => sockets.every((signs, i) => signs() >= (expected[i] ?? 0)), "signs of life");
    return readLog() === before;
  };
};

/** Settings of a place whose database logs every statement. */
const LOGGING = ["log_statement = all", "log_replication_commands = on", "log_checkpoints = off"];
/** A place for consecutive tests, each of which ends its processes before the next begins. */
const sharing = (settings: readonly string[]): (() => Promise<Place>) => {
  let place: Promise<Place> | undefined;
  return () =>
    (place ??= startPlace(settings).then(async (startedPlace) => {
      await startedPlace.sql.run(
        "create role web_busy; create role web_rare; grant select on seat to web_busy, web_rare",
      );
      return startedPlace;
    }));
};
const startReplicated = sharing([...LOGGING, "log_connections = on"]);
const startUnreplicated = sharing([...LOGGING, "wal_level = replica"]);

/** The log without the check, once a minute, whether an idle connection is alive. */
const loggedAt = ({ server }: Place): string => readFileSync(server.logFile, "utf8").replaceAll(/^.*: select\n/gm, "");

describe.skipIf(!isServer)("the database after the last subscriber has left", () => {
  let place: Place;
  let machine: Machine;
  let isQuiet: () => Promise<boolean>;

  beforeAll(async () => {
    place = await startReplicated();
    machine = await startMachine({ DATABASE_URL: place.url, WEBSOCKET_KEEPALIVE: "1" });
    isQuiet = await startQuiet([machine], () => loggedAt(place));
  });
  afterAll(() => machine.stop());

  const isRead = async (): Promise<boolean> => (await place.sql.run("select 1 from pg_stat_replication")).length === 1;

  test.each(["replication", "polling, where a view looks at the clock"])(
    "G-SUB-13 the database receives no statement after the last subscriber has left: %s",
    async (source) => {
      if (source !== "replication") {
        await place.sql.run(
          "create view clock as select max(n) as n, clock_timestamp() as at from seat; grant select on clock to web_anon",
        );
        await until(async () => {
          await place.sql.run("notify pgrst");
          return (await get(machine.port, "/api/clock")).status === 200;
        }, "the view is served");
      }
      const first = watch(machine.port, 1);
      const second = watch(machine.port);
      await until(() => first.n() !== -1 && second.n() !== -1, "the first answers");
      await until(isRead, "the changes are read");
      first.close();
      second.close();
      await until(isQuiet, "the database receives no statement");
      expect(await isRead()).toBe(false);
    },
  );

  test("G-SUB-13 the next subscriber misses no change after its first result", async () => {
    for (let round = 1; round <= 8; round++) {
      const subscriber = watch(machine.port, 2);
      await until(() => subscriber.n() !== -1, "the first answer");
      // Each round begins at another moment of the interval.
      await new Promise((resolve) => setTimeout(resolve, (round * 37) % 200));
      await place.sql.run("update seat set n = $1 where id = 2", [round]);
      await until(() => subscriber.n() === round, `change ${round}`);
      subscriber.close();
      // Some clients subscribe while the changes are still read, others afterwards.
      if (round % 4 === 0) await until(async () => !(await isRead()), "the changes are not read any more");
    }
  });
});

interface Source {
  readonly name: string;
  readonly place: () => Promise<Place>;
  readonly count: number;
  /** The polling interval. Polling is not a source here, because it would be too late. */
  readonly interval: string;
  readonly prepare?: (place: Place) => Promise<unknown>;
}

const sources: readonly Source[] = [
  { name: "polling", place: startUnreplicated, count: 1, interval: "500" },
  {
    name: "triggers",
    place: startUnreplicated,
    count: 1,
    interval: "20000",
    prepare: async ({ url, sql }) =>
      sql.run(
        await buildLiveTriggers({ ...readEnvironment({}), options: { databaseUrl: url, dbSchemas: ["public"] } }),
      ),
  },
  { name: "replication, read by one of two processes", place: startReplicated, count: 2, interval: "20000" },
];

describe.skipIf(!isServer)("the database after the last subscriber has left, by change source", () => {
  test.each(sources)(
    "G-SUB-13 the database receives no statement after the last subscriber has left: $name",
    async ({ place: preparePlace, count, interval, prepare }) => {
      const place = await preparePlace();
      await place.sql.run("update seat set n = 0");
      await prepare?.(place);
      const environment = { DATABASE_URL: place.url, LIVE_QUERY_INTERVAL: interval, WEBSOCKET_KEEPALIVE: "1" };
      const machines = await Promise.all(Array.from({ length: count }, () => startMachine(environment)));
      const readLog = (): string => loggedAt(place);
      const isQuiet = await startQuiet(machines, readLog);
      const subscribers = machines.flatMap(({ port }) => [watch(port, 1), watch(port)]);
      await until(() => subscribers.every((subscriber) => subscriber.n() !== -1), "the first answers");
      // The source may be chosen only after the first change.
      for (const n of [3, 4, 5]) {
        await place.sql.run("update seat set n = $1 where id = 1", [n]);
        await until(() => subscribers.every((subscriber) => subscriber.n() === n), `change ${n}`);
      }
      for (const subscriber of subscribers) subscriber.close();
      expect(readLog()).toContain("update seat set n");
      await until(isQuiet, "the database receives no statement");
      // This change has no subscriber.
      await place.sql.run("update seat set n = 6 where id = 1");
      expect(await isQuiet()).toBe(true);
      expect(await place.sql.run("select slot_name from pg_replication_slots")).toEqual([]);
      await Promise.all(machines.map((machine) => machine.stop()));
    },
  );
});

/** The refill rate of a token per minute, which is negligible here. */
const RATE = 1;
const BURST = 12;

const secret = "a secret of thirty-two bytes or more";
const bearer = (role: string) => ({ authorization: `Bearer ${signToken({ role }, { secret })}` });
const busy = bearer("web_busy");
const rare = bearer("web_rare");

/** Sends requests one after the other to all machines in turn, and returns the number of successes. */
const countSuccesses = async (
  machines: readonly Machine[],
  count: number,
  headers: Record<string, string> = {},
): Promise<number> => {
  let successCount = 0;
  for (let i = 0; i < count; i++) {
    const machine = machines[i % machines.length] as Machine; // the index is within the length
    const response = await get(machine.port, undefined, headers);
    await response.text();
    if (response.status === 200) successCount++;
    else expect(response.status).toBe(429);
  }
  return successCount;
};
/** How often a process has begun to count locally because the primary process was late. */
const lateCount = (machines: readonly Machine[]): number =>
  machines.flatMap(({ output }) => output().match(/rate limits are counted in each process/g) ?? []).length;
/** Returns whether the machine counts locally. It logs one line when that starts, and another when Redis counts
 *  again. */
const isAlone = (machine: Machine): boolean =>
  lateCount([machine]) > machine.output().split("rate limits are counted in Redis again").length - 1;
/** Each process that counts locally allows the same number once more. */
const expectOneBucket = (successCount: number, machines: readonly Machine[], lateBefore = 0): void => {
  expect(successCount).toBeGreaterThanOrEqual(BURST);
  expect(successCount).toBeLessThanOrEqual(BURST * (1 + lateCount(machines) - lateBefore));
};

describe.skipIf(!isServer)("workers of one machine", () => {
  let machine: Machine;
  let adminPort: number;

  beforeAll(async () => {
    const place = await startUnreplicated();
    adminPort = await freePort();
    machine = await startMachine({
      DATABASE_URL: place.url,
      WORKERS: "2",
      DB_POOL: "3",
      ADMIN_PORT: String(adminPort),
      JWT_SECRET: secret,
      RATE_LIMITS: `web_rare=${RATE},web_busy=600`,
      RATE_LIMIT_BURST: String(BURST),
    });
  });
  afterAll(() => machine.stop());

  test("X-BUS-5 workers of one machine share their rate limits", async () => {
    expectOneBucket(await countSuccesses([machine], 24, rare), [machine]);
    const rejection = await get(machine.port, undefined, rare);
    expect(rejection.status).toBe(429);
    expect(Number(rejection.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    // The bucket refills.
    const statuses = (count: number): Promise<readonly number[]> =>
      Promise.all(Array.from({ length: count }, async () => (await get(machine.port, undefined, busy)).status));
    await until(async () => (await statuses(30)).includes(429), "a bucket is empty");
    await until(async () => (await statuses(1)).includes(200), "the bucket has a token again");
  });

  const readChildren = (pid: number): readonly number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);

  test("X-MET-6 a stopped worker does not delay /metrics, and its counts are kept", async () => {
    const metrics = async (): Promise<Readonly<Record<string, number>>> => {
      const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      return Object.fromEntries(
        lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
      );
    };
    const readFigures = async () => {
      const {
        relapi_workers: answering,
        relapi_workers_silent: silent,
        pgrst_db_pool_max: connections,
        ['relapi_requests_total{surface="rest",operation="read",role="web_anon",status="200"}']: requests,
        ['relapi_request_duration_seconds_count{surface="rest",operation="read",role="web_anon",status="200"}']: timed,
      } = await metrics();
      return { answering, silent, connections, requests, timed };
    };
    const allFigures = { answering: 2, silent: 0, connections: 6, requests: 20, timed: 20 };
    /** Waits for the statuses. A worker without processor time for a second is silent. */
    const untilFiguresAre = (expected: typeof allFigures, description: string): Promise<void> =>
      until(async () => isDeepStrictEqual(await readFigures(), expected), description);
    await until(async () => (await readFigures()).answering === 2, "both workers answer");
    for (let i = 0; i < 20; i++) expect((await get(machine.port)).status).toBe(200);
    await untilFiguresAre(allFigures, "the figures of both workers");
    // The first worker has the admin listener.
    const second = readChildren(machine.pid).find((pid) =>
      readFileSync(`/proc/${pid}/environ`, "utf8").includes("RELAPI_WORKER=2"),
    ) as number;
    process.kill(second, "SIGSTOP");
    await untilFiguresAre(
      { ...allFigures, answering: 1, silent: 1, connections: 3 },
      "the figures without the gauges of one",
    );
    process.kill(second, "SIGCONT");
    await untilFiguresAre(allFigures, "the figures of both workers again");
    // The counts also stay when a worker is replaced.
    process.kill(second, "SIGKILL");
    await until(async () => {
      const { answering, requests, timed } = await readFigures();
      expect([requests, timed]).toEqual([20, 20]);
      return answering === 2 && !readChildren(machine.pid).includes(second);
    }, "another worker answers");
    await untilFiguresAre(allFigures, "the figures with another worker");
  });
});

describe.skipIf(!isServer || !has("redis-server"))("rate limits in Redis", () => {
  test("X-BUS-5 two machines share rate limits through Redis, and each counts separately with a warning while Redis is unavailable", async () => {
    const place = await startUnreplicated();
    const port = await freePort();
    const redis = await startRedis(port);
    const settings = {
      DATABASE_URL: place.url,
      JWT_SECRET: secret,
      RATE_LIMIT_REDIS_URL: `redis://127.0.0.1:${port}`,
      RATE_LIMITS: `web_anon=${RATE},web_busy=60000`,
      RATE_LIMIT_BURST: String(BURST),
    };
    const countedCalls = async (): Promise<number> => {
      const text = await askRedis(port, "INFO commandstats");
      const calls = [...text.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].map(([, count]) => Number(count));
      return calls.reduce((sum, count) => sum + count, 0);
    };
    const untilCounting = async ({ port: ofMachine }: Machine): Promise<void> =>
      until(async () => {
        const before = await countedCalls();
        await get(ofMachine, undefined, busy);
        return (await countedCalls()) > before;
      }, "the machine counts in Redis");
    const start = async (): Promise<Machine> => {
      const machine = await startMachine(settings);
      await untilCounting(machine);
      return machine;
    };
    const machines = [await start(), await start()];
    const lateAtStart = lateCount(machines);
    expectOneBucket(await countSuccesses(machines, 30), machines, lateAtStart);
    const lateBefore = lateCount(machines);
    await redis.stop("SIGKILL");
    // Each worker detects it by a request.
    await until(async () => {
      for (const machine of machines) await get(machine.port, undefined, busy);
      return machines.every((machine) => isAlone(machine));
    }, "both machines count for themselves");
    const localCount = await countSuccesses(machines, 60);
    // A process that has counted locally before has used part of its bucket.
    expect(localCount).toBeLessThanOrEqual(2 * BURST);
    if (lateBefore === 0) expect(localCount).toBe(2 * BURST);
    await startRedis(port);
    for (const machine of machines) await untilCounting(machine);
    for (const machine of machines) {
      expect(machine.output()).toContain("rate limits are counted in Redis again");
      expect(isAlone(machine)).toBe(false);
    }
    // An empty Redis means full buckets, shared by both.
    expectOneBucket(await countSuccesses(machines, 30), machines, lateCount(machines));
    // Operations of a socket do not wait for Redis: the first runs on credit, then the bucket is known to be empty.
    const newMachine = await start();
    const first = watch(newMachine.port, 1);
    await until(() => first.n() !== -1, "the first operation runs");
    let next = watch(newMachine.port, 2);
    await until(() => {
      if (next.n() !== -1) next = watch(newMachine.port, 2);
      return next.isRejected();
    }, "a later operation is rejected");
    expect(next.n()).toBe(-1);
    await Promise.all([...machines, newMachine].map((machine) => machine.stop()));
  });
});
