/**
 * Behind PgBouncer: no request fails, no trace of one caller reaches another, and features that need a database session
 * use DATABASE_DIRECT_URL.
 */
import { beforeAll, describe, expect, test } from "vitest";
import type { Logger } from "../../core/index.ts";
import { buildLiveTriggers } from "../../presets/cli/live-triggers-command.ts";
import { readEnvironment } from "../../presets/server/environment.ts";
import { startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { capabilities, testDatabase, type TestDatabase } from "../support/database.ts";
import { initSocket, subscribe } from "../support/live.ts";
import { withClient } from "../support/server-template.ts";
import { startProxy } from "../support/proxy.ts";
import { bearer } from "../support/tokens.ts";
import { poolerKinds, startPgBouncer, type Pooler } from "./pgbouncer.ts";
import { until } from "../support/until.ts";
import { has } from "./support.ts";
import { createLogger } from "../support/logger.ts";

const HOUR_MS = 3_600_000;

const canRun = has("pgbouncer") && capabilities.realServer;

const SCHEMA = `
  create schema pool;
  grant usage on schema pool to sea_login, sea_anon, sea_clerk;
  create table pool.items (id int primary key generated always as identity, name text not null unique, owner text default current_user);
  create table pool.secrets (id int primary key, owner text not null);
  insert into pool.items (name) select 'item ' || n from generate_series(1, 50) n;
  insert into pool.secrets values (1, 'sea_anon'), (2, 'sea_clerk'), (3, 'sea_anon');
  alter table pool.secrets enable row level security;
  create policy own on pool.secrets using (owner = current_user);
  grant all on all tables in schema pool to sea_login, sea_anon, sea_clerk;
  grant all on all sequences in schema pool to sea_login, sea_anon, sea_clerk;

  create function pool.whoami() returns text language plpgsql as $$ begin return current_user; end $$;
  create function pool.litter(fails boolean default false) returns int language plpgsql as $$
    begin
      perform set_config('pool.left', 'behind', false), set_config('timezone', 'Asia/Tokyo', false);
      perform pg_advisory_lock(77);
      create temp table left_behind (a int);
      perform nextval('pool.items_id_seq');
      execute 'prepare left_behind as select 42';
      execute 'declare left_behind cursor with hold for select 42';
      execute 'listen left_behind';
      if fails then raise 'broken'; end if;
      return 1;
    end $$;
  create function pool.found() returns json language plpgsql as $$
    declare
      last text;
    begin
      begin
        last := lastval();
      exception when others then
        last := null;
      end;
      return json_build_object(
        'setting', coalesce(nullif(current_setting('pool.left', true), ''), 'none'),
        'zone', current_setting('timezone'),
        'temp', to_regclass('pg_temp.left_behind'),
        'last', last,
        'prepared', (select count(*) from pg_prepared_statements where from_sql),
        'cursors', (select count(*) from pg_cursors where name = 'left_behind'),
        'locks', (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
        'channels', (select count(*) from pg_listening_channels()));
    end $$;
  create function pool.rest_a_while() returns text language sql stable as $$ select pg_sleep(20)::text $$;
  create function pool.prepared_count() returns int language sql stable as $$
    select count(*)::int from pg_prepared_statements where name like 'relapi%' $$;
  create schema hidden;
  create table hidden.words (word text);
  insert into hidden.words values ('open sesame');
  grant usage on schema hidden to sea_clerk;
  grant select on hidden.words to sea_anon, sea_clerk;
  create function pool.word() returns text language plpgsql as $$ begin return (select word from hidden.words); end $$;
  create function pool.checks() returns trigger language plpgsql as $$
    begin
      if coalesce(current_setting('request.jwt.claims', true), '') = '' then raise 'no claims'; end if;
      return null;
    end $$;
  create constraint trigger checks after insert on pool.items deferrable initially deferred for each row execute function pool.checks();
`;

let db: TestDatabase;
let pooler: Pooler;
let direct: string;
let logLines: string[] = [];

/** Starts an API whose log is collected in `logLines`. */
const start = (options: StartOptions = {}): Promise<TestApi> => {
  const lines: string[] = [];
  logLines = lines;
  const logger: Logger = createLogger({
    error: (message, fields) => void lines.push(`error ${message} ${JSON.stringify(fields ?? {})}`),
    warn: (message) => void lines.push(`warn ${message}`),
  });
  return startApi({
    databaseUrl: pooler.through(db.urlAs("sea_login")),
    dbSchemas: ["pool"],
    dbTxEnd: "commit",
    dbPoolAcquisitionTimeout: 120, // hundreds of requests wait on a busy machine
    logger,
    ...options,
  });
};

const clerk = bearer({ role: "sea_clerk" });
const NOTHING_LEFT = { setting: "none", temp: null, last: null, prepared: 0, cursors: 0, locks: 0, channels: 0 };

/** Sends many concurrent requests of every kind, and returns the unexpected results. */
const ask = async (api: TestApi, count: number, mark: string, litters = true): Promise<readonly string[]> => {
  const kinds: readonly ((n: number) => Promise<string | undefined>)[] = [
    async () => {
      const { status, text } = await api.get("/items?select=id,name&order=id&limit=3");
      return status === 200 && JSON.parse(text).length === 3 ? undefined : `read ${status} ${text}`;
    },
    async () => {
      const { status, text } = await api.get("/secrets?select=id", { headers: clerk });
      return status === 200 && text === '[{"id":2}]' ? undefined : `policy ${status} ${text}`;
    },
    async () => {
      const { status, text } = await api.get("/secrets?select=id");
      return status === 200 && text === '[{"id":1}, \n {"id":3}]' ? undefined : `policy ${status} ${text}`;
    },
    async (n) => {
      const request = { headers: { ...clerk, prefer: "return=representation" }, body: { name: `${mark} ${n}` } };
      const { status, text } = await api.post("/items?select=owner", request);
      return status === 201 && text === '[{"owner":"sea_clerk"}]' ? undefined : `write ${status} ${text}`;
    },
    async () => {
      const { status, text } = await api.post("/rpc/whoami", { headers: clerk, body: {} });
      return status === 200 && text === '"sea_clerk"' ? undefined : `call ${status} ${text}`;
    },
    async () => {
      const answer = await api.gql("{ pool_items(limit: 2, order_by: {id: asc}) { id } }");
      return answer.data?.pool_items.length === 2 ? undefined : `query ${JSON.stringify(answer)}`;
    },
    async (n) => {
      const answer = await api.gql(
        "mutation ($name: String!) { insert_pool_items_one(object: {name: $name}) { name } }",
        { name: `${mark} gql ${n}` },
      );
      return answer.data?.insert_pool_items_one.name === `${mark} gql ${n}`
        ? undefined
        : `mutation ${JSON.stringify(answer)}`;
    },
    async () => {
      if (!litters) return undefined;
      const { status, text } = await api.post("/rpc/litter", { headers: clerk, body: { fails: true } });
      return status === 400 && text.includes("broken") ? undefined : `failing call ${status} ${text}`;
    },
  ];
  const failures: string[] = [];
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      // The index is within the length.
      const failure = await (kinds[n % kinds.length] as (n: number) => Promise<string | undefined>)(n);
      if (failure !== undefined) failures.push(failure);
    }),
  );
  return failures;
};

