/** The scenes that `npm run bench:live` measures, by name. */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { freePort } from "../support/ports.ts";
import { cpuSeconds } from "./cpu.ts";
import type { EngineOrder } from "./live-engine.ts";
import { measureStream } from "./live-stream.ts";
import { createSwarm, nowMs, type Swarm } from "./live-swarm.ts";
import type { ResourceUsage } from "./live-used.ts";

/** The environment of scenes, and the receiver of their figures. */
export interface Place {
  readonly databaseUrl: string;
  readonly database: pg.Client;
  /** The CPU seconds of the database so far. Undefined if it runs on another machine. */
  readonly databaseCpuSeconds: () => number | undefined;
  readonly subscribers: number | undefined;
  readonly rounds: number;
  /** Registers a function that ends a process after the scene, even if the scene fails. */
  readonly atEnd: (stop: () => void) => void;
  /** Reports times in ms. `goals` are the limits of the percentiles. */
  latency(title: string, timesMs: readonly number[], facts: LatencyFacts): void;
  figure(title: string, value: number, unit: string, goal?: number): void;
}

export interface LatencyFacts {
  readonly subscribers: number;
  readonly lost: number;
  /** The CPU time of server and database for one commit. */
  readonly cpuMs?: number;
  readonly databaseCpuMs?: number;
  /** The limit of the 99th percentile. */
  readonly goalMs?: number;
}

export interface Scene {
  readonly name: string;
  readonly description: string;
  run(place: Place): Promise<void>;
}

const ROW = "subscription ($id: Int!) { seat_by_pk(id: $id) { id n name } }";
const LIST = "subscription ($id: Int!) { item(where: {seat_id: {_eq: $id}}, order_by: {id: asc}) { id n } }";
const EMBED = "subscription ($id: Int!) { seat_by_pk(id: $id) { id name items(order_by: {id: asc}) { id n } } }";

/** Rounds that are not counted, in which connections open and code is compiled. */
const WARM_ROUNDS = 2;
/** Twice the heartbeat interval. In a shorter time, earlier work would have too much weight. */
const IDLE_MS = 20_000;
const PATIENCE_MS = 15_000;
const SETTLE_MS = 2000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const ask = <Answer>(child: ChildProcess, message: string | EngineOrder): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const rejectOnExit = (code: number | null): void => reject(new Error(`the server ended with ${code}`));
    child.once("exit", rejectOnExit);
    child.once("message", (answer) => {
      child.off("exit", rejectOnExit);
      resolve(answer as Answer);
    });
    child.send(message);
  });

