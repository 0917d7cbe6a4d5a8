/**
 * `npm run bench:schemas -- 10000`: measures a schema with this number of tables, each with five columns and a foreign
 * key. The benchmark reports the time of starting, of first responses of roles, of full descriptions and of reloads. It
 * also reports the retained memory and the blocking of the event loop. A PostgreSQL is required: TEST_DATABASE_URL
 * (superuser), or the server programs on this machine. With BENCH_KEEP=1, the database stays, and the next run uses it
 * unchanged.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { loadavg } from "node:os";
import type { AddressInfo } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { getIntrospectionQuery } from "graphql";
import jwt from "jsonwebtoken";
import pg from "pg";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { openFreshDatabase, startServer, type BenchServer } from "./postgres.ts";

const SECRET = "a secret of thirty-two characters";
const ROLES = 5;
const MEGABYTE = 1024 * 1024;
/** The number of tables whose locks fit into one transaction. */
const TABLES_AT_ONCE = 500;
const INTROSPECTED_AT_MOST = 2000;

/** The orders to the server process. */
type Order = "start" | "begin" | "end" | "reload";
interface Measurement {
  readonly ms: number;
  /** The longest block of the event loop by wall-clock time. */
  readonly holdMs: number;
  /** The longest block by processor time, which stops while other processes run. */
  readonly holdCpuMs: number;
  readonly cpuMs: number;
  readonly rssMB: number;
  readonly heapMB: number;
  readonly port?: number;
}

