/** The schema is reloaded when it has changed, without a notification. */
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { definePlugin, without, type Logger, type PluginContext } from "../../core/index.ts";
import { startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { capabilities, testDatabase, type TestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";
import { createLogger } from "../support/logger.ts";

let db: TestDatabase;
const logger: Logger = createLogger({});

/** Counts loads, and exposes the context. */
const startObserved = async (options: StartOptions = {}) => {
  let loads = 0;
  let context: PluginContext | undefined;
  const observer = definePlugin({
    name: "observer",
    apply: (_hooks, pluginContext) => {
      context = pluginContext;
      pluginContext.onModel(() => void loads++);
    },
  });
  const { parts = [], ...apiOptions } = options;
  const api = await startApi({ dbSchemaPollInterval: 1, logger, ...apiOptions, parts: [...parts, observer] });
  return { api, loads: () => loads, healthProblems: (): readonly string[] => context?.healthProblems.list() ?? [] };
};

/** The checksum of the catalogs that the last load has read. */
const loadVersion = async (api: TestApi): Promise<unknown> => {
  await api.reload();
  return api.relApi.model().pluginFacts["reload-poll"];
};

/** The parts of the checksum that belong to the whole server. `except`: a role whose settings do not count. */
const readRoles = async (except = ""): Promise<string> =>
  JSON.stringify(
    await db.query(
      "select (select json_agg(r order by r.oid) from pg_roles r) as roles, (select json_agg(m order by m.roleid, m.member) from pg_auth_members m) as members, (select json_agg(s order by s.setdatabase, s.setrole) from pg_db_role_setting s where s.setrole is distinct from to_regrole($1)) as settings",
      [except === "" ? null : except],
    ),
  );

beforeAll(async () => {
  db = await testDatabase();
  await db.query(`
    create type sea.poll_kind as enum ('a');
    create table sea.polled (id int primary key, kind sea.poll_kind, note text);
    create materialized view sea.polled_sum as select count(*) from sea.polled;
    create view sea.polled_view as select id from sea.polled;
    create function sea.poll_call() returns int language sql as 'select 1';
    grant select on sea.polled to sea_anon`);
});

describe.skipIf(!capabilities.realServer)("R-SC-9", () => {
  afterEach(() => void vi.useRealTimers());

  test("R-SC-9 a change is noticed, and the schema is reloaded", async () => {
    const { api, loads } = await startObserved({ dbSchemaPollInterval: 0.1 });
    for (const change of ["create table sea.noticed (id int)", "drop table sea.noticed"]) {
      const before = loads();
      await db.query(change);
      await until(async () => {
        await api.get("/ports?limit=1");
        return loads() > before;
      }, `the schema is reloaded after: ${change}`);
    }
    await api.close();
  });

  test("R-SC-9 a change of any part of the schema changes the checksum", async () => {
    const { api } = await startObserved({ dbSchemaPollInterval: 3600 });
    let version = await loadVersion(api);
    expect(version).toMatch(/^-?\d+$/);
    for (const change of [
      "alter table sea.polled add more int",
      "alter table sea.polled drop more",
      "alter table sea.polled rename note to remark",
      "alter table sea.polled alter remark set not null",
      "alter table sea.polled alter remark set default 'none'",
      "alter table sea.polled add constraint own_check check (id > 0)",
      "grant insert on sea.polled to sea_anon",
      "grant update (id) on sea.polled to sea_anon",
      "alter table sea.polled enable row level security",
      "alter table sea.polled force row level security",
      "alter table sea.polled replica identity full",
      "alter table sea.polled set unlogged",
      "create policy own on sea.polled using (id > 3)",
      "alter policy own on sea.polled using (id > 4)",
      "comment on column sea.polled.id is 'number'",
      "alter type sea.poll_kind add value 'b'",
      "create or replace view sea.polled_view as select id, kind from sea.polled",
      "create or replace function sea.poll_call() returns int language sql as 'select 2'",
      "comment on schema sea is 'all at sea'",
      "create function sea.poll_fire() returns trigger language plpgsql as 'begin return new; end'; create trigger fire before insert on sea.polled for each row execute function sea.poll_fire()",
      "drop table sea.polled cascade",
    ]) {
      await db.query(change);
      const newVersion = await loadVersion(api);
      expect([change, newVersion !== version]).toEqual([change, true]);
      version = newVersion;
    }
    await api.close();
  });

  test("R-SC-9 settings of roles in other databases are not a change", async () => {
    const { api } = await startObserved({ dbSchemaPollInterval: 3600 });
    const [{ name } = { name: "" }] = await db.query<{ name: string }>("select current_database() as name");
    const role = `polled_settings_${process.pid}`;
    await db.query(`create role ${role}`);
    const setIn = (database: string, kilobytes: number) =>
      db.query(`alter role ${role} in database "${database}" set work_mem = '${kilobytes}kB'`);
    let kilobytes = 1000;
    await setIn("template1", kilobytes);
    // Other test files may change roles of the server meanwhile, so this is repeated then.
    await until(async () => {
      const [otherRoles, version] = [await readRoles(role), await loadVersion(api)];
      await setIn("template1", ++kilobytes);
      const newVersion = await loadVersion(api);
      if ((await readRoles(role)) !== otherRoles) return false;
      expect(newVersion).toBe(version);
      return true;
    }, "other files change no roles and settings meanwhile");
    const version = await loadVersion(api);
    await setIn(name, kilobytes);
    expect(await loadVersion(api)).not.toBe(version);
    await db.query(`drop owned by ${role}; drop role ${role}`);
    await api.close();
  });

  test("R-SC-9 data, statistics and temporary objects are not a change", async () => {
    await db.query(
      "create table sea.busy (id int primary key); create materialized view sea.busy_sum as select count(*) from sea.busy",
    );
    const { api } = await startObserved({ dbSchemaPollInterval: 3600 });
    const client = await db.connect();
    // Roles and settings belong to the whole server, so this is repeated if another test file has changed them.
    await until(async () => {
      const [roles, version] = [await readRoles(), await loadVersion(api)];
      for (let turn = 0; turn < 2; turn++) {
        await client.query("insert into sea.busy select generate_series(1, 100)");
        await client.query("vacuum analyze sea.busy");
        await client.query("refresh materialized view sea.busy_sum");
        await client.query("truncate sea.busy");
        await client.query("reindex table sea.busy");
        await client.query(
          "create temp table if not exists mine (id serial primary key check (id > 0), b text default 'b')",
        );
        await client.query("create temp view mine_too as select * from mine");
        await client.query("create function pg_temp.own() returns int language sql as 'select 1'");
        await client.query("drop view mine_too; drop table mine; drop function pg_temp.own()");
      }
      const newVersion = await loadVersion(api);
      if ((await readRoles()) !== roles) return false;
      expect(newVersion).toBe(version);
      return true;
    }, "other files change no roles and settings meanwhile");
    await client.end();
    await api.close();
  });

  test("R-SC-9 the first request after a pause sees the change", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { api } = await startObserved();
    vi.advanceTimersByTime(10_000);
    await db.query(
      "create table sea.late (id int); insert into sea.late values (7); grant select on sea.late to sea_anon",
    );
    // The clock does not advance, so the request does not time out.
    const answers = await Promise.all([api.get("/late"), api.get("/late"), api.get("/late")]);
    expect(answers.map(({ status, text }) => [status, text])).toEqual(Array(3).fill([200, '[{"id":7}]']));
    vi.useRealTimers();
    await api.close();
  });

  test("R-SC-9 a server without requests does not check the schema, nor does a server without the plugin or an interval", async () => {
    const usedServer = await startObserved({ dbSchemaPollInterval: 0.1 });
    const unusedServer = await startObserved({ dbSchemaPollInterval: 0.1 });
    const otherServers = [
      await startObserved({ parts: [without("reload-poll")] }),
      await startObserved({ dbSchemaPollInterval: 0 }),
    ];
    expect((await unusedServer.api.get("/ports?limit=1")).status).toBe(200);
    let count = 0;
    /** Returns whether only the server with several requests notices a change. */
    const isLeftAlone = async (): Promise<boolean> => {
      const [before, after] = [unusedServer.loads(), usedServer.loads()];
      await db.query(`create table sea.unnoticed_${++count} (id int)`);
      await until(async () => {
        for (const { api } of [usedServer, ...otherServers]) expect((await api.get("/ports?limit=1")).status).toBe(200);
        return usedServer.loads() > after;
      }, "the server that is used notices the change");
      return unusedServer.loads() === before;
    };
    await until(isLeftAlone, "the server without requests sends nothing to its database");
    expect(otherServers.map(({ loads }) => loads())).toEqual([1, 1]);
    for (const { api } of [usedServer, unusedServer, ...otherServers]) await api.close();
  });
});

test("R-SC-4 after a failed reload the old schema is served, and plugins can read the error", async () => {
  let isBroken = false;
  const breaking = definePlugin({
    name: "breaking",
    apply: (hooks) => {
      hooks.introspect.tapPromise("breaking", async (model) => {
        if (isBroken) throw new Error("no such luck");
        return model;
      });
    },
  });
  const { api, healthProblems } = await startObserved({ parts: [breaking] });
  expect(healthProblems()).toEqual([]);
  const readPorts = (which: TestApi) => which.get("/ports?select=id&limit=1");
  const { status } = await readPorts(api);
  isBroken = true;
  await expect(api.reload()).rejects.toThrow();
  expect(healthProblems()).toEqual([
    expect.stringMatching(/^schema: failed to reload the schema; keeping the current one: ./),
  ]);
  expect((await readPorts(api)).status).toBe(status);
  isBroken = false;
  await api.reload();
  expect(healthProblems()).toEqual([]);
});
