import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases, buildGqlErrorBody } from "../support/cases.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { adminSecret } from "../support/tokens.ts";

const api = await startApi(
  forGraphql({ anonRole: "music_reader", corsAllowedOrigins: ["https://app.example", "https://*.shop.example"] }),
);

const reducedApi = await startApi(forGraphql({ anonRole: "music_reader", parts: [without("persisted-queries")] }));

const QUERY = { query: "{ team(order_by: {id: asc}, limit: 1) { name } }" };
const REDS = { data: { team: [{ name: "Reds" }] } };
const UNKNOWN = buildGqlErrorBody(
  "field 'teem' not found in type: 'query_root'",
  "validation-failed",
  "$.selectionSet.teem",
);
const json = (body: string, headers: Readonly<Record<string, string>> = {}) => ({ body, headers });

cases(reducedApi, [
  {
    title: "G-HTTP-1 G-CON-15 G-HTTP-1a without persisted-queries a hash is rejected",
    request: "POST /v1/graphql",
    body: { extensions: { persistedQuery: { version: 1, sha256Hash: "x" } } },
    answer: buildGqlErrorBody("Automatic Persisted Queries is not enabled", "not-supported"),
  },
  {
    title: "G-HTTP-1 G-HTTP-1a without persisted-queries a hash beside a query is rejected",
    request: "POST /v1/graphql",
    body: { ...QUERY, extensions: { persistedQuery: {} } },
    answer: buildGqlErrorBody("Automatic Persisted Queries is not enabled", "not-supported"),
  },
]);

