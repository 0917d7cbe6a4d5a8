// @runs-also-on postgresql-15-postgis
import { beforeAll, describe, expect, test } from "vitest";
import { definePlugin, quoteIdentifier, sql, without, type Logger, type ValueOf } from "../../core/index.ts";
import { changeFeedService, watchChangesHook } from "../../plugins/live/api.ts";
import { liveTriggers } from "../../presets/cli/live-triggers-command.ts";
import { capabilities, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { startWithContext } from "../support/context.ts";
import { openEmptyEmbeddedDatabase, testDatabase, type TestDatabase } from "../support/database.ts";
import { initSocket, startLive, subscribe, untilNoneIsDue, type LiveApi } from "../support/live.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { startPrimary } from "../support/postgres-server.ts";
import { changeUrl } from "../support/server-template.ts";
import { until } from "../support/until.ts";
import { createLogger } from "../support/logger.ts";

/** The interval with which polling finds no change during a test. */
const NEVER_MS = 10_000_000;

/**
 * A database on a separate server, because transactions of other databases count as changes. Such a server starts in a
 * tenth of the time of an embedded database.
 */
const openAlone = async (): Promise<TestDatabase> => {
  if (!capabilities.realServer) return testDatabase();
  if (!hasPostgres) return openEmptyEmbeddedDatabase();
  const { url, query, connect, stop } = await startPrimary();
  return {
    options: { databaseUrl: url },
    urlAs: (user, password = user) => changeUrl(url, { user, password }),
    query,
    connect,
    close: stop,
  };
};

const FEED_OPEN_MESSAGE = "live queries detect changes by logical replication";

/** The log of an API. */
const createLog = (): { readonly lines: string[]; readonly fields: unknown[]; readonly logger: Logger } => {
  const lines: string[] = [];
  const fields: unknown[] = [];
  const take: Logger["info"] = (message, logFields) => {
    lines.push(message);
    fields.push(logFields);
  };
  return {
    lines,
    fields,
    logger: createLogger({ error: take, warn: take, info: take }),
  };
};

const pollingOptions: StartOptions = { parts: [without("replication-changes"), without("notify-changes")] };

/** Sets `sold` of album 1, and expects the change to arrive. */
const changesReach = async (api: TestApi, sold: number): Promise<void> => {
  const socket = await initSocket(api);
  subscribe(socket, "1", "subscription { album_by_pk(id: 1) { sold } }");
  await socket.next();
  await api.sql("update album set sold = $1 where id = 1", [sold]);
  await socket.next((message) => message.payload?.data?.album_by_pk?.sold === sold);
  await socket.close();
};

describe.skipIf(!capabilities.logicalReplication)("logical replication", () => {
  const log = createLog();
  let api: LiveApi;

  beforeAll(async () => {
    api = await startLive(forGraphql({ liveQueryInterval: NEVER_MS, logger: log.logger, busName: "feed" }));
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { album { id } }");
    await until(() => log.lines.includes(FEED_OPEN_MESSAGE), "the changes are read");
    await socket.close();
  });

  test("G-SUB-4 a change arrives long before the polling interval", async () => {
    await changesReach(api, 501);
  });

  test("G-SUB-4 changes of partitions, through views, by TRUNCATE and in tables with unusual names are detected", async () => {
    await api.sql(`create table public."a ""b"", c: d" (id int primary key, n int); insert into public."a ""b"", c: d" values (1, 1);
      create view public.odd_view as select id, n from public."a ""b"", c: d";
      create table public.cleared (id int primary key); insert into public.cleared values (1)`);
    await api.reload();
    const socket = await initSocket(api);
    subscribe(socket, "view", "subscription { odd_view { n } }");
    subscribe(socket, "cleared", "subscription { cleared { id } }");
    subscribe(socket, "parts", "subscription { measure_aggregate { aggregate { count } } }");
    for (let i = 0; i < 3; i++) await socket.next();
    await untilNoneIsDue(api.context);
    await api.sql(`update public."a ""b"", c: d" set n = 2`);
    expect(await socket.next()).toMatchObject({ id: "view", payload: { data: { odd_view: [{ n: 2 }] } } });
    await api.sql("truncate public.cleared");
    expect(await socket.next()).toMatchObject({ id: "cleared", payload: { data: { cleared: [] } } });
    await api.sql("delete from measure where ctid in (select ctid from measure limit 1)");
    expect(await socket.next()).toMatchObject({ id: "parts" });
    await socket.close();
  });

  test("G-SUB-4 a transaction that commits between others is not missed", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { country } }");
    await socket.next();
    const connection = await api.database.connect();
    for (let i = 0; i < 10; i++) {
      await connection.query("begin");
      await connection.query("update album set sold = sold + 1 where id = 5");
      await api.sql("update artist set country = $1 where id = 1", [`n${i}`]);
      await socket.next((message) => message.payload?.data?.artist_by_pk?.country === `n${i}`);
      await connection.query("commit");
    }
    await connection.end();
    await socket.close();
  });

  test("G-SUB-4 changes of other rows do not run a live query of one row", async () => {
    const statements: string[] = [];
    const { logger } = createLog();
    const quietApi = await startLive(
      forGraphql({
        liveQueryInterval: NEVER_MS,
        busName: "rows", // the process reads the changes itself
        logQuery: true,
        logger: { ...logger, info: (message) => void statements.push(message) },
      }),
    );
    await quietApi.sql(`create table public.keyed (filler text default repeat('it''s [long]: ', 100), "the ""key""" int primary key, n int);
      insert into public.keyed ("the ""key""", n) select i, 0 from generate_series(1, 20) as i`);
    await quietApi.sql('alter table public.keyed rename column "the ""key""" to id');
    await quietApi.reload();
    const socket = await initSocket(quietApi);
    for (const id of [1, 2])
      subscribe(socket, String(id), "subscription ($id: Int!) { keyed_by_pk(id: $id) { id n } }", { id });
    subscribe(socket, "all", "subscription { keyed_aggregate { aggregate { sum { n } } } }");
    for (let i = 0; i < 3; i++) await socket.next();
    await until(() => statements.includes(FEED_OPEN_MESSAGE), "the changes are read");
    await quietApi.settle();
    const runs = (): number =>
      statements.filter(
        (text) => text.includes("_relapi_subscribers") && text.includes("keyed") && !text.includes("sum("),
      ).length;
    const before = runs();
    await quietApi.sql("update public.keyed set n = 5 where id > 10");
    expect(await socket.next()).toMatchObject({
      id: "all",
      payload: { data: { keyed_aggregate: { aggregate: { sum: { n: 50 } } } } },
    });
    await quietApi.settle();
    expect(runs()).toBe(before);
    await quietApi.sql("update public.keyed set n = 7 where id = 2");
    const messages = [await socket.next(), await socket.next()];
    expect(messages.find((message) => message.id === "2")).toMatchObject({
      payload: { data: { keyed_by_pk: { id: 2, n: 7 } } },
    });
    expect(runs()).toBeGreaterThan(before);
    // The row gets another key, and another row takes the old one.
    await quietApi.sql("update public.keyed set id = 100 where id = 2");
    expect(await socket.next()).toMatchObject({ id: "2", payload: { data: { keyed_by_pk: null } } });
    await quietApi.sql("update public.keyed set id = 2 where id = 100");
    expect(await socket.next()).toMatchObject({ id: "2", payload: { data: { keyed_by_pk: { id: 2, n: 7 } } } });
    await quietApi.sql("delete from public.keyed where id = 1");
    expect(await socket.next((message) => message.id === "1")).toMatchObject({
      payload: { data: { keyed_by_pk: null } },
    });
    await quietApi.sql("insert into public.keyed (id, n) values (1, 9)");
    expect(await socket.next((message) => message.id === "1")).toMatchObject({
      payload: { data: { keyed_by_pk: { id: 1, n: 9 } } },
    });
    await quietApi.sql("truncate public.keyed");
    expect(await socket.next((message) => message.id === "2")).toMatchObject({
      payload: { data: { keyed_by_pk: null } },
    });
    await socket.close();
    await quietApi.close();
  });

  test("G-SUB-4 R-SC-9 a table that the log describes partly or not at all is still followed", async () => {
    const pollingApi = await startLive(
      forGraphql({ liveQueryInterval: 20, dbSchemaPollInterval: 1, busName: "identities" }),
    );
    await pollingApi.sql("create table public.told (id int primary key, n int); insert into public.told values (1, 1)");
    await pollingApi.reload();
    const socket = await initSocket(pollingApi);
    const nextRow = async (): Promise<unknown> => (await socket.next()).payload.data.told_by_pk;
    subscribe(socket, "1", "subscription { told_by_pk(id: 1) { n } }");
    expect(await nextRow()).toEqual({ n: 1 });
    const loads = (): number => pollingApi.context.counters.get("model-loads");
    const hasLoaded = async (change: string): Promise<void> => {
      const before = loads();
      await pollingApi.sql(change);
      await until(() => loads() > before, "the schema is read again");
      await untilNoneIsDue(pollingApi.context);
    };
    await hasLoaded("alter table public.told replica identity nothing");
    // The log of an UPDATE contains only the new key.
    await pollingApi.sql("update public.told set id = 2");
    expect(await nextRow()).toBeNull();
    await hasLoaded("alter table public.told set unlogged");
    await pollingApi.sql("update public.told set id = 1, n = 2");
    expect(await nextRow()).toEqual({ n: 2 });
    await socket.close();
    await pollingApi.close();
  });

  test("G-SUB-4 another source detects changes while the feed is lost", async () => {
    const openCount = (): number => log.lines.filter((line) => line === FEED_OPEN_MESSAGE).length;
    const before = openCount();
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { album { id } }");
    await until(() => openCount() > before, "the changes are read");
    await api.sql(
      "select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database() and active_pid is not null",
    );
    await until(() => log.lines.includes("lost logical replication for live queries"), "the feed is lost");
    await until(() => openCount() > before + 1, "the changes are read again");
    await changesReach(api, 502);
    await socket.close();
  });
});

