/** `npm run bench:steady`: how long requests take at 60 % of what the server can do, which is where services live: reads and
 *  writes of both surfaces that arrive at a constant rate, with gzip. First undisturbed, then while the schema reloads,
 *  an answer of 50 MB is sent, and the GraphQL schema of a thousand tables is introspected. Needs a PostgreSQL:
 *  TEST_DATABASE_URL (superuser), or the server programs of one on this machine. `BENCH_SECONDS` (60) for each. */
import autocannon from "autocannon";
import { getIntrospectionQuery } from "graphql";
import { startContestant } from "./contestants.ts";
import { BENCH_SQL, READS, SCENARIOS, type Scenario } from "./data.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 60);
const CONNECTIONS = 40;
const SHARE_OF_MAXIMUM = 0.6;

/** What introspection and reloads have to do with. */
const TABLES_SQL = `do $$ begin for i in 1..1000 loop
  execute format('create table thing_%s (id int primary key, name text not null, amount numeric, day date, other_id int references artist)', i);
end loop; end $$`;

const json = { "content-type": "application/json" };
const graphql = (query: string, variables: object = {}): autocannon.Request => ({
  method: "POST",
  path: "/v1/graphql",
  headers: { ...json, "accept-encoding": "gzip" },
  body: JSON.stringify({ query, variables }),
});

const [byKey, embeds] = READS as readonly [Scenario, Scenario]; // there are two
const row = JSON.stringify({ track_id: 1, listener: "somebody", seconds: 30 });

/** Three reads for one write. */
const requests: readonly autocannon.Request[] = Array.from({ length: 40 }, (_, i): readonly autocannon.Request[] => [
  { method: "GET", path: byKey.rest(1 + i * 191) },
  graphql(byKey.graphql, { id: 1 + i * 97 }),
  { method: "GET", path: embeds.rest(1 + i * 5) },
  { method: "POST", path: "/api/listening", headers: json, body: row },
  graphql(embeds.graphql, { id: 1 + i * 6 }),
  { method: "GET", path: byKey.rest(5 + i * 57) },
  { method: "GET", path: byKey.rest(9 + i * 23) },
  graphql('mutation { insert_listening(objects: [{track_id: 1, listener: "x", seconds: 1}]) { affected_rows } }'),
]).flat();

const run = (port: number, seconds: number, overallRate?: number): Promise<autocannon.Result> =>
  autocannon({
    url: `http://127.0.0.1:${port}`,
    connections: CONNECTIONS,
    duration: seconds,
    requests: requests as autocannon.Request[], // it does not modify them
    ...(overallRate === undefined ? {} : { overallRate }),
  });

const print = (what: string, { latency, requests: { average }, non2xx, errors }: autocannon.Result): void => {
  const { p50, p99, max } = latency;
  const p999 = (latency as typeof latency & { readonly p99_9: number }).p99_9;
  process.stdout.write(`| ${[what, average.toFixed(0), p50, p99, p999, max, non2xx + errors].join(" | ")} |\n`);
};

const server = await startServer();
try {
  const { url, client } = await openFreshDatabase(server, "relapi_steady");
  await client.query(BENCH_SQL);
  await client.query(TABLES_SQL);
  await client.query("grant select on all tables in schema public to bench_anon");
  await client.query(`create function big() returns json language sql stable as $$ select json_agg(repeat('x', 1000)) from generate_series(1, 50000) $$;
    grant execute on function big() to bench_anon`);
  const running = await startContestant(
    { id: "rest", label: "", variant: "relapi" },
    byKey,
    SCENARIOS.indexOf(byKey),
    url,
  );
  try {
    const { port } = running;
    await run(port, 5);
    const maximum = (await run(port, 10)).requests.average;
    const rate = Math.floor(maximum * SHARE_OF_MAXIMUM);
    process.stdout.write(
      `\n| while | requests/s | p50 ms | p99 | p99.9 | max | failed |\n|---|---|---|---|---|---|---|\n`,
    );
    /** `disturb`: called every five seconds. */
    const measure = async (what: string, disturb?: () => Promise<unknown>): Promise<void> => {
      const timer = setInterval(() => void disturb?.(), 5000);
      print(what, await run(port, SECONDS, rate));
      clearInterval(timer);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    };
    const read = async (path: string, init?: RequestInit): Promise<void> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
      await response.arrayBuffer();
    };
    await measure("nothing else");
    let added = 0;
    await measure("the schema changes and reloads", async () => {
      await client.query(`alter table thing_1 add column more_${added++} text; notify pgrst, 'reload schema'`);
    });
    await measure("an answer of 50 MB is sent", () => read("/api/rpc/big"));
    await measure("a thousand tables are introspected", () =>
      read("/v1/graphql", { method: "POST", headers: json, body: JSON.stringify({ query: getIntrospectionQuery() }) }),
    );
  } finally {
    running.stop();
    await client.end();
  }
} finally {
  await server.stop();
}