describe.skipIf(!canRun)("a pooler in transaction mode", () => {
  beforeAll(async () => {
    db = await testDatabase();
    direct = db.urlAs("sea_login");
    await db.query(SCHEMA);
    pooler = await startPgBouncer(direct, { users: ["sea_login", "postgres"] });
  });

  test.each(poolerKinds())("R-TX-15 %s: no request fails, including the first ones", async (kind, settings) => {
    const ownPooler = await startPgBouncer(direct, { users: ["sea_login"], settings });
    for (let turn = 0; turn < 2; turn++) {
      const api = await start({ databaseUrl: ownPooler.through(direct) });
      expect(await ask(api, 80, `${kind} ${turn}`)).toEqual([]);
      await api.close();
    }
    await ownPooler.stop();
  });

  test("R-TX-15 a client that disconnects stops only its own statement", async () => {
    const api = await start();
    const running = () =>
      db.query(
        "select from pg_stat_activity where query like '%rest_a_while%' and state = 'active' and pid <> pg_backend_pid()",
      );
    const leaving = new AbortController();
    const abortedCall = fetch(`${api.url}/rpc/rest_a_while`, { signal: leaving.signal }).catch(() => "left");
    await until(async () => (await running()).length === 1, "the statement runs");
    leaving.abort();
    expect(await abortedCall).toBe("left");
    await until(async () => (await running()).length === 0, "the statement is cancelled");
    expect(await ask(api, 80, "after leaving")).toEqual([]);
  });

  test("R-TX-15 no request fails if only errors reveal the pooler", async () => {
    // This is like a pooler that forwards the process id of its first backend.
    const otherPooler = await startPgBouncer(direct, { users: ["sea_login"] });
    const api = await start({ databaseUrl: otherPooler.through(direct), databasePooler: "session" });
    for (let turn = 0; turn < 4; turn++) {
      // Until it is detected, statements that a function prepares stay on their backend.
      expect(await ask(api, turn === 0 ? 200 : 80, `late ${turn}`, turn > 0)).toEqual([]);
    }
    expect(logLines.filter((line) => line.includes("DATABASE_POOLER=transaction"))).toHaveLength(1);
  });

  test("R-TX-15 statements that a pooler has prepared on a backend for others are kept", async () => {
    // PgBouncer from 1.21 on does this with `max_prepared_statements`: by the protocol, under its own names.
    const ownPooler = await startPgBouncer(direct, { users: ["sea_login"], settings: ["default_pool_size = 1"] });
    await withClient(ownPooler.through(direct), async (client) => {
      const preparedQuery = { name: "PGBOUNCER_1", text: "select $1::int + 1 as n", values: [41] };
      expect((await client.query(preparedQuery)).rows).toEqual([{ n: 42 }]);
      const api = await start({ databaseUrl: ownPooler.through(direct) });
      for (let turn = 0; turn < 2; turn++) expect(await ask(api, 80, `kept ${turn}`)).toEqual([]);
      expect((await api.post("/rpc/litter", { headers: clerk, body: {} })).status).toBe(200);
      await api.close();
      expect((await client.query(preparedQuery)).rows).toEqual([{ n: 42 }]);
      const result = await client.query("select name from pg_prepared_statements");
      expect(result.rows).toEqual([{ name: "PGBOUNCER_1" }]);
    });
    await ownPooler.stop();
  });

  test("R-TX-15 connections that are opened directly to the server have prepared statements again", async () => {
    const proxy = await startProxy(pooler.port);
    const url = new URL(direct);
    url.host = proxy.place;
    const api = await start({ databaseUrl: url.href, dbPool: 1 });
    const readSomeTimes = async (): Promise<number> => {
      for (let turn = 0; turn < 4; turn++) expect((await api.get("/items?select=id&limit=1")).status).toBe(200);
      return (await api.get("/rpc/prepared_count")).json();
    };
    expect(await readSomeTimes()).toBe(0);
    proxy.leadTo(Number(new URL(direct).port));
    expect(await readSomeTimes()).toBeGreaterThan(0);
    proxy.leadTo(pooler.port);
    expect(await readSomeTimes()).toBe(0);
    await api.close();
  });

  test("R-TX-15 R-TX-15a no statement is prepared, and no setting stays on a backend", async () => {
    const api = await start();
    for (let turn = 0; turn < 2; turn++) await ask(api, 80, `nothing ${turn}`);
    const result = await withClient(pooler.through(direct), (client) =>
      client.query(
        "select (select count(*)::int from pg_prepared_statements where name like 'relapi%') prepared, (select source from pg_settings where name = 'jit') jit",
      ),
    );
    expect(result.rows).toEqual([{ prepared: 0, jit: "default" }]);
  });

  test.each([
    ["that succeeds", { fails: false }, 200],
    ["that fails", { fails: true }, 400],
  ])("R-TX-15 R-TX-15b state that a function %s leaves is not seen by the next caller", async (_, body, status) => {
    const api = await start();
    const zone = (await api.get("/rpc/found")).json().zone;
    for (let turn = 0; turn < 5; turn++) {
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          expect((await api.post("/rpc/litter", { headers: clerk, body })).status).toBe(status);
        }),
      );
      const states = await Promise.all(Array.from({ length: 8 }, async () => (await api.get("/rpc/found")).json()));
      expect(states).toEqual(Array.from({ length: 8 }, () => ({ ...NOTHING_LEFT, zone })));
    }
    expect(
      await db.query(
        "select count(*)::int as held from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
      ),
    ).toEqual([{ held: 0 }]);
  });

  test("R-TX-15 R-TX-15b state that a function leaves before a rollback is not seen", async () => {
    const api = await start({ dbTxEnd: "rollback" });
    expect((await api.post("/rpc/litter", { headers: clerk, body: {} })).status).toBe(200);
    const { zone: _, ...state } = (await api.get("/rpc/found")).json();
    expect(state).toEqual(NOTHING_LEFT);
  });

  test("R-TX-15 R-TX-15b plans that a function made for one role are not used for another", async () => {
    const api = await start();
    for (let turn = 0; turn < 10; turn++) {
      expect((await api.post("/rpc/word", { headers: clerk, body: {} })).text).toBe('"open sesame"');
      expect((await api.post("/rpc/word", { body: {} })).json()).toMatchObject({ code: "42501" });
    }
  });

  test("R-TX-15 R-TX-15b deferred triggers see the caller", async () => {
    const api = await start();
    const { status, text } = await api.post("/items", { headers: clerk, body: { name: "deferred" } });
    expect([status, text]).toEqual([201, ""]);
  });

  test("R-SC-10a live queries follow changes by polling", async () => {
    const api = await start({ liveQueryInterval: 100 });
    const socket = await initSocket(api);
    subscribe(socket, "1", 'subscription { pool_items(where: {name: {_eq: "watched"}}) { name } }');
    expect((await socket.next()).payload).toEqual({ data: { pool_items: [] } });
    expect((await api.post("/items", { headers: clerk, body: { name: "watched" } })).status).toBe(201);
    expect((await socket.next()).payload).toEqual({ data: { pool_items: [{ name: "watched" }] } });
    await socket.close();
  });
});

