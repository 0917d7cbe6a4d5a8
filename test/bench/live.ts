/** `npm run bench:live`: live queries of one server process. Subscribers have a WebSocket each, on a row of their own
 *  or all on one row; what is measured is the time from sending the commit to each subscriber's answer, answers that
 *  never came, and what the server uses while nothing happens. Needs a PostgreSQL with `wal_level` logical:
 *  TEST_DATABASE_URL (superuser), or the server programs of one on this machine. */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { connectAll, percentile, type Client } from "./live-clients.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const SIZES = (process.env["BENCH_SUBSCRIBERS"] ?? "1000,5000,10000").split(",").map(Number);
const SOURCES = (process.env["BENCH_SOURCES"] ?? "replication,polling").split(",");
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5);
/** Not counted: connections are opened, code is compiled. */
const WARM_ROUNDS = 2;
const IDLE_MS = Number(process.env["BENCH_IDLE_MS"] ?? 10_000);
const PATIENCE_MS = 20_000;

interface Used {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const ask = <Answer>(child: ChildProcess, message: string): Promise<Answer> =>
  new Promise((resolve) => {
    child.once("message", (answer) => resolve(answer as Answer));
    child.send(message);
  });

const startLive = async (
  databaseUrl: string,
  source: string,
): Promise<{ readonly child: ChildProcess; readonly port: number }> => {
  const child = fork(fileURLToPath(new URL("./live-server.js", import.meta.url)), [databaseUrl, source], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, port };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Measured {
  readonly timesMs: number[];
  lostCount: number;
}

const measure = async (
  database: pg.Client,
  update: string,
  concerned: number,
  state: { n: number; heard: (client: Client) => void },
): Promise<Measured> => {
  const measured: Measured = { timesMs: [], lostCount: 0 };
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    const n = ++state.n;
    await database.query("begin");
    await database.query(update.replaceAll("$n", String(n)));
    const times: number[] = [];
    let startedAtMs = 0;
    const done = new Promise<void>((resolve) => {
      state.heard = (client) => {
        if (client.n !== n) return;
        times.push(performance.now() - startedAtMs);
        if (times.length === concerned) resolve();
      };
    });
    startedAtMs = performance.now();
    await database.query("commit");
    await Promise.race([done, pause(PATIENCE_MS)]);
    if (round >= 0) measured.timesMs.push(...times);
    measured.lostCount += concerned - times.length;
    await pause(300 + 211 * ((round + WARM_ROUNDS) % 4)); // not in step with polling
  }
  return measured;
};

const row = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

const server = await startServer(["shared_buffers = 256MB"]);
try {
  const { url: databaseUrl, client: database } = await openFreshDatabase(server, "relapi_live");
  await database.query(`create table seat (id int primary key, n int not null, name text not null);
    insert into seat select i, 0, 'seat number ' || i from generate_series(1, ${Math.max(...SIZES)}) as i; grant select on seat to bench_anon; analyze seat`);

  row(["source", "subscribers", "what changes", "p50 ms", "p99 ms", "max ms", "lost", "idle CPU", "kB each"]);
  row(Array.from({ length: 9 }, () => "---"));
  for (const source of SOURCES) {
    for (const count of SIZES) {
      for (const isShared of [false, true]) {
        const { child, port } = await startLive(databaseUrl, source);
        await database.query("update seat set n = 0");
        const state = { n: 0, heard: (_client: Client): void => undefined };
        // connections, statements and code are warm before memory is looked at
        const first = await connectAll(
          port,
          1,
          () => 1,
          () => undefined,
        );
        const before = await ask<Used>(child, "collect");
        const clients = await connectAll(
          port,
          count,
          (i) => (isShared ? 1 : i + 1),
          (client) => state.heard(client),
        );
        await pause(2000);
        const open = await ask<Used>(child, "collect");
        await pause(IDLE_MS);
        const idle = await ask<Used>(child, "used");
        const idleCpu = `${(((idle.cpuMs - open.cpuMs) / IDLE_MS) * 100).toFixed(1)} %`;
        const memory = ((open.rssBytes - before.rssBytes) / count / 1024).toFixed(1);
        const cases = isShared
          ? [["the one row of all", "update seat set n = $n where id = 1", count] as const]
          : [
              ["every row, one commit", `update seat set n = $n where id <= ${count}`, count] as const,
              ["one row of one", "update seat set n = $n where id = 1", 1] as const,
            ];
        for (const [label, update, concerned] of cases) {
          const { timesMs, lostCount } = await measure(database, update, concerned, state);
          timesMs.sort((a, b) => a - b);
          row([
            source,
            count,
            label,
            percentile(timesMs, 0.5).toFixed(0),
            percentile(timesMs, 0.99).toFixed(0),
            (timesMs.at(-1) ?? Number.NaN).toFixed(0),
            lostCount,
            idleCpu,
            memory,
          ]);
        }
        for (const { socket } of [...first, ...clients]) socket.terminate();
        const ended = new Promise((resolve) => child.once("exit", resolve));
        child.send("stop");
        await ended;
      }
    }
  }
  await database.end();
} finally {
  await server.stop();
}
