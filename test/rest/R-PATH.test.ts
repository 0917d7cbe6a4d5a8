import { describe, expect, test } from "vitest";
import { restCompat } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const prefixedApi = await startApi({ compatMode: false });
const prefixesApi = await startApi({ compatMode: false, restPrefixes: ["/api", "/rest/v1/"] });
const rootApi = await startApi({ compatMode: false, restPath: "" });
const disabledApi = await startApi({ openapiMode: "disabled" });
const rootSpecApi = await startApi({ dbRootSpec: "root" });

const pathInvalid = { code: "PGRST125", details: null, hint: null, message: "Invalid path specified in request URL" };
const notFound = (name: string, hint: string | null = null) => ({
  code: "PGRST205",
  details: null,
  hint,
  message: `Could not find the table 'sea.${name}' in the schema cache`,
});
const unsupportedMethod = (method: string) => ({
  code: "PGRST117",
  details: null,
  hint: null,
  message: `Unsupported HTTP method: ${method}`,
});
const unsupportedOnRpc = (method: string) => ({
  code: "PGRST101",
  details: null,
  hint: null,
  message: `Cannot use the ${method} method on RPC`,
});

describe("without compatibility mode", () => {
  cases(prefixedApi, [
    {
      title: "R-PATH-1 relations are under /api",
      request: "GET /api/ports?select=id&order=id",
      answer: [{ id: 1 }, { id: 2 }],
    },
    { title: "R-PATH-1 functions are under /api", request: "GET /api/rpc/fleet_weight?port=1", answer: 1255 },
    {
      title: "R-PATH-1 /api is the root",
      request: "GET /api",
      check: (answer) => expect(answer.json().swagger).toBe("2.0"),
    },
    {
      title: "R-PATH-1 /api/ is the root",
      request: "GET /api/",
      check: (answer) => expect(answer.json().swagger).toBe("2.0"),
    },
    {
      title: "R-PATH-2 R-PATH-12 an unprefixed path is 404, with a hint that names the right path",
      request: "GET /ports",
      status: 404,
      answer: {
        ...pathInvalid,
        hint: "The REST API is below /api; GraphQL is at /v1/graphql; perhaps you meant /api/ports",
      },
    },
    {
      title: "R-PATH-2 a path that only begins like the prefix is 404 and gets no suggestion for unknown names",
      request: "GET /apiports",
      status: 404,
      answer: { ...pathInvalid, hint: "The REST API is below /api; GraphQL is at /v1/graphql" },
    },
    {
      title: "R-PATH-12 R-PATH-12a the hint suggests the path of a function",
      request: "GET /rest/v1/rpc/fleet_weight?port=1",
      status: 404,
      answer: {
        ...pathInvalid,
        hint: "The REST API is below /api; GraphQL is at /v1/graphql; perhaps you meant /api/rpc/fleet_weight",
      },
    },
    {
      title: "R-PATH-12 the root suggests no path",
      request: "GET /",
      status: 404,
      answer: { ...pathInvalid, hint: "The REST API is below /api; GraphQL is at /v1/graphql" },
    },
    ...["/port", "/rest/v1/port", "/prots"].map((path) => ({
      title: `R-PATH-12 R-PATH-12a the hint suggests the near name for ${path}`,
      request: `GET ${path}`,
      status: 404,
      answer: {
        ...pathInvalid,
        hint: `The REST API is below /api; GraphQL is at /v1/graphql${path === "/prots" ? "" : "; perhaps you meant /api/ports"}`,
      },
    })),
    ...["/favicon.ico", "/%3Cscript%3E", `/${"port".repeat(2000)}`, "/rpc/", "/rpc/ports"].map((path) => ({
      title: `R-PATH-12 the hint suggests nothing for ${path.slice(0, 40)}`,
      request: `GET ${path}`,
      status: 404,
      answer: { ...pathInvalid, hint: "The REST API is below /api; GraphQL is at /v1/graphql" },
    })),
    ...["/api//ports", "/api/ports/", "//api///ports//"].map((path) => ({
      title: `R-PATH-11 R-PATH-11a the path ${path} is that of the relation`,
      request: `GET ${path}?select=id&order=id`,
      answer: [{ id: 1 }, { id: 2 }],
    })),
    {
      title: "R-PATH-11 R-PATH-11a request.path has no additional slashes",
      request: "GET /api//rpc//setting/?name=request.path",
      answer: "/rpc/setting",
    },
    {
      title: "R-PATH-6 without compatibility mode deeper paths do not exist",
      request: "GET /api/vessels/7/",
      status: 404,
      answer: pathInvalid,
    },
    ...["/v1/graphql/", "//v1/graphql"].map((path) => ({
      title: `R-PATH-11 R-PATH-11a the path ${path} is that of GraphQL`,
      request: `POST ${path}`,
      headers: { "x-session-admin-secret": "admin-secret-of-the-tests" },
      body: { query: "{ __typename }" },
      answer: { data: { __typename: "query_root" } },
    })),
  ]);
  test("R-PATH-12 the hint neither suggests nor confirms names that the caller has no right on", async () => {
    const [hiddenTable] = await api.sql<{ name: string }>(
      `select relname as name from pg_class
       where relnamespace = 'sea'::regnamespace and relkind = 'r' and relname ~ '^[a-z_]+$'
         and not has_any_column_privilege('sea_anon', oid, 'select, insert, update, references')
         and not has_table_privilege('sea_anon', oid, 'delete, truncate, trigger')`,
    );
    const hint = "The REST API is below /api; GraphQL is at /v1/graphql";
    expect(hiddenTable?.name).toMatch(/^[a-z_]+$/);
    for (const name of [hiddenTable?.name, `${hiddenTable?.name}s`])
      expect((await prefixedApi.get(`/${name}`)).json().hint, name).toBe(hint);
  });
  test("R-PATH-12 without GraphQL the hint does not name its path", async () => {
    const restApi = await startApi({ compatMode: false, preset: restCompat });
    expect((await restApi.get("/ports")).json().hint).toBe("The REST API is below /api; perhaps you meant /api/ports");
    await restApi.close();
  });
  cases(prefixesApi, [
    ...["/api/ports", "/rest/v1/ports", "/rest/v1//ports"].map((path) => ({
      title: `R-PATH-11 the path ${path} is that of the relation with two prefixes`,
      request: `GET ${path}?select=id&order=id`,
      answer: [{ id: 1 }, { id: 2 }],
    })),
    {
      title: "R-PATH-11 links have no prefix, whichever prefix the request has",
      request: "GET /rest/v1/ports?id=eq.1",
      responseHeaders: { "content-location": "/ports?id=eq.1" },
    },
    {
      title: "R-PATH-11 each prefix is a root",
      request: "GET /rest/v1/",
      check: (answer) => expect(answer.json().swagger).toBe("2.0"),
    },
    {
      title: "R-PATH-12 the hint names all prefixes",
      request: "GET /rest/v2/ports",
      status: 404,
      answer: {
        ...pathInvalid,
        hint: "The REST API is below /api and /rest/v1; GraphQL is at /v1/graphql; perhaps you meant /api/ports",
      },
    },
  ]);
  cases(rootApi, [
    {
      title: "R-PATH-11 the root of the server is a prefix",
      request: "GET /ports/?select=id&order=id",
      answer: [{ id: 1 }, { id: 2 }],
    },
    {
      title: "R-PATH-11 if other prefixes are set, the default prefix is unknown",
      request: "GET /api/ports",
      status: 404,
      answer: pathInvalid,
    },
  ]);
});

