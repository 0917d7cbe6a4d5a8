// @runs-also-on postgresql-15-postgis
import { expect, test } from "vitest";
import { bearer } from "../support/tokens.ts";
import { asAdmin, capabilities, rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi({ dbPool: 1, dbPreRequest: "sea.before_request", appSettings: { motto: "per mare" } });

const setting = (name: string): string => `GET /rpc/setting?name=${name}`;
const clerk = bearer({ role: "sea_clerk", sub: "bo" });

cases(api, [
  // Settings that SQL can read in the transaction of the request.
  {
    title: "R-TX-1 the search path has the schema of the request, then the extra search path",
    request: setting("search_path"),
    answer: '"sea", "public"',
  },
  {
    title: "R-TX-1 a function that the chosen schema does not have is not found",
    request: "POST /rpc/setting",
    headers: { "content-profile": "land" },
    body: { name: "search_path" },
    status: 404,
  },
  {
    title: "R-TX-1 the transaction has the settings of the acting role",
    request: setting("app.desk"),
    headers: clerk,
    answer: "front",
  },
  {
    title: "R-TX-1 the transaction has the statement_timeout of the acting role",
    request: setting("statement_timeout"),
    headers: clerk,
    answer: "5s",
  },
  {
    title: "R-TX-1 the transaction has the role of the token",
    request: "GET /rpc/who",
    headers: clerk,
    answer: "sea_clerk",
  },
  {
    title: "R-TX-1 the transaction has the anonymous role without a token",
    request: "GET /rpc/who",
    answer: "sea_anon",
  },
  {
    title: "R-TX-1 an administrator acts as the role of the role header",
    request: "GET /rpc/who",
    headers: asAdmin("sea_captain"),
    answer: "sea_captain",
  },
  {
    title: "R-TX-1 the transaction has the claims, with the role in them",
    request: setting("request.jwt.claims"),
    headers: bearer({ sub: "bo", n: { a: [1] }, role: "sea_clerk" }),
    check: (answer) => expect(JSON.parse(answer.json())).toEqual({ sub: "bo", n: { a: [1] }, role: "sea_clerk" }),
  },
  {
    title: "R-TX-1 the claims of a caller without a token contain only the role",
    request: setting("request.jwt.claims"),
    check: (answer) => expect(JSON.parse(answer.json())).toEqual({ role: "sea_anon" }),
  },
  {
    title: "R-TX-1 the transaction has the method of the request",
    request: "POST /rpc/setting",
    body: { name: "request.method" },
    answer: "POST",
  },
  { title: "R-TX-1 request.path has the path as received", request: setting("request.path"), answer: "/rpc/setting" },
  {
    title: "R-TX-1 request.path has the path without the prefix",
    request: "GET /api/rpc/setting?name=request.path",
    answer: "/rpc/setting",
  },
  {
    title: "R-TX-1 request.headers has lower-case names and no cookies",
    request: setting("request.headers"),
    headers: { "X-Tenant": "é", cookie: "a=1" },
    check: (answer) => {
      const headers = JSON.parse(answer.json());
      expect(headers).toMatchObject({ host: expect.any(String) });
      expect(headers["x-tenant"]).toBeDefined();
      expect(headers).not.toHaveProperty("cookie");
    },
  },
  {
    title: "R-TX-1 the transaction has the cookies of the request",
    request: setting("request.cookies"),
    headers: { cookie: "a=1; b=two" },
    check: (answer) => expect(JSON.parse(answer.json())).toEqual({ a: "1", b: "two" }),
  },
  { title: "R-TX-1 without cookies the setting is an empty object", request: setting("request.cookies"), answer: "{}" },
  {
    title: "R-TX-1 the transaction has the time zone of the preference",
    request: setting("timezone"),
    headers: { prefer: "timezone=Asia/Tokyo" },
    answer: "Asia/Tokyo",
  },
  {
    title: "R-TX-1 the transaction has the settings of the application",
    request: setting("app.settings.motto"),
    answer: "per mare",
  },

  { title: "R-TX-2 GET runs in a read-only transaction", request: setting("transaction_read_only"), answer: "on" },
  {
    title: "R-TX-2 POST of a stable function is read-only",
    request: "POST /rpc/setting",
    body: { name: "transaction_read_only" },
    answer: "on",
  },
  {
    title: "R-TX-2 POST of a volatile function is not read-only",
    request: "POST /rpc/write_log",
    headers: rolledBack(),
    body: { entry: "x" },
    answer: 1,
  },

  {
    title: "R-TX-3 the default isolation level is read committed",
    request: setting("transaction_isolation"),
    answer: "read committed",
  },
  {
    title: "R-TX-3 the isolation level of the role applies",
    request: setting("transaction_isolation"),
    role: "sea_auditor",
    answer: "serializable",
  },
  {
    title: "R-TX-3 the isolation level of the function precedes that of the role",
    request: "GET /rpc/isolated",
    role: "sea_auditor",
    answer: "repeatable read",
  },
  {
    title: "R-TX-3 a write runs at the isolation level of the role",
    request: "POST /ports?select=name",
    role: "sea_auditor",
    headers: rolledBack("return=representation"),
    body: { name: "A" },
    status: 201,
    answer: [{ name: "A" }],
  },

  {
    title: "R-TX-4 a serialisation failure is reported",
    request: "POST /rpc/raise_state",
    body: { state: "40001", text: "could not serialize" },
    status: 500,
    check: (answer) =>
      expect(answer.json()).toEqual({ code: "40001", details: null, hint: null, message: "could not serialize" }),
  },
  {
    title: "R-TX-4 a deadlock is reported",
    request: "POST /rpc/raise_state",
    body: { state: "40P01", text: "deadlock" },
    status: 500,
  },

  // The pre-request function.
  {
    title: "R-TX-7 an error of the pre-request function is the response",
    request: "GET /ports",
    headers: { "x-pre": "raise" },
    status: 418,
    statusText: "I am a teapot",
    answer: { code: "PT418", details: null, hint: "pour", message: "I am a teapot" },
  },
  {
    title: "R-TX-7 the pre-request function may set headers",
    request: "GET /ports",
    headers: { "x-pre": "header" },
    status: 200,
    responseHeaders: { "X-Pre": "seen" },
  },
  {
    title: "R-TX-7 the pre-request function may set the status",
    request: "GET /ports",
    headers: { "x-pre": "status:203" },
    status: 203,
  },
  {
    title: "R-TX-7 the pre-request function may set the role",
    request: "GET /rpc/who",
    headers: { "x-pre": "role:sea_clerk" },
    answer: "sea_clerk",
  },
  {
    title: "R-TX-7 the request has the grants of the role that the pre-request function set",
    request: "GET /payroll",
    headers: { "x-pre": "role:sea_auditor" },
    status: 200,
  },
  {
    title: "R-TX-7 the pre-request function runs before writes",
    request: "POST /ports",
    headers: { "x-pre": "raise" },
    body: { name: "A" },
    status: 418,
  },
  {
    title: "R-TX-7 the pre-request function runs before functions",
    request: "GET /rpc/who",
    headers: { "x-pre": "raise" },
    status: 418,
  },
  {
    title: "R-TX-7 the pre-request function runs before the OpenAPI document",
    request: "GET /",
    headers: { "x-pre": "raise" },
    status: 418,
  },
  {
    title: "R-TX-7 the OpenAPI document has the headers that the pre-request function set",
    request: "GET /",
    headers: { "x-pre": "header" },
    responseHeaders: { "X-Pre": "seen" },
  },
  {
    title: "R-TX-7 the pre-request function does not run before OPTIONS",
    request: "OPTIONS /ports",
    headers: { "x-pre": "raise" },
    status: 200,
  },
]);

test("R-TX-6 no setting of a request survives on the connection", async () => {
  // A single connection serves all these requests.
  expect((await api.get("/rpc/setting?name=app.desk", { headers: clerk })).json()).toBe("front");
  expect((await api.get("/rpc/setting?name=app.desk")).json() ?? "").toBe("");
  expect((await api.get("/rpc/setting?name=statement_timeout")).json()).not.toBe("5s");
  expect((await api.get("/ports", { headers: { "x-pre": "header" } })).headers["x-pre"]).toBe("seen");
  expect((await api.get("/ports")).headers["x-pre"]).toBeUndefined();
  expect((await api.get("/ports", { headers: { prefer: "timezone=Asia/Tokyo" } })).status).toBe(200);
  expect((await api.get("/rpc/setting?name=timezone")).json()).not.toBe("Asia/Tokyo");
  expect((await api.get("/rpc/who", { headers: { "x-pre": "role:sea_clerk" } })).json()).toBe("sea_clerk");
  expect((await api.get("/rpc/who")).json()).toBe("sea_anon");
  expect((await api.post("/rpc/raise_state", { headers: clerk, body: { state: "22000", text: "x" } })).status).toBe(
    400,
  );
  expect((await api.get("/rpc/who")).json()).toBe("sea_anon");
});

test("R-TX-4 a failed statement is not run again", async () => {
  await api.sql(`create sequence sea.attempts; grant all on sequence sea.attempts to sea_anon;
    create function sea.fail_once() returns int language plpgsql volatile as $$ begin perform nextval('sea.attempts'); raise sqlstate '40001' using message = 'no'; end $$`);
  await api.reload();
  expect((await api.post("/rpc/fail_once", { body: {} })).status).toBe(500);
  expect((await api.sql("select last_value::int as n, is_called from sea.attempts"))[0]).toEqual({
    n: 1,
    is_called: true,
  });
});

const countStored = async (name: string): Promise<unknown> =>
  (await api.sql("select count(*)::int as n from sea.ports where name = $1", [name]))[0]?.["n"];

test("R-TX-5 the settings and the preference tx decide whether a transaction commits", async () => {
  const ends = async (
    dbTxEnd: "commit" | "commit-allow-override" | "rollback" | "rollback-allow-override",
    prefer: string | null,
  ): Promise<readonly unknown[]> => {
    const ownApi = await startApi({ dbTxEnd });
    const answer = await ownApi.post("/ports?select=name", {
      headers: { prefer: prefer === null ? "return=representation" : `return=representation, ${prefer}` },
      body: { name: "Ends" },
    });
    await ownApi.close();
    expect(answer.json()).toEqual([{ name: "Ends" }]); // the response is unaffected
    const storedRows = await countStored("Ends");
    await api.sql("delete from sea.ports where name = 'Ends'");
    return [storedRows, answer.headers["preference-applied"]];
  };
  expect(await ends("commit", null)).toEqual([1, "return=representation"]);
  expect(await ends("commit", "tx=rollback")).toEqual([1, "return=representation"]);
  expect(await ends("commit-allow-override", null)).toEqual([1, "return=representation"]);
  expect(await ends("commit-allow-override", "tx=rollback")).toEqual([0, "return=representation, tx=rollback"]);
  expect(await ends("rollback", null)).toEqual([0, "return=representation"]);
  expect(await ends("rollback", "tx=commit")).toEqual([0, "return=representation"]);
  expect(await ends("rollback-allow-override", null)).toEqual([0, "return=representation"]);
  expect(await ends("rollback-allow-override", "tx=commit")).toEqual([1, "return=representation, tx=commit"]);
});

test("R-TX-5 every error rolls the transaction back", async () => {
  const answer = await api.post("/bells", { body: [{ rung: 3 }, { rung: -1 }] });
  expect(answer.json().code).toBe("23514");
  expect(await api.sql("select * from sea.bells where rung = 3")).toEqual([]);
});

test("R-PRF-6 deferred constraints are checked before a rollback", async () => {
  expect((await api.post("/rpc/swap_places", { headers: rolledBack(), body: {} })).status).toBe(204);
  const clash = await api.post("/rpc/clash_places", { headers: rolledBack(), body: {} });
  expect([clash.status, clash.json().code]).toEqual([409, "23505"]);
  const commitAnswer = await api.post("/rpc/clash_places", { body: {} });
  expect([commitAnswer.status, commitAnswer.json().code]).toEqual([409, "23505"]);
});

test("R-TX-7 a pre-request function without a schema is found by the search path, and runs in the mode of the request", async () => {
  await api.sql(
    `create function sea.pre_write() returns void language sql volatile as $$ insert into sea.logbook values ('pre') $$`,
  );
  const preRequestApi = await startApi({ dbPreRequest: "pre_write" });
  const read = await preRequestApi.get("/ports");
  expect([read.status, read.json().code]).toEqual([405, "25006"]);
  const root = await preRequestApi.get("/");
  expect(root.json().code).toBe("25006");
  expect((await preRequestApi.post("/ports", { headers: rolledBack(), body: { name: "A" } })).status).toBe(201);
});

test("R-TX-7 a missing pre-request function is an error", async () => {
  const brokenApi = await startApi({ dbPreRequest: "sea.not_there" });
  const answer = await brokenApi.get("/ports");
  expect([answer.status, answer.json().code]).toEqual([404, "42883"]);
});

test.skipIf(!capabilities.realServer)("R-TX-1 settings that the login role may not set are left out", async () => {
  const loginApi = await startApi({ databaseUrl: api.database.urlAs("sea_login"), database: undefined });
  expect((await loginApi.get("/rpc/who", { headers: clerk })).json()).toBe("sea_clerk");
  expect((await loginApi.get("/rpc/setting?name=app.desk", { headers: clerk })).json()).toBe("front");
  const ghost = await loginApi.get("/rpc/who", { headers: bearer({ role: "sea_ghost" }) });
  expect([ghost.status, ghost.json().code]).toEqual([403, "42501"]);
});
