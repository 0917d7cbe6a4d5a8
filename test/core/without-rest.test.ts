// @runs-also-on postgresql-15-postgis
/** The responses of the REST surface without a plugin. Several that do not touch each other are left out of one
 *  preset. */
import { describe, expect, test } from "vitest";
import { getRestName } from "../../plugins/rest/syntax/grammar.ts";
import { capabilities, startApi, type StartOptions } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";
import { leaveOut, getPlugin } from "./left-out.ts";

const start = (names: readonly string[], options: StartOptions = {}) =>
  startApi({ dbTxEnd: "rollback", dbPlanEnabled: true, ...options, parts: leaveOut(...names) });

const buildErrorAnswer = (
  status: number,
  code: string,
  members: Readonly<Record<string, unknown>> = {},
): Pick<Case, "status" | "answer"> => ({ status, answer: expect.objectContaining({ code, ...members }) });

const unknownOperator = buildErrorAnswer(400, "PGRST100", {
  message: expect.stringContaining("failed to parse filter"),
});
const unavailable = (type: string): Pick<Case, "status" | "answer"> =>
  buildErrorAnswer(406, "PGRST107", { message: `None of these media types are available: ${type}` });
const noMethod = (method: string): Pick<Case, "status" | "answer"> =>
  buildErrorAnswer(405, "PGRST117", { message: `Unsupported HTTP method: ${method}` });
const noPath = buildErrorAnswer(404, "PGRST125", { message: "Invalid path specified in request URL" });

const answers = (title: string, request: string, answer: unknown, members: Partial<Case> = {}): Case => ({
  title,
  request,
  answer,
  ...members,
});

const accept = (type: string) => ({ headers: { accept: type } });

describe("response settings", async () => {
  const set = encodeURIComponent('[{"X-Seen":"yes"}]');
  cases(await start(["response-settings"]), [
    {
      title: "R-GUC-1 without response-settings headers are not set, and no value is invalid",
      request: `GET /rpc/answer_headers?headers=${set}`,
      status: 200,
      responseHeaders: { "x-seen": null },
    },
    {
      title: "R-GUC-3 without response-settings the status is unchanged",
      request: "GET /rpc/answer_status?status=234",
      status: 200,
    },
    { title: "R-OAS-1 without response-settings the schema is described", request: "GET /", status: 200 },
    {
      title: "R-WRT-2 without response-settings responses to writes are unchanged",
      request: "POST /bells",
      body: { rung: 8 },
      status: 201,
      responseHeaders: { "x-bell": null },
    },
  ]);
});

describe("bodies, hints, raised errors, event streams", async () => {
  cases(await start(["csv-bodies", "rest-suggestions", "raised-errors", "rest-live"]), [
    {
      title: "R-BODY-1 without csv-bodies writes do not accept the type",
      request: "POST /ports",
      headers: { "content-type": "text/csv" },
      body: "name\nOslo",
      ...buildErrorAnswer(400, "PGRST102", { message: "Content-Type not acceptable: text/csv" }),
    },
    {
      title: "R-BODY-1 without csv-bodies calls do not accept the type",
      request: "POST /rpc/add_numbers",
      headers: { "content-type": "text/csv" },
      body: "a,b\n1,2",
      ...buildErrorAnswer(400, "PGRST102", { message: "Content-Type not acceptable: text/csv" }),
    },
    answers("R-MED-2 without csv-bodies responses in CSV still work", "GET /vessels?select=id&id=eq.1", undefined, {
      ...accept("text/csv"),
      bytes: "id\n1",
    }),
    {
      title: "R-PATH-10 without suggestions a similar relation is not named",
      request: "GET /vessel",
      ...buildErrorAnswer(404, "PGRST205", { hint: null }),
    },
    {
      title: "R-EMB-19 without suggestions a similar relationship is not named",
      request: "GET /vessels?select=port(id)",
      ...buildErrorAnswer(400, "PGRST200", { hint: null }),
    },
    {
      title: "R-RPC-10 without suggestions a similar function is not named",
      request: "GET /rpc/add_number",
      ...buildErrorAnswer(404, "PGRST202", { hint: null }),
    },
    {
      title: "R-RPC-10 without suggestions similar parameters are not named",
      request: "GET /rpc/add_numbers?a=1&c=2",
      ...buildErrorAnswer(404, "PGRST202", { hint: null }),
    },
    {
      title: "R-ERR-4 without raised-errors the SQLSTATE has the status of other SQLSTATEs",
      request: "GET /rpc/raise_state?state=PT418&text=teapot",
      ...buildErrorAnswer(400, "PT418", { message: "teapot" }),
    },
    {
      title: "R-MED-1 without rest-live event streams are unavailable",
      request: "GET /vessels",
      ...accept("text/event-stream"),
      ...unavailable("text/event-stream"),
    },
  ]);
});