describe.skipIf(!canRun)("features that need a database session", () => {
  const DEAF = expect.stringContaining("set DATABASE_DIRECT_URL");
  // Warnings about missing features do not matter here.
  const warnings = () => logLines.filter((line) => line.startsWith("warn") && !line.includes("npm run build"));

  test("R-SC-9 R-SC-10 a change of the schema through a pooler is noticed, with one warning", async () => {
    const api = await start({ dbSchemaPollInterval: 0.5 });
    await until(() => warnings().length > 0, "the warning");
    for (const name of ["one", "two"]) {
      expect((await api.get(`/new_${name}`)).status).toBe(404);
      await db.query(`create table pool.new_${name} (id int); grant select on pool.new_${name} to sea_anon`);
      await until(async () => (await api.get(`/new_${name}`)).status === 200, "the api serves the new table");
    }
    expect(warnings()).toEqual([DEAF]);
  });

  test("R-SC-10 the connection of DATABASE_DIRECT_URL receives notifications", async () => {
    const api = await start({ databaseDirectUrl: direct, dbSchemaPollInterval: 0 });
    await db.query("create table pool.told (id int); grant select on pool.told to sea_anon");
    await until(async () => {
      await db.query("notify pgrst");
      return (await api.get("/told")).status === 200;
    }, "the api knows the new table");
    expect(warnings()).toEqual([]);
  });

  test("R-SC-10 a DATABASE_DIRECT_URL that leads through a pooler receives no notifications", async () => {
    await start({ databaseDirectUrl: pooler.through(direct) });
    await until(() => warnings().length > 0, "the warning");
    expect(warnings()).toEqual([DEAF]);
  });

  test("R-SC-10 live queries with triggers are polled if notifications do not arrive", async () => {
    const sql = await buildLiveTriggers({
      ...readEnvironment({}),
      options: { databaseUrl: direct, dbSchemas: ["pool"] },
    });
    await db.query(sql);
    for (const databaseDirectUrl of [undefined, direct]) {
      // If notifications do not arrive, polling would be too late.
      const api = await start(
        databaseDirectUrl === undefined
          ? { liveQueryInterval: 100 }
          : { liveQueryInterval: HOUR_MS, databaseDirectUrl },
      );
      const socket = await initSocket(api);
      subscribe(
        socket,
        "1",
        `subscription { pool_items(where: {name: {_like: "triggered%"}}, order_by: {id: desc}) { name } }`,
      );
      await socket.next();
      // The source may be chosen only after the first change.
      for (const turn of [1, 2, 3]) {
        const name = `triggered ${databaseDirectUrl === undefined} ${turn}`;
        expect((await api.post("/items", { headers: clerk, body: { name } })).status).toBe(201);
        expect((await socket.next()).payload.data.pool_items[0]).toEqual({ name });
      }
      await socket.close();
      await api.close();
    }
  });
});

describe.skipIf(!canRun)("a pooler in session mode", () => {
  test("R-TX-15 a pooler in session mode that the setting declares is used like the server", async () => {
    const inSession = await startPgBouncer(direct, {
      users: ["sea_login"],
      mode: "session",
    });
    const api = await start({ databaseUrl: inSession.through(direct), databasePooler: "session" });
    for (let turn = 0; turn < 2; turn++) expect(await ask(api, 80, `session ${turn}`)).toEqual([]);
    expect(logLines.filter((line) => line.includes("prepared"))).toEqual([]);
    const counts = await api.get("/rpc/prepared_count");
    expect(Number(counts.text)).toBeGreaterThan(0);
  });
});
