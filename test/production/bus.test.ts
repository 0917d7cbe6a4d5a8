/** Machines behind HAProxy on one database: one reads the changes, the bus passes them on, and nobody misses any. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { until } from "../support/until.ts";
import { freePort, has, LONG_MS, type Program } from "./support.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import {
  natsConnections,
  readers,
  redisConnections,
  startBalancer,
  startMachine,
  startNats,
  startPlace,
  startRedis,
  watch,
  type Machine,
  type Place,
  type Watcher,
} from "./processes.ts";

vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS });

const isServer = hasPostgres;

const buses = [
  {
    name: "NATS",
    program: "nats-server",
    scheme: "nats",
    start: startNats,
    listeners: (_port: number, monitorPort: number) => natsConnections(monitorPort),
  },
  {
    name: "Redis",
    program: "redis-server",
    scheme: "redis",
    start: startRedis,
    listeners: (port: number) => redisConnections(port),
  },
  { name: "NOTIFY", program: undefined, scheme: "", start: undefined, listeners: undefined },
] as const;

/** All machines of this file are on one server, those of one bus after those of another. */
let shared: Promise<Place> | undefined;

const HOUR_MS = 3_600_000;
const NOBODY = 0;

describe.each(buses)("two machines with two workers each, over $name", ({ program, scheme, start, listeners }) => {
  const isPossible = isServer && has("haproxy") && (program === undefined || has(program));
  describe.skipIf(!isPossible)(program ?? "PostgreSQL", () => {
    let place: Place;
    let machines: readonly Machine[];
    let watchers: readonly Watcher[];
    let bus: Program | undefined;
    let busPort = NOBODY;
    let monitorPort = NOBODY;
    let n = 0;
    let mostReaders = 0;
    let isOver = false;

    const changeOne = async (): Promise<void> => {
      n++;
      await place.sql.insist("update seat set n = $1 where id = 1 + $1 % 10", [n]);
    };
    /** Changes all rows, one by one, while it works and some times more; then every watcher sees the last change. */
    const whileChanging = async (work: () => Promise<unknown>): Promise<void> => {
      const from = n;
      let isDone = false;
      const changing = (async () => {
        while (!isDone) {
          await changeOne();
          await new Promise((resolve) => setTimeout(resolve, 50)); // machines are to keep up
        }
      })();
      await until(() => n > from + 10, "ten changes before it");
      await work().finally(() => {
        isDone = true;
      });
      await changing;
      for (let i = 0; i < 10; i++) await changeOne();
      await allSeen();
    };
    const allSeen = async (): Promise<void> => {
      n++;
      await place.sql.insist("update seat set n = $1", [n]);
      await until(() => watchers.every((watcher) => watcher.n() === n), `all watchers have seen ${n}`);
    };
    const oneReader = (): Promise<void> => until(async () => (await readers(place)).length === 1, "there is one slot");
    const anotherReader = (than: number): Promise<void> =>
      until(async () => (await readers(place)).some((pid) => pid !== than), "another process reads the changes");

    beforeAll(async () => {
      place = await (shared ??= startPlace());
      if (start !== undefined) bus = await start((busPort = await freePort()), (monitorPort = await freePort()));
      const settings = {
        DATABASE_URL: place.url,
        WORKERS: "2",
        DB_POOL: "4",
        LIVE_QUERY_INTERVAL: String(HOUR_MS), // polling would be too late
        ...(busPort === NOBODY ? {} : { BUS_URL: `${scheme}://127.0.0.1:${busPort}` }),
      };
      machines = await Promise.all([startMachine(settings), startMachine(settings)]);
      const port = await startBalancer(machines.map((machine) => machine.port));
      watchers = Array.from({ length: 12 }, (_, i) => watch(port, i % 4 === 0 ? undefined : 1 + (i % 10)));
      await until(() => watchers.every((watcher) => watcher.n() !== -1), "all watchers have a first answer");
      await oneReader();
      void (async () => {
        while (!isOver) {
          const count = await readers(place).then(
            (found) => found.length,
            () => 0, // the database restarts
          );
          mostReaders = Math.max(mostReaders, count);
          await new Promise((resolve) => setTimeout(resolve, 50)); // between two looks
        }
      })();
    });
    afterAll(async () => {
      isOver = true;
      for (const watcher of watchers) watcher.close();
      await Promise.all(machines.map((machine) => machine.stop()));
      await until(async () => (await readers(place)).length === 0, "the slot is gone");
    });

    test("X-BUS-3 one slot for all, and changes arrive wherever they are watched", async () => {
      for (let round = 0; round < 3; round++) await allSeen();
      expect((await readers(place)).length).toBe(1);
    });

    test("X-BUS-3 the reader is killed while changes go on: another one takes over, nobody misses the last", async () => {
      await whileChanging(async () => {
        const [reader = NOBODY] = await readers(place);
        process.kill(reader, "SIGKILL");
        await anotherReader(reader);
      });
    });

    test("X-BUS-3 the reader stands still, as if its machine had vanished: another one takes over, and it follows", async () => {
      const [reader = NOBODY] = await readers(place);
      process.kill(reader, "SIGSTOP");
      try {
        await anotherReader(reader);
      } finally {
        process.kill(reader, "SIGCONT");
      }
      await allSeen();
      await oneReader();
    });

    test("X-BUS-3 a transaction that changes more rows than a message can name reaches all", async () => {
      await place.sql.run("insert into seat select i, 0 from generate_series(1000, 6000) i");
      await allSeen();
      await place.sql.run("delete from seat where id >= 1000");
    });

    test.skipIf(program === undefined)(
      "X-BUS-3 the bus restarts while changes go on: nobody misses the last",
      async () => {
        const lostCount = ({ output }: Machine): number => output().split("lost the bus").length - 1;
        // one that was killed before has another in its place
        await until(async () => (await listeners?.(busPort, monitorPort)) === 4, "all processes listen to the bus");
        const before = machines.map(lostCount);
        await whileChanging(async () => {
          await bus?.stop("SIGKILL");
          await until(
            () => machines.every((machine, i) => lostCount(machine) >= (before[i] ?? 0) + 2),
            "all processes have lost the bus",
          );
          bus = await start?.(busPort, monitorPort);
        });
        await oneReader();
      },
    );

    test("X-BUS-3 the database restarts while changes go on: nobody misses the last", async () => {
      const statusAt = async ({ port }: Machine): Promise<number> =>
        (await fetch(`http://127.0.0.1:${port}/api/seat?limit=1`)).status;
      await whileChanging(async () => {
        await place.server.kill();
        await until(
          async () => (await Promise.all(machines.map(statusAt))).every((status) => status === 503),
          "both machines are without the database",
        );
        await place.server.start();
      });
      await oneReader();
    });

    test("X-BUS-3 a machine ends properly: the other takes over, and there was never a second slot", async () => {
      await whileChanging(async () => machines[0]?.stop());
      await oneReader();
      expect(mostReaders).toBe(1);
    });
  });
});