cases(api, [
  {
    title: "R-PATH-2 in compatibility mode paths work at the root",
    request: "GET /ports?select=id&order=id",
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-PATH-2 in compatibility mode paths work under /api, too",
    request: "GET /api/ports?select=id&order=id",
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-PATH-4 the root describes the schema",
    request: "GET /",
    responseHeaders: { "content-type": "application/openapi+json; charset=utf-8" },
    status: 200,
  },
  ...["ports", "soundings", "fleet", "port_tonnage"].map((name) => ({
    title: `R-PATH-4 ${name} is a relation`,
    request: `GET /${name}?limit=0`,
    status: 200,
    answer: [],
  })),
  {
    title: "R-PATH-5 segments are percent-decoded",
    request: 'GET /Deck%20Plans?select="Plan No"',
    answer: [{ "Plan No": 1 }],
  },
  {
    title: "R-PATH-5 paths may have names of other alphabets",
    request: "GET /%D9%85%D9%88?select=id",
    answer: [{ id: 1 }],
  },
  {
    title: "R-PATH-5 names are matched case-sensitively",
    request: "GET /Ports",
    status: 404,
    answer: notFound("Ports", "Perhaps you meant the table 'sea.ports'"),
  },
  {
    title: "R-PATH-5 a partition is not a relation",
    request: "GET /soundings_2023",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },
  { title: "R-PATH-6 deeper paths do not exist", request: "GET /vessels/7/crew", status: 404, answer: pathInvalid },
  { title: "R-PATH-6 a trailing slash is another path", request: "GET /vessels/", status: 404, answer: pathInvalid },
  { title: "R-PATH-6 an empty segment is another path", request: "GET //", status: 404, answer: pathInvalid },
  { title: "R-PATH-6 /rpc without a name is a relation", request: "GET /rpc", status: 404, answer: notFound("rpc") },
  {
    title: "R-PATH-6 /rpc/ is the function with the empty name",
    request: "GET /rpc/",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST202"),
  },
  {
    title: "R-PATH-7 a relation rejects other methods",
    request: "TRACE /vessels",
    status: 405,
    answer: unsupportedMethod("TRACE"),
  },
  {
    title: "R-PATH-7 an unsupported method has the same error for an unknown relation",
    request: "TRACE /harbours",
    status: 405,
    answer: unsupportedMethod("TRACE"),
  },
  ...["PATCH", "PUT", "DELETE"].map((method) => ({
    title: `R-PATH-7 functions reject ${method}`,
    request: `${method} /rpc/vessels_of`,
    status: 405,
    answer: unsupportedOnRpc(method),
  })),
  ...["POST", "PATCH", "PUT", "DELETE"].map((method) => ({
    title: `R-PATH-7 the root rejects ${method}`,
    request: `${method} /`,
    status: 405,
    answer: unsupportedMethod(method),
  })),
  {
    title: "R-PATH-9 Content-Location has no prefix",
    request: "GET /api/ports?id=eq.1",
    responseHeaders: { "content-location": "/ports?id=eq.1" },
    status: 200,
  },
  {
    title: "R-PATH-9 Location has no prefix",
    request: "POST /api/ports",
    headers: { prefer: "return=headers-only, tx=rollback" },
    body: { id: 900, name: "Bergen" },
    status: 201,
    responseHeaders: { location: "/ports?id=eq.900" },
  },
  {
    title: "R-PATH-9 request.path has no prefix",
    request: "GET /api/rpc/setting?name=request.path",
    answer: "/rpc/setting",
  },
  {
    title: "R-PATH-9 request.path is as it was sent, percent-encoded",
    request: "GET /api/rpc/%73etting?name=request.path",
    answer: "/rpc/%73etting",
  },
  {
    title: "R-PATH-10 the error of an unknown relation names it",
    request: "GET /harbours",
    status: 404,
    check: (answer) =>
      expect(answer.json()).toMatchObject({
        code: "PGRST205",
        message: "Could not find the table 'sea.harbours' in the schema cache",
      }),
  },
  {
    title: "R-PATH-10 OPTIONS of an unknown relation is 404",
    request: "OPTIONS /harbours",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },
  {
    title: "R-PATH-10 a write to an unknown relation is 404",
    request: "POST /harbours",
    body: { name: "x" },
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },
]);

