import { expect, test } from "vitest";
import { definePlugin, joinSql, RelApiError, sql, bindValue } from "../../core/index.ts";
import { capabilities, startApi, type TestApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { until } from "../support/until.ts";

const api = await startApi({ dbPreRequest: "sea.before_request" });

const code = async (target: TestApi, path: string, headers = {}): Promise<unknown> => {
  const answer = await target.get(path, { headers });
  return answer.status === 200 ? 200 : answer.json().code;
};

test("R-SC-1 every kind of relation is served, and partitions are not", async () => {
  for (const name of ["ports", "fleet", "port_tonnage", "soundings"])
    expect([name, (await api.get(`/${name}?limit=1`)).status]).toEqual([name, 200]);
  expect(await code(api, "/soundings_2023")).toBe("PGRST205");
});

test("R-SC-1 R-SC-1b the model contains relations that the caller may not read", async () => {
  // A relation unknown to the cache would cause PGRST205.
  expect(await code(api, "/payroll")).toBe("42501");
});

test("R-SC-2 missing=default uses the defaults of identities, domains and columns without a default", async () => {
  const answer = await api.post("/certificates?columns=sailor_id,serial_number,grade,summary", {
    body: [{ sailor_id: 1 }],
    headers: { prefer: "missing=default" },
  });
  expect(answer.json().code).toBe("428C9"); // a generated column accepts no default
  const insertAnswer = await api.post(
    "/certificates?columns=sailor_id,serial_number,grade&select=serial_number,grade",
    {
      body: [{ sailor_id: 1 }],
      headers: { prefer: "missing=default, return=representation, tx=rollback" },
    },
  );
  expect(insertAnswer.json()).toEqual([{ serial_number: expect.any(Number), grade: "b" }]);
});

test("R-SC-3 NOTIFY reloads the schema, for each known payload", async () => {
  await api.sql("create table sea.new_thing (id int primary key); grant select on sea.new_thing to sea_anon");
  expect(await code(api, "/new_thing")).toBe("PGRST205");
  await api.sql("notify pgrst, 'something else'");
  await api.sql("notify pgrst, 'reload schema'");
  await until(async () => (await code(api, "/new_thing")) === 200, "/new_thing is served");
  await api.sql(
    "create view sea.newer_thing as select * from sea.new_thing; grant select on sea.newer_thing to sea_anon; notify pgrst",
  );
  await until(async () => (await code(api, "/newer_thing")) === 200, "/newer_thing is served");
  await api.sql(
    "create view sea.newest_thing as select * from sea.new_thing; grant select on sea.newest_thing to sea_anon; notify pgrst, 'reload config'",
  );
  await until(async () => (await code(api, "/newest_thing")) === 200, "/newest_thing is served");
});

test("R-SC-1 R-SC-1b loads run read-only, with an empty search path and without parallel workers", async () => {
  const settings = ["transaction_read_only", "transaction_isolation", "search_path", "max_parallel_workers_per_gather"];
  let read: readonly unknown[] = [];
  const look = definePlugin({
    name: "look-at-settings",
    apply: (hooks) =>
      hooks.introspect.tapPromise("look-at-settings", async (model, { query }) => {
        const settingValues = settings.map((name) => sql`pg_catalog.current_setting(${bindValue(name, "text")})`);
        const [row] = await query<{ readonly all: readonly unknown[] }>(
          sql`select pg_catalog.json_build_array(${joinSql(settingValues)}) as all`,
        );
        read = row?.all ?? [];
        return model;
      }),
  });
  await startApi({ parts: [look] });
  expect(read).toEqual(["on", "repeatable read", "", "0"]);
});

test("R-SC-3 the channel of notifications is a setting and can be turned off", async () => {
  const ownApi = await startApi({ dbChannel: "harbour" });
  const deafApi = await startApi({ dbChannelEnabled: false });
  const versionOfDeaf = deafApi.relApi.model().version;
  await api.sql(
    "create table sea.by_harbour (id int primary key); grant select on sea.by_harbour to sea_anon; notify harbour, 'reload schema'",
  );
  await until(async () => (await code(ownApi, "/by_harbour")) === 200, "/by_harbour is served");
  await api.sql("notify pgrst, 'reload schema'");
  await until(async () => (await code(api, "/by_harbour")) === 200, "/by_harbour is served");
  expect(deafApi.relApi.model().version).toBe(versionOfDeaf);
});

test("R-SC-4 the old model serves during a reload and after a failed one", async () => {
  let mode: "fine" | "fails" | "waits" = "fine";
  let goOn = (): void => {};
  let markBegun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (markBegun = resolve));
  const gate = definePlugin({
    name: "reload-gate",
    stage: 100,
    apply: (hooks) => {
      hooks.introspect.tapPromise("reload-gate", async (model) => {
        if (mode === "fails") throw new RelApiError({ code: "connection-lost", status: 503, message: "gone" });
        if (mode === "waits") {
          const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
          markBegun();
          await mayGoOn;
        }
        return model;
      });
    },
  });
  const ownApi = await startApi({ parts: [gate] });
  const { version } = ownApi.relApi.model();
  mode = "fails";
  await expect(ownApi.reload()).rejects.toThrow("gone");
  expect(ownApi.relApi.model().version).toBe(version);
  expect((await ownApi.get("/ports?select=id&id=eq.1")).json()).toEqual([{ id: 1 }]);
  mode = "waits";
  const reload = ownApi.reload();
  await hasBegun;
  expect(ownApi.relApi.model().version).toBe(version);
  // The embedded database has one connection, which the load occupies.
  if (capabilities.realServer) expect((await ownApi.get("/ports?select=id&id=eq.1")).json()).toEqual([{ id: 1 }]);
  mode = "fine";
  goOn();
  await reload;
  expect(ownApi.relApi.model().version).toBeGreaterThan(version);
});