/** A filter by each operator that the plugin declares: plain, negated, with a quantifier or a language. */
const buildFilterCases = (name: string): readonly Case[] =>
  (getPlugin(name).operators ?? []).flatMap((spec) => {
    const operator = getRestName(spec);
    if (operator === undefined) return [];
    const forms = [operator, `not.${operator}`];
    if (spec.isQuantifiable === true) forms.push(`${operator}(any)`);
    if (spec.hasOption === true) forms.push(`${operator}(english)`);
    const operand = spec.operand === "keyword" ? spec.keywords?.[0] : spec.operand === "list" ? "(a)" : "{a}";
    return forms.map((form) => ({
      title: `R-LEX-11 without ${name} ${form} is unknown`,
      request: `GET /vessels?name=${form}.${operand}`,
      ...unknownOperator,
    }));
  });

describe("operators", async () => {
  const names = ["text-operators", "json-operators", "array-range-operators", "full-text-operators"];
  const fullApi = await start([]);
  test("R-LEX-11 with all plugins each of these filters is parsed", async () => {
    for (const { request } of ["comparison-operators", ...names].flatMap(buildFilterCases)) {
      const answer = await fullApi.get(request.replace("GET ", ""));
      if (answer.status >= 300) expect(answer.json().code, request).not.toBe("PGRST100");
    }
  });

  cases(await start(names), [
    ...names.flatMap(buildFilterCases),
    {
      title: "R-LEX-11 without text-operators match is unknown in trees",
      request: "GET /vessels?or=(name.match.A,id.eq.1)",
      ...buildErrorAnswer(400, "PGRST100", { message: expect.stringContaining("failed to parse logic tree") }),
    },
    answers("R-FLT-1 the operators of the other plugins work", "GET /vessels?select=id&id=gte.2&order=id", [
      { id: 2 },
      { id: 3 },
    ]),
  ]);

  cases(await start(["json-operators"]), [
    answers(
      "R-FLT-1 cs belongs to json-operators and array-range-operators: one of them is enough",
      "GET /vessels?select=id&flags=cs.{PA}",
      [{ id: 1 }],
    ),
  ]);

  cases(await start(["comparison-operators"]), [
    ...buildFilterCases("comparison-operators"),
    {
      title: "R-LEX-11 without comparison-operators PUT has no key",
      request: "PUT /ports?id=eq.1",
      body: { id: 1, name: "Oslo" },
      ...unknownOperator,
    },
    answers("R-FLT-1 without comparison-operators the other operators work", "GET /vessels?select=id&name=like.A*", [
      { id: 1 },
    ]),
  ]);
});

describe("embeds", async () => {
  const unknownEmbed = buildErrorAnswer(400, "PGRST100", {
    message: expect.stringContaining("failed to parse select parameter"),
  });
  cases(await start(["spread-embeds"]), [
    {
      title: "R-LEX-11 without spread-embeds ... is unknown",
      request: "GET /vessels?select=id,...ports(name)",
      ...unknownEmbed,
    },
    answers("R-EMB-9 without spread-embeds nesting works", "GET /vessels?select=id,ports(name)&id=eq.1", [
      { id: 1, ports: { name: "Oslo" } },
    ]),
  ]);
  cases(await start(["nest-embeds"]), [
    {
      title: "R-LEX-11 without nest-embeds a relation in parentheses is unknown",
      request: "GET /vessels?select=id,ports(name)",
      ...unknownEmbed,
    },
    {
      title: "R-LEX-11 without nest-embeds !inner is unknown",
      request: "GET /vessels?select=id,ports!inner(name)",
      ...unknownEmbed,
    },
    answers("R-SPR-1 without nest-embeds spreading works", "GET /vessels?select=id,...ports(port:name)&id=eq.1", [
      { id: 1, port: "Oslo" },
    ]),
  ]);
  cases(await start(["computed-relationships"]), [
    {
      title: "R-EMB-2 without computed-relationships functions of a row are not relationships",
      request: "GET /vessels?select=id,home_harbour(name)",
      ...buildErrorAnswer(400, "PGRST200"),
    },
    answers("R-CMP-1 without computed-relationships computed fields still work", "GET /vessels?select=label&id=eq.1", [
      { label: "Ariel #1" },
    ]),
    answers(
      "R-EMB-9 without computed-relationships foreign keys still work",
      "GET /vessels?select=id,ports(name)&id=eq.1",
      [{ id: 1, ports: { name: "Oslo" } }],
    ),
  ]);
  cases(await start(["relationships"]), [
    {
      title: "R-EMB-2 without relationships a relation cannot be embedded",
      request: "GET /vessels?select=id,ports(name)",
      ...buildErrorAnswer(400, "PGRST200"),
    },
    {
      title: "R-EMB-2 without relationships a relation cannot be spread",
      request: "GET /vessels?select=id,...ports(name)",
      ...buildErrorAnswer(400, "PGRST200"),
    },
    answers("R-SEL-1 without relationships rows are read", "GET /vessels?select=id&id=eq.1", [{ id: 1 }]),
  ]);
});

