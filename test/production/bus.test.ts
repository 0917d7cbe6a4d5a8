/** Machines behind HAProxy on one database: one reads the changes, the bus passes them on, and nobody misses any. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually, freePort, has, type Program } from "./support.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import {
  readers,
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

// machines start, and wait for each other
vi.setConfig({ testTimeout: 90_000 });

const isServer = hasPostgres;

const buses = [
  { name: "NATS", program: "nats-server", scheme: "nats", start: startNats },
  { name: "Redis", program: "redis-server", scheme: "redis", start: startRedis },
  { name: "NOTIFY", program: undefined, scheme: "", start: undefined },
] as const;

const TAKEN_OVER_MS = 5000;
const CAUGHT_UP_MS = 10_000;
const NOBODY = 0;

describe.each(buses)("two machines with two workers each, over $name", ({ program, scheme, start }) => {
  const isPossible = isServer && has("haproxy") && (program === undefined || has(program));
  describe.skipIf(!isPossible)(program ?? "PostgreSQL", () => {
    let place: Place;
    let machines: readonly Machine[];
    let watchers: readonly Watcher[];
    let bus: Program | undefined;
    let busPort = NOBODY;
    let n = 0;
    let mostReaders = 0;
    let isOver = false;

    /** Changes all rows, one by one; at the end every watcher has seen the last. */
    const changeFor = async (ms: number): Promise<void> => {
      const endMs = performance.now() + ms;
      while (performance.now() < endMs) {
        n++;
        await place.sql.insist("update seat set n = $1 where id = 1 + $1 % 10", [n]);
        await sleep(20);
      }
    };
    const allSeen = async (): Promise<void> => {
      n++;
      await place.sql.insist("update seat set n = $1", [n]);
      const behind = (): number => watchers.filter((watcher) => watcher.n() !== n).length;
      await eventually(() => behind() === 0, CAUGHT_UP_MS, "the last change").catch((error: Error) => {
        throw new Error(`${error.message}: ${behind()} of ${watchers.length} are behind`);
      });
    };
    const settled = (): Promise<number> =>
      eventually(async () => (await readers(place)).length === 1, TAKEN_OVER_MS, "a slot");

    beforeAll(async () => {
      place = await startPlace();
      if (start !== undefined) bus = await start((busPort = await freePort()));
      const settings = {
        DATABASE_URL: place.url,
        WORKERS: "2",
        DB_POOL: "4",
        ...(busPort === NOBODY ? {} : { BUS_URL: `${scheme}://127.0.0.1:${busPort}` }),
      };
      machines = [await startMachine(settings), await startMachine(settings)];
      const port = await startBalancer(machines.map((machine) => machine.port));
      watchers = Array.from({ length: 40 }, (_, i) => watch(port, i % 4 === 0 ? undefined : 1 + (i % 10)));
      await eventually(() => watchers.every((watcher) => watcher.n() !== -1), 20_000, "first answers");
      await settled();
      void (async () => {
        while (!isOver) {
          const count = await readers(place).then(
            (found) => found.length,
            () => 0, // the database restarts
          );
          mostReaders = Math.max(mostReaders, count);
          await sleep(100);
        }
      })();
    });
    afterAll(() => {
      isOver = true;
    });

    test("X-BUS-3 one slot for all, and changes arrive at once wherever they are watched", async () => {
      await sleep(2500); // every process has heard of the one that leads
      const times: number[] = [];
      for (let round = 0; round < 10; round++) {
        n++;
        const startedAtMs = performance.now();
        await place.sql.run("update seat set n = $1", [n]);
        await eventually(() => watchers.every((watcher) => watcher.n() === n), CAUGHT_UP_MS, "a change");
        times.push(performance.now() - startedAtMs);
        await sleep(150);
      }
      expect((await readers(place)).length).toBe(1);
      // polling would take half a second on average
      expect(times.sort((a, b) => a - b)[5]).toBeLessThan(400);
    });

    test("X-BUS-3 the reader is killed while changes go on: another one within 5 s, nobody misses the last", async () => {
      for (let round = 0; round < 2; round++) {
        const [reader = NOBODY] = await readers(place);
        const changing = changeFor(5000);
        await sleep(500);
        process.kill(reader, "SIGKILL");
        const startedAtMs = performance.now();
        await eventually(
          async () => (await readers(place)).some((pid) => pid !== reader),
          TAKEN_OVER_MS,
          "another reader",
        );
        expect(performance.now() - startedAtMs).toBeLessThan(TAKEN_OVER_MS);
        await changing;
        await allSeen();
      }
    });

    test("X-BUS-3 the reader stands still, as if its machine had vanished: another one within 5 s, and it follows", async () => {
      const [reader = NOBODY] = await readers(place);
      process.kill(reader, "SIGSTOP");
      try {
        await eventually(
          async () => (await readers(place)).some((pid) => pid !== reader),
          TAKEN_OVER_MS,
          "another reader",
        );
      } finally {
        process.kill(reader, "SIGCONT");
      }
      await sleep(1000);
      await allSeen();
      expect((await readers(place)).length).toBe(1);
    });

    test("X-BUS-3 a transaction that changes more rows than a message can name reaches all", async () => {
      await place.sql.run("insert into seat select i, 0 from generate_series(1000, 6000) i");
      await sleep(500);
      n++;
      await place.sql.run("update seat set n = $1", [n]);
      await eventually(() => watchers.every((watcher) => watcher.n() === n), CAUGHT_UP_MS, "a change");
      await place.sql.run("delete from seat where id >= 1000");
    });

    test.skipIf(program === undefined)(
      "X-BUS-3 the bus restarts while changes go on: nobody misses the last",
      async () => {
        const changing = changeFor(8000);
        await sleep(500);
        await bus?.stop("SIGKILL");
        await sleep(4000);
        bus = await start?.(busPort);
        await changing;
        await allSeen();
        await eventually(async () => (await readers(place)).length === 1, CAUGHT_UP_MS, "a slot");
      },
    );

    test("X-BUS-3 the database restarts while changes go on: nobody misses the last", async () => {
      const changing = changeFor(6000);
      await sleep(500);
      await place.server.kill();
      await sleep(1500);
      await place.server.start();
      await changing;
      await allSeen();
      await eventually(async () => (await readers(place)).length === 1, CAUGHT_UP_MS, "a slot");
    });

    test("X-BUS-3 a machine ends properly: the other takes over, and there was never a second slot", async () => {
      const changing = changeFor(3000);
      await sleep(500);
      await machines[0]?.stop();
      await changing;
      await allSeen();
      await settled();
      expect(mostReaders).toBe(1);
    });
  });
});