describe.skipIf(!capabilities.logicalReplication)("changes for plugins", () => {
  test("X-REP-1 a plugin may open its own replication connection", async () => {
    const log = createLog();
    const api = await startWithContext(forGraphql({ logger: log.logger }));
    const connection = await api.context.openReplication();
    await expect(connection.command(sql`NO_SUCH_COMMAND`)).rejects.toMatchObject({ code: "42601" });
    const slot = quoteIdentifier("own_feed");
    await connection.command(sql`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL test_decoding NOEXPORT_SNAPSHOT`);
    const chunks: string[] = [];
    const copy = connection.copy(sql`START_REPLICATION SLOT ${slot} LOGICAL 0/0`, (bytes) => {
      chunks.push(bytes.toString());
      if (chunks.length === 1) throw new Error("a mistake of the plugin's");
    });
    copy.catch(() => undefined);
    await api.sql("update album set sold = 77 where id = 1");
    await until(
      () => chunks.some((text) => text.includes("table public.album: UPDATE") && text.includes("sold[integer]:77")),
      "the change",
    );
    expect(log.lines).toContain("a plugin failed");
    const connectionEnd = new Promise<void>((resolve) => connection.onEnd(resolve));
    await connection.end();
    await connectionEnd;
  });

  test("X-REP-2 a plugin receives committed changes, with keys where it requests them", async () => {
    const api = await startWithContext(forGraphql());
    const { open } = api.context.use(changeFeedService)!;
    const commits: [number, Record<string, string[] | undefined>][] = [];
    const feed = await open({
      committed: (xid, changes) =>
        void commits.push([xid, Object.fromEntries([...changes].map(([name, keys]) => [name, keys && [...keys]]))]),
      keyColumn: (relation) => (relation === "public.album" ? "id" : undefined),
      lost: () => undefined,
    });
    const client = await api.database.connect();
    await client.query("begin");
    await client.query("update album set sold = sold + 1 where id in (1, 2)");
    await client.query("update artist set country = country where id = 1");
    const { rows } = await client.query("select pg_current_xact_id()::text as xid");
    await client.query("commit");
    await client.end();
    const xid = Number(BigInt(rows[0].xid) & 0xffff_ffffn);
    await until(() => commits.some(([commitXid]) => commitXid === xid), "the transaction");
    expect(commits.find(([commitXid]) => commitXid === xid)![1]).toEqual({
      "public.album": ["1", "2"],
      "public.artist": undefined,
    });
    await feed.end();
  });
});

