/** Terminated sessions, networks that drop packets, rejected logins. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { initSocket, subscribe } from "../support/live.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";
import { createShop, keepAsking, createLog, startShop, untilAllAsked } from "./failures.ts";

let server: Server;
beforeAll(async () => {
  if (!hasPostgres) return;
  server = await startPrimary();
  await createShop(server);
});

describe.skipIf(!hasPostgres)("killed sessions", () => {
  test("R-HST-7 G-DBE-13 R-HST-7a no read fails and no write runs twice while all sessions are killed repeatedly", async () => {
    const api = await startShop(server.url, { adminSecret: undefined, dbPool: 3, dbPoolAcquisitionTimeout: 120 });
    const rest = (path: string) => api.get(`/${path}`);
    const gql = async (query: string) => {
      const { text } = await api.post("/v1/graphql", { body: JSON.stringify({ query }) });
      return { status: text.startsWith('{"data":') ? 200 : 503, text };
    };
    const reads = [
      keepAsking(() => rest("crate?id=eq.1")),
      keepAsking(() => rest("crate?select=label&limit=1")),
      keepAsking(() => rest("rpc/slow?seconds=0.3")),
      keepAsking(() => gql("{ crate { id label } }")),
      keepAsking(() => gql("{ crate_aggregate { aggregate { count } } }")),
    ];
    const acknowledgedLabels = new Map<string, number>();
    const write = async (writer: string, i: number) => {
      const label = `${writer}-${i}`;
      const answer = await api.post("/crate", { body: JSON.stringify({ label }) });
      if (answer.status === 201) acknowledgedLabels.set(label, (acknowledgedLabels.get(label) ?? 0) + 1);
      // The first attempt may have been committed, so the second one conflicts with it.
      return answer.status === 409 ? { status: 200 } : answer;
    };
    // A duplicate row is not detectable, so each request is sent once.
    const entries = new Map<string, number>();
    const entry = keepAsking(async (i) => {
      const label = `e${i}`;
      const pendingAnswer =
        i % 2 === 0
          ? api.post("/entry", { body: JSON.stringify({ label }) })
          : api.post("/v1/graphql", {
              body: JSON.stringify({ query: `mutation { insert_entry_one(object: { label: "${label}" }) { label } }` }),
            });
      const { status, text } = await pendingAnswer;
      entries.set(label, status === 201 || text.startsWith('{"data":') ? 1 : 0);
      return { status: 200 };
    });
    const writes = ["a", "b"].map((writer) => keepAsking((i) => write(writer, i)));
    // A pool of three has at most as many dead connections as a read may meet, and no request meets two rounds.
    for (let i = 0; i < 8; i++) {
      await untilAllAsked([...reads, ...writes, entry]);
      const [row] = await server.query<{ n: number }>(
        "select count(pg_terminate_backend(pid))::int as n from pg_stat_activity where application_name like 'relapi%'",
      );
      expect(row?.n).toBeGreaterThan(0);
    }
    await untilAllAsked([...reads, ...writes, entry]);
    const ofReads = await Promise.all(reads.map((client) => client.stop()));
    const ofWrites = await Promise.all(writes.map((client) => client.stop()));
    await entry.stop();
    for (const requestCounts of ofReads) expect(requestCounts.failures).toEqual([]);
    for (const requestCounts of ofWrites) expect(requestCounts.failedTwiceCount).toBe(0);
    for (const requestCounts of ofWrites) for (const status of requestCounts.statuses.keys()) expect(status).toBe(503);
    // Every acknowledged row exists exactly once.
    const rows = await server.query<{ label: string }>("select label from crate");
    const storedLabels = new Set(rows.map(({ label }) => label));
    for (const label of acknowledgedLabels.keys()) expect(storedLabels.has(label)).toBe(true);
    const counts = await server.query<{ label: string; n: number }>(
      "select label, count(*)::int as n from entry group by 1",
    );
    expect(counts.filter(({ n }) => n > 1)).toEqual([]);
    const storedEntries = new Set(counts.map(({ label }) => label));
    expect([...entries].filter(([label, n]) => n === 1 && !storedEntries.has(label))).toEqual([]);
    expect(storedEntries.size).toBeGreaterThan(0);
    await api.close();
  });
});

describe.skipIf(!hasPostgres)("a network that swallows packets", () => {
  test("R-HST-9 every request ends with 5xx during a network failure, and the service works afterwards", async () => {
    const network = await startProxy(server.port);
    const log = createLog();
    const api = await startShop(`postgres://postgres@${network.place}/postgres?connect_timeout=2`, {
      dbPool: 4,
      dbPoolAcquisitionTimeout: 3,
      dbSilenceCheck: 1,
      dbSchemaPollInterval: 0, // notifications report changes of the schema
      logger: log.logger,
    });
    const read = () => api.get("/crate?id=eq.1");
    const write = (label: string) => api.post("/crate", { body: JSON.stringify({ label }) });
    const ask = () =>
      api.post("/v1/graphql", { body: JSON.stringify({ query: "{ crate(where: {id: {_eq: 1}}) { n } }" }) });
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { crate(where: { id: { _eq: 1 } }) { n } }");
    await socket.next();
    for (const { status } of await Promise.all([read(), read(), ask(), write("before")]))
      expect(status).toBeLessThan(300);

    network.swallow();
    const inside = await Promise.all([
      read(),
      write("in flight"),
      api.get("/rpc/slow?seconds=1"),
      read(),
      write("waits"),
    ]);
    for (const { status } of inside) expect([503, 504]).toContain(status);
    expect((await ask()).text).toContain('"errors"');
    network.heal();
    await until(async () => (await read()).status === 200, "a read is answered");
    let attempts = 0;
    await until(async () => (await write(`after ${++attempts}`)).status === 201, "a write is answered");
    for (let i = 0; i < 20; i++)
      expect((await Promise.all([read(), ask(), read()])).map(({ status }) => status)).toEqual([200, 200, 200]);
    await server.query("update crate set n = n + 1 where id = 1");
    await socket.next((message) => message.payload?.data?.crate?.[0]?.n === 1);
    // The listening connection and that of replication are replaced too.
    await server.query("create table public.later (id int); grant select on public.later to shop_anon");
    await until(async () => {
      await server.query("notify pgrst");
      return (await api.get("/later")).status === 200;
    }, "the api knows the new table");
    await socket.close();
    await api.close();
  });

  test("R-HST-9 R-HST-9a waiting requests end without repetition if the server cannot be reached twice", async () => {
    const network = await startProxy(server.port);
    const start = (dbPool: number) =>
      startShop(`postgres://postgres@${network.place}/postgres`, {
        dbPool,
        dbPoolAcquisitionTimeout: 120,
        dbSilenceCheck: 1,
        dbSchemaPollInterval: 0,
        databaseDirectUrl: server.url, // the listener opens no connection through the proxy
      });
    for (const dbPool of [1, 2]) {
      network.heal();
      const api = await start(dbPool);
      const ask = (query: string) => api.post("/v1/graphql", { body: JSON.stringify({ query }) });
      expect((await api.get("/crate?id=eq.1")).status).toBe(200);
      const before = network.swallowedCount;
      network.swallow();
      const inside = await Promise.all([
        api.get("/crate?id=eq.1"),
        api.get("/crate?id=eq.2"),
        api.get("/rpc/slow?seconds=0"),
        api.post("/crate", { body: JSON.stringify({ label: "swallowed" }) }),
      ]);
      for (const { status, text } of inside) expect(status, text).toBe(503);
      // There are two attempts to reach the server, and one for the connection that the pool has not opened yet.
      expect(network.swallowedCount - before).toBeLessThanOrEqual(dbPool + 1);
      network.heal();
      expect((await ask("{ crate(where: { id: { _eq: 1 } }) { id } }")).json()).toEqual({
        data: { crate: [{ id: 1 }] },
      });
      await api.close();
    }
  });

  test("R-HST-9 a read on a connection that was lost unnoticed is answered on another", async () => {
    const network = await startProxy(server.port);
    const api = await startShop(`postgres://postgres@${network.place}/postgres`, { dbPool: 2, dbSilenceCheck: 1 });
    await Promise.all([api.get("/crate?id=eq.1"), api.get("/crate?id=eq.1")]);
    network.swallow();
    network.heal();
    for (let i = 0; i < 3; i++) expect((await api.get("/crate?id=eq.1")).status).toBe(200);
    await api.close();
  });

  test("R-HST-9 R-HST-10 a long statement continues up to the limit", async () => {
    const patient = await startShop(server.url, { dbSilenceCheck: 0.2 });
    expect((await patient.get("/rpc/slow?seconds=2")).status).toBe(200);
    await patient.close();
    const api = await startShop(server.url, { dbSilenceLimit: 3 });
    expect((await api.get("/rpc/slow?seconds=600")).status).toBe(503);
    await until(async () => {
      const rows = await server.query(
        "select from pg_stat_activity where query like '%slow%' and state = 'active' and pid <> pg_backend_pid()",
      );
      return rows.length === 0;
    }, "the statement is cancelled");
    await api.close();
  });
});

describe.skipIf(!hasPostgres)("rejected logins", () => {
  let url: string;
  beforeAll(async () => {
    await server.query("create role keyed login superuser password 'right'");
    await server.setAccess("host all keyed 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
    url = server.url.replace("postgres@", "keyed:right@");
  });

  test("C-SET-5 a missing certificate, or one that the server does not request, ends the start", async () => {
    const log = createLog();
    const shop = startShop(`${url}?sslmode=verify-full&sslrootcert=/no/ca.pem`, { logger: log.logger });
    await expect(shop).rejects.toMatchObject({ details: expect.stringContaining("/no/ca.pem") });
    expect(log.lines).toHaveLength(1);
    expect(JSON.stringify(log.lines)).toContain("sslrootcert");
  });

  test("R-HST-11 a rejected login is logged in one line, and its recovery in another", async () => {
    const log = createLog();
    const api = await startShop(url, { dbPool: 3, dbSchemaPollInterval: 0, logger: log.logger });
    expect((await api.get("/crate")).status).toBe(200);
    await until(async () => {
      const rows = await server.query(
        "select from pg_stat_activity where usename = 'keyed' and (query ilike 'listen%' or query = 'select')",
      );
      return rows.length > 0;
    }, "the api listens");
    const before = log.lines.length;
    await server.query("alter role keyed password 'changed'");
    await server.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'keyed'");
    for (let i = 0; i < 10; i++) {
      const { status, headers } = await api.get("/crate");
      expect([status, headers["retry-after"]]).toEqual([503, "1"]);
    }
    await api.reload().catch(() => undefined);
    const rejections = (): number =>
      readFileSync(server.logFile, "utf8").split("password authentication failed").length;
    const rejectionCount = rejections();
    await until(() => rejections() > rejectionCount, "the connection for notifications is tried again");
    const errors = log.lines.slice(before).filter(({ level }) => level === "error");
    expect(errors.map(({ message }) => message)).toEqual(["the database rejects new connections"]);
    // Each lost connection is logged once.
    expect(log.lines.slice(before).filter(({ level }) => level === "warn").length).toBeLessThanOrEqual(1);
    await server.query("alter role keyed password 'right'");
    expect((await api.get("/crate")).status).toBe(200);
    expect(log.lines.filter(({ message }) => message === "the database accepts new connections again")).toHaveLength(1);
    await api.close();
  });
});
