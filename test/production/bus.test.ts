/**
 * Machines behind HAProxy with one database: one reads the changes, the bus forwards them, and no machine misses any.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { busService } from "../../plugins/cluster/api.ts";
import { forGraphql } from "../support/api.ts";
import { startWithContext } from "../support/context.ts";
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
  type Subscriber,
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

/** The number of processes: two workers, and the only process of the other machine. */
const PROCESSES = 3;

/** All machines of this file use one server, one bus after the other. */
let sharedPlace: Promise<Place> | undefined;

const logAfter = ({ server }: Place, from: number): string => readFileSync(server.logFile, "utf8").slice(from);
/** The number of connections that have begun to listen to messages between relApi's processes. */
const listeningIn = (log: string): number =>
  new Set([...log.matchAll(/\[(\d+)\] LOG:.* listen "?relapi_[0-9a-f]{24}/g)].map(([, pid]) => pid)).size;

const HOUR_MS = 3_600_000;
const NOBODY = 0;

describe.each(buses)("two machines with three processes, over $name", ({ name, program, scheme, start, listeners }) => {
  const isPossible = isServer && has("haproxy") && (program === undefined || has(program));
  describe.skipIf(!isPossible)(program ?? "PostgreSQL", () => {
    let place: Place;
    let machines: Machine[];
    let settings: Readonly<Record<string, string>>;
    let subscribers: readonly Subscriber[];
    let bus: Program | undefined;
    let busPort = NOBODY;
    let monitorPort = NOBODY;
    let n = 0;
    let lastReaders: readonly number[] = [];
    let mostReaders = 0;
    let isOver = false;

    const changeOne = async (): Promise<void> => {
      n++;
      await place.sql.insist("update seat set n = $1 where id = 1 + $1 % 10", [n]);
    };
    /**
     * Changes all rows one by one while `work` runs, and some more times. Expects every subscriber to see the last change.
     */
    const whileChanging = async (work: () => Promise<unknown>): Promise<void> => {
      const from = n;
      let isDone = false;
      const changing = (async () => {
        while (!isDone) {
          await changeOne();
          await new Promise((resolve) => setTimeout(resolve, 100)); // the pause lets the machines keep up
        }
      })();
      await until(() => n > from + 5, "five changes before it");
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
      await until(() => subscribers.every((subscriber) => subscriber.n() === n), `all subscribers have seen ${n}`);
    };
    const oneReader = (): Promise<void> => until(async () => (await readers(place)).length === 1, "there is one slot");
    const anotherReader = async (than: number): Promise<void> => {
      lastReaders = [];
      await until(() => lastReaders.some((pid) => pid !== than), "another process reads the changes");
    };
    /** Restarts a machine whose only process was killed. One with workers starts another by itself. */
    const restart = async (machine: Machine): Promise<Machine> =>
      startMachine({ ...settings, PORT: String(machine.port) });

    beforeAll(async () => {
      place = await (sharedPlace ??= startPlace(["log_statement = all"]));
      const logLength = readFileSync(place.server.logFile, "utf8").length;
      if (start !== undefined) bus = await start((busPort = await freePort()), (monitorPort = await freePort()));
      settings = {
        DATABASE_URL: place.url,
        DB_POOL: "4",
        LIVE_QUERY_INTERVAL: String(HOUR_MS), // polling would be too late
        DB_SCHEMA_POLL_INTERVAL: "0",
        ...(busPort === NOBODY ? {} : { BUS_URL: `${scheme}://127.0.0.1:${busPort}` }),
      };
      machines = await Promise.all([
        startMachine({ ...settings, WORKERS: "2" }),
        startMachine({ ...settings, PORT: String(await freePort()) }),
      ]);
      const listening = async (): Promise<number> =>
        listeners === undefined ? listeningIn(logAfter(place, logLength)) : listeners(busPort, monitorPort);
      await until(async () => (await listening()) === PROCESSES, "all processes listen to the bus");
      const port = await startBalancer(machines.map((machine) => machine.port));
      subscribers = Array.from({ length: 12 }, (_, i) => watch(port, i % 4 === 0 ? undefined : 1 + (i % 10)));
      await until(
        () => subscribers.every((subscriber) => subscriber.n() !== -1),
        "all subscribers have a first answer",
      );
      await oneReader();
      void (async () => {
        while (!isOver) {
          lastReaders = await readers(place).catch(() => []); // the database is restarting
          mostReaders = Math.max(mostReaders, lastReaders.length);
          await new Promise((resolve) => setTimeout(resolve, 50)); // the pause between two checks
        }
      })();
    });
    afterAll(async () => {
      isOver = true;
      for (const subscriber of subscribers) subscriber.close();
      await Promise.all(machines.map((machine) => machine.stop()));
      await until(async () => (await readers(place)).length === 0, "the slot is gone");
    });

    test("X-BUS-2 a signal to one process reloads all processes", async () => {
      const table = `late_${name.toLowerCase()}`;
      await place.sql.run(`create table ${table} (id int); grant select on ${table} to web_anon`);
      const statuses = ({ port }: Machine): Promise<readonly number[]> =>
        Promise.all(
          Array.from({ length: 6 }, async () => {
            const url = `http://127.0.0.1:${port}/api/${table}`;
            return (await fetch(url, { headers: { connection: "close" } })).status;
          }),
        );
      const areAll = async (machine: Machine, status: number): Promise<boolean> =>
        (await statuses(machine)).every((answerStatus) => answerStatus === status);
      const [withWorkers, singleMachine] = machines as [Machine, Machine];
      for (const machine of machines) expect(await areAll(machine, 404)).toBe(true);
      process.kill(singleMachine.pid, "SIGUSR1");
      await until(() => areAll(singleMachine, 200), "it reloads itself");
      await until(() => areAll(withWorkers, 200), "the others reload");
    });

    test("X-BUS-3 all processes share one slot, and each receives its changes", async () => {
      for (let round = 0; round < 3; round++) await allSeen();
      expect((await readers(place)).length).toBe(1);
    });

    test("X-BUS-3 another process reads the changes after the reader is killed, and no subscriber misses the last one", async () => {
      await whileChanging(async () => {
        const [reader = NOBODY] = await readers(place);
        process.kill(reader, "SIGKILL");
        await anotherReader(reader);
        machines = await Promise.all(
          machines.map(async (machine) => (machine.pid === reader ? restart(machine) : machine)),
        );
      });
    });

    test("X-BUS-3 another process reads the changes while the reader is stopped, and the reader later follows it", async () => {
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

    test("X-BUS-3 a transaction with more changed rows than a message can name reaches all processes", async () => {
      await place.sql.run("insert into seat select i, 0 from generate_series(1000, 6000) i");
      await allSeen();
      await place.sql.run("delete from seat where id >= 1000");
    });

    test.skipIf(program === undefined)(
      "X-BUS-3 no subscriber misses the last change while the bus restarts",
      async () => {
        const lostCount = ({ output }: Machine): number => output().split("lost the bus").length - 1;
        // A process that was killed before has a replacement.
        await until(
          async () => (await listeners?.(busPort, monitorPort)) === PROCESSES,
          "all processes listen to the bus",
        );
        const before = machines.map(lostCount);
        await whileChanging(async () => {
          await bus?.stop("SIGKILL");
          await until(
            () => machines.every((machine, i) => lostCount(machine) >= (before[i] ?? 0) + (i === 0 ? 2 : 1)),
            "all processes have lost the bus",
          );
          bus = await start?.(busPort, monitorPort);
        });
        await oneReader();
      },
    );

    test("X-BUS-3 no subscriber misses the last change while the database restarts", async () => {
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

    test("X-BUS-3 another machine reads the changes after one has ended, without a second slot", async () => {
      const [reader = NOBODY] = await readers(place);
      await whileChanging(async () => {
        await (machines.find(({ pid }) => pid === reader) ?? machines[0])?.stop();
      });
      await oneReader();
      expect(mostReaders).toBe(1);
    });
  });
});

/** Starts an api on the bus, and returns the bus and a function that closes the api. */
const joinBus = async (busUrl: string | undefined) => {
  const api = await startWithContext(forGraphql(busUrl === undefined ? {} : { busUrl }));
  const bus = api.context.use(busService);
  if (bus === undefined) throw new Error("the api has no bus");
  await until(() => bus.isUp, "the process is on the bus");
  return { bus, close: api.close };
};

test.each(buses.filter(({ program }) => isServer && (program === undefined || has(program))))(
  "X-BUS-1 a process that leaves a topic and joins it again at once receives its messages, over $name",
  async ({ scheme, start }) => {
    const port = await freePort();
    await start?.(port, await freePort());
    const busUrl = start === undefined ? undefined : `${scheme}://127.0.0.1:${port}`;
    const [sender, receiver] = [await joinBus(busUrl), await joinBus(busUrl)];
    const messages = new Set<string>();
    const subscribe = (topic: string): (() => void) =>
      receiver.bus.subscribe(topic, (text) => void messages.add(`${topic} ${text}`));
    const untilReceived = (topic: string, text: string): Promise<void> =>
      until(() => {
        sender.bus.publish(topic, text);
        return messages.has(`${topic} ${text}`);
      }, `a message of ${topic} arrives after the process has joined it ${text} times`);
    const leaveOther = subscribe("other");
    let leave = subscribe("topic");
    for (let i = 1; i <= 20; i++) {
      await untilReceived("topic", String(i));
      leave();
      leave = subscribe("topic");
      await untilReceived("other", String(i)); // the server has processed the commands before
    }
    leave();
    leaveOther();
    await sender.close();
    await receiver.close();
  },
);