describe.skipIf(!capabilities.realServer)("fallback", () => {
  test("G-SUB-4 a login role without the right to replicate falls back with a log line", async () => {
    const log = createLog();
    const sharedApi = await startApi(forGraphql());
    const api = await startApi(
      forGraphql({
        databaseUrl: sharedApi.database.urlAs("sea_login"),
        anonRole: undefined,
        liveQueryInterval: 20,
        busName: "fallback",
        logger: log.logger,
      }),
    );
    await sharedApi.sql("grant select on artist to sea_login");
    await api.reload();
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { country } }");
    await socket.next();
    await sharedApi.sql("update artist set country = 'FB' where id = 1");
    expect(await socket.next()).toMatchObject({ payload: { data: { artist_by_pk: { country: "FB" } } } });
    // The other source responds while the first is still being tried.
    await until(
      () => log.lines.includes("logical replication is not available for live queries; using another change source"),
      "a line in the log",
    );
    expect(log.fields).toContainEqual({
      reason: expect.stringMatching(/wal/i),
      needs: 'wal_level = logical, and ALTER ROLE "sea_login" REPLICATION',
      instead: "triggers, on tables that have them (relapi live-triggers); otherwise polling every 20 ms",
    });
    await socket.close();
    await api.close();
    await sharedApi.close();
  });
});

