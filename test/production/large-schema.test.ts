/** A schema of 5,000 tables is loaded, and loaded again, while requests are served. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, startApi, type TestApi } from "../support/api.ts";
import { capabilities, testDatabase, type TestDatabase } from "../support/database.ts";
import { subscribe } from "../support/live.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { send, startLoad } from "./load.ts";
import { startStandalone } from "./standalone.ts";
import { eventually } from "./support.ts";

const TABLES = 5000;
const AT_ONCE = 250;

/** Of the main thread, in milliseconds. Unlike the clock it stands still while others have the processor. */
const schedule = `/proc/self/task/${process.pid}/schedstat`;
const processorMs = (): number => Number(readFileSync(schedule, "utf8").split(" ")[0]) / 1e6;

const canRun = capabilities.realServer && process.platform === "linux";

let db: TestDatabase;

const tables = (from: number): string =>
  Array.from({ length: AT_ONCE }, (_, i) => {
    const n = from + i;
    const key = n % 10 === 0 ? "primary key" : "";
    const reference = n % 10 === 1 && n > 1 ? `references big.t${n - 1}` : "";
    return `create table big.t${n} (id int ${key}, parent int ${reference}, a int, b bool, c date, d timestamptz, e float8, f uuid, g int8, h int2)`;
  }).join(";");

const INTROSPECTION =
  "{ __schema { queryType { fields { name type { kind ofType { name kind } } args { name } } } mutationType { fields { name args { name } } } } }";

const introspect = async (api: TestApi): Promise<unknown> => api.gql(INTROSPECTION, {}, asAdmin());