describe("methods", async () => {
  cases(await start(["rest-writes"]), [
    ...["POST", "PATCH", "PUT", "DELETE"].map((method) => ({
      title: `R-PATH-7 without rest-writes ${method} is not allowed`,
      request: `${method} /ports?id=eq.1`,
      body: { id: 1, name: "Nowhere" },
      ...noMethod(method),
    })),
    {
      title: "R-OPT-1 without rest-writes Allow has no writes",
      request: "OPTIONS /vessels",
      status: 200,
      responseHeaders: { Allow: "OPTIONS,GET,HEAD" },
    },
    answers("R-OAS-2 without rest-writes the description has no writes", "GET /", expect.anything(), {
      check: (answer) => expect(Object.keys(answer.json().paths["/vessels"])).toEqual(["get"]),
    }),
    answers("R-RPC-1 without rest-writes functions are called", "POST /rpc/add_numbers", 3, { body: { a: 1, b: 2 } }),
  ]);
  cases(await start(["rest-rpc"]), [
    {
      title: "R-PATH-6 without rest-rpc a function cannot be called",
      request: "POST /rpc/add_numbers",
      body: { a: 1, b: 2 },
      ...noPath,
    },
    {
      title: "R-PATH-6 without rest-rpc a function cannot be read",
      request: "GET /rpc/add_numbers?a=1&b=2",
      ...noPath,
    },
    {
      title: "R-PATH-6 without rest-rpc unknown functions get the same response",
      request: "GET /rpc/nobody",
      ...noPath,
    },
    { title: "R-OPT-7 without rest-rpc a function has no methods", request: "OPTIONS /rpc/add_numbers", ...noPath },
    answers("R-OAS-2 without rest-rpc the description has no functions", "GET /", expect.anything(), {
      check: (answer) =>
        expect(Object.keys(answer.json().paths).filter((path) => path.startsWith("/rpc/"))).toEqual([]),
    }),
  ]);
  cases(await start(["rest-rpc"], { dbRootSpec: "root" }), [
    {
      title: "R-PATH-8 without rest-rpc no function is served at the root",
      request: "GET /",
      ...buildErrorAnswer(404, "PGRST126"),
    },
  ]);
  cases(await start(["rest-options", "openapi-page"]), [
    {
      title: "R-PATH-7 without rest-options OPTIONS is not allowed",
      request: "OPTIONS /vessels",
      ...noMethod("OPTIONS"),
    },
    {
      title: "R-PATH-7 without rest-options OPTIONS is not allowed for functions",
      request: "OPTIONS /rpc/add_numbers",
      ...buildErrorAnswer(405, "PGRST101"),
    },
    {
      title: "R-COR-2 without rest-options preflights are answered",
      request: "OPTIONS /vessels",
      headers: { origin: "http://shop.example", "access-control-request-method": "GET" },
      status: 200,
      responseHeaders: { "Access-Control-Allow-Methods": /GET/ },
    },
    {
      title: "R-OAS-1 without openapi-page there is no page for browsers",
      request: "GET /",
      headers: { accept: "text/html" },
      ...unavailable("text/html"),
    },
    {
      title: "R-OAS-1 without openapi-page the description is served",
      request: "GET /",
      status: 200,
      responseHeaders: { "Content-Type": /^application\/openapi\+json/ },
    },
  ]);
  cases(await start(["openapi"]), [
    {
      title: "R-PATH-8 without openapi the root is disabled",
      request: "GET /",
      ...buildErrorAnswer(404, "PGRST126", { message: "Root endpoint metadata is disabled" }),
    },
    {
      title: "R-PATH-8 without openapi there is no page either",
      request: "GET /",
      headers: { accept: "text/html" },
      ...buildErrorAnswer(404, "PGRST126"),
    },
    {
      title: "R-OPT-8 without openapi the root allows no reads",
      request: "OPTIONS /",
      status: 200,
      responseHeaders: { Allow: "OPTIONS" },
    },
  ]);
  cases(await start(["catalog-introspection"]), [
    {
      title: "R-PATH-4 without catalog-introspection there are no relations",
      request: "GET /vessels",
      ...buildErrorAnswer(404, "PGRST205"),
    },
    {
      title: "R-RPC-1 without catalog-introspection there are no functions",
      request: "GET /rpc/add_numbers?a=1&b=2",
      ...buildErrorAnswer(404, "PGRST202"),
    },
  ]);
  cases(await start(["rest"]), [
    {
      title: "G-HTTP-12 without rest its paths are unknown",
      request: "GET /vessels",
      status: 404,
      answer: { path: "$", error: "resource does not exist", code: "not-found" },
    },
    {
      title: "G-HTTP-12 without rest its paths are unknown below the prefix too",
      request: "GET /api/vessels",
      status: 404,
      answer: { path: "$", error: "resource does not exist", code: "not-found" },
    },
    answers(
      "G-HTTP-1 without rest the GraphQL surface works",
      "POST /v1/graphql",
      { data: { __typename: "query_root" } },
      { body: { query: "{ __typename }" } },
    ),
  ]);
});