describe("notifications", () => {
  test("G-SUB-4 tables with triggers notify, and other tables are polled", async () => {
    const api = await startLive(
      forGraphql({ liveQueryInterval: NEVER_MS, parts: [without("replication-changes"), without("poll-changes")] }),
    );
    // The command prints triggers for all tables; the one of artist is removed again.
    const triggerSql = new Promise<string>((resolve) => {
      void startApi(forGraphql({ parts: [liveTriggers(resolve)] }));
    });
    await api.sql(await triggerSql);
    await api.sql("drop trigger relapi_notify_change on public.artist");
    await api.reload();
    await api.settle();
    await changesReach(api, 504);
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { artist_by_pk(id: 2) { country } }");
    await socket.next();
    await api.settle(); // a query runs once more when its source has begun to watch the table
    await api.sql("update artist set country = 'NN' where id = 2");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
    await api.sql("drop function public.relapi_notify_change cascade");
    await api.close();
  });

  test("G-SUB-4 a statement reports partitions and child tables, and other sources follow the remaining ones", async () => {
    const log = createLog();
    const api = await startLive(
      forGraphql({
        liveQueryInterval: NEVER_MS,
        logger: log.logger,
        parts: [without("replication-changes"), without("poll-changes")],
      }),
    );
    await api.sql(`create table public.part (id int, n int, primary key (id)) partition by range (id);
      create table public.part_of (like part including all) partition by range (id);
      create table public.part_one partition of part_of for values from (1) to (10);
      alter table public.part attach partition part_of for values from (1) to (10);
      create view public.part_view as select id, n from public.part_one;
      insert into public.part values (1, 1);
      create table public.elder (id int, n int); create table public.heir (primary key (id)) inherits (public.elder);
      insert into public.heir values (1, 1)`);
    const triggerSql = new Promise<string>((resolve) => {
      void startApi(forGraphql({ parts: [liveTriggers(resolve)] }));
    });
    await api.sql(await triggerSql);
    await api.reload();
    await api.settle();
    const socket = await initSocket(api);
    const nextRow = async (): Promise<unknown> => {
      const { data } = (await socket.next()).payload;
      return data.heir?.[0] ?? data.part_view[0];
    };
    subscribe(socket, "0", "subscription { heir { n } }");
    expect(await nextRow()).toEqual({ n: 1 });
    await untilNoneIsDue(api.context);
    await api.sql("update public.elder set n = 2");
    expect(await nextRow()).toEqual({ n: 2 });
    subscribe(socket, "1", "subscription { part_view { n } }");
    expect(await nextRow()).toEqual({ n: 1 });
    await untilNoneIsDue(api.context);
    await api.sql("update public.part_one set n = 2");
    expect(await nextRow()).toEqual({ n: 2 });
    await api.sql("update public.part_of set n = 3");
    expect(await nextRow()).toEqual({ n: 3 });
    await api.sql("update public.part set n = 4");
    expect(await nextRow()).toEqual({ n: 4 });
    // Statements on `part` send no notification from here on, so live queries must not rely on it.
    await api.sql("drop trigger relapi_notify_change on public.part");
    const warningCount = (): number =>
      log.lines.filter((line) => line.startsWith("no change source can watch a live query")).length;
    const before = warningCount();
    await api.reload();
    await until(() => warningCount() > before, "nobody watches the partition");
    await untilNoneIsDue(api.context);
    await api.sql("update public.part_one set n = 5");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
    await api.sql("drop function public.relapi_notify_change cascade");
    await api.close();
  });
});

