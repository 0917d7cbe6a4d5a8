/** SQL, execution plans and the configuration, for administrators. */
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import type { HeaderValues } from "../support/http.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";

const start = (overrides: StartOptions = {}): Promise<TestApi> => startApi(forGraphql({ preset: plus, ...overrides }));

const api = await start({
  runSql: true,
  metadata: buildMetadataDocument([
    table("album", {
      select_permissions: permissions({
        shopper: { columns: ["id", "title"], filter: { id: { _eq: "X-Hasura-Album" } } },
      }),
    }),
    table("artist"),
  ]),
});

const NOT_FOUND = { path: "$", error: "resource does not exist", code: "not-found" };

const runSql = async (sql: string, extraArgs: object = {}, headers: HeaderValues = asAdmin()): Promise<any> =>
  (await api.post("/v2/query", { body: { type: "run_sql", args: { sql, ...extraArgs } }, headers })).json();

test.each(["bulk", "concurrent_bulk"])("P-HAS-6c %s runs its commands up to the first error", async (type) => {
  const scripts = ["create table bulk_first (id int)", "select 1 / 0", "create table bulk_last (id int)"];
  const args = scripts.map((sql) => ({ type: "run_sql", args: { sql } }));
  const answer = await api.post("/v2/query", { body: { type, args }, headers: asAdmin() });
  expect([answer.status, answer.json().path]).toEqual([400, "$.args[1].args"]);
  const existenceQuery =
    "select to_regclass('bulk_first') is not null as first, to_regclass('bulk_last') is not null as last";
  expect(await runSql(existenceQuery)).toMatchObject({
    result: [
      ["first", "last"],
      ["t", "f"],
    ],
  });
  await runSql("drop table bulk_first");
});

