import { beforeAll, describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases, buildGqlErrorBody } from "../support/cases.ts";
import { buildMetadataDocument } from "../support/metadata-document.ts";

const api = await startApi(
  forGraphql({
    anonRole: "music_reader",
    metadata: buildMetadataDocument(
      [{ table: "team", select_permissions: [{ role: "music_reader", permission: { columns: "*", filter: {} } }] }],
      {},
      { functions: [{ function: "leave_note", configuration: { exposed_as: "query" } }] },
    ),
  }),
);
const bareApi = await startApi(forGraphql({ parts: [without("graphql-get")] }));

beforeAll(async () => {
  await api.sql(`create table notes (id int generated always as identity primary key, note text)`);
  await api.sql(`create function leave_note() returns setof team volatile language sql as $$
    insert into notes (note) values ('left'); select * from team where id = 1 $$`);
  await api.reload();
});

const url = (parameters: Readonly<Record<string, string>>, path = "/v1/graphql"): string =>
  `${path}?${new URLSearchParams(parameters).toString()}`;

const QUERY = "{ team(order_by: {id: asc}, limit: 1) { name } }";
const REDS = { data: { team: [{ name: "Reds" }] } };
const BY_GET = buildGqlErrorBody("mutations are not supported over GET, use POST instead", "unexpected-payload");

cases(api, [
  ...["/v1/graphql", "/api/graphql", "/v1alpha1/graphql"].map((path) => ({
    title: `G-GET-1 GET runs a query at ${path}`,
    request: `GET ${url({ query: QUERY }, path)}`,
    answer: REDS,
    responseHeaders: {
      "content-type": "application/json; charset=utf-8",
      "x-request-id": /^[-0-9a-f]{36}$/,
      "cache-control": "private, no-cache",
    },
  })),
  {
    title: "G-GET-3 neither data nor errors may be cached",
    request: `GET ${url({ query: "{ no_such_field }" })}`,
    answer: buildGqlErrorBody(
      expect.stringContaining("no_such_field"),
      "validation-failed",
      "$.selectionSet.no_such_field",
    ),
    responseHeaders: { "cache-control": "private, no-cache" },
  },
  {
    title: "G-GET-1 GET accepts variables, an operation name and empty parameters",
    request: `GET ${url({
      query: "query a($n: Int!) { team_by_pk(id: $n) { name } } query b { team { id } }",
      variables: '{"n": 2}',
      operationName: "a",
      extensions: "",
    })}`,
    answer: { data: { team_by_pk: { name: "Blues" } } },
  },
  {
    title: "G-GET-1 numbers of variables keep their digits",
    request: `GET ${url({ query: "query($n: Int!) { team_by_pk(id: $n) { name } }", variables: '{"n": 9007199254740993}' })}`,
    check: (answer) => expect(answer.text).toContain("9.007199254740993e15"),
  },
  {
    title: "G-GET-1 a client that accepts anything gets JSON",
    request: `GET ${url({ query: QUERY })}`,
    headers: { accept: "*/*" },
    answer: REDS,
  },
  {
    title: "G-GET-1 G-GET-1a a browser gets the playground",
    request: `GET ${url({ query: QUERY })}`,
    headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    responseHeaders: { "content-type": "text/html; charset=utf-8" },
  },
  {
    title: "G-GET-1 HEAD has no body",
    request: `HEAD ${url({ query: QUERY })}`,
    status: 200,
    bytes: "",
  },
  {
    title: "G-GET-1 variables that are not JSON are rejected",
    request: `GET ${url({ query: QUERY, variables: "{n:1}" })}`,
    status: 200,
    check: (answer) =>
      expect(answer.json()).toEqual(
        buildGqlErrorBody(expect.stringMatching(/^Error in \$\.variables: /), "invalid-json", "$.variables"),
      ),
  },
  {
    title: "G-GET-1 variables that are not an object are rejected",
    request: `GET ${url({ query: QUERY, variables: "[1]" })}`,
    status: 200,
    check: (answer) => expect(answer.json().errors[0].extensions.code).toBe("parse-failed"),
  },
  {
    title: "G-GET-1 extensions without a query are rejected",
    request: `GET ${url({ extensions: "{}" })}`,
    status: 200,
    answer: buildGqlErrorBody("the key 'query' was not present", "parse-failed"),
  },
  {
    title: "G-GET-1 errors have the bodies and statuses of POST",
    request: `GET ${url({ query: "{ teem { id } }" }, "/v1alpha1/graphql")}`,
    status: 400,
    answer: buildGqlErrorBody(
      "field 'teem' not found in type: 'query_root'",
      "validation-failed",
      "$.selectionSet.teem",
    ),
  },
  {
    title: "G-GET-1 the role applies as with POST",
    request: `GET ${url({ query: QUERY })}`,
    headers: asAdmin("music_artist"),
    status: 200,
    answer: buildGqlErrorBody(
      "field 'team' not found in type: 'query_root'",
      "validation-failed",
      "$.selectionSet.team",
    ),
  },
  {
    title: "G-GET-1 a wrong admin secret is rejected",
    request: `GET ${url({ query: QUERY })}`,
    headers: { "x-session-admin-secret": "wrong" },
    status: 200,
    check: (answer) => expect(answer.json().errors[0].extensions.code).toBe("access-denied"),
  },
  {
    title: "G-GET-2 a mutation is rejected",
    request: `GET ${url({ query: "mutation { delete_team(where: {}) { affected_rows } }" })}`,
    headers: asAdmin(),
    status: 405,
    responseHeaders: { allow: "POST" },
    answer: BY_GET,
  },
  {
    title: "G-GET-2 a mutation chosen by its name is rejected",
    request: `GET ${url({ query: `query a ${QUERY} mutation b { delete_team(where: {}) { affected_rows } }`, operationName: "b" })}`,
    headers: asAdmin(),
    status: 405,
    answer: BY_GET,
  },
  {
    title: "G-GET-2 a subscription is rejected",
    request: `GET ${url({ query: `subscription ${QUERY}` })}`,
    status: 200,
    answer: buildGqlErrorBody(
      "subscriptions are not supported over HTTP, use websockets instead",
      "unexpected-payload",
    ),
  },
]);

describe("functions that write", () => {
  const document = "{ leave_note { name } }";
  const notes = async (): Promise<number> => (await api.sql("select from notes")).length;

  test("G-GET-2 the database rejects a write by a function in GET", async () => {
    const answer = await api.get(url({ query: document }), { headers: asAdmin() });
    expect(answer.json().errors[0].extensions.internal.error.status_code).toBe("25006");
    expect(await notes()).toBe(0);
    expect(await api.gql(document)).toEqual({ data: { leave_note: [{ name: "Reds" }] } });
    expect(await notes()).toBe(1);
  });
});

test("G-GET-1 R-PATH-11 additional slashes are accepted", async () => {
  const lenientApi = await startApi(forGraphql({ anonRole: "music_reader", compatMode: false }));
  for (const path of ["/v1/graphql/", "//v1/graphql", "/v1//graphql//", "/api/graphql/", "/v1alpha1/graphql/"]) {
    const answer = await lenientApi.get(url({ query: QUERY }, path));
    expect([answer.status, answer.json()], path).toEqual([200, REDS]);
  }
  await lenientApi.close();
});

test("G-HTTP-12 without graphql-get the method is rejected", async () => {
  const answer = await bareApi.get(url({ query: QUERY }), { headers: { accept: "application/json" } });
  expect([answer.status, answer.headers["allow"]]).toEqual([405, "OPTIONS, GET, HEAD, POST"]);
});