cases(api, [
  {
    title: "G-HTTP-1 a request has query, variables and operationName",
    request: "POST /v1/graphql",
    body: {
      query: "query a($n: Int!) { team_by_pk(id: $n) { name } } query b { team { id } }",
      variables: { n: 2 },
      operationName: "a",
    },
    answer: { data: { team_by_pk: { name: "Blues" } } },
  },
  {
    title: "G-HTTP-1 null members and other keys are ignored",
    request: "POST /v1/graphql",
    body: { ...QUERY, variables: null, operationName: null, extensions: null, id: 7 },
    answer: REDS,
  },
  {
    title: "G-HTTP-1 unknown extensions are ignored",
    request: "POST /v1/graphql",
    body: { ...QUERY, extensions: { tracing: true } },
    answer: REDS,
  },
  {
    title: "G-HTTP-1 variables that are not an object are rejected",
    request: "POST /v1/graphql",
    body: { ...QUERY, variables: [] },
    status: 200,
    check: (answer) => expect(answer.json().errors[0].extensions.code).toBe("parse-failed"),
  },
  {
    title: "G-HTTP-2 errors have status 200",
    request: "POST /v1/graphql",
    body: { query: "{ teem { id } }" },
    status: 200,
    answer: UNKNOWN,
  },
  {
    title: "G-HTTP-2 /api/graphql has the same responses",
    request: "POST /api/graphql",
    body: { query: "{ teem { id } }" },
    status: 200,
    answer: UNKNOWN,
  },
  {
    title: "G-HTTP-2 authentication errors have status 200",
    request: "POST /v1/graphql",
    body: QUERY,
    headers: { "x-session-admin-secret": "wrong" },
    status: 200,
    answer: buildGqlErrorBody("invalid x-session-admin-secret", "access-denied"),
  },
  {
    title: "G-HTTP-2 malformed JSON has status 200",
    ...json("{"),
    request: "POST /v1/graphql",
    status: 200,
    check: (answer) => expect(answer.json().errors[0].extensions.code).toBe("invalid-json"),
  },
  {
    title: "G-HTTP-3 data has status 200 at v1alpha1",
    request: "POST /v1alpha1/graphql",
    body: QUERY,
    status: 200,
    answer: REDS,
  },
  {
    title: "G-HTTP-3 errors have an error status at v1alpha1",
    request: "POST /v1alpha1/graphql",
    body: { query: "{ teem { id } }" },
    status: 400,
    answer: UNKNOWN,
  },
  {
    title: "G-HTTP-3 a wrong admin secret has an error status at v1alpha1",
    request: "POST /v1alpha1/graphql",
    body: QUERY,
    headers: { "x-session-admin-secret": "wrong" },
    status: 401,
    answer: buildGqlErrorBody("invalid x-session-admin-secret", "access-denied"),
  },
  {
    title: "G-HTTP-3 malformed JSON has an error status at v1alpha1",
    ...json("{"),
    request: "POST /v1alpha1/graphql",
    status: 400,
  },
  {
    title: "G-HTTP-3 errors of the database have an error status at v1alpha1",
    request: "POST /v1alpha1/graphql",
    body: { query: 'mutation { raise_state(args: {state: "P0001", message: "no"}) { id } }' },
    headers: { "x-session-admin-secret": adminSecret },
    status: 500,
    check: (answer) =>
      expect(answer.json().errors[0]).toMatchObject({
        message: "database query error",
        extensions: { code: "unexpected" },
      }),
  },
  {
    title: "G-HTTP-4 a successful response has only data",
    request: "POST /v1/graphql",
    body: QUERY,
    check: (answer) => expect(Object.keys(answer.json())).toEqual(["data"]),
  },
  {
    title: "G-HTTP-4 a failed response has only one error, without locations and path",
    request: "POST /v1/graphql",
    body: { query: "{ teem { id } taem { id } }" },
    bytes:
      '{"errors":[{"message":"field \'teem\' not found in type: \'query_root\'","extensions":{"path":"$.selectionSet.teem","code":"validation-failed"}}]}',
  },
  {
    title: "G-HTTP-5 a batch is answered in order, and an error stops no later request",
    request: "POST /v1/graphql",
    body: [QUERY, { query: "{ teem { id } }" }, QUERY],
    status: 200,
    answer: [REDS, UNKNOWN, REDS],
  },
  { title: "G-HTTP-5 an empty batch is accepted", request: "POST /v1/graphql", body: [], status: 200, bytes: "[]" },
  {
    title: "G-HTTP-5 G-HTTP-5a a batch with an element that is not a request is rejected as a whole",
    request: "POST /v1/graphql",
    body: [QUERY, 3],
    status: 200,
    check: (answer) => expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: "parse-failed" } }] }),
  },
  {
    title: "G-HTTP-5 G-HTTP-5a an authentication error of a batch is one object",
    request: "POST /v1/graphql",
    body: [QUERY, QUERY],
    headers: { "x-session-admin-secret": "wrong" },
    answer: buildGqlErrorBody("invalid x-session-admin-secret", "access-denied"),
  },
  {
    title: "G-HTTP-6 any content type is accepted",
    ...json(JSON.stringify(QUERY), { "content-type": "text/plain" }),
    request: "POST /v1/graphql",
    answer: REDS,
  },
  {
    title: "G-HTTP-6 a missing content type is accepted",
    ...json(JSON.stringify(QUERY)),
    request: "POST /v1/graphql",
    answer: REDS,
  },
  {
    title: "G-HTTP-7 a body that is not JSON is rejected",
    ...json("query"),
    request: "POST /v1/graphql",
    answer: buildGqlErrorBody(expect.stringMatching(/^Error in \$: /), "invalid-json"),
  },
  {
    title: "G-HTTP-7 an empty body is rejected",
    ...json(""),
    request: "POST /v1/graphql",
    answer: buildGqlErrorBody(expect.stringMatching(/^Error in \$: /), "invalid-json"),
  },
  {
    title: "G-HTTP-8 a missing query is rejected",
    request: "POST /v1/graphql",
    body: { variables: {} },
    answer: buildGqlErrorBody("the key 'query' was not present", "parse-failed"),
  },
  ...(["3", '"x"', "true", "null"] as const).map((body, i) => ({
    title: `G-HTTP-8 G-HTTP-8a the body ${body} is rejected`,
    ...json(body),
    request: "POST /v1/graphql",
    answer: buildGqlErrorBody(
      `expected a JSON object with the key 'query', but encountered ${["Number", "String", "Boolean", "Null"][i]}`,
      "parse-failed",
    ),
  })),
  {
    title: "G-HTTP-8 G-HTTP-8a a query that is not a string is rejected",
    request: "POST /v1/graphql",
    body: { query: 3 },
    answer: buildGqlErrorBody(
      "parsing Text failed, expected String, but encountered Number",
      "parse-failed",
      "$.query",
    ),
  },
  {
    title: "G-HTTP-9 a subscription over HTTP is rejected",
    request: "POST /v1/graphql",
    body: { query: "subscription { team { id } }" },
    answer: buildGqlErrorBody(
      "subscriptions are not supported over HTTP, use websockets instead",
      "unexpected-payload",
    ),
  },
  {
    title: "G-HTTP-9 the document of a subscription is checked before it is rejected",
    request: "POST /v1/graphql",
    body: { query: "subscription { teem { id } }" },
    answer: buildGqlErrorBody(
      "field 'teem' not found in type: 'subscription_root'",
      "validation-failed",
      "$.selectionSet.teem",
    ),
  },
  {
    title: "G-HTTP-10 responses have a content type and a request id",
    request: "POST /v1/graphql",
    body: QUERY,
    responseHeaders: {
      "content-type": "application/json; charset=utf-8",
      "x-request-id": /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/,
    },
  },
  {
    title: "G-HTTP-10 the request id of the client is returned",
    request: "POST /v1/graphql",
    body: QUERY,
    headers: { "x-request-id": "abc" },
    responseHeaders: { "x-request-id": "abc" },
  },
  {
    title: "G-HTTP-10 errors have the request id too",
    request: "POST /v1/graphql",
    body: {},
    headers: { "x-request-id": "abc" },
    responseHeaders: { "x-request-id": "abc" },
  },
  {
    title: "G-HTTP-10 small bodies are not compressed",
    request: "POST /v1/graphql",
    body: QUERY,
    headers: { "accept-encoding": "gzip" },
    responseHeaders: { "content-encoding": null },
  },
  {
    title: "G-HTTP-10 bodies are not compressed unless the client accepts gzip",
    request: "POST /v1/graphql",
    body: { query: "{ __schema { types { name } } }" },
    responseHeaders: { "content-encoding": null },
  },
  {
    title: "G-HTTP-10 a client may reject gzip",
    request: "POST /v1/graphql",
    body: { query: "{ __schema { types { name } } }" },
    headers: { "accept-encoding": "gzip;q=0, br" },
    responseHeaders: { "content-encoding": null },
  },
  {
    title: "G-HTTP-11 a listed origin is returned",
    request: "POST /v1/graphql",
    body: QUERY,
    headers: { origin: "https://app.example" },
    responseHeaders: {
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": /x-request-id/,
    },
  },
  {
    title: "G-HTTP-11 a wildcard matches the first label of an origin",
    request: "POST /v1/graphql",
    body: QUERY,
    headers: { origin: "https://eu.shop.example" },
    responseHeaders: { "access-control-allow-origin": "https://eu.shop.example" },
  },
  {
    title: "G-HTTP-11 another origin gets no CORS header",
    request: "POST /v1/graphql",
    body: QUERY,
    headers: { origin: "https://else.example" },
    responseHeaders: { "access-control-allow-origin": null },
  },
  {
    title: "G-HTTP-11 a preflight is answered",
    request: "OPTIONS /v1/graphql",
    headers: { origin: "https://app.example", "access-control-request-method": "POST" },
    status: 200,
    responseHeaders: { "access-control-allow-methods": /POST/ },
  },
  {
    title: "G-HTTP-12 other methods are rejected",
    request: "PUT /v1/graphql",
    body: QUERY,
    status: 405,
    responseHeaders: { allow: /POST/ },
  },
  {
    title: "G-HTTP-12 other methods are rejected at a path beside REST",
    request: "DELETE /api/graphql",
    status: 405,
    responseHeaders: { allow: /POST/ },
  },
  {
    title: "G-HTTP-12 the path for sockets requires an upgrade",
    request: "GET /v1/graphql/ws",
    status: 426,
    responseHeaders: { upgrade: "websocket" },
  },
  ...["/v1/nothing", "/v1/query", "/v2/query", "/v1beta1/relay", "/v1/metadata", "/v1alpha1/config"].map((path) => ({
    title: `G-HTTP-12 the path ${path} is unknown`,
    request: `POST ${path}`,
    body: {},
    status: 404,
    answer: { path: "$", error: "resource does not exist", code: "not-found" },
  })),
  {
    title: "G-HTTP-13 bodies are compact, and numbers have PostgreSQL's digits",
    request: "POST /v1/graphql",
    body: { query: "{ album(order_by: {id: asc}, limit: 2) { price id } }" },
    bytes: '{"data":{"album":[{"price":12.50,"id":1},{"price":20.00,"id":2}]}}',
  },
]);