describe("P-HAS-6 X-RUN-1 run_sql", () => {
  test("P-HAS-6a run_sql returns rows as text, with NULL, repeated names and empty results", async () => {
    expect(await runSql("select 1 as a, null as a, true as \"1\", '{1,2}'::int[] as b, 12.50 as c")).toEqual({
      result_type: "TuplesOk",
      result: [
        ["a", "a", "1", "b", "c"],
        ["1", "NULL", "t", "{1,2}", "12.50"],
      ],
    });
    expect(await runSql("select 1 where false")).toEqual({ result_type: "TuplesOk", result: [["?column?"]] });
    expect(await runSql("set local work_mem = '4MB'; select 2 as two")).toEqual({
      result_type: "TuplesOk",
      result: [["two"], ["2"]],
    });
    expect(await runSql("-- nothing")).toEqual({ result_type: "CommandOk", result: null });
  });

  test("P-HAS-6b run_sql rejects another source than the served one", async () => {
    expect(await runSql("select 1 as a", { source: "default" })).toMatchObject({ result_type: "TuplesOk" });
    const unknown = { path: "$.args", error: 'source with name "zz" does not exist', code: "not-exists" };
    expect(await runSql("create table run_sql_zz (id int)", { source: "zz" })).toEqual(unknown);
    expect(await runSql("select to_regclass('run_sql_zz') as found")).toMatchObject({ result: [["found"], ["NULL"]] });
    const bulk = [
      { type: "run_sql", args: { sql: "select 1" } },
      { type: "run_sql", args: { sql: "select 1", source: "zz" } },
    ];
    const answer = await api.post("/v2/query", { body: { type: "bulk", args: bulk }, headers: asAdmin() });
    expect(answer.json()).toEqual({ ...unknown, path: "$.args[1].args" });
    const bareApi = await start({ runSql: true });
    expect(
      (
        await bareApi.post("/v2/query", {
          body: { type: "run_sql", args: { sql: "select 1", source: "zz" } },
          headers: asAdmin(),
        })
      ).json(),
    ).toEqual(unknown);
    await bareApi.close();
  });

  test("P-HAS-6 P-HAS-6b run_sql is one transaction and reloads the schema", async () => {
    const failure = await runSql("create table run_sql_a (id int); select 1/0");
    expect(failure).toMatchObject({
      path: "$.args",
      error: "query execution failed",
      code: "postgres-error",
      internal: { error: { status_code: "22012", message: "division by zero" } },
    });
    expect(await runSql("select to_regclass('run_sql_a') as found")).toMatchObject({ result: [["found"], ["NULL"]] });
    expect(await runSql("create schema run_sql; create table run_sql.one (id int primary key)")).toEqual({
      result_type: "CommandOk",
      result: null,
    });
    expect(await runSql("select count(*) as n from run_sql.one")).toMatchObject({ result: [["n"], ["0"]] });
    await runSql("drop schema run_sql cascade");
  });

  test("P-HAS-6 run_sql with read_only writes nothing", async () => {
    expect(await runSql("create table run_sql_b (id int)", { read_only: true })).toMatchObject({
      code: "postgres-error",
      internal: { error: { status_code: "25006" } },
    });
    expect(await runSql("select 1 as one", { read_only: true })).toMatchObject({ result: [["one"], ["1"]] });
  });

  test("X-RUN-1 run_sql leaves no state in the database session", async () => {
    await runSql("set work_mem = '5MB'; set role sea_anon; select set_config('request.jwt.claims', '{}', false)");
    await runSql("create temp table run_sql_left (id int); select pg_advisory_lock(77)");
    const leftovers = await runSql(
      "select current_user = session_user as same, current_setting('work_mem') as mem, to_regclass('pg_temp.run_sql_left') as temp, (select count(*) from pg_locks where locktype = 'advisory' and objid = 77) as locks",
    );
    expect(leftovers.result[1][0]).toBe("t");
    expect(leftovers.result[1][1]).not.toBe("5MB");
    expect(leftovers.result[1].slice(2)).toEqual(["NULL", "0"]);
    expect(await api.gql("{ artist_by_pk(id: 1) { id } }")).toEqual({ data: { artist_by_pk: { id: 1 } } });
  });

  test("P-HAS-6c a bulk of run_sql runs in sequence and stops at the first error", async () => {
    const run = (sql: string): object => ({ type: "run_sql", args: { sql } });
    const send = async (args: unknown) =>
      (await api.post("/v2/query", { body: { type: "bulk", args }, headers: asAdmin() })).json();
    expect(await send([run("select 1 as a"), run("select 2 as b")])).toMatchObject([
      { result: [["a"], ["1"]] },
      { result: [["b"], ["2"]] },
    ]);
    expect(await send([run("select 1"), run("select x")])).toMatchObject({
      path: "$.args[1].args",
      code: "postgres-error",
    });
    expect(await send([{ type: "bulk", args: [] }])).toMatchObject({ code: "parse-failed" });
  });

  test.each([
    ["a role, with the admin secret", asAdmin("sea_captain")],
    ["nobody", {}],
    ["a wrong secret", { "x-session-admin-secret": "wrong" }],
  ])("P-HAS-6 %s is rejected", async (_, headers) => {
    expect(await runSql("create table run_sql_c (id int)", {}, headers)).toMatchObject({ code: "access-denied" });
    expect(await api.sql("select to_regclass('run_sql_c')::text as found")).toEqual([{ found: null }]);
  });

  test.each([
    ["no type", {}, "parse-failed"],
    ["another type", { type: "select", args: {} }, "parse-failed"],
    ["no sql", { type: "run_sql", args: {} }, "parse-failed"],
    ["sql that is no text", { type: "run_sql", args: { sql: 1 } }, "parse-failed"],
    ["a list", [], "parse-failed"],
  ])("P-HAS-6 run_sql rejects %s", async (_, body, code) => {
    expect((await api.post("/v2/query", { body, headers: asAdmin() })).json()).toMatchObject({ code });
  });

  test("P-HAS-6 run_sql is unknown unless it is switched on", async () => {
    const disabledApi = await start();
    const answer = await disabledApi.post("/v2/query", {
      body: { type: "run_sql", args: { sql: "select 1" } },
      headers: asAdmin(),
    });
    expect([answer.status, answer.json()]).toEqual([404, NOT_FOUND]);
    await disabledApi.close();
  });
});

const explain = async (body: unknown, headers: HeaderValues = asAdmin()): Promise<any> =>
  (await api.post("/v1/graphql/explain", { body, headers })).json();