const serve = (databaseUrl: string): void => {
  const collect = (globalThis as { readonly gc?: () => void }).gc;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const schedule = `/proc/self/task/${process.pid}/schedstat`;
  const processorMs = (): number => {
    try {
      return Number(readFileSync(schedule, "utf8").split(" ")[0]) / 1e6;
    } catch {
      return 0; // the system does not provide it
    }
  };
  let startedAtMs = 0;
  let lastMs = 0;
  let longestMs = 0;
  let watch: NodeJS.Timeout | undefined;
  let usedAtStart = process.cpuUsage();
  const look = (): void => {
    const nowMs = processorMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const begin = (): void => {
    lastMs = processorMs();
    longestMs = 0;
    watch = setInterval(look, 1);
    usedAtStart = process.cpuUsage();
    delay.enable();
    delay.reset();
    startedAtMs = performance.now();
  };
  const end = (port?: number): Measurement => {
    const ms = performance.now() - startedAtMs;
    const holdMs = delay.max / 1e6;
    delay.disable();
    look();
    clearInterval(watch);
    const { user, system } = process.cpuUsage(usedAtStart);
    for (let i = 0; i < 3; i++) collect?.();
    const { rss, heapUsed } = process.memoryUsage();
    return {
      ms,
      holdMs,
      holdCpuMs: longestMs,
      cpuMs: (user + system) / 1000,
      rssMB: rss / MEGABYTE,
      heapMB: heapUsed / MEGABYTE,
      port,
    };
  };
  let api: ReturnType<typeof relApi> | undefined;
  const orders: Readonly<Record<Order, () => Measurement | Promise<Measurement | undefined> | undefined>> = {
    start: async () => {
      begin();
      api = relApi(fullCompat({ databaseUrl, anonRole: "bench_anon", jwtSecret: SECRET, logLevel: "error" }));
      await api.ready;
      const ready = end();
      const http = createServer(api).listen(0, "127.0.0.1");
      await once(http, "listening");
      return { ...ready, port: (http.address() as AddressInfo).port };
    },
    begin: () => {
      begin();
      return undefined;
    },
    end: () => end(),
    reload: async () => {
      begin();
      await api?.reload();
      return end();
    },
  };
  process.on("message", (order: Order) => {
    void Promise.resolve(orders[order]()).then(async (measurement) => {
      await new Promise((resolve) => setTimeout(resolve, 20)); // the delay of the event loop is known at its next turn
      process.send?.(measurement ?? {});
    });
  });
};

const createTables = async (server: BenchServer, tables: number): Promise<string> => {
  const name = `relapi_schemas_${tables}`;
  if (process.env["BENCH_KEEP"] === "1") {
    const client = new pg.Client({ connectionString: server.buildUrl(name) });
    const result = await client.connect().then(
      () => client.query<{ count: number }>("select count(*)::int4 from pg_tables where schemaname = 'public'"),
      () => undefined,
    );
    await client.end().catch(() => undefined);
    if (result?.rows[0]?.count === tables) return server.buildUrl(name);
  }
  const { url, client } = await openFreshDatabase(server, name);
  for (let i = 1; i <= ROLES; i++)
    await client.query(`do $$ begin create role bench_role_${i}; exception when duplicate_object then null; end $$`);
  const grantees = ["bench_anon", ...Array.from({ length: ROLES }, (_, i) => `bench_role_${i + 1}`)].join(", ");
  for (let from = 0; from < tables; from += TABLES_AT_ONCE) {
    const statements: string[] = [];
    for (let i = from; i < Math.min(from + TABLES_AT_ONCE, tables); i++)
      statements.push(
        `create table thing_${i} (id int primary key, name text not null, note varchar(200), made_at timestamptz not null default now(), parent_id int${i === 0 ? "" : ` references thing_${i - 1}`})`,
        `grant select, insert, update, delete on thing_${i} to ${grantees}`,
      );
    await client.query(statements.join(";"));
  }
  await client.query("vacuum analyze");
  await client.end();
  return url;
};

const coordinate = async (tables: number): Promise<void> => {
  const server = await startServer();
  const databaseUrl = await createTables(server, tables);
  const child = fork(fileURLToPath(import.meta.url), ["serve", databaseUrl], {
    execArgv: ["--expose-gc", ...(process.env["BENCH_NODE_OPTIONS"]?.split(" ") ?? [])],
  });
  const tell = async (order: Order): Promise<Measurement> => {
    const answer = once(child, "message");
    child.send(order);
    const [measurement] = (await answer) as [Measurement];
    return measurement;
  };
  const figures: Record<string, Readonly<Record<string, number>>> = {};
  const round = (value: number): number => Math.round(value * 10) / 10;
  const note = (
    title: string,
    measurement: Measurement,
    extraFigures: Readonly<Record<string, number>> = {},
  ): Measurement => {
    const { ms, cpuMs, holdMs, holdCpuMs, rssMB, heapMB } = measurement;
    const all = { ms, cpuMs, holdMs, holdCpuMs, rssMB, heapMB, ...extraFigures };
    figures[title] = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, round(value)]));
    return measurement;
  };
  try {
    const startMeasurement = note("ready", await tell("start"));
    const url = `http://127.0.0.1:${startMeasurement.port}`;
    const buildHeaders = (role: number): Readonly<Record<string, string>> =>
      role === 0 ? {} : { authorization: `Bearer ${jwt.sign({ role: `bench_role_${role}` }, SECRET)}` };
    const read = async (path: string, init: RequestInit = {}): Promise<number> => {
      const response = await fetch(url + path, init);
      let bytes = 0;
      let start = "";
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        if (bytes === 0) start = Buffer.from(chunk.subarray(0, 300)).toString();
        bytes += chunk.byteLength;
      }
      if (!response.ok || start.startsWith('{"errors":')) throw new Error(`${path}: ${start}`);
      return bytes;
    };
    const ask = (query: string, role = 0): Promise<number> =>
      read("/v1/graphql", {
        method: "POST",
        body: JSON.stringify({ query }),
        headers: { "content-type": "application/json", ...buildHeaders(role) },
      });
    const measure = async (title: string, work: () => Promise<number>): Promise<Measurement> => {
      await tell("begin");
      const startedAtMs = performance.now();
      const bytes = await work();
      const ms = performance.now() - startedAtMs;
      return note(title, { ...(await tell("end")), ms }, { answerMB: bytes / MEGABYTE });
    };
    const query = (i: number): string =>
      `{ thing_${i}(where: {name: {_like: "x"}}, order_by: {id: asc}) { id thing_${i - 1} { name } } }`;
    await measure("first REST read", () => read("/api/thing_7?select=id,name,thing_6(name)&limit=1"));
    const first = await measure("first GraphQL query", () => ask(query(8)));
    let last = first;
    for (let role = 1; role <= ROLES; role++)
      last = await measure(`first query of role ${role}`, () => ask(query(9), role));
    figures["per further role"] = { heapMB: round((last.heapMB - first.heapMB) / ROLES) };
    await measure("second GraphQL query", () => ask(query(20)));
    await measure("first GraphQL mutation", () =>
      ask(`mutation { update_thing_9(where: {id: {_eq: 1}}, _set: {name: "x"}) { affected_rows } }`),
    );
    const changes = new pg.Client({ connectionString: databaseUrl });
    await changes.connect();
    const reload = async (title: string): Promise<void> => {
      let slowestMs = 0;
      let isOver = false;
      const ping = async (): Promise<void> => {
        while (!isOver) {
          const atMs = performance.now();
          await read("/api/thing_7?limit=1");
          slowestMs = Math.max(slowestMs, performance.now() - atMs);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      const pinging = ping();
      const measurement = await tell("reload");
      isOver = true;
      await pinging;
      note(title, measurement, { slowestRequestMs: slowestMs });
    };
    await reload("reload, nothing changed");
    await changes.query("alter table thing_5 add column if not exists added int");
    await reload("reload, a column added");
    await changes.query("alter table thing_5 drop column added");
    await reload("reload, a column dropped");
    await changes.end();
    await measure("GraphQL query after reloads", () => ask(query(30)));
    await measure("OpenAPI document", () => read("/api/"));
    await measure("OpenAPI document again", () => read("/api/"));
    if (tables <= INTROSPECTED_AT_MOST) {
      await measure("introspection", () => ask(getIntrospectionQuery()));
      await measure("introspection again", () => ask(getIntrospectionQuery()));
    }
  } finally {
    child.kill();
    await server.stop();
  }
  const columns = ["ms", "cpuMs", "holdMs", "holdCpuMs", "slowestRequestMs", "answerMB", "rssMB", "heapMB"];
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |\n`;
  process.stdout.write(line([`${tables} tables`, ...columns]) + line(["---", ...columns.map(() => "---")]));
  for (const [title, values] of Object.entries(figures))
    process.stdout.write(line([title, ...columns.map((column) => values[column] ?? "")]));
  const load = loadavg().map(round);
  process.stdout.write(`${JSON.stringify({ tables, node: process.version, load, figures })}\n`);
};

const [, , argument = "1000", databaseUrl] = process.argv;
if (argument === "serve" && databaseUrl !== undefined) serve(databaseUrl);
else await coordinate(Number(argument));
