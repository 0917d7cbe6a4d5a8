import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { capabilities, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { asAdmin } from "../support/api.ts";

const api = await startApi();

const FULL = "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE";
const allow = (methods: string) => ({ Allow: methods });

cases(api, [
  {
    title: "R-OPT-1 an empty answer with Allow and one Access-Control-Allow-Origin",
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
    title: "R-OPT-1 once, with an origin too",
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
    title: "R-OPT-1 after authentication",
    request: "OPTIONS /vessels",
    headers: { authorization: "Bearer x" },
    status: 401,
  },
  {
    title: "R-PATH-10 an unknown relation",
    request: "OPTIONS /nowhere",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },

  {
    title: "R-OPT-2 members without spaces",
    request: "OPTIONS /logbook",
    responseHeaders: { Allow: /^[A-Z]+(,[A-Z]+)*$/ },
  },

  {
    title: "R-OPT-3 SELECT and INSERT",
    request: "OPTIONS /vessels",
    role: "sea_deckhand",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST"),
  },
  { title: "R-OPT-3 SELECT", request: "OPTIONS /watches", responseHeaders: allow("OPTIONS,GET,HEAD") },
  {
    title: "R-OPT-3 without SELECT",
    request: "OPTIONS /ports",
    role: "sea_writeonly",
    responseHeaders: allow("OPTIONS,POST,PUT,PATCH,DELETE"),
  },
  {
    title: "R-OPT-3 a grant on any one column counts",
    request: "OPTIONS /vessels",
    role: "sea_columns",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST,PUT,PATCH"),
  },
  {
    title: "R-OPT-3 SELECT and UPDATE",
    request: "OPTIONS /cabins",
    role: "sea_captain",
    responseHeaders: allow("OPTIONS,GET,HEAD,PATCH"),
  },
  { title: "R-OPT-3 no grant", request: "OPTIONS /payroll", responseHeaders: allow("OPTIONS") },
  {
    title: "R-OPT-3 grants to PUBLIC",
    request: "OPTIONS /notices",
    role: "sea_deckhand",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  { title: "R-OPT-3 ownership", request: "OPTIONS /captains_log", role: "sea_captain", responseHeaders: allow(FULL) },
  { title: "R-OPT-3 superusers", request: "OPTIONS /payroll", headers: asAdmin(), responseHeaders: allow(FULL) },
  { title: "R-OPT-3 partitioned tables", request: "OPTIONS /soundings", responseHeaders: allow(FULL) },

  {
    title: "R-OPT-4 an auto-updatable view with a traced key",
    request: "OPTIONS /fleet",
    responseHeaders: allow(FULL),
  },
  {
    title: "R-OPT-4 whatever was granted on it",
    request: "OPTIONS /fleet",
    role: "sea_deckhand",
    responseHeaders: allow(FULL),
  },
  { title: "R-OPT-4 a read-only view", request: "OPTIONS /all_names", responseHeaders: allow("OPTIONS,GET,HEAD") },
  { title: "R-OPT-4 a join", request: "OPTIONS /voyage_sheet", responseHeaders: allow("OPTIONS,GET,HEAD") },
  { title: "R-OPT-4 triggers for everything", request: "OPTIONS /vessel_cards", responseHeaders: allow(FULL) },
  {
    title: "R-OPT-4 a trigger for inserts",
    request: "OPTIONS /vessel_intake",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST"),
  },
  {
    title: "R-OPT-4 an updatable view without a key",
    request: "OPTIONS /log_pages",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST,PATCH,DELETE"),
  },
  {
    title: "R-OPT-4 a materialized view",
    request: "OPTIONS /port_tonnage",
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-4 a foreign table that cannot be written",
    request: "OPTIONS /engine_plates",
    when: capabilities.foreignTables,
    responseHeaders: allow("OPTIONS,GET,HEAD"),
  },
  {
    title: "R-OPT-4 nor read without a grant",
    request: "OPTIONS /engine_plates",
    role: "sea_deckhand",
    when: capabilities.foreignTables,
    responseHeaders: allow("OPTIONS"),
  },

  {
    title: "R-OPT-5 no primary key, no PUT",
    request: "OPTIONS /logbook",
    responseHeaders: allow("OPTIONS,GET,HEAD,POST,PATCH,DELETE"),
  },

  { title: "R-OPT-6 full access", request: "OPTIONS /ports", responseHeaders: allow(FULL) },
  {
    title: "R-OPT-6 another schema",
    request: "OPTIONS /depots",
    headers: { "accept-profile": "land" },
    responseHeaders: allow(FULL),
  },

  { title: "R-OPT-7 a volatile function", request: "OPTIONS /rpc/next_number", responseHeaders: allow("OPTIONS,POST") },
  {
    title: "R-OPT-7 a stable one, without its arguments",
    request: "OPTIONS /rpc/fleet_weight",
    responseHeaders: allow("OPTIONS,POST,GET,HEAD"),
  },
  {
    title: "R-OPT-7 an immutable one",
    request: "OPTIONS /rpc/add_numbers",
    responseHeaders: allow("OPTIONS,POST,GET,HEAD"),
  },
  {
    title: "R-OPT-7 overloads: the union",
    request: "OPTIONS /rpc/mixed_volatility",
    responseHeaders: allow("OPTIONS,POST,GET,HEAD"),
  },
  {
    title: "R-OPT-7 an unknown name",
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
  { title: "R-OPT-7 a function that cannot be called", request: "OPTIONS /rpc/unnamed", status: 404 },

  { title: "R-OPT-8 the root", request: "OPTIONS /", responseHeaders: allow("OPTIONS,GET,HEAD") },
  { title: "R-OPT-8 under the prefix", request: "OPTIONS /api", responseHeaders: allow("OPTIONS,GET,HEAD") },
]);

test("R-OPT-1 no transaction and no connection: it answers while the database says nothing", async () => {
  const guarded = await startApi({ dbPreRequest: "sea.before_request" });
  const answer = await guarded.options("/vessels", { headers: { "x-pre": "raise" } });
  expect(answer.status).toBe(200);
  expect((await guarded.get("/vessels", { headers: { "x-pre": "raise" } })).status).toBe(418);
});

test("R-OPT-2 what no plugin answers is not offered", async () => {
  const readOnly = await startApi({ parts: [without("rest-writes")] });
  expect((await readOnly.options("/vessels")).headers["allow"]).toBe("OPTIONS,GET,HEAD");
  const refused = await readOnly.post("/vessels", { body: {} });
  expect([refused.status, refused.json().code]).toEqual([405, "PGRST117"]);
});

test("R-OPT-7 without the plugin of calls", async () => {
  const tables = await startApi({ parts: [without("rest-rpc")] });
  const refused = await tables.get("/rpc/add_numbers?a=1&b=2");
  expect([refused.status, refused.json().code]).toEqual([404, "PGRST125"]);
});

test("R-OPT-1 without the plugin of OPTIONS", async () => {
  const silent = await startApi({ parts: [without("rest-options")] });
  const refused = await silent.options("/vessels");
  expect([refused.status, refused.json().code]).toEqual([405, "PGRST117"]);
});