test("R-PATH-10 R-SC-4 a dropped relation is the database's error until the reload", async () => {
  await api.sql("create table sea.short_lived (id int primary key); grant select on sea.short_lived to sea_anon");
  await api.reload();
  expect(await code(api, "/short_lived")).toBe(200);
  await api.sql("drop table sea.short_lived");
  const droppedAnswer = await api.get("/short_lived");
  expect([droppedAnswer.status, droppedAnswer.json().code]).toEqual([404, "42P01"]);
  await api.reload();
  expect(await code(api, "/short_lived")).toBe("PGRST205");
});

test("R-SC-4 a column may change its type while the server runs", async () => {
  await api.sql(
    "create table sea.shifting (id int primary key, v int); grant select on sea.shifting to sea_anon; insert into sea.shifting values (1, 5)",
  );
  await api.reload();
  expect((await api.get("/shifting?select=v")).json()).toEqual([{ v: 5 }]);
  await api.sql("alter table sea.shifting alter v type text");
  expect((await api.get("/shifting?select=v")).json()).toEqual([{ v: "5" }]);
});

const raiseHeaders = { "x-pre": "raise" };

cases(api, [
  {
    title: "R-SC-7 a request for an unknown relation runs no statement",
    request: "GET /nowhere",
    headers: raiseHeaders,
    status: 404,
  },
  {
    title: "R-SC-7 a request for an unknown embed runs no statement",
    request: "GET /vessels?select=nope(*)",
    headers: raiseHeaders,
    status: 400,
  },
  {
    title: "R-SC-7 a call of an unknown function runs no statement",
    request: "POST /rpc/nope",
    headers: raiseHeaders,
    body: {},
    status: 404,
  },
  {
    title: "R-SC-7 a write to an unknown column runs no statement",
    request: "POST /ports",
    headers: raiseHeaders,
    body: { nope: 1 },
    status: 400,
  },
  {
    title: "R-SC-7 a request for an unknown media type runs no statement",
    request: "GET /ports",
    headers: { ...raiseHeaders, accept: "text/nope" },
    status: 406,
  },
  {
    title: "R-SC-7 a valid request runs the pre-request function",
    request: "GET /ports",
    headers: raiseHeaders,
    status: 418,
  },
]);
