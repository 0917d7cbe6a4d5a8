import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { buildMetadataDocument, permissions, table, fullPermission } from "../support/metadata-document.ts";
import { collectMessages } from "../support/logger.ts";

const endpoint = (name: string, url: string, methods: readonly string[], query = name) => ({
  name,
  url,
  methods,
  comment: "",
  definition: { query: { collection_name: "api", query_name: query } },
});

const QUERIES = {
  teams: "query ($limit: Int = 2, $dir: order_by = asc) { team(limit: $limit, order_by: {id: $dir}) { name } }",
  team: "query ($id: Int!) { team_by_pk(id: $id) { name } }",
  first: "{ team(limit: 1, order_by: {id: asc}) { id } }",
  named:
    "query ($names: [String!]!, $all: Boolean = false) { team(where: {name: {_in: $names}}) { name id @include(if: $all) } }",
  rename:
    "mutation ($id: Int!, $name: String!) { update_team_by_pk(pk_columns: {id: $id}, _set: {name: $name}) { name } }",
  live: "subscription { team { name } }",
};

const { logger, lines: warnings } = collectMessages("warn");

const options = forGraphql({
  logger,
  dbTxEnd: "rollback",
  metadata: buildMetadataDocument(
    [
      table("team", {
        select_permissions: permissions({ reader: fullPermission }),
        update_permissions: permissions({ reader: { columns: ["name"], filter: {}, check: {} } }),
      }),
    ],
    {
      query_collections: [
        {
          name: "api",
          definition: {
            queries: Object.entries({ ...QUERIES, broken: "query {" }).map(([name, query]) => ({ name, query })),
          },
        },
      ],
      rest_endpoints: [
        endpoint("teams", "teams", ["GET", "POST"]),
        endpoint("team", "teams/:id", ["GET"]),
        endpoint("rename", "/teams/:id/", ["PUT", "PATCH"]),
        endpoint("rename-by-get", "rename/:id", ["GET"], "rename"),
        endpoint("first", "teams/first", ["GET"]),
        endpoint("named", "named", ["GET", "POST"]),
        endpoint("live", "live", ["GET"]),
        endpoint("broken", "broken", ["GET"]),
        endpoint("lost", "lost", ["GET"]),
      ],
    },
  ),
});
const api = await startApi(options);
const bareApi = await startApi({ ...options, parts: [without("rest-endpoints")] });
const allowlistApi = await startApi({ ...options, enableAllowlist: true });

const reader = asAdmin("reader");
const REDS = { team_by_pk: { name: "Reds" } };
const asReader = <Row extends { readonly title: string; readonly request: string }>(row: Row) => ({
  headers: reader,
  ...row,
});

