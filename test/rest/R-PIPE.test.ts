import { expect, test } from "vitest";
import { definePlugin, type Counters } from "../../core/index.ts";
import { adminSecret } from "../support/tokens.ts";
import { startApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";
import { lockTable } from "../support/locks.ts";
import { until } from "../support/until.ts";

const api = await startApi();

const badToken = { authorization: "Bearer not.a.token" };
const air = { "accept-profile": "air" };
const code = (expected: string): Pick<Case, "check"> => ({
  check: (answer) => expect(answer.json().code).toBe(expected),
});
const strict = { prefer: "handling=strict, colour=blue" };

cases(api, [
  {
    title: "R-PIPE-1 a preflight is answered before credentials are checked",
    request: "OPTIONS /vessels/7/crew",
    headers: { ...badToken, origin: "https://x.example", "access-control-request-method": "GET" },
    status: 200,
    bytes: "",
  },
  {
    title: "R-PIPE-1 credentials are checked before the path",
    request: "GET /vessels/7/crew",
    headers: badToken,
    status: 401,
    ...code("PGRST301"),
  },
  {
    title: "R-PIPE-1 the path is checked before the profile",
    request: "GET /vessels/7/crew",
    headers: air,
    status: 404,
    ...code("PGRST125"),
  },
  {
    title: "R-PIPE-1 the profile is checked before the method",
    request: "TRACE /vessels",
    headers: { "content-profile": "air" },
    status: 406,
    ...code("PGRST106"),
  },
  {
    title: "R-PIPE-1 the method is checked before the query",
    request: "TRACE /vessels?select=id,",
    status: 405,
    ...code("PGRST117"),
  },
  {
    title: "R-PIPE-1 order is parsed before logic trees",
    request: "GET /vessels?or=()&order=",
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("parse order"),
  },
  {
    title: "R-PIPE-1 logic trees are parsed before columns",
    request: "GET /vessels?columns=&or=()",
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("logic tree"),
  },
  {
    title: "R-PIPE-1 columns is parsed before select",
    request: "GET /vessels?select=id,&columns=",
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("columns parameter"),
  },
  {
    title: "R-PIPE-1 select is parsed before filters",
    request: "GET /vessels?id=1&select=id,",
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("select parameter"),
  },
  {
    title: "R-PIPE-1 filters are parsed before on_conflict",
    request: "GET /vessels?on_conflict=&id=1",
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("parse filter"),
  },
  {
    title: "R-PIPE-1 the query is parsed before ranges",
    request: "GET /vessels?limit=-1&id=1",
    status: 400,
    ...code("PGRST100"),
  },
  {
    title: "R-PIPE-1 ranges are checked before the limit of PUT",
    request: "PUT /ports?id=eq.1&limit=-1",
    body: {},
    status: 416,
    ...code("PGRST103"),
  },
  {
    title: "R-PIPE-1 the limit of PUT is checked before the body",
    request: "PUT /ports?id=eq.1&limit=1",
    body: "{",
    headers: { "content-type": "application/json" },
    status: 400,
    ...code("PGRST114"),
  },
  {
    title: "R-PIPE-1 ranges are checked before the body",
    request: "POST /ports?limit=-1",
    body: "{",
    headers: { "content-type": "application/json" },
    status: 416,
    ...code("PGRST103"),
  },
  {
    title: "R-PIPE-1 the body is parsed before the relation is looked up",
    request: "POST /harbours",
    body: "{",
    headers: { "content-type": "application/json" },
    status: 400,
    ...code("PGRST102"),
  },
  {
    title: "R-PIPE-1 the relation is looked up before embed paths are checked",
    request: "GET /harbours?ports.name=eq.x",
    status: 404,
    ...code("PGRST205"),
  },
  {
    title: "R-PIPE-1 embed paths are checked before relationships",
    request: "GET /vessels?select=wharf(*)&ports.name=eq.x",
    status: 400,
    ...code("PGRST108"),
  },
  {
    title: "R-PIPE-1 relationships are checked before related orders",
    request: "GET /ports?select=wharf(*),vessels(name)&order=vessels(name)",
    status: 400,
    ...code("PGRST200"),
  },
  {
    title: "R-PIPE-1 related orders are checked before aggregates",
    request: "GET /ports?select=count(),vessels(name)&order=vessels(name)",
    status: 400,
    ...code("PGRST118"),
  },
  {
    title: "R-PIPE-1 the filters of PUT are checked before its columns",
    request: "PUT /ports?name=eq.x",
    body: { nothing: 1 },
    status: 405,
    ...code("PGRST105"),
  },
  {
    title: "R-PIPE-1 the plan is checked before the media type",
    request: "GET /vessels?select=wharf(*)",
    headers: { accept: "image/gif" },
    status: 400,
    ...code("PGRST200"),
  },
  {
    title: "R-PIPE-1 the media type of a read is checked before strict preferences",
    request: "GET /vessels",
    headers: { ...strict, accept: "image/gif" },
    status: 406,
    ...code("PGRST107"),
  },
  {
    title: "R-PIPE-1 the media type of a call is checked before strict preferences",
    request: "GET /rpc/all_vessels",
    headers: { ...strict, accept: "image/gif" },
    status: 406,
    ...code("PGRST107"),
  },
  {
    title: "R-PIPE-1 strict preferences of a call are checked before PGRST128",
    request: "GET /rpc/fleet_weight?port=1",
    headers: { prefer: "handling=strict, colour=blue, max-affected=1" },
    status: 400,
    ...code("PGRST122"),
  },
  {
    title: "R-PIPE-1 strict preferences of a write are checked before the media type",
    request: "PATCH /vessels",
    body: { name: "x" },
    headers: { ...strict, accept: "image/gif" },
    status: 400,
    ...code("PGRST122"),
  },
  {
    title: "R-PIPE-1 the media type is checked before the database is asked",
    request: "GET /vessels?select=nothing",
    headers: { accept: "image/gif" },
    status: 406,
    ...code("PGRST107"),
  },
  {
    title: "R-PIPE-1 a check of the result that fails is the response",
    request: "PATCH /vessels?id=lt.3",
    headers: { accept: "application/vnd.pgrst.object+json" },
    body: { tonnage: 1 },
    status: 406,
    ...code("PGRST116"),
  },
  {
    title: "R-PIPE-1 a check of the result that fails writes nothing",
    request: "GET /vessels?select=tonnage&order=id",
    answer: [{ tonnage: 853 }, { tonnage: 402 }, { tonnage: 47 }],
  },
  {
    title: "R-PIPE-2 an unknown relation is reported before unknown columns",
    request: "POST /harbours?columns=nothing",
    body: { nothing: 1 },
    status: 404,
    ...code("PGRST205"),
  },
  {
    title: "R-PIPE-2 a bad token on an unknown path is 401",
    request: "GET /no/such/path",
    headers: badToken,
    status: 401,
    ...code("PGRST301"),
  },
]);

test("R-PIPE-1 a request that is rejected early takes no connection", async () => {
  let counters: Counters | undefined;
  const reader = definePlugin({ name: "counter-reader", apply: (_hooks, context) => void ({ counters } = context) });
  const singleApi = await startApi({ dbPool: 1, dbPoolAcquisitionTimeout: 1, parts: [reader] });
  await until(async () => (await singleApi.get("/vessels?limit=1")).status === 200, "the one connection is open");
  // The database is busy, but requests without a statement are still answered.
  const unlock = await lockTable(api.database, "sea.logbook");
  const busy = singleApi.get("/logbook?limit=1");
  await until(() => counters!.get("pool-available") === 0, "the one connection is taken");
  const answers = await Promise.all([
    singleApi.get("/no/such/path"),
    singleApi.get("/harbours"),
    singleApi.get("/vessels?select=wharf(*)"),
    singleApi.get("/vessels", { headers: { accept: "image/gif" } }),
    singleApi.get("/vessels", { headers: { "x-session-admin-secret": `${adminSecret}x` } }),
    singleApi.options("/vessels"),
  ]);
  const timeoutAnswer = await singleApi.get("/vessels?select=id");
  expect(answers.map((answer) => answer.status).slice(0, 4)).toEqual([404, 404, 400, 406]);
  expect(answers.at(-1)?.status).toBe(200);
  expect([timeoutAnswer.status, timeoutAnswer.json().code]).toEqual([504, "PGRST003"]);
  await unlock();
  expect((await busy).status).toBe(200);
});