test("G-HTTP-10 bodies of 700 bytes and more are compressed for clients that accept gzip", async () => {
  const body = { query: "{ __schema { types { name description } } }" };
  const plain = await api.post("/v1/graphql", { body });
  const compressedAnswer = await api.post("/v1/graphql", { body, headers: { "accept-encoding": "br, gzip;q=0.5" } });
  expect(compressedAnswer.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(compressedAnswer.bytes).toString()).toBe(plain.text);
});

test("G-HTTP-10 bodies below 700 bytes are not compressed", async () => {
  const ask = (length: number) =>
    api.post("/v1/graphql", {
      body: { query: `{ ${"a".repeat(length)}: __typename }` },
      headers: { "accept-encoding": "gzip" },
    });
  const frame = '{"data":{"":"query_root"}}'.length;
  expect((await ask(700 - frame)).headers["content-encoding"]).toBe("gzip");
  expect((await ask(699 - frame)).headers["content-encoding"]).toBeUndefined();
});

test("G-HTTP-5 each request of a batch has its own transaction", async () => {
  const insert = (id: number) => ({ query: `mutation { insert_room_one(object: {id: ${id}, name: "x"}) { id } }` });
  const answer = await api.post("/v1/graphql", { body: [insert(90), insert(90), insert(91)], headers: asAdmin() });
  expect(answer.json()).toMatchObject([
    { data: {} },
    { errors: [{ extensions: { code: "constraint-violation" } }] },
    { data: {} },
  ]);
  expect(await api.sql("delete from room where id in (90, 91) returning id")).toHaveLength(2);
});