test("R-PATH-3 POST of the GraphQL paths is not REST", async () => {
  for (const path of ["/api/graphql", "/v1/graphql", "/v1alpha1/graphql"]) {
    const answer = await api.post(path, {
      headers: { "x-session-admin-secret": "admin-secret-of-the-tests" },
      body: { query: "{ __typename }" },
    });
    expect(answer.json(), path).toEqual({ data: { __typename: "query_root" } });
  }
});

test("R-PATH-10 a relation dropped since the model was loaded is the database's 42P01", async () => {
  await api.sql("create table sea.flotsam (id int)");
  await api.sql("grant all on sea.flotsam to sea_anon");
  await api.reload();
  await api.sql("drop table sea.flotsam");
  const answer = await api.get("/flotsam");
  expect(answer.status).toBe(404);
  expect(answer.json()).toEqual({
    code: "42P01",
    details: null,
    hint: null,
    message: 'relation "sea.flotsam" does not exist',
  });
  await api.reload();
});

describe("the root", () => {
  cases(disabledApi, [
    ...["GET", "HEAD", "OPTIONS", "POST"].map((method) => ({
      title: `R-PATH-8 a disabled root is not found by ${method}`,
      request: `${method} /`,
      status: 404,
      responseHeaders: { "proxy-status": "PostgREST; error=PGRST126" },
    })),
    {
      title: "R-PATH-8 an error says that the root is disabled",
      request: "GET /",
      status: 404,
      answer: { code: "PGRST126", details: null, hint: null, message: "Root endpoint metadata is disabled" },
    },
  ]);
  cases(rootSpecApi, [
    { title: "R-PATH-8 a root function serves the root", request: "GET /", answer: { root: true } },
    {
      title: "R-PATH-8 a root function can be called like other functions",
      request: "POST /",
      body: {},
      answer: { root: true },
    },
    {
      title: "R-PATH-8 a root function has the methods of a function",
      request: "PATCH /",
      status: 405,
      answer: unsupportedOnRpc("PATCH"),
    },
  ]);
});
