/** `npm run bench:schema`: what a database of many tables costs before anything is asked of it: starting, the first
 *  answers on both surfaces, the introspection of one role's GraphQL schema, and the memory held afterwards. Needs a
 *  PostgreSQL: TEST_DATABASE_URL (superuser), or the server programs of one on this machine. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getIntrospectionQuery } from "graphql";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const TABLES = Number(process.env["BENCH_TABLES"] ?? 1000);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 3);

/** Twelve columns of usual types and two foreign keys each. */
const SCHEMA_SQL = `do $$ begin for i in 0..${TABLES - 1} loop
  execute format('create table thing_%s (id int primary key, name text not null, title text, note varchar(200), price numeric(10,2), amount int, total bigint, '
    || 'is_open boolean not null default true, day date, made_at timestamptz not null default now(), data jsonb, tags text[], parent_id int, other_id int)', i);
  if i > 0 then
    execute format('alter table thing_%s add foreign key (parent_id) references thing_%s, add foreign key (other_id) references thing_%s', i, i - 1, i / 2);
  end if;
end loop; end $$`;

const collect = (globalThis as { readonly gc?: () => void }).gc;
if (collect === undefined) throw new Error("run with --expose-gc");
const heapMegabytes = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

const row = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
};

const server = await startServer();
try {
  const { url: databaseUrl, client: database } = await openFreshDatabase(server, "relapi_tables");
  for (const statement of [
    SCHEMA_SQL,
    "grant select, insert, update, delete on all tables in schema public to bench_anon",
    "analyze",
  ])
    await database.query(statement);
  await database.end();

  row([
    "ms until ready",
    "REST, first answer",
    "GraphQL, first query",
    "GraphQL, first mutation",
    "introspection",
    "again",
    "MB of its text",
    "MB of heap before",
    "MB more after a query",
    "MB more after introspection",
  ]);
  row(Array.from({ length: 10 }, () => "---"));
  for (let round = 0; round < ROUNDS; round++) {
    const before = heapMegabytes();
    const api = relApi(fullCompat({ databaseUrl, anonRole: "bench_anon", logLevel: "error" }));
    const readyMs = await timed(() => api.ready);
    const http = createServer(api).listen(0, "127.0.0.1");
    await new Promise((resolve) => http.once("listening", resolve));
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    let length = 0;
    const ask = async (path: string, query?: string): Promise<void> => {
      const response = await fetch(
        url + path,
        query === undefined
          ? {}
          : { method: "POST", body: JSON.stringify({ query }), headers: { "content-type": "application/json" } },
      );
      const bytes = await response.arrayBuffer();
      length = bytes.byteLength;
      if (!response.ok || Buffer.from(bytes.slice(0, 10)).toString() === '{"errors":')
        throw new Error(Buffer.from(bytes.slice(0, 1000)).toString());
    };
    const restMs = await timed(() => ask("/api/thing_7?select=id,name,thing_6(name)&limit=1"));
    const queryMs = await timed(() =>
      ask("/v1/graphql", "{ thing_8(where: {price: {_gt: 3}}, order_by: {id: asc}) { id thing_7 { name } } }"),
    );
    const mutationMs = await timed(() =>
      ask("/v1/graphql", 'mutation { update_thing_9(where: {id: {_eq: 1}}, _set: {name: "x"}) { affected_rows } }'),
    );
    const afterQuery = heapMegabytes();
    const introspectionMs = await timed(() => ask("/v1/graphql", getIntrospectionQuery()));
    const againMs = await timed(() => ask("/v1/graphql", getIntrospectionQuery()));
    const afterAll = heapMegabytes();
    row(
      [
        readyMs,
        restMs,
        queryMs,
        mutationMs,
        introspectionMs,
        againMs,
        length / 1024 / 1024,
        before,
        afterQuery - before,
        afterAll - before,
      ].map((value) => value.toFixed(0)),
    );
    await new Promise((resolve) => http.close(resolve));
    await api.close();
  }
} finally {
  await server.stop();
}