test("G-HTTP-14 a failed mutation leaves no change of its request", async () => {
  const query =
    'mutation { a: insert_room_one(object: {id: 92, name: "x"}) { id } b: insert_room_one(object: {id: 92, name: "y"}) { id } }';
  const answer = await api.post("/v1/graphql", { body: { query }, headers: asAdmin() });
  expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: "constraint-violation" } }] });
  expect(await api.sql("select from room where id = 92")).toEqual([]);
});

test("G-HTTP-14 the root fields of a query see one snapshot in a read-only transaction", async () => {
  await api.sql(
    "create view snapshot_of as select txid_current_snapshot()::text as seen, current_setting('transaction_read_only') as mode; grant select on snapshot_of to music_reader",
  );
  try {
    await api.reload();
    const { data } = await api.gql(
      "{ a: snapshot_of { seen mode } b: snapshot_of { seen } }",
      {},
      asAdmin("music_reader"),
    );
    expect(data.a[0].mode).toBe("on");
    expect(data.a[0].seen).toBe(data.b[0].seen);
  } finally {
    await api.sql("drop view snapshot_of");
    await api.reload();
  }
});

cases(api, [
  { title: "G-HTTP-17 the health endpoint answers OK", request: "GET /healthz", status: 200, bytes: "OK" },
  {
    title: "G-HTTP-17 the strict health check and the other address answer OK",
    request: "GET /hasura/healthz?strict=true",
    status: 200,
    bytes: "OK",
  },
  {
    title: "G-HTTP-12 the version endpoint names the product and its version",
    request: "GET /v1/version",
    status: 200,
    answer: { server_type: "relapi", version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
  },
]);

test("G-HTTP-17 the health endpoint reports metadata that does not match the database", async () => {
  const ownApi = await startApi(forGraphql({ metadata: buildMetadataDocument([table("team"), table("nowhere")]) }));
  const answers = await Promise.all(
    ["/healthz", "/healthz?strict=false", "/healthz?strict=true", "/hasura/healthz?strict=true"].map((path) =>
      ownApi.get(path),
    ),
  );
  expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual([
    "200 WARN: inconsistent objects in schema",
    "200 WARN: inconsistent objects in schema",
    "500 ERROR: inconsistent objects in schema",
    "500 ERROR: inconsistent objects in schema",
  ]);
});

test("G-HTTP-12 an unknown path below /api/team is a relation of REST", async () => {
  const answer = await api.get("/api/team?select=name&limit=1&order=id");
  expect(answer.json()).toEqual([{ name: "Reds" }]);
});
