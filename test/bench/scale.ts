/** `npm run bench:scale`: requests per second, and the time from a commit to each subscriber, with 1, 2 and 4 workers of
 *  one machine, and what both cost in CPU time here and in the database; then what a simulation infers from that for more
 *  machines. Needs the programs of a PostgreSQL on this machine, and Linux. BENCH_WORKERS, BENCH_SECONDS,
 *  BENCH_SUBSCRIBERS, BENCH_ROUNDS, BENCH_BUS (`nats://…`, `redis://…`; unset: `NOTIFY`). */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { startPrimary } from "../support/postgres-server.ts";
import { freePort } from "../support/ports.ts";
import { cpuSeconds, parentOf } from "./cpu.ts";
import { BENCH_SQL, READS, type Scenario } from "./data.ts";
import { load } from "./load.ts";
import { connectAll, percentile, type Client } from "./live-clients.ts";
import { simulate, type Costs } from "./scale-simulation.ts";

const WORKERS = (process.env["BENCH_WORKERS"] ?? "1,2,4").split(",").map(Number);
const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 4);
const SUBSCRIBERS = Number(process.env["BENCH_SUBSCRIBERS"] ?? 1000);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 6);
const BUS = process.env["BENCH_BUS"];
const CONNECTIONS = 32;
const SETTLE_MS = 3500;
const PATIENCE_MS = 20_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const row = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);
const head = (cells: readonly string[]): void => {
  row(cells);
  row(cells.map(() => "---"));
};

const program = fileURLToPath(new URL("../../presets/standalone.js", import.meta.url));

const startWorkers = async (url: string, workers: number): Promise<{ readonly child: ChildProcess; port: number }> => {
  const port = await freePort();
  const child = spawn(process.execPath, [program], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: url,
      ANON_ROLE: "bench_anon",
      HOST: "127.0.0.1",
      PORT: String(port),
      WORKERS: String(workers),
      LOG_LEVEL: "warn",
      ...(BUS === undefined ? {} : { BUS_URL: BUS }),
    },
  });
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => (text += String(chunk)).includes("Try:") && resolve());
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  await pause(1000); // the other workers have loaded the schema too
  return { child, port };
};

const server = await startPrimary(["shared_buffers = 256MB"]);
const database = new pg.Client({ connectionString: server.url });
try {
  await database.connect();
  await database.query("create role bench_anon");
  await database.query(BENCH_SQL);
  await database.query(`create table seat (id int primary key, n int not null, name text not null);
    insert into seat select i, 0, 'seat number ' || i from generate_series(1, ${SUBSCRIBERS}) as i; grant select on seat to bench_anon; analyze seat`);
  const { rows } = await database.query<{ pid: number }>("select pg_backend_pid() as pid");
  const postmaster = parentOf(rows[0]?.pid ?? 0);
  const [byKey] = READS as readonly [Scenario]; // there are some
  const perRequest: { ours: number; databases: number }[] = [];
  const perAnswer: { ours: number; databases: number; perStatementMs: number }[] = [];

  const measured: (readonly (string | number)[])[] = [];
  const live: (readonly (string | number)[])[] = [];
  for (const workers of WORKERS) {
    const { child, port } = await startWorkers(server.url, workers);
    const used = () => ({ ours: cpuSeconds(child.pid ?? 0), databases: cpuSeconds(postmaster) });
    const since = (before: ReturnType<typeof used>) => {
      const after = used();
      return { ours: after.ours - before.ours, databases: after.databases - before.databases };
    };
    for (const isGraphql of [false, true]) {
      const asked = { port, scenario: byKey, isGraphql, connections: CONNECTIONS };
      await load({ ...asked, seconds: 1 });
      const before = used();
      const { count, perSecond, p99 } = await load({ ...asked, seconds: SECONDS });
      const { ours, databases } = since(before);
      const [oursMs, databasesMs] = [(ours / count) * 1000, (databases / count) * 1000];
      if (!isGraphql) perRequest.push({ ours: oursMs, databases: databasesMs });
      const kind = isGraphql ? "GraphQL" : "REST";
      measured.push([workers, kind, perSecond.toFixed(0), p99, oursMs.toFixed(3), databasesMs.toFixed(3)]);
    }
    const state = { n: 0, heard: (_client: Client): void => undefined };
    await database.query("update seat set n = 0");
    const clients = await connectAll(
      port,
      SUBSCRIBERS,
      (i) => i + 1,
      (client) => state.heard(client),
    );
    await pause(SETTLE_MS);
    for (const [label, concerned] of [
      ["every row, one commit", SUBSCRIBERS],
      ["one row", 1],
    ] as const) {
      const times: number[] = [];
      let lost = 0;
      const before = used();
      for (let round = 0; round < ROUNDS; round++) {
        const n = ++state.n;
        let startedAtMs = 0;
        let count = 0;
        const done = new Promise<void>((resolve) => {
          state.heard = (client) => {
            if (client.n !== n) return;
            times.push(performance.now() - startedAtMs);
            if (++count === concerned) resolve();
          };
        });
        await database.query("begin");
        await database.query("update seat set n = $1 where id <= $2", [n, concerned]);
        startedAtMs = performance.now();
        await database.query("commit");
        await Promise.race([done, pause(PATIENCE_MS)]);
        lost += concerned - count;
        await pause(300);
      }
      const { ours, databases } = since(before);
      times.sort((a, b) => a - b);
      const answers = ROUNDS * concerned;
      if (concerned > 1)
        perAnswer.push({
          ours: (ours / answers) * 1000,
          databases: (databases / answers) * 1000,
          perStatementMs: percentile(times, 0.5),
        });
      const figures = [0.5, 0.99, 1].map((part) => percentile(times, part).toFixed(0));
      const slots = (await database.query("select from pg_replication_slots")).rowCount ?? 0;
      live.push([workers, SUBSCRIBERS, label, ...figures, lost, slots]);
    }
    for (const { socket } of clients) socket.terminate();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }

  process.stdout.write(`\nMeasured, over ${BUS === undefined ? "NOTIFY" : new URL(BUS).protocol.slice(0, -1)}:\n\n`);
  head(["workers", "read by key", "requests/s", "p99 ms", "ms of CPU per request", "in the database"]);
  measured.forEach(row);
  process.stdout.write("\n");
  head(["workers", "subscribers", "what changes", "p50 ms", "p99 ms", "max ms", "lost", "slots"]);
  live.forEach(row);

  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
  const costs: Costs = {
    requestMs: mean(perRequest.map(({ ours }) => ours)),
    requestDatabaseMs: mean(perRequest.map(({ databases }) => databases)),
    answerMs: mean(perAnswer.map(({ ours }) => ours)),
    answerDatabaseMs: mean(perAnswer.map(({ databases }) => databases)),
  };
  process.stdout.write(
    `\nInferred, from ${Object.entries(costs)
      .map(([name, ms]) => `${name} ${ms.toFixed(3)}`)
      .join(", ")}:\n\n`,
  );
  head(["machines", "requests/s", "bound by", "subscribers", "changes/s", "p50 ms", "p99 ms", "database busy"]);
  for (const each of simulate(costs)) row(each);
} finally {
  await database.end();
  await server.stop();
}
