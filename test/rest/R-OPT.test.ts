import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { capabilities, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { asAdmin } from "../support/api.ts";

const api = await startApi();

const FULL = "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE";
const allow = (methods: string) => ({ Allow: methods });

cases(api, [
  {
    title: "R-OPT-1 OPTIONS has an empty body, Allow and one Access-Control-Allow-Origin",
    request: "OPTIONS /vessels",
    status: 200,
    bytes: "",
    responseHeaders: {
      "Content-Length": "0",
      "Access-Control-Allow-Origin": "*",
      "Content-Type": null,
      ...allow(FULL),
    },
  },
  {
    title: "R-OPT-1 with an Origin header the CORS header is sent once",
    request: "OPTIONS /vessels",
    headers: { origin: "https://a.example" },
    status: 200,
    responseHeaders: { "Access-Control-Allow-Origin": "*", ...allow(FULL) },
    check: (answer) =>
      expect(answer.rawHeaders.filter(([name]) => name.toLowerCase() === "access-control-allow-origin")).toHaveLength(
        1,
      ),
  },
  {
    title: "R-OPT-1 OPTIONS rejects an invalid token",
    request: "OPTIONS /vessels",
    headers: { authorization: "Bearer x" },
    status: 401,
  },
  {
    title: "R-PATH-10 OPTIONS of an unknown relation is 404",
    request: "OPTIONS /nowhere",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },

  {
    title: "R-OPT-2 the methods in Allow are separated by commas without spaces",
    request: "OPTIONS /logbook",
    responseHeaders: { Allow: /^[A-Z]+(,[A-Z]+)*$/ },
  },

  {
    title: "R-OPT-3 a role with SELECT and INSERT may use GET, HEAD and POST",
    request: "OPTIONS /vessels",
    role: "sea_deckhand",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST"),
  },
  {
    title: "R-OPT-3 a role with only SELECT may use OPTIONS, GET and HEAD",
    request: "OPTIONS /watches",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-3 a role without SELECT may not use GET and HEAD",
    request: "OPTIONS /ports",
    role: "sea_writeonly",
    responseHeaders: allow("OPTIONS,POST,PUT,PATCH,DELETE"),
  },
  {
    title: "R-OPT-3 R-OPT-3a a grant on any one column counts",
    request: "OPTIONS /vessels",
    role: "sea_columns",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST,PUT,PATCH"),
  },
  {
    title: "R-OPT-3 a role with SELECT and UPDATE may use GET, HEAD and PATCH",
    request: "OPTIONS /cabins",
    role: "sea_captain",
    responseHeaders: allow("OPTIONS,GET,HEAD,PATCH"),
  },
  {
    title: "R-OPT-3 a role without a grant may only use OPTIONS",
    request: "OPTIONS /payroll",
    responseHeaders: allow("OPTIONS"),
  },
  {
    title: "R-OPT-3 R-OPT-3a grants to PUBLIC apply to every role",
    request: "OPTIONS /notices",
    role: "sea_deckhand",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-3 R-OPT-3a the owner may use all methods",
    request: "OPTIONS /captains_log",
    role: "sea_captain",
    responseHeaders: allow(FULL),
  },
  {
    title: "R-OPT-3 R-OPT-3a a superuser may use all methods",
    request: "OPTIONS /payroll",
    headers: asAdmin(),
    responseHeaders: allow(FULL),
  },
  { title: "R-OPT-3 partitioned tables have all methods", request: "OPTIONS /soundings", responseHeaders: allow(FULL) },

  {
    title: "R-OPT-4 a simple view with a derived key has all methods",
    request: "OPTIONS /fleet",
    responseHeaders: allow(FULL),
  },
  {
    title: "R-OPT-4 R-OPT-4a the methods of a view do not depend on grants",
    request: "OPTIONS /fleet",
    role: "sea_deckhand",
    responseHeaders: allow(FULL),
  },
  {
    title: "R-OPT-4 a read-only view has only GET and HEAD",
    request: "OPTIONS /all_names",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-4 a view of a join can only be read",
    request: "OPTIONS /voyage_sheet",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-4 a view with triggers for all writes has all methods",
    request: "OPTIONS /vessel_cards",
    responseHeaders: allow(FULL),
  },
  {
    title: "R-OPT-4 a view with a trigger for inserts has GET, HEAD and POST",
    request: "OPTIONS /vessel_intake",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST"),
  },
  {
    title: "R-OPT-4 an updatable view without a key has no PUT",
    request: "OPTIONS /log_pages",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST,PATCH,DELETE"),
  },
  {
    title: "R-OPT-4 R-OPT-4a a materialized view has only GET and HEAD",
    request: "OPTIONS /port_tonnage",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-4 R-OPT-4a a read-only foreign table has only GET and HEAD",
    request: "OPTIONS /engine_plates",
    when: capabilities.foreignTables,
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-4 R-OPT-4a a foreign table without a grant has only OPTIONS",
    request: "OPTIONS /engine_plates",
    role: "sea_deckhand",
    when: capabilities.foreignTables,
    responseHeaders: allow("OPTIONS"),
  },

  {
    title: "R-OPT-5 a relation without a primary key has no PUT",
    request: "OPTIONS /logbook",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST,PATCH,DELETE"),
  },

  {
    title: "R-OPT-6 a table with all grants and a key has all methods",
    request: "OPTIONS /ports",
    responseHeaders: allow(FULL),
  },
  {
    title: "R-OPT-6 a profile header selects a relation of another schema",
    request: "OPTIONS /depots",
    headers: { "accept-profile": "land" },
    responseHeaders: allow(FULL),
  },

  {
    title: "R-OPT-7 a volatile function has only POST",
    request: "OPTIONS /rpc/next_number",
    responseHeaders: allow("OPTIONS,POST"),
  },
  {
    title: "R-OPT-7 a stable function has POST, GET and HEAD without its arguments being named",
    request: "OPTIONS /rpc/fleet_weight",
    responseHeaders: allow("OPTIONS,POST,GET,HEAD"),
  },
  {
    title: "R-OPT-7 an immutable function has POST, GET and HEAD",
    request: "OPTIONS /rpc/add_numbers",
    responseHeaders: allow("OPTIONS,POST,GET,HEAD"),
  },
  {
    title: "R-OPT-7 overloads of a function have the methods of all of them",
    request: "OPTIONS /rpc/mixed_volatility",
    responseHeaders: allow("OPTIONS,POST,GET,HEAD"),
  },
  {
    title: "R-OPT-7 OPTIONS of an unknown function is 404",
    request: "OPTIONS /rpc/fleet_weigth",
    status: 404,
    answer: {
      code: "PGRST202",
      details:
        "Searched for the function sea.fleet_weigth without parameters, but no matches were found in the schema cache.",
      hint: "Perhaps you meant to call the function sea.fleet_weight",
      message: "Could not find the function sea.fleet_weigth without parameters in the schema cache",
    },
  },
  { title: "R-OPT-7 OPTIONS of a function that cannot be called is 404", request: "OPTIONS /rpc/unnamed", status: 404 },

  { title: "R-OPT-8 the root has GET and HEAD", request: "OPTIONS /", responseHeaders: allow("OPTIONS,GET,HEAD") },
  {
    title: "R-OPT-8 the root under the prefix has GET and HEAD",
    request: "OPTIONS /api",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
]);

test("R-OPT-1 OPTIONS needs no connection, and works while the database does not respond", async () => {
  const guardedApi = await startApi({ dbPreRequest: "sea.before_request" });
  const answer = await guardedApi.options("/vessels", { headers: { "x-pre": "raise" } });
  expect(answer.status).toBe(200);
  expect((await guardedApi.get("/vessels", { headers: { "x-pre": "raise" } })).status).toBe(418);
});

test("R-OPT-2 Allow lists only methods that a plugin handles", async () => {
  const readOnlyApi = await startApi({ parts: [without("rest-writes")] });
  expect((await readOnlyApi.options("/vessels")).headers["allow"]).toBe("OPTIONS,GET,HEAD");
  const rejection = await readOnlyApi.post("/vessels", { body: {} });
  expect([rejection.status, rejection.json().code]).toEqual([405, "PGRST117"]);
});

test("R-OPT-7 without the plugin rest-rpc the path of a function is unknown", async () => {
  const tablesApi = await startApi({ parts: [without("rest-rpc")] });
  const rejection = await tablesApi.get("/rpc/add_numbers?a=1&b=2");
  expect([rejection.status, rejection.json().code]).toEqual([404, "PGRST125"]);
});

test("R-OPT-1 without the plugin rest-options OPTIONS is rejected", async () => {
  const silentApi = await startApi({ parts: [without("rest-options")] });
  const rejection = await silentApi.options("/vessels");
  expect([rejection.status, rejection.json().code]).toEqual([405, "PGRST117"]);
});

describe("R-OPT-4 R-OPT-9 R-PUT-6 each method that Allow names succeeds", async () => {
  const ownApi = await startApi({ dbSchemas: ["kinds"], dbTxEnd: "rollback" });
  await ownApi.sql(`
    create schema kinds;
    grant usage on schema kinds to sea_anon;
    create table kinds.plain (id int primary key, v text);
    create table kinds.log (v text);
    create table kinds.identity_always (id int generated always as identity primary key, v text);
    create table kinds.identity_default (id int generated by default as identity primary key, v text);
    create table kinds.generated (n int, id int generated always as (n * 2) stored primary key, v text);
    create table kinds.deferrable_key (id int primary key deferrable, v text);
    create table kinds.also (id int primary key, v text);
    create rule log_it as on insert to kinds.also do also insert into kinds.log values (new.v);
    create table kinds.soft (id int primary key, v text, gone boolean not null default false);
    create rule hide as on delete to kinds.soft do instead update kinds.soft set gone = true where id = old.id;
    create table kinds.kept (id int primary key, v text);
    create rule keep as on delete to kinds.kept do instead nothing;
    create table kinds.conditional (id int primary key, v text);
    create rule skip_some as on update to kinds.conditional where new.v = 'no' do instead nothing;
    create view kinds.of_plain as select id, v from kinds.plain;
    create view kinds.of_view as select id, v from kinds.of_plain;
    create view kinds.of_identity as select id, v from kinds.identity_always;
    create view kinds.of_generated as select id, n, v from kinds.generated;
    create view kinds.of_deferrable as select id, v from kinds.deferrable_key;
    create view kinds.of_also as select id, v from kinds.also;
    create view kinds.of_soft as select id, v from kinds.soft where not gone;
    create view kinds.of_kept as select id, v from kinds.kept;
    create view kinds.grouped as select v, count(*) from kinds.plain group by v;
    create view kinds.by_rules as select id, v from kinds.plain;
    create rule on_insert as on insert to kinds.by_rules do instead insert into kinds.plain values (new.id, new.v) returning id, v;
    create rule on_update as on update to kinds.by_rules do instead update kinds.plain set v = new.v where id = old.id returning id, v;
    create rule on_delete as on delete to kinds.by_rules do instead delete from kinds.plain where id = old.id returning id, v;
    create view kinds.by_silent_rules as select id, v from kinds.plain;
    create rule on_insert as on insert to kinds.by_silent_rules do instead insert into kinds.plain values (new.id, new.v);
    create rule on_update as on update to kinds.by_silent_rules do instead (update kinds.plain set v = new.v where id = old.id; insert into kinds.log values (new.v));
    create rule on_delete as on delete to kinds.by_silent_rules do instead delete from kinds.plain where id = old.id;
    create view kinds.read_only as select id, v from kinds.plain;
    create rule on_insert as on insert to kinds.read_only do instead nothing;
    create rule on_update as on update to kinds.read_only do instead nothing;
    create rule on_delete as on delete to kinds.read_only do instead nothing;
    create view kinds.by_triggers as select p.id, p.v, count(l.v) as notes from kinds.plain p left join kinds.log l on l.v = p.v group by p.id;
    create function kinds.write() returns trigger language plpgsql as $$
      begin
        if tg_op = 'INSERT' then insert into kinds.plain values (new.id, new.v); return new; end if;
        if tg_op = 'UPDATE' then update kinds.plain set v = new.v where id = old.id; return new; end if;
        delete from kinds.plain where id = old.id;
        return old;
      end $$;
    create trigger write instead of insert or update or delete on kinds.by_triggers for each row execute function kinds.write();
    create view kinds.of_triggers as select id, v from kinds.by_triggers;
    create view kinds.only_insert as select p.id, p.v, 1 as one from kinds.plain p join kinds.plain q using (id);
    create trigger write instead of insert on kinds.only_insert for each row execute function kinds.write();
    create materialized view kinds.stored as select id, v from kinds.plain;
    insert into kinds.plain values (1, 'one');
    insert into kinds.identity_default (v) values ('one');
    insert into kinds.identity_always (v) values ('one');
    insert into kinds.generated (n, v) values (1, 'one');
    insert into kinds.deferrable_key values (1, 'one');
    insert into kinds.also values (1, 'one');
    insert into kinds.soft values (1, 'one');
    insert into kinds.kept values (1, 'one');
    insert into kinds.conditional values (1, 'one');
    grant all on all tables in schema kinds to sea_anon;
  `);
  await ownApi.reload();

  const expectedMethods: Readonly<Record<string, string>> = {
    plain: FULL,
    identity_always: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    identity_default: FULL,
    generated: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    deferrable_key: FULL,
    also: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    soft: FULL,
    kept: "OPTIONS,GET,HEAD,POST,PUT,PATCH",
    conditional: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    of_plain: FULL,
    of_view: FULL,
    of_identity: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    of_generated: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    of_deferrable: FULL,
    of_also: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    of_soft: FULL,
    of_kept: "OPTIONS,GET,HEAD,POST,PUT,PATCH",
    grouped: "OPTIONS,GET,HEAD",
    by_rules: FULL,
    by_silent_rules: "OPTIONS,GET,HEAD,POST,PATCH,DELETE",
    read_only: "OPTIONS,GET,HEAD",
    by_triggers: FULL,
    of_triggers: FULL,
    only_insert: "OPTIONS,GET,HEAD,POST",
    stored: "OPTIONS,GET,HEAD",
  };
  const generatesKey = /identity|generated/;

  test.each(Object.keys(expectedMethods))(
    "R-OPT-4 R-OPT-9 R-PUT-6 R-WRT-7 the methods of Allow succeed on %s",
    async (name) => {
      const allowedMethods = (await ownApi.request("OPTIONS", `/${name}`)).headers["allow"] ?? "";
      const body = (id: number): unknown =>
        /generated/.test(name) ? { n: id, v: "x" } : generatesKey.test(name) ? { v: "x" } : { id, v: "x" };
      const failures: unknown[] = [];
      for (const method of allowedMethods.split(","))
        for (const id of method === "PUT" ? [1, 5] : [1]) {
          const path =
            method === "POST" || method === "OPTIONS"
              ? `/${name}`
              : `/${name}?${name === "grouped" ? "v=eq.one" : `id=eq.${id}`}`;
          const requestBody =
            method === "POST"
              ? body(6)
              : method === "PATCH"
                ? { v: "x" }
                : method === "PUT"
                  ? { id, v: "x" }
                  : undefined;
          const { status, text } = await ownApi.request(
            method,
            path,
            requestBody === undefined ? {} : { body: requestBody },
          );
          if (status >= 300) failures.push([method, id, status, text]);
        }
      expect(failures).toEqual([]);
      expect(allowedMethods).toBe(expectedMethods[name]);
    },
  );

  test("R-PUT-6 PUT through triggers and rules distinguishes inserts from updates, and writes once", async () => {
    const committingApi = await startApi({ dbSchemas: ["kinds"], dbTxEnd: "commit" });
    for (const [i, name] of ["by_triggers", "of_triggers", "by_rules", "deferrable_key", "of_deferrable"].entries()) {
      const id = 100 + i;
      const putRow = async (v: string, key = id) =>
        committingApi.request("PUT", `/${name}?id=eq.${id}&select=id,v`, {
          headers: { prefer: "return=representation" },
          body: [{ id: key, v }],
        });
      const rows: unknown[] = [];
      for (const v of ["first", "second"]) {
        const { status, text } = await putRow(v);
        rows.push([status, JSON.parse(text)]);
      }
      expect([name, rows]).toEqual([
        name,
        [
          [201, [{ id, v: "first" }]],
          [200, [{ id, v: "second" }]],
        ],
      ]);
      expect((await putRow("third", id + 1000)).json().code).toBe("PGRST115");
      expect((await committingApi.get(`/${name}?id=eq.${id}&select=v`)).json()).toEqual([{ v: "second" }]);
      expect((await committingApi.get(`/${name}?id=eq.${id + 1000}&select=v`)).json()).toEqual([]);
    }
    await committingApi.close();
  });

  test("R-HNT-7 the hint of an upsert into a relation without ON CONFLICT suggests PUT", async () => {
    const lenientApi = await startApi({
      dbSchemas: ["kinds"],
      compatMode: false,
      restPrefixes: ["/"],
    });
    const upsert = async (name: string, resolution = "merge-duplicates") =>
      (
        await lenientApi.post(`/${name}`, {
          headers: { prefer: `tx=rollback, resolution=${resolution}` },
          body: { id: 1, v: "x" },
        })
      ).json();
    for (const [name, code] of [
      ["by_triggers", "42P10"],
      ["of_triggers", "42P10"],
      ["by_rules", "0A000"],
      ["deferrable_key", "55000"],
      ["of_deferrable", "55000"],
    ] as const)
      for (const resolution of ["merge-duplicates", "ignore-duplicates"])
        expect([name, await upsert(name, resolution)]).toMatchObject([
          name,
          { code, hint: expect.stringContaining(`PUT /${name}?id=eq.`) },
        ]);
    expect(
      (
        await lenientApi.post("/plain?on_conflict=v", {
          headers: { prefer: "resolution=merge-duplicates" },
          body: { id: 1 },
        })
      ).json(),
    ).toMatchObject({ code: "42P10", hint: null });
    await lenientApi.close();
  });

  test("R-WRT-7 R-WRT-7a writes that request only the number of rows work with rules on both surfaces", async () => {
    const committingApi = await startApi({ dbSchemas: ["kinds"], dbTxEnd: "commit" });
    const minimal = { prefer: "return=minimal" };
    expect(
      (
        await committingApi.post("/also", {
          headers: minimal,
          body: [
            { id: 7, v: "a" },
            { id: 8, v: "b" },
          ],
        })
      ).status,
    ).toBe(201);
    expect((await committingApi.post("/of_also", { headers: minimal, body: { id: 9, v: "c" } })).status).toBe(201);
    expect(
      (await committingApi.gql('mutation { insert_kinds_also(objects: [{id: 10, v: "d"}]) { affected_rows } }')).data,
    ).toEqual({
      insert_kinds_also: { affected_rows: 1 },
    });
    expect((await committingApi.get("/log?v=neq.one&order=v")).json()).toEqual(
      ["a", "b", "c", "d"].map((v) => ({ v })),
    );
    expect((await committingApi.delete("/of_soft?id=eq.1", { headers: minimal })).status).toBe(204);
    expect((await committingApi.get("/soft?id=eq.1&select=gone")).json()).toEqual([{ gone: true }]);
    expect(
      (await committingApi.gql("mutation { delete_kinds_soft(where: {id: {_eq: 1}}) { affected_rows } }")).errors,
    ).toBeUndefined();
    await committingApi.close();
  });
});