cases(api, [
  asReader({
    title: "G-RES-1 an endpoint answers its path",
    request: "GET /api/rest/teams",
    answer: { team: [{ name: "Reds" }, { name: "Blues" }] },
  }),
  asReader({
    title: "G-RES-1 an endpoint answers a path with a parameter",
    request: "GET /api/rest/teams/1",
    answer: REDS,
  }),
  asReader({
    title: "G-RES-1 a path with a word precedes a path with a parameter",
    request: "GET /api/rest/teams/first",
    answer: { team: [{ id: 1 }] },
  }),
  asReader({
    title: "G-RES-1 an unknown path is rejected",
    request: "GET /api/rest/nothing",
    status: 404,
    answer: { path: "$", error: "Endpoint not found", code: "not-found" },
  }),
  asReader({
    title: "G-RES-1 another method is rejected",
    request: "DELETE /api/rest/teams/1",
    status: 405,
    responseHeaders: { allow: "GET, PUT, PATCH" },
    answer: { path: "$", error: "Method DELETE is not allowed for this endpoint", code: "method-not-allowed" },
  }),
  asReader({
    title: "G-RES-1 an endpoint with GET answers HEAD",
    request: "HEAD /api/rest/teams",
    status: 200,
    bytes: "",
  }),
  asReader({
    title: "G-RES-2 an endpoint may run a mutation",
    request: "PATCH /api/rest/teams/1",
    body: { name: "Whites" },
    answer: { update_team_by_pk: { name: "Whites" } },
  }),
  asReader({
    title: "G-RES-2 a mutation is rejected by GET",
    request: "GET /api/rest/rename/1?name=x",
    status: 405,
    responseHeaders: { allow: "POST" },
    answer: {
      path: "$",
      error: "mutations are not supported over GET, use POST instead",
      code: "unexpected-payload",
    },
  }),
  asReader({
    title: "G-RES-2 an endpoint with a subscription is rejected",
    request: "GET /api/rest/live",
    status: 400,
    answer: {
      path: "$",
      error: "subscriptions are not supported over HTTP, use websockets instead",
      code: "unexpected-payload",
    },
  }),
  asReader({
    title: "G-RES-3 G-RES-3a variables in the URL are converted to their declared types",
    request: "GET /api/rest/teams?limit=1&dir=desc",
    check: (answer) => expect(answer.json().team).toHaveLength(1),
  }),
  asReader({
    title: "G-RES-3 G-RES-3a lists in the URL are JSON, and a parameter without a value is true",
    request: 'GET /api/rest/named?names=["Reds"]&all',
    answer: { team: [{ name: "Reds", id: 1 }] },
  }),
  asReader({
    title: "G-RES-3 variables may be in the body",
    request: "POST /api/rest/named",
    body: { names: ["Blues"], all: true },
    answer: { team: [{ name: "Blues", id: 2 }] },
  }),
  asReader({
    title: "G-RES-3 variables in the URL override the body, and those in the path override both",
    request: "PUT /api/rest/teams/1?id=2&name=Whites",
    body: { id: 3, name: "Greens" },
    answer: { update_team_by_pk: { name: "Whites" } },
  }),
  asReader({
    title: "G-RES-3 text that is not a number is rejected",
    request: "GET /api/rest/teams/x",
    status: 400,
    check: (answer) => expect(answer.json()).toMatchObject({ code: "data-exception" }),
  }),
  asReader({
    title: "G-RES-3 a missing variable is rejected",
    request: "GET /api/rest/named",
    status: 400,
    check: (answer) => expect(answer.json().error).toContain("names"),
  }),
  asReader({
    title: "G-RES-3 a variable that the query does not declare is rejected",
    request: "GET /api/rest/teams?limit=1&dir=desc&utm=x",
    status: 400,
    answer: { path: "$", error: "Unexpected variable utm", code: "bad-request" },
  }),
  asReader({
    title: "G-RES-3 G-RES-3a a nullable variable without a value is null",
    request: "GET /api/rest/teams?limit=&dir=desc",
    check: (answer) => expect(answer.json().team.length).toBeGreaterThan(1),
  }),
  asReader({
    title: "G-RES-3 a body that is not JSON is rejected",
    request: "POST /api/rest/named",
    body: "{",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("invalid-json"),
  }),
  asReader({
    title: "G-RES-3 a body that is not UTF-8 is rejected, and nothing is written",
    request: "PUT /api/rest/teams/1",
    headers: { "content-type": "application/json" },
    body: Buffer.from('{"name":"Caf\xe9"}', "latin1"),
    status: 400,
    answer: { path: "$", error: "Error in $: the body is not UTF-8", code: "invalid-json" },
  }),
  asReader({
    title: "G-RES-3 a body that is not an object is rejected",
    request: "POST /api/rest/named",
    body: [1],
    status: 400,
    answer: { path: "$", error: "expected a JSON object with the variables", code: "parse-failed" },
  }),
  {
    title: "G-RES-4 the permissions of the role apply",
    request: "GET /api/rest/teams",
    headers: asAdmin("stranger"),
    status: 400,
    check: (answer) => expect(answer.json()).toMatchObject({ code: "validation-failed", path: "$.selectionSet.team" }),
  },
  {
    title: "G-RES-4 a wrong admin secret is rejected",
    request: "GET /api/rest/teams",
    headers: { "x-session-admin-secret": "wrong" },
    status: 401,
    check: (answer) => expect(answer.json()).toMatchObject({ code: "access-denied", path: "$" }),
  },
]);

cases(allowlistApi, [
  asReader({
    title: "G-RES-4 G-ALW-2 the allow list applies to endpoints",
    request: "GET /api/rest/teams",
    status: 400,
    answer: { path: "$", error: "query is not allowed", code: "validation-failed" },
  }),
]);

cases(bareApi, [
  asReader({
    title: "G-RES-1 without rest-endpoints the paths are unknown relations",
    request: "GET /api/rest/teams",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST125"),
  }),
]);

test("G-RES-1 G-RES-1a endpoints that cannot be served are logged", () => {
  expect(warnings).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/REST endpoint broken: its query cannot be read/),
      expect.stringMatching(/REST endpoint lost: there is no query "lost" in the collection "api"/),
      expect.stringMatching(/rest_endpoints is not supported; ignored/), // the api without the plugin logs this line
    ]),
  );
});