const startProcess = async <First>(place: Place, file: string, args: readonly string[]) => {
  const child = fork(fileURLToPath(new URL(`./${file}.js`, import.meta.url)), args, {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  place.atEnd(() => child.kill("SIGKILL"));
  const first = await new Promise<First>((resolve, reject) => {
    child.once("message", (message) => resolve(message as First));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, first };
};

const startLive = async (place: Place, source = "replication") => {
  const { child, first } = await startProcess<{ port: number }>(place, "live-server", [place.databaseUrl, source]);
  return { child, port: first.port };
};

const startSwarm = (place: Place, port: number, count: number, query: string): Swarm => {
  const swarm = createSwarm(port, count, query);
  place.atEnd(swarm.stop);
  return swarm;
};

let lastN = 0;

/** Runs rounds of one change each. In `sql`, `$n` is the new value. */
const changes = async (
  place: Place,
  title: string,
  sql: string,
  subscribers: number,
  concernedCount: number,
  after: Swarm["after"],
  cpuMs: () => number,
  { rounds = place.rounds, goalMs }: { readonly rounds?: number; readonly goalMs?: number } = {},
): Promise<void> => {
  const { database } = place;
  const timesMs: number[] = [];
  let cpuBefore = 0;
  let databaseBefore = 0;
  for (let round = -WARM_ROUNDS; round < rounds; round++) {
    if (round === 0) {
      cpuBefore = cpuMs();
      databaseBefore = place.databaseCpuSeconds() ?? 0;
    }
    const n = ++lastN;
    const times = await after(n, concernedCount, PATIENCE_MS, async (starts) => {
      await database.query("begin");
      await database.query(sql.replaceAll("$n", String(n)));
      starts();
      await database.query("commit");
    });
    if (round >= 0) timesMs.push(...times);
    await pause(100 + 53 * ((round + WARM_ROUNDS) % 4)); // the pauses avoid synchronisation with timers
  }
  const databaseCpu = place.databaseCpuSeconds();
  place.latency(title, timesMs, {
    subscribers,
    lost: rounds * concernedCount - timesMs.length,
    cpuMs: (cpuMs() - cpuBefore) / rounds,
    ...(databaseCpu === undefined ? {} : { databaseCpuMs: ((databaseCpu - databaseBefore) * 1000) / rounds }),
    ...(goalMs === undefined ? {} : { goalMs }),
  });
};

const ONE_ROUNDS = 20;

/** Measures the cost of idle sockets, then of commits. */
const sockets = (
  name: string,
  description: string,
  {
    count: usual,
    query,
    changeAll,
    changeOne,
    goals,
    source,
    isShared = false,
  }: {
    readonly count: number;
    readonly query: string;
    /** Makes the statement for the number of subscribers. */
    readonly changeAll: (count: number) => string;
    readonly changeOne?: string;
    readonly goals?: { readonly allMs: number; readonly oneMs: number; readonly kB?: number; readonly idle?: number };
    readonly source?: string;
    readonly isShared?: boolean;
  },
): Scene => ({
  name,
  description,
  run: async (place) => {
    const count = place.subscribers ?? usual;
    const { child, port } = await startLive(place, source);
    // This warms statements and code before memory is measured.
    const first = startSwarm(place, port, 50, query);
    await first.open();
    await first.subscribe();
    const before = await ask<ResourceUsage>(child, "collect");
    const swarm = startSwarm(place, port, count, query);
    const { tookMs: openMs } = await swarm.open(isShared);
    const startedAtMs = nowMs();
    await swarm.subscribe();
    place.figure(`${count} sockets connected`, openMs / 1000, "s");
    place.figure(`${count} first answers`, (nowMs() - startedAtMs) / 1000, "s");
    first.stop();
    await pause(SETTLE_MS);
    await ask<ResourceUsage>(child, "collect");
    await pause(500);
    const open = await ask<ResourceUsage>(child, "collect");
    place.figure("memory per subscriber", (open.rssBytes - before.rssBytes) / count / 1024, "kB", goals?.kB);
    place.figure("heap per subscriber", (open.heapBytes - before.heapBytes) / count / 1024, "kB");
    const idleFrom = await ask<ResourceUsage>(child, "used");
    await pause(IDLE_MS);
    const idle = await ask<ResourceUsage>(child, "used");
    place.figure("idle CPU", ((idle.cpuMs - idleFrom.cpuMs) / IDLE_MS) * 100, "% of a core", goals?.idle);
    const cpuMs = (): number => cpuSeconds(child.pid ?? 0) * 1000;
    const everyone = isShared ? "the row of all" : "everybody's, one commit";
    await changes(
      place,
      everyone,
      changeAll(count),
      count,
      count,
      swarm.after,
      cpuMs,
      goals && { goalMs: goals.allMs },
    );
    if (changeOne !== undefined)
      await changes(place, "one subscriber's", changeOne, count, 1, swarm.after, cpuMs, {
        rounds: ONE_ROUNDS,
        ...(goals === undefined ? {} : { goalMs: goals.oneMs }),
      });
  },
});

const storm: Scene = {
  name: "storm",
  description: "10,000 subscribe at once, on open sockets and as they come back",
  run: async (place) => {
    const count = place.subscribers ?? 10_000;
    for (const subscribing of [false, true]) {
      const { child, port } = await startLive(place);
      const warm = startSwarm(place, port, 50, ROW);
      await warm.open();
      await warm.subscribe();
      const swarm = startSwarm(place, port, count, ROW);
      const before = await ask<ResourceUsage>(child, "used");
      if (subscribing) {
        const { tookMs, returns } = await swarm.open(false, true);
        place.figure(`${count} connect and subscribe`, tookMs / 1000, "s");
        place.figure("connections made again", returns, "");
      } else {
        await swarm.open();
        const usageAfterOpening = await ask<ResourceUsage>(child, "used");
        place.figure("CPU of a connection", (usageAfterOpening.cpuMs - before.cpuMs) / count, "ms");
        const timesMs = await swarm.subscribe();
        const usageAfterSubscribing = await ask<ResourceUsage>(child, "used");
        place.figure("CPU of a first answer", (usageAfterSubscribing.cpuMs - usageAfterOpening.cpuMs) / count, "ms");
        place.latency("first answers, all at once", timesMs, { subscribers: count, lost: 0, goalMs: 2000 });
      }
      warm.stop();
      swarm.stop();
      child.kill("SIGKILL");
    }
  },
};

const workers: Scene = {
  name: "workers",
  description: "four processes with 60,000 sockets together",
  run: async (place) => {
    const count = place.subscribers ?? 60_000;
    const port = await freePort();
    const child = spawn(process.execPath, [fileURLToPath(new URL("../../presets/standalone.js", import.meta.url))], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: place.databaseUrl,
        ANON_ROLE: "bench_anon",
        HOST: "127.0.0.1",
        PORT: String(port),
        WORKERS: "4",
        LOG_LEVEL: "warn",
      },
    });
    // The workers end with this process.
    place.atEnd(() => child.kill("SIGKILL"));
    await new Promise<void>((resolve, reject) => {
      let text = "";
      child.stdout.on("data", (chunk) => (text += String(chunk)).includes("Try:") && resolve());
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    await pause(1000); // the other workers have loaded the schema by then
    const swarm = startSwarm(place, port, count, ROW);
    place.figure(`${count} sockets connected`, (await swarm.open()).tookMs / 1000, "s");
    const startedAtMs = nowMs();
    await swarm.subscribe();
    place.figure(`${count} first answers`, (nowMs() - startedAtMs) / 1000, "s");
    await pause(SETTLE_MS);
    const cpuMs = (): number => cpuSeconds(child.pid ?? 0) * 1000;
    const all = `update seat set n = $n where id <= ${count}`;
    await changes(place, "everybody's, one commit", all, count, count, swarm.after, cpuMs, {
      rounds: Math.min(place.rounds, 3),
    });
    await changes(place, "one subscriber's", "update seat set n = $n where id = 1", count, 1, swarm.after, cpuMs, {
      rounds: ONE_ROUNDS,
      goalMs: 20,
    });
  },
};

const engine: Scene = {
  name: "engine",
  description: "100,000 subscribers of one process, without sockets",
  run: async (place) => {
    const count = place.subscribers ?? 100_000;
    const { child } = await startProcess(place, "live-engine", [place.databaseUrl, String(count), ROW]);
    const before = await ask<ResourceUsage>(child, { do: "used", isCollecting: true });
    const first = await ask<{ times: readonly number[] }>(child, { do: "subscribe" });
    place.figure(`${count} first answers`, (first.times[0] ?? Number.NaN) / 1000, "s");
    await pause(SETTLE_MS);
    const open = await ask<ResourceUsage>(child, { do: "used", isCollecting: true });
    place.figure("memory per subscriber", (open.rssBytes - before.rssBytes) / count / 1024, "kB");
    const cpuMs = (): number => cpuSeconds(child.pid ?? 0) * 1000;
    const after: Swarm["after"] = async (n, concernedCount, patienceMs, change) => {
      await ask(child, { do: "expect", n, count: concernedCount, patienceMs });
      let startedAtMs = 0;
      await change(() => (startedAtMs = nowMs()));
      const { times } = await ask<{ times: readonly number[] }>(child, { do: "report" });
      return times.map((atMs) => atMs - startedAtMs);
    };
    const all = `update seat set n = $n where id <= ${count}`;
    await changes(place, "everybody's, one commit", all, count, count, after, cpuMs, { goalMs: 1000 });
    await changes(place, "one subscriber's", "update seat set n = $n where id = 1", count, 1, after, cpuMs, {
      rounds: ONE_ROUNDS,
      goalMs: 10,
    });
    const usage = await ask<ResourceUsage>(child, { do: "used", isCollecting: false });
    place.figure("memory of the process", usage.rssBytes / 1e6, "MB", 1200);
  },
};

const stream: Scene = {
  name: "stream",
  description: "1,000 commits a second, 10,000 subscribers",
  run: async (place) => {
    const count = place.subscribers ?? 10_000;
    const { child, port } = await startLive(place);
    const swarm = startSwarm(place, port, count, ROW);
    await swarm.open();
    await swarm.subscribe();
    await pause(SETTLE_MS);
    await measureStream(place, swarm, count, () => cpuSeconds(child.pid ?? 0) * 1000);
  },
};

const GOALS = { allMs: 400, oneMs: 10, kB: 20, idle: 5 };

export const SCENES: readonly Scene[] = [
  sockets("rows", "18,000 sockets, each on a row of its own", {
    count: 18_000,
    query: ROW,
    changeAll: (count) => `update seat set n = $n where id <= ${count}`,
    changeOne: "update seat set n = $n where id = 1",
    goals: GOALS,
  }),
  sockets("lists", "10,000 lists by a column that is not the key", {
    count: 10_000,
    query: LIST,
    changeAll: (count) => `update item set n = $n where seat_id <= ${count}`,
    changeOne: "update item set n = $n where id = 1",
    goals: { allMs: 400, oneMs: 20 },
  }),
  sockets("embeds", "10,000 rows, each with a list in it", {
    count: 10_000,
    query: EMBED,
    changeAll: (count) => `update item set n = $n where seat_id <= ${count}`,
    changeOne: "update item set n = $n where id = 1",
    goals: { allMs: 400, oneMs: 20 },
  }),
  sockets("shared", "10,000 sockets on one row", {
    count: 10_000,
    query: ROW,
    changeAll: () => "update seat set n = $n where id = 1",
    isShared: true,
  }),
  sockets("polling", "10,000 sockets, changes found by asking every second", {
    count: 10_000,
    query: ROW,
    changeAll: (count) => `update seat set n = $n where id <= ${count}`,
    changeOne: "update seat set n = $n where id = 1",
    source: "polling",
  }),
  storm,
  stream,
  workers,
  engine,
];