/** How long the main thread was held at most since `startWatch`. */
const startWatch = (): { readonly longestMs: () => number } => {
  let longestMs = 0;
  let lastMs = processorMs();
  const timer = setInterval(() => {
    const nowMs = processorMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  return {
    longestMs: () => {
      clearInterval(timer);
      return longestMs;
    },
  };
};

beforeAll(async () => {
  if (!canRun) return;
  db = await testDatabase();
  await db.query("create schema big; grant usage on schema big to sea_anon");
  for (let n = 0; n < TABLES; n += AT_ONCE) await db.query(tables(n));
  await db.query("grant select on all tables in schema big to sea_anon; insert into big.t0 values (1)");
}, 240_000);

describe.skipIf(!canRun)("R-SC-12", () => {
  test("R-SC-12 the first live query, asked for while the server starts, holds nobody for 60 ms", async () => {
    const { database: _, ...own } = db.options;
    const handler = relApi(
      fullCompat({ ...own, dbSchemas: ["big"], anonRole: "sea_anon", adminSecret, logLevel: "silent" }),
    );
    const server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    handler.attach(server);
    try {
      const { port } = server.address() as AddressInfo; // listening on TCP
      const opened = openSocket({ wsUrl: `ws://127.0.0.1:${port}` }).then((socket) => {
        socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
        subscribe(socket, "1", "subscription { big_t0 { id } }");
        return socket;
      });
      await handler.ready;
      const watch = startWatch();
      const socket = await opened;
      const first = await socket.next(({ id }) => id === "1", 20_000);
      expect(watch.longestMs()).toBeLessThan(60);
      expect(first).toMatchObject({ type: "next", payload: { data: { big_t0: [{ id: 1 }] } } });
      await socket.close();
    } finally {
      await handler.close();
      server.close();
    }
  }, 60_000);
});

describe.skipIf(!canRun)("R-SC-11", () => {
  test("R-SC-11 a reload of 5,000 tables holds nobody for 100 ms", async () => {
    const api = await startApi({ dbSchemas: ["big"], cacheBytes: 512 * 1024 * 1024 });
    let isOver = false;
    const failures: string[] = [];
    const ask = async (): Promise<void> => {
      const { status } = await api.get("/t0?select=id");
      if (status !== 200) failures.push(`REST ${status}`);
      const asked = await api.gql("{ big_t0 { id } }");
      if (asked.data?.big_t0?.[0]?.id !== 1) failures.push(JSON.stringify(asked));
    };
    const changed = await api.gql("mutation { update_big_t0(where: {id: {_eq: 1}}, _set: {a: 1}) { affected_rows } }");
    expect(changed).toEqual({ data: { update_big_t0: { affected_rows: 1 } } });
    await ask();
    const load = (async () => {
      while (!isOver) {
        await ask();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    })();
    const watch = startWatch();
    await db.query("alter table big.t0 add more int");
    await api.reload();
    expect((await api.get("/t0?select=more")).status).toBe(200);
    expect((await api.gql("{ big_t0 { more } }")).data).toEqual({ big_t0: [{ more: null }] });
    await api.gql("mutation { update_big_t0(where: {id: {_eq: 1}}, _set: {more: 2}) { affected_rows } }");
    await new Promise((resolve) => setTimeout(resolve, 500));
    isOver = true;
    await load;
    const longestMs = watch.longestMs();
    expect(failures).toEqual([]);
    expect(longestMs).toBeLessThan(100);
    const fresh = await startApi({ dbSchemas: ["big"] });
    expect(await introspect(api)).toEqual(await introspect(fresh));
  }, 240_000);

  test("R-SC-11 nor by the clock, as a server of its own shows to those who send requests meanwhile", async () => {
    const server = await startStandalone({
      DATABASE_URL: db.options.databaseUrl,
      DB_SCHEMAS: "big",
      ANON_ROLE: "sea_anon",
      CACHE_BYTES: String(512 * 1024 * 1024),
    });
    const load = startLoad({
      url: server.url,
      rest: "/api/t0?select=id",
      graphql: "{ big_t0 { id } }",
      workers: 1,
      pauseMs: 5,
    });
    /** Timers that were more than 100 ms late, so far. */
    const lateCount = async (): Promise<number> => {
      const text = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
      const of = (name: string): number =>
        Number(
          text
            .split("\n")
            .find((line) => line.startsWith(`relapi_event_loop_delay_seconds_${name} `))
            ?.split(" ")[1],
        );
      return of("count") - of('bucket{le="0.1"}');
    };
    /** What requests and timers met while it went on. */
    const during = async (work: () => Promise<unknown>) => {
      load.take();
      const [before, startedAtMs] = [await lateCount(), performance.now()];
      await work();
      const [after, { sent, failures, slowestMs }] = [await lateCount(), load.take()];
      const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(1);
      return { seconds, sent, failures, slowestMs: Math.round(slowestMs), held: after - before };
    };
    // the first request of GraphQL builds its types
    await send(server.url, undefined, "POST", "/v1/graphql", { query: "{ big_t0 { id } }" });
    await sleep(3000);
    const quiet = await during(() => sleep(4000));
    let count = 0;
    const reload = await during(async () => {
      const column = `column_${count++}`;
      await db.query(`alter table big.t0 add ${column} int`);
      process.kill(server.pid, "SIGUSR1");
      const isThere = async (): Promise<boolean> =>
        (await fetch(`${server.url}/api/t0?select=${column}`)).status === 200;
      await eventually(isThere, 90_000, "the reload");
    });
    await load.stop();
    const [busy = 0] = loadavg();
    const told = ({ seconds, sent, slowestMs, held }: typeof quiet): string =>
      `${seconds} s, ${sent} requests, slowest ${slowestMs} ms, timers more than 100 ms late: ${held}`;
    process.stdout.write(
      `5,000 tables, load ${busy.toFixed(1)}: before ${told(quiet)}; during the reload ${told(reload)}\n`,
    );
    expect([...quiet.failures, ...reload.failures]).toEqual([]);
    expect(reload.sent).toBeGreaterThan(50);
    // on a machine with more to do than it has processors, everybody waits for those
    const isBusy = busy > availableParallelism();
    if (!isBusy) expect(reload.held).toBe(0);
    expect(reload.slowestMs).toBeLessThan(isBusy ? 5000 : 250);
    expect(await server.stop()).toBe(0);
  }, 240_000);
});