describe("polling", () => {
  test("G-SUB-4 no live query runs while nothing is committed", async () => {
    const database = await openAlone();
    let watchChanges: ValueOf<typeof watchChangesHook> | undefined;
    const watchPlugin = definePlugin({
      name: "watching",
      requires: ["live-queries"],
      apply: (_hooks, context) => void (watchChanges = context.use(watchChangesHook)),
    });
    const statements: string[] = [];
    const { logger } = createLog();
    const api = await startLive(
      forGraphql({
        parts: [...(pollingOptions.parts ?? []), watchPlugin],
        on: database,
        anonRole: undefined,
        liveQueryInterval: 20,
        logQuery: true,
        logger: { ...logger, info: (message) => void statements.push(message) },
      }),
    );
    await api.sql(`create table public.counted (id int primary key, n int); insert into public.counted values (1, 0);
      create table if not exists public.studio (id int primary key, name text); insert into public.studio values (1, '') on conflict do nothing`);
    await api.reload();
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription ($id: Int!) { counted_by_pk(id: $id) { n } }", { id: 1 });
    await socket.next();
    await api.settle();
    const statementCount = (...parts: readonly string[]): number =>
      statements.filter((text) => parts.every((part) => text.includes(part))).length;
    const runs = (): number => statementCount("_relapi_subscribers", "counted");
    expect(runs()).toBeGreaterThan(0);
    // Queries that depend on the clock rerun with each poll of the database.
    let pollCount = 0;
    const unwatch = watchChanges?.call(
      { relations: new Set(), isOpenEnded: true, columns: new Map(), onColumns: () => undefined },
      () => void pollCount++,
    );
    // A poll that began before the subscription may still find the commits above.
    await until(() => pollCount > 2, "two polls of the database");
    await untilNoneIsDue(api.context);
    const before = runs();
    const pollCountBefore = pollCount;
    await until(() => pollCount > pollCountBefore + 5, "several polls without a commit");
    unwatch?.();
    await untilNoneIsDue(api.context);
    expect(runs()).toBe(before);
    await api.sql("update public.studio set name = name");
    await until(() => runs() > before, "another run");
    await socket.close();
    await api.close();
  });

  test("G-SUB-4 live queries that depend on the clock run at each interval", async () => {
    const api = await startApi(forGraphql({ ...pollingOptions, liveQueryInterval: 20 }));
    await api.sql("create or replace view public.clock_face as select 1 as id, clock_timestamp()::text as now");
    await api.reload();
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { clock_face { now } }");
    const first = await socket.next();
    const second = await socket.next();
    expect(second.payload.data.clock_face).not.toEqual(first.payload.data.clock_face);
    await socket.close();
    await api.sql("drop view public.clock_face");
    await api.close();
  });
});

describe.skipIf(!capabilities.realServer)("recovery", () => {
  test.each([
    ["replication", {}],
    ["polling", pollingOptions],
  ] as const)(
    "G-SUB-4 every subscriber receives the last result after its connections are killed: %s",
    async (_, options) => {
      const api = await startApi(forGraphql({ ...options, liveQueryInterval: 20 }));
      const sockets = await Promise.all(Array.from({ length: 5 }, () => initSocket(api)));
      const last = new Map<string, number>();
      sockets.forEach((socket, s) => {
        for (let album = 1; album <= 5; album++)
          subscribe(socket, `${s}-${album}`, "subscription ($id: Int!) { album_by_pk(id: $id) { sold } }", {
            id: album,
          });
        socket.socket.on("message", (data: Buffer) => {
          const message = JSON.parse(data.toString());
          expect(message.type).not.toBe("error");
          if (message.type === "next" && message.payload.data !== undefined)
            last.set(message.id, message.payload.data.album_by_pk.sold);
        });
      });
      await until(() => last.size === 25, "the first results");
      const writer = await api.database.connect();
      for (let n = 1; n <= 20; n++) {
        await writer.query("update album set sold = $1", [9000 + n]);
        if (n % 10 === 5) await until(() => [...last.values()].includes(9000 + n), "a result after what was lost");
        if (n % 10 === 0)
          await writer.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
          );
      }
      await writer.query("update album set sold = 9999");
      await until(() => [...last.values()].every((sold) => sold === 9999), "the last result of each");
      expect(last.size).toBe(25);
      await writer.end();
      for (const socket of sockets) await socket.close();
      await api.close();
    },
  );
});