describe("P-HAS-7 explain", () => {
  test("P-HAS-7 explain shows the SQL for an administrator and for a role with its permission", async () => {
    const query = { query: "query ($n: Int!) { album(limit: $n) { id } }", variables: { n: 1 } };
    const [{ field, sql, plan }] = await explain({ query });
    expect(field).toBe("album");
    expect(sql).toContain('"album"');
    expect(plan.join("\n")).toContain("album");
    const [ownExplanation] = await explain({ query, user: { "X-Hasura-Role": "shopper", "x-hasura-album": "7" } });
    expect(ownExplanation.sql).not.toBe(sql);
    expect(ownExplanation.plan.join("\n")).toMatch(/id = 7/);
  });

  test("P-HAS-7a explain shows a statement for each field and one plan for a subscription", async () => {
    const query = "query ($n: Int!) { a: album(limit: 1) { id } __typename artist(limit: $n) { id } }";
    const explanations = await explain({ query: { query, variables: { n: 2 } } });
    expect(explanations.map(({ field }: { readonly field: string }) => field)).toEqual(["a", "__typename", "artist"]);
    expect(explanations[0].sql).not.toContain('"artist"');
    expect(explanations[1]).toEqual({ field: "__typename", sql: null, plan: null });
    expect(explanations[2].sql).not.toContain('"album"');
    expect(explanations[2].plan.join("\n")).toContain("artist");
    const explanation = await explain({ query: { query: "subscription { album(limit: 1) { id } }" } });
    expect(Object.keys(explanation)).toEqual(["sql", "plan", "variables"]);
  });

  test("P-HAS-7 explain rejects invalid operations and runs nothing", async () => {
    expect(await explain({ query: { query: "mutation { delete_album(where: {}) { affected_rows } }" } })).toMatchObject(
      {
        code: "invalid-params",
      },
    );
    expect(await explain({ query: { query: "{ nothing }" } })).toMatchObject({ code: "validation-failed" });
    expect(await explain({})).toMatchObject({ code: "parse-failed" });
    expect(
      await explain({ query: { query: "{ album { price } }" }, user: { "x-hasura-role": "shopper" } }),
    ).toMatchObject({
      code: "validation-failed",
    });
    const query = { query: "{ album { id } }" };
    expect(await explain({ query, user: { "x-hasura-role": 1 } })).toMatchObject({ code: "parse-failed" });
    expect(await explain({ query }, asAdmin("shopper"))).toMatchObject({ code: "access-denied" });
    expect(await explain({ query }, {})).toMatchObject({ code: "access-denied" });
  });
});

test("P-HAS-8 administrators read the configuration without secrets", async () => {
  const answer = await api.get("/v1alpha1/config", { headers: asAdmin() });
  expect(answer.json()).toMatchObject({
    is_admin_secret_set: true,
    is_jwt_set: true,
    is_allow_list_enabled: false,
    live_queries: { batch_size: 100, refetch_delay: 0.1 },
    default_naming_convention: "hasura-default",
  });
  expect(answer.text).not.toContain("secret-of-the-tests");
  expect((await api.get("/v1alpha1/config", { headers: asAdmin("shopper") })).json()).toMatchObject({
    code: "access-denied",
  });
  expect((await api.post("/v1alpha1/config", { body: {}, headers: asAdmin() })).status).toBe(405);
});

test("P-HAS-8 the configuration says whether a webhook authenticates and permissions of remote schemas apply", async () => {
  const readConfig = async (from: TestApi): Promise<unknown> =>
    (await from.get("/v1alpha1/config", { headers: asAdmin() })).json();
  expect(await readConfig(api)).toMatchObject({ is_auth_hook_set: false, is_remote_schema_permissions_enabled: true });
  const configuredApi = await start({
    authHook: "https://auth.example/hook",
    jwtSecret: undefined,
    enableRemoteSchemaPermissions: false,
  });
  expect(await readConfig(configuredApi)).toMatchObject({
    is_auth_hook_set: true,
    is_remote_schema_permissions_enabled: false,
  });
  await configuredApi.close();
});

test.each([
  ["fullCompat", fullCompat, []],
  ["plus without the plugins", plus, ["run-sql", "graphql-explain", "config-api"].map(without)],
])("P-GEN-2 run_sql, explain and the configuration are unknown to %s", async (_, preset, parts) => {
  const bareApi = await startApi(forGraphql({ preset, parts, runSql: true }));
  const headers = asAdmin();
  for (const answer of [
    await bareApi.post("/v2/query", { body: { type: "run_sql", args: { sql: "select 1" } }, headers }),
    await bareApi.post("/v1/graphql/explain", { body: { query: { query: "{ album { id } }" } }, headers }),
    await bareApi.get("/v1alpha1/config", { headers }),
  ])
    expect([answer.status, answer.json()]).toEqual([404, NOT_FOUND]);
  await bareApi.close();
});
