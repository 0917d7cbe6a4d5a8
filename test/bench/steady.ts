/** `npm run bench:steady`: how long requests take at 60 % of what the server can do, which is where services live: reads and
 *  writes of both surfaces that arrive at a constant rate, answered or not, with gzip. A request's time counts from when
 *  it was due. First undisturbed, then while the schema reloads, an answer of 50 MB is sent, and the GraphQL schema of a
 *  thousand tables is introspected. Needs a PostgreSQL: TEST_DATABASE_URL (superuser), or the server programs of one on
 *  this machine. `BENCH_SECONDS` (60) for each; `BENCH_DIST`: `dist` of another checkout. */
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { getIntrospectionQuery } from "graphql";
import { startContestant } from "./contestants.ts";
import { BENCH_SQL, READS, SCENARIOS, type Scenario, type Sent } from "./data.ts";
import { openKeepAlive, requestText, type KeepAlive } from "./keep-alive.ts";
import { percentile } from "./live-clients.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";
import type { Asked } from "./steady-reader.ts";

const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 60);
const CONNECTIONS = 60;
const SHARE_OF_MAXIMUM = 0.6;

/** What introspection and reloads have to do with. */
const TABLES_SQL = `do $$ begin for i in 1..1000 loop
  execute format('create table thing_%s (id int primary key, name text not null, amount numeric, day date, other_id int references artist)', i);
end loop; end $$`;

const graphql = (query: string, variables: object = {}): string =>
  requestText("/v1/graphql", JSON.stringify({ query, variables }), "Accept-Encoding: gzip\r\n");

const [byKey, embeds] = READS as readonly [Scenario, Scenario]; // there are two
const row = JSON.stringify({ track_id: 1, listener: "somebody", seconds: 30 });

/** Three reads for one write. */
const requests: readonly string[] = Array.from({ length: 40 }, (_, i): readonly string[] => [
  requestText(byKey.rest(1 + i * 191)),
  graphql(byKey.graphql, { id: 1 + i * 97 }),
  requestText(embeds.rest(1 + i * 5)),
  requestText("/api/listening", row),
  graphql(embeds.graphql, { id: 1 + i * 6 }),
  requestText(byKey.rest(5 + i * 57)),
  requestText(byKey.rest(9 + i * 23)),
  graphql('mutation { insert_listening(objects: [{track_id: 1, listener: "x", seconds: 1}]) { affected_rows } }'),
]).flat();

/** Answers per second when each connection asks again as soon as it is answered. */
const maximumOf = async (clients: readonly KeepAlive[], seconds: number): Promise<number> => {
  const endMs = performance.now() + seconds * 1000;
  let count = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < endMs) {
        await client.ask(requests[count % requests.length]!); // its length is not 0
        count++;
      }
    }),
  );
  return count / seconds;
};

interface Measured {
  /** From when each was due, in milliseconds, shortest first. */
  readonly times: readonly number[];
  readonly failures: number;
}

/** @param perSecond how many are due, whether or not those before are answered */
const arrive = async (clients: readonly KeepAlive[], seconds: number, perSecond: number): Promise<Measured> => {
  const times: number[] = [];
  let failures = 0;
  const free = [...clients];
  const due: number[] = [];
  const begun: Promise<void>[] = [];
  let count = 0;
  const work = async (client: KeepAlive, first: number): Promise<void> => {
    for (let dueMs: number | undefined = first; dueMs !== undefined; dueMs = due.shift()) {
      await client.ask(requests[count++ % requests.length]!).catch(() => failures++); // its length is not 0
      times.push(performance.now() - dueMs);
    }
    free.push(client);
  };
  const startMs = performance.now();
  for (let made = 0; made < seconds * perSecond; await sleep(1))
    for (const now = performance.now(); startMs + (made * 1000) / perSecond <= now; made++) {
      const dueMs = startMs + (made * 1000) / perSecond;
      const client = free.shift();
      if (client === undefined) due.push(dueMs);
      else begun.push(work(client, dueMs));
    }
  await Promise.all(begun);
  return { times: times.sort((a, b) => a - b), failures };
};

const print = (what: string, perSecond: number, { times, failures }: Measured): void => {
  const at = (share: number): string => percentile(times, share).toFixed(1);
  const max = times.at(-1)?.toFixed(1) ?? "";
  process.stdout.write(`| ${[what, perSecond, at(0.5), at(0.99), at(0.999), max, failures].join(" | ")} |\n`);
};

const dist = process.env["BENCH_DIST"];
const server = await startServer();
try {
  const { url, client } = await openFreshDatabase(server, "relapi_steady");
  await client.query(BENCH_SQL);
  await client.query(TABLES_SQL);
  await client.query("grant select on all tables in schema public to bench_anon");
  await client.query(`create function big() returns json language sql stable as $$ select json_agg(repeat('x', 1000)) from generate_series(1, 50000) $$;
    grant execute on function big() to bench_anon`);
  const running = await startContestant(
    { id: "rest", label: "", variant: "relapi", ...(dist === undefined ? {} : { dist }) },
    byKey,
    SCENARIOS.indexOf(byKey),
    url,
  );
  try {
    const { port } = running;
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openKeepAlive(port)));
    await maximumOf(clients, 5);
    const perSecond = Math.floor((await maximumOf(clients, 10)) * SHARE_OF_MAXIMUM);
    process.stdout.write(
      `\n| while | requests/s | p50 ms | p99 | p99.9 | max | failed |\n|---|---|---|---|---|---|---|\n`,
    );
    /** `disturb`: called every five seconds. */
    const measure = async (what: string, disturb?: () => void): Promise<void> => {
      const timer = setInterval(() => disturb?.(), 5000);
      print(what, perSecond, await arrive(clients, SECONDS, perSecond));
      clearInterval(timer);
      await sleep(2000);
    };
    const reader = new Worker(new URL("./steady-reader.js", import.meta.url));
    const read = (asked: Sent): void => reader.postMessage({ port, ...asked } satisfies Asked);
    await measure("nothing else");
    let added = 0;
    await measure(
      "the schema changes and reloads",
      () => void client.query(`alter table thing_1 add column more_${added++} text; notify pgrst, 'reload schema'`),
    );
    await measure("an answer of 50 MB is sent", () => read({ method: "GET", path: "/api/rpc/big" }));
    await measure("a thousand tables are introspected", () =>
      read({
        method: "POST",
        path: "/v1/graphql",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: getIntrospectionQuery() }),
      }),
    );
    await reader.terminate();
    for (const each of clients) each.close();
  } finally {
    running.stop();
    await client.end();
  }
} finally {
  await server.stop();
}
