/**
 * `npm run bench:live`: measures live queries over WebSockets, with the subscribers in separate processes and
 * `synchronous_commit` on. `-- --only NAME,NAME` runs some scenes, `-- --json FILE` writes the figures to a file, `--
 * --list` lists the scenes. The benchmark needs Linux, the programs of a PostgreSQL or TEST_DATABASE_URL (superuser,
 * `wal_level` logical), and 20,000 descriptors (`ulimit -n`) for the largest scenes. BENCH_SUBSCRIBERS and
 * BENCH_ROUNDS set the numbers of subscribers and rounds.
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { cpuSeconds, readParentPid } from "./cpu.ts";
import { SCENES, type LatencyFacts, type Place } from "./live-scenes.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const percentile = (sortedValues: readonly number[], part: number): number =>
  sortedValues[Math.min(sortedValues.length - 1, Math.floor(sortedValues.length * part))] ?? Number.NaN;

const { values: options } = parseArgs({
  options: { only: { type: "string" }, json: { type: "string" }, list: { type: "boolean" } },
});
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 5);
const SUBSCRIBERS = process.env["BENCH_SUBSCRIBERS"];
const MOST_ROWS = 100_000;
const ITEM_ROWS = 20_000;
const ITEMS_EACH = 3;
/** The time limit of a scene, so that a scene that hangs does not prevent the others. */
const LONGEST_SCENE_MS = 180_000;

const words = options.only?.split(",");
const scenes = SCENES.filter(({ name }) => words === undefined || words.includes(name));
if (options.list === true || scenes.length === 0) {
  for (const { name, description } of SCENES) process.stdout.write(`${name}: ${description}\n`);
  process.exit(options.list === true ? 0 : 1);
}

const row = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);
const round = (value: number | undefined, digits = 0): string => value?.toFixed(digits) ?? "";
const load = (): number => Number(loadavg()[0]?.toFixed(1));

interface Latency extends LatencyFacts {
  readonly scene: string;
  readonly title: string;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly load: number;
}

interface Figure {
  readonly scene: string;
  readonly title: string;
  readonly value: number;
  readonly unit: string;
  readonly goal: number | undefined;
  readonly load: number;
}

const latencies: Latency[] = [];
const figures: Figure[] = [];

const server = await startServer(["shared_buffers = 256MB", "fsync = on", "synchronous_commit = on"]);
let stops: (() => void)[] = [];
const stopAll = (): void => {
  for (const stop of stops) stop();
  stops = [];
};
const exitAfterSignal = (): void => {
  stopAll();
  void server.stop().then(() => process.exit(1));
};
process.once("SIGINT", exitAfterSignal).once("SIGTERM", exitAfterSignal);
try {
  const { url: databaseUrl, client: database } = await openFreshDatabase(server, "relapi_live");
  await database.query("alter database relapi_live set synchronous_commit = on; set synchronous_commit = on");
  await database.query(`create table seat (id int primary key, n int not null, name text not null) with (fillfactor = 50);
    insert into seat select i, 0, 'seat number ' || i from generate_series(1, ${MOST_ROWS}) as i;
    create table item (id int primary key, seat_id int not null references seat, n int not null) with (fillfactor = 50);
    insert into item select i, (i - 1) / ${ITEMS_EACH} + 1, 0 from generate_series(1, ${ITEM_ROWS * ITEMS_EACH}) as i;
    create index on item (seat_id); grant select on seat, item to bench_anon`);
  await database.query("vacuum analyze");
  const { rows } = await database.query<{ pid: number }>("select pg_backend_pid() as pid");
  let postmaster: number | undefined;
  try {
    postmaster = readParentPid(rows[0]?.pid ?? 0);
  } catch {
    // The database runs on another machine.
  }

  for (const { name, description, run } of scenes) {
    process.stderr.write(`${name}: ${description}\n`);
    const place: Place = {
      databaseUrl,
      database,
      databaseCpuSeconds: () => (postmaster === undefined ? undefined : cpuSeconds(postmaster)),
      subscribers: SUBSCRIBERS === undefined ? undefined : Number(SUBSCRIBERS),
      rounds: ROUNDS,
      atEnd: (stop) => void stops.push(stop),
      latency: (title, timesMs, facts) => {
        const sortedMs = [...timesMs].sort((a, b) => a - b);
        const [p50, p99, max] = [percentile(sortedMs, 0.5), percentile(sortedMs, 0.99), sortedMs.at(-1) ?? Number.NaN];
        latencies.push({ scene: name, title, p50, p99, max, ...facts, load: load() });
        process.stderr.write(`  ${title}: p50 ${round(p50)} p99 ${round(p99)} ms, lost ${facts.lost}\n`);
      },
      figure: (title, value, unit, goal) => {
        figures.push({ scene: name, title, value, unit, goal, load: load() });
        process.stderr.write(`  ${title}: ${round(value, 2)} ${unit}\n`);
      },
    };
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error("it takes too long")), LONGEST_SCENE_MS);
    });
    try {
      await Promise.race([run(place), tooLong]);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`  failed: ${String(error)}\n`);
    } finally {
      clearTimeout(timer);
      stopAll();
    }
  }
  await database.end();
} finally {
  stopAll();
  await server.stop();
}

row(["scene", "subscribers", "what changes", "p50 ms", "p99 ms", "max ms", "goal", "lost", "CPU ms", "database CPU ms", "load"]); // prettier-ignore
row(Array.from({ length: 11 }, () => "---"));
for (const { scene, subscribers, title, p50, p99, max, goalMs, lost, cpuMs, databaseCpuMs, load: busy } of latencies)
  row([scene, subscribers, title, round(p50), round(p99), round(max), goalMs === undefined ? "" : `p99 < ${goalMs}`, lost, round(cpuMs, 1), round(databaseCpuMs, 1), busy]); // prettier-ignore
process.stdout.write("\n");
row(["scene", "figure", "value", "goal", "load"]);
row(Array.from({ length: 5 }, () => "---"));
for (const { scene, title, value, unit, goal, load: busy } of figures)
  row([scene, title, `${round(value, value < 10 ? 2 : 1)} ${unit}`, goal === undefined ? "" : `< ${goal}`, busy]);
if (options.json !== undefined)
  writeFileSync(options.json, `${JSON.stringify({ latencies, figures }, undefined, 2)}\n`);