describe("media types", async () => {
  const OBJECT = "application/vnd.pgrst.object+json";
  const ARRAY = "application/vnd.pgrst.array+json";
  const PLAN = 'application/vnd.pgrst.plan+text; for="text/csv"';
  const unavailableCase = (rule: string, plugin: string, type: string, request = "GET /vessels"): Case => ({
    title: `${rule} without ${plugin} ${request} has no ${type}`,
    request,
    ...accept(type),
    ...unavailable(type),
  });

  cases(await start(["csv-media", "singular-media", "stripped-media", "geojson-media", "custom-media"]), [
    unavailableCase("R-MED-1", "csv-media", "text/csv"),
    unavailableCase("R-MED-7", "csv-media", PLAN),
    unavailableCase("R-MED-1", "singular-media", OBJECT),
    { ...unavailableCase("R-MED-3", "singular-media", OBJECT, "PATCH /ports?id=eq.1"), body: { name: "Oslo" } },
    unavailableCase("R-MED-1", "stripped-media", `${ARRAY};nulls=stripped`),
    unavailableCase("R-MED-1", "stripped-media", `${OBJECT};nulls=stripped`),
    unavailableCase("R-MED-1", "geojson-media", "application/geo+json"),
    unavailableCase("R-MED-5", "custom-media", "text/plain", "GET /notices"),
    unavailableCase("R-MED-6", "custom-media", "text/html", "GET /rpc/page"),
    answers(
      "R-MED-1 without csv-media the next best type is taken",
      "GET /vessels?select=id&id=eq.1",
      [{ id: 1 }],
      accept("text/csv, application/json;q=0.5"),
    ),
    answers("R-FMT-1 plain JSON still works", "GET /vessels?select=id&id=eq.1", [{ id: 1 }]),
  ]);
  cases(await start(["json-media", "explain-media"]), [
    unavailableCase("R-MED-1", "json-media", "application/json"),
    unavailableCase("R-MED-7", "explain-media", PLAN),
    {
      title: "R-MED-1 without json-media no media type matches any type",
      request: "GET /vessels",
      ...unavailable("*/*"),
    },
    {
      title: "R-MED-2 without json-media CSV still works",
      request: "GET /vessels?select=id&id=eq.1",
      ...accept("text/csv"),
      bytes: "id\n1",
    },
  ]);
  for (const name of ["sse", "live-queries"])
    cases(await start([name]), [unavailableCase("R-MED-1", name, "text/event-stream")]);
});

describe.runIf(capabilities.postgis)("geometry", async () => {
  const atlas = { dbSchemas: ["atlas"], dbExtraSearchPath: ["gis"], anonRole: undefined } as const;
  cases(await start(["geo-operators"], atlas), [
    answers(
      "R-FLT-1 without geo-operators rows with geometry are read",
      "GET /spots?select=name&id=eq.1",
      [{ name: "Oslo" }],
      { headers: { "x-session-admin-secret": "admin-secret-of-the-tests" } },
    ),
  ]);
});
