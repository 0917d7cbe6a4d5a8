/** The specification GraphQL over HTTP, with `GRAPHQL_OVER_HTTP` on. */
import { auditServer } from "graphql-http";
import { describe, expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi(forGraphql({ anonRole: "music_reader", graphqlOverHttp: true }));
const dialectApi = await startApi(forGraphql({ anonRole: "music_reader" }));

const RESPONSE = "application/graphql-response+json; charset=utf-8";
const PLAIN = "application/json; charset=utf-8";

test("G-OVH-1 all audits of the package graphql-http pass, including warnings and notices", async () => {
  const results = await auditServer({ url: `${api.url}/v1/graphql` });
  expect(results.length).toBe(61);
  expect(results.filter(({ status }) => status !== "ok").map(({ id, name, status }) => [id, name, status])).toEqual([]);
});

test("G-OVH-1 without the setting statuses and media types are those of the dialect", async () => {
  const accept = "application/graphql-response+json";
  const answer = await dialectApi.post("/v1/graphql", { headers: { accept }, body: { query: "{ nope }" } });
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, PLAIN]);
  const text = await dialectApi.post("/v1/graphql", {
    headers: { "content-type": "text/plain" },
    body: '{"query":"{__typename}"}',
  });
  expect([text.status, text.json()]).toEqual([200, { data: { __typename: "query_root" } }]);
});

describe("G-OVH-2 the type of the response", () => {
  test.each([
    [undefined, PLAIN],
    ["*/*", PLAIN],
    ["application/*", PLAIN],
    ["application/json", PLAIN],
    ["application/json; charset=utf-8", PLAIN],
    ["application/graphql-response+json", RESPONSE],
    ["application/graphql-response+json, application/json;q=0.9", RESPONSE],
    ["application/json, application/graphql-response+json", RESPONSE],
    ["application/graphql-response+json;q=0.5, application/json", PLAIN],
    ["application/graphql-response+json;q=0.5, */*;q=0.1", RESPONSE],
    ["text/html, */*;q=0.8", PLAIN],
    ["application/json;q=0, application/graphql-response+json", RESPONSE],
  ])("G-OVH-2 the Accept header decides the media type of the response: %s", async (accept, type) => {
    for (const answer of [
      await api.post("/v1/graphql", { headers: { accept }, body: { query: "{ __typename }" } }),
      ...(accept?.includes("text/html")
        ? []
        : [await api.get("/v1/graphql?query={__typename}", { headers: { accept } })]),
    ])
      expect([answer.status, answer.headers["content-type"]]).toEqual([200, type]);
  });

  test.each(["text/plain", "application/json;q=0", "image/png, text/*"])(
    "G-OVH-2 the Accept header %s is rejected with 406",
    async (accept) => {
      for (const answer of [
        await api.post("/v1/graphql", { headers: { accept }, body: { query: "mutation { __typename }" } }),
        await api.get("/v1/graphql?query={__typename}", { headers: { accept } }),
      ]) {
        expect([answer.status, answer.headers["content-type"]]).toEqual([406, PLAIN]);
        expect(answer.json().errors[0].extensions).toEqual({ path: "$", code: "bad-request" });
      }
    },
  );
});

describe("G-OVH-3 the body of a POST", () => {
  test.each([
    ["application/json", 200],
    ["application/json; charset=UTF-8", 200],
    ['Application/JSON;charset="utf-8"', 200],
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["application/jsonp", 415],
    ["application/json; charset=utf-16", 415],
    [null, 415],
  ])("G-OVH-3 a body of type %s is answered with %i", async (type, status) => {
    const answer = await api.post("/v1/graphql", {
      headers: { "content-type": type },
      body: '{"query":"{__typename}"}',
    });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toBe(PLAIN);
  });
});

const requestHeaders = (accept: string) => ({ accept, "content-type": "application/json" });

describe.each([
  ["application/json", 200],
  ["application/graphql-response+json", 400],
])("G-OVH-4 statuses for the media type %s", (accept, status) => {
  const headers = requestHeaders(accept);
  cases(api, [
    {
      title: `G-OVH-4 an invalid document is ${status}`,
      request: "POST /v1/graphql",
      headers,
      body: { query: "{ nope }" },
      status,
      answer: { errors: [expect.objectContaining({ message: "field 'nope' not found in type: 'query_root'" })] },
    },
    {
      title: `G-OVH-4 an invalid value is ${status}`,
      request: "POST /v1/graphql",
      headers,
      body: { query: "{ album(limit: -1) { id } }" },
      status,
      answer: { errors: [expect.anything()] },
    },
    {
      title: `G-OVH-4 an error of the database is ${status}`,
      request: "POST /v1/graphql",
      headers,
      body: { query: '{ artist(where: {name: {_regex: "("}}) { id } }' },
      status,
      answer: { errors: [expect.anything()] },
    },
    {
      title: `G-OVH-4 a subscription is ${status}`,
      request: "POST /v1/graphql",
      headers,
      body: { query: "subscription { album { id } }" },
      status,
      answer: { errors: [expect.anything()] },
    },
    {
      title: `G-OVH-4 an invalid document by GET is ${status}`,
      request: "GET /v1/graphql?query={nope}",
      headers,
      status,
      answer: { errors: [expect.anything()] },
    },
    {
      title: `G-OVH-4 an invalid token is ${status}`,
      request: "POST /v1/graphql",
      headers: { ...headers, authorization: "Bearer x" },
      body: { query: "{ __typename }" },
      status,
      answer: { errors: [expect.anything()] },
    },
    ...[
      ["no JSON", "{"],
      ["no query", "{}"],
      ["a list of no requests", "[1]"],
      ["a query that is no text", '{"query":{}}'],
      ["variables that are no map", '{"query":"{__typename}","variables":[]}'],
      ["extensions that are no map", '{"query":"{__typename}","extensions":[]}'],
      ["extensions that are a number with a scale", '{"query":"{__typename}","extensions":1.0}'],
    ].map(([what, body]) => ({
      title: `G-OVH-4 ${what} is 400`,
      request: "POST /v1/graphql" as const,
      headers,
      body,
      status: 400,
      answer: { errors: [expect.anything()] },
    })),
    {
      title: "G-OVH-4 variables that are not JSON by GET are 400",
      request: "GET /v1/graphql?query={__typename}&variables={",
      headers,
      status: 400,
      answer: { errors: [expect.anything()] },
    },
    {
      title: "G-OVH-4 extensions that are not a map by GET are 400",
      request: "GET /v1/graphql?query={__typename}&extensions=1",
      headers,
      status: 400,
      answer: { errors: [expect.anything()] },
    },
    {
      title: "G-OVH-4 a mutation by GET is 405",
      request: "GET /v1/graphql?query=mutation{__typename}",
      headers,
      status: 405,
      answer: { errors: [expect.anything()] },
    },
  ]);
});

test("G-OVH-4 a batch is answered with 200, in JSON", async () => {
  const answer = await api.post("/v1/graphql", {
    headers: requestHeaders("application/graphql-response+json, application/json"),
    body: [{ query: "{ __typename }" }, { query: "{ nope }" }],
  });
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, PLAIN]);
  expect(answer.json()).toEqual([{ data: { __typename: "query_root" } }, { errors: [expect.anything()] }]);
});
