/** `npm run bench:live-lists`: live lists by a column that is not the key, through the engine alone, without sockets:
 *  what one changed row costs while there are more and more lists that it does not concern. Needs a PostgreSQL with
 *  `wal_level` logical: TEST_DATABASE_URL (superuser), or the server programs of one on this machine. */
import { loadavg } from "node:os";
import type pg from "pg";
import { compose, definePlugin, relApi, sessionOf, type PluginContext } from "../../core/index.ts";
import type { GraphqlService } from "../../plugins/graphql/api.ts";
import type { LiveQueriesService, LiveRunSignal } from "../../plugins/subscriptions/api.ts";
import { fullCompat } from "../../presets/index.ts";
import { percentile } from "./live-clients.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const SIZES = (process.env["BENCH_LISTS"] ?? "100,1000,10000,100000").split(",").map(Number);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 200);
/** Not counted: code is compiled. */
const WARM_ROUNDS = 30;
const ROWS_EACH = 3;
const LIST = "subscription ($id: Int!) { item(where: {owner_id: {_eq: $id}}, order_by: {id: asc}) { id n } }";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const row = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

/** Bytes that are in use. */
const used = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const measure = async (
  databaseUrl: string,
  database: pg.Client,
  size: number,
): Promise<readonly (string | number)[]> => {
  let context: PluginContext | undefined;
  let rerunCount = 0;
  const watching = definePlugin({
    name: "watching",
    requires: ["live-queries"],
    apply: (_hooks, given) => {
      context = given;
      given.onSignal<LiveRunSignal>("live-run", ({ changedAtMs, queries }) => {
        if (changedAtMs !== undefined) rerunCount += queries;
      });
    },
  });
  const api = relApi(
    compose(fullCompat({ databaseUrl, logLevel: "warn", dbSchemas: ["public"], anonRole: "bench_anon" }), watching),
  );
  await api.ready;
  const live = context?.service<LiveQueriesService>("live-queries");
  const engine = context?.service<GraphqlService>("graphql");
  if (live === undefined || engine === undefined) throw new Error("the preset has no live queries");
  const session = sessionOf({ role: "bench_anon" });
  const answers = new Int32Array(size + 1);
  let heard: (list: number) => void = () => undefined;
  const subscribe = (list: number): void => {
    const source = live.graphqlSource(engine, engine.readRequest({ query: LIST, variables: { id: list } }), session);
    live.subscribe(source, {
      answer: () => {
        answers[list] = (answers[list] ?? 0) + 1;
        heard(list);
      },
      end: (error) => {
        if (error !== undefined) throw error;
      },
    });
  };
  const all = (): Promise<void> =>
    new Promise((resolve) => {
      let count = 0;
      heard = () => {
        if (++count === size) resolve();
      };
    });

  const before = used();
  const startedAtMs = performance.now();
  const first = all();
  for (let list = 1; list <= size; list++) subscribe(list);
  await first;
  const firstMs = performance.now() - startedAtMs;
  // everything runs once more when the log is open
  await pause(2000);
  for (let last = -1; last !== rerunCount;) {
    last = rerunCount;
    await pause(500);
  }
  /** The update of one row: until it is committed, and until its list has another answer. */
  const change = async (id: number): Promise<readonly [commitMs: number, answerMs: number]> => {
    const list = ((id - 1) % Math.max(...SIZES)) + 1;
    const answered = new Promise<void>((resolve) => {
      heard = (of) => {
        if (of === list) resolve();
      };
    });
    const atMs = performance.now();
    await database.query(`update item set n = n + 1 where id = ${id}`);
    const commitMs = performance.now() - atMs;
    await answered;
    return [commitMs, performance.now() - atMs];
  };
  const commitsMs: number[] = [];
  const timesMs: number[] = [];
  let rerunsBefore = 0;
  let cpuBefore = process.cpuUsage();
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    if (round === 0) {
      rerunsBefore = rerunCount;
      cpuBefore = process.cpuUsage();
    }
    const [commitMs, answerMs] = await change(1 + Math.floor(Math.random() * size));
    if (round >= 0) {
      commitsMs.push(commitMs);
      timesMs.push(answerMs);
    }
    await pause(5);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const reruns = (rerunCount - rerunsBefore) / ROUNDS;
  timesMs.sort((a, b) => a - b);
  commitsMs.sort((a, b) => a - b);
  const bytesEach = (used() - before) / size;
  await api.close();
  return [
    size,
    percentile(commitsMs, 0.5).toFixed(1),
    percentile(commitsMs, 0.99).toFixed(1),
    percentile(timesMs, 0.5).toFixed(1),
    percentile(timesMs, 0.99).toFixed(1),
    (timesMs.at(-1) ?? Number.NaN).toFixed(1),
    reruns.toFixed(2),
    ((user + system) / 1000 / ROUNDS).toFixed(2),
    (firstMs / 1000).toFixed(1),
    (bytesEach / 1024).toFixed(1),
  ];
};

const server = await startServer(["shared_buffers = 256MB", "wal_level = logical"]);
try {
  const { url: databaseUrl, client: database } = await openFreshDatabase(server, "relapi_live_lists");
  const most = Math.max(...SIZES);
  // the log is sent once it is on disk
  await database.query("set synchronous_commit = on");
  await database.query(`create table item (id int primary key, owner_id int not null, n int not null);
    insert into item select i, (i - 1) % ${most} + 1, 0 from generate_series(1, ${most * ROWS_EACH}) as i;
    alter table item replica identity full; create index on item (owner_id); grant select on item to bench_anon; analyze item`);
  row([
    "lists",
    "committed p50 ms",
    "p99 ms",
    "answered p50 ms",
    "p99 ms",
    "max ms",
    "lists run each",
    "CPU ms each",
    "first answers s",
    "kB each",
  ]);
  row(Array.from({ length: 10 }, () => "---"));
  for (const size of SIZES) row(await measure(databaseUrl, database, size));
  process.stdout.write(`load of the machine: ${loadavg()[0]?.toFixed(1) ?? "unknown"}\n`);
  await database.end();
} finally {
  await server.stop();
}
