/** A large schema is loaded and reloaded while requests are served. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, startApi, type TestApi } from "../support/api.ts";
import { capabilities, testDatabase, type TestDatabase } from "../support/database.ts";
import { subscribe } from "../support/live.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { startLoad } from "./load.ts";
import { startStandalone } from "./standalone.ts";
import { LONG_MS } from "./support.ts";

const TABLES = 1500;
const AT_ONCE = 250;

/**
 * The processor time of the main thread in milliseconds. Unlike wall-clock time, it stops while other threads use the
 * processor.
 */
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

/** The processor time of the main thread from this call on: the total, and the largest part between two timers. */
const startWatch = (): (() => { readonly totalMs: number; readonly longestMs: number }) => {
  const startMs = processorMs();
  let longestMs = 0;
  let lastMs = startMs;
  const timer = setInterval(() => {
    const nowMs = processorMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  return () => {
    clearInterval(timer);
    return { totalMs: processorMs() - startMs, longestMs };
  };
};

/** Expects that other work had its turn at least this often, whatever the size of the schema. */
const expectPieces = ({ totalMs, longestMs }: { readonly totalMs: number; readonly longestMs: number }): void =>
  expect(longestMs).toBeLessThan(totalMs / 4);

beforeAll(async () => {
  if (!canRun) return;
  db = await testDatabase();
  await db.query("create schema big; grant usage on schema big to sea_anon");
  for (let n = 0; n < TABLES; n += AT_ONCE) await db.query(tables(n));
  await db.query("grant select on all tables in schema big to sea_anon; insert into big.t0 values (1)");
}, LONG_MS);

describe.skipIf(!canRun)("R-SC-12", () => {
  test("R-SC-12 the preparation for a live query during the start runs in pieces", async () => {
    const { database: _, ...apiOptions } = db.options;
    const handler = relApi(
      fullCompat({ ...apiOptions, dbSchemas: ["big"], anonRole: "sea_anon", adminSecret, logLevel: "silent" }),
    );
    const server = createServer(handler).listen(0, "127.0.0.1");
    await once(server, "listening");
    handler.attach(server);
    const watch = startWatch();
    try {
      const { port } = server.address() as AddressInfo; // the server listens on TCP
      const socketPromise = openSocket({ wsUrl: `ws://127.0.0.1:${port}` }).then((socket) => {
        socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
        subscribe(socket, "1", "subscription { big_t0 { id } }");
        return socket;
      });
      await handler.ready;
      const socket = await socketPromise;
      const first = await socket.next(({ id }) => id === "1");

      expectPieces(watch());
      expect(first).toMatchObject({ type: "next", payload: { data: { big_t0: [{ id: 1 }] } } });
      await socket.close();
    } finally {
      await handler.close();
      server.close();
    }
  });
});

describe.skipIf(!canRun)("R-SC-11", () => {
  test("R-SC-11 R-SC-11a a reload runs in pieces, between which requests are answered", async () => {
    const api = await startApi({ dbSchemas: ["big"], cacheBytes: 512 * 1024 * 1024 });
    let isOver = false;
    const failures: string[] = [];
    let answers = 0;
    const ask = async (): Promise<void> => {
      const { status } = await api.get("/t0?select=id");
      if (status !== 200) failures.push(`REST ${status}`);
      const result = await api.gql("{ big_t0 { id } }");
      if (result.data?.big_t0?.[0]?.id !== 1) failures.push(JSON.stringify(result));
      answers++;
    };
    const mutationResult = await api.gql(
      "mutation { update_big_t0(where: {id: {_eq: 1}}, _set: {a: 1}) { affected_rows } }",
    );
    expect(mutationResult).toEqual({ data: { update_big_t0: { affected_rows: 1 } } });
    await ask();
    const load = (async () => {
      while (!isOver) {
        await ask();
      }
    })();
    const watch = startWatch();
    await db.query("alter table big.t0 add more int");
    const before = answers;
    await api.reload();
    expect(answers).toBeGreaterThan(before);
    expect((await api.get("/t0?select=more")).status).toBe(200);
    expect((await api.gql("{ big_t0 { more } }")).data).toEqual({ big_t0: [{ more: null }] });
    await api.gql("mutation { update_big_t0(where: {id: {_eq: 1}}, _set: {more: 2}) { affected_rows } }");
    isOver = true;
    await load;

    expectPieces(watch());
    expect(failures).toEqual([]);
    const otherApi = await startApi({ dbSchemas: ["big"] });
    expect(await introspect(api)).toEqual(await introspect(otherApi));
  });

  test("R-SC-11 no request to a standalone server fails during a reload", async () => {
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
    await until(() => load.sentCount() > 10, "requests before the reload");
    await db.query("alter table big.t0 add last int");
    process.kill(server.pid, "SIGUSR1");
    await until(async () => (await fetch(`${server.url}/api/t0?select=last`)).status === 200, "the reload");
    expect((await load.stop()).failures).toEqual([]);
    expect(await server.stop()).toBe(0);
  });
});
