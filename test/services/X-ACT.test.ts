/** Actions: root fields that webhooks and functions of the application answer. */
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { actions } from "../../plugins/services/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, type StartOptions, type TestApi } from "../support/api.ts";
import { readError } from "../support/cases.ts";
import { collectWarnings, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { argument, buildDocument, definition, LOGIN, startActionHook } from "./action-metadata.ts";
import { json } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";
import { collectLines } from "../support/logger.ts";

const hook = await startActionHook();

const { logger, lines: log } = collectLines("error", "warn");

const start = (options: StartOptions): Promise<TestApi> => startWithWebhooks({ logger, ...options });
const api = await start({ metadata: buildDocument() });

const reader = asAdmin("reader");
const LOG_IN = 'mutation { login(login: {name: "Ada"}) { value } }';

beforeEach(() => {
  hook.requests.length = 0;
  log.length = 0;
  hook.answer = json({ value: "t" });
});

describe("the fields", () => {
  test("X-ACT-1 X-ACT-2 an action is a field of its root, with its arguments, output type and comment", async () => {
    const { data } = await api.gql(
      `{ __schema { mutationType { fields { name description args { name type { kind ofType { name } name } } type { kind ofType { name description } } } } } }`,
      {},
      reader,
    );
    expect(data.__schema.mutationType.fields).toEqual([
      {
        name: "login",
        description: "Logs in.",
        args: [
          { name: "extra", type: { kind: "SCALAR", ofType: null, name: "Anything" } },
          { name: "login", type: { kind: "NON_NULL", ofType: { name: "Login" }, name: null } },
          { name: "since", type: { kind: "SCALAR", ofType: null, name: "timestamptz" } },
        ],
        type: { kind: "NON_NULL", ofType: { name: "Token", description: "Proves a login." } },
      },
    ]);
  });

  test.each([
    ["reader", true, true],
    ["guest", false, true],
    ["heir", false, true],
    ["nobody", false, false],
    ["admin", true, true],
  ])("X-ACT-3 the role %s may log in: %j, and ask for the weather: %j", async (role, login, weather) => {
    const headers = role === "admin" ? asAdmin() : asAdmin(role);
    const first = await api.gql(LOG_IN, {}, headers);
    hook.answer = json(["rain"]);
    const second = await api.gql("{ weather }", {}, headers);
    expect([first.data?.login.value, second.data?.weather]).toEqual([
      login ? "t" : undefined,
      weather ? ["rain"] : undefined,
    ]);
    expect(hook.requests).toHaveLength(Number(login) + Number(weather));
  });

  test("X-ACT-3 G-AUTH-19b a role named admin has no action without a permission", async () => {
    const metadata = {
      ...buildDocument(),
      sources: [
        {
          name: "default",
          kind: "postgres",
          tables: [table("artist", { select_permissions: permissions({ admin: { columns: ["id"], filter: {} } }) })],
        },
      ],
    };
    const ping = { output: "Int!", run: () => 1 };
    const claims = { "x-session-default-role": "admin", "x-session-allowed-roles": ["admin"] };
    const headers = { "x-session-admin-secret": undefined, ...bearer(claims) };
    const startWithRole = (extraOptions: StartOptions) =>
      start({ preset: (presetOptions) => compose(plus(presetOptions), actions({ ping })), metadata, ...extraOptions });
    const ordinary = await startWithRole({});
    expect((await ordinary.gql("{ artist { id } }", {}, headers)).errors).toBeUndefined();
    for (const document of [LOG_IN, "mutation { ping }"])
      expect(readError(await ordinary.gql(document, {}, headers))).toMatchObject({ message: "no mutations exist" });
    expect(hook.requests).toEqual([]);
    const administrator = await startWithRole({ adminRoleInTokens: true });
    expect((await administrator.gql("mutation { ping }", {}, headers)).data).toEqual({ ping: 1 });
    expect((await administrator.gql(LOG_IN, {}, headers)).data).toEqual({ login: { value: "t" } });
  });

  test("X-ACT-3 a role with only actions reads no tables", async () => {
    expect(readError(await api.gql("{ artist { id } }", {}, asAdmin("guest")))).toMatchObject({
      message: `field 'artist' not found in type: 'query_root'`,
    });
  });

  test("X-ACT-1 without the plugin the metadata reports the actions as not supported", async () => {
    const warnings = collectWarnings();
    await start({ preset: fullCompat, metadata: buildDocument(), logger: warnings.logger });
    expect(warnings.all()).toEqual([
      "actions is not supported; ignored: the preset plus supports it",
      "custom_types is not supported; ignored: the preset plus supports it",
      "inherited role heir: parent guest has no permission in the metadata",
    ]);
    const otherWarnings = collectWarnings();
    await start({ parts: [without("metadata-actions")], metadata: buildDocument(), logger: otherWarnings.logger });
    expect(otherWarnings.all()).toEqual(warnings.all());
  });
});

describe("the call", () => {
  test("X-ACT-4 the webhook gets the action, the arguments, the session variables and the document", async () => {
    const query =
      'mutation ($since: timestamptz) { token: login(login: {name: "Ada", level: high}, extra: {a: [1]}, since: $since) { value } }';
    const { data } = await api.gql(
      query,
      { since: "2026-01-01T00:00:00Z" },
      { ...reader, "x-hasura-user-id": "7", "x-own": "1", cookie: "a=b" },
    );
    expect(data).toEqual({ token: { value: "t" } });
    const [hookRequest] = hook.requests;
    expect(hookRequest).toMatchObject({
      method: "POST",
      url: "/login",
      headers: {
        "content-type": "application/json",
        "x-key": "secret-of-the-action",
        "x-fixed": `at ${process.env["ACTION_BASE"]}`,
        "x-own": "1",
        cookie: "a=b",
      },
    });
    expect(JSON.parse(hookRequest?.body ?? "")).toEqual({
      action: { name: "login" },
      input: {
        login: { name: "Ada", level: "high" },
        extra: { a: [1] },
        since: "2026-01-01T00:00:00Z",
      },
      session_variables: { "x-hasura-role": "reader", "x-hasura-user-id": "7" },
      request_query: query,
    });
  });

  test("X-ACT-4 headers of the client are forwarded only on request", async () => {
    hook.answer = json(["rain"]);
    await api.gql("{ weather }", {}, { ...reader, "x-own": "1" });
    expect(hook.requests[0]?.headers["x-own"]).toBeUndefined();
  });

  test("X-ACT-4 X-HOOK-2 the admin secret of the client is not forwarded", async () => {
    hook.answer = json({ value: "t" });
    expect((await api.gql(LOG_IN, {}, asAdmin("reader"))).errors).toBeUndefined();
    expect(JSON.stringify(hook.requests[0])).not.toContain(adminSecret);
  });

  test("X-ACT-4 long numbers keep their digits in both directions", async () => {
    const otherApi = await start({
      metadata: buildDocument([
        { ...LOGIN, definition: definition({ arguments: [argument("n", "bigint!")], output_type: "Anything" }) },
      ]),
    });
    hook.answer = (response) => void response.end('{"n":12345678901234567890.5}');
    const answer = await otherApi.post("/v1/graphql", {
      headers: reader,
      body: '{"query":"mutation ($n: bigint!) { login(n: $n) }","variables":{"n":9007199254740993}}',
    });
    expect(hook.requests[0]?.body).toContain('"input":{"n":9007199254740993}');
    expect(answer.text).toBe('{"data":{"login":{"n":12345678901234567890.5}}}');
  });

  test("X-ACT-4 arguments that do not fit are rejected before the call", async () => {
    for (const input of ["{name: 1}", "{}", '{name: "a", level: medium}', '{name: "a", other: 1}', "null"])
      expect((await api.gql(`mutation { login(login: ${input}) { value } }`, {}, reader)).errors).toHaveLength(1);
    expect(hook.requests).toEqual([]);
  });

  test("X-ACT-4 an operation of a WebSocket calls the webhook", async () => {
    const socket = await openSocket(api);
    await socket.init({ headers: reader });
    socket.send({ id: "1", type: "subscribe", payload: { query: LOG_IN } });
    expect(await socket.next()).toMatchObject({ type: "next", payload: { data: { login: { value: "t" } } } });
    expect(JSON.parse(hook.requests[0]?.body ?? "")).toMatchObject({ request_query: LOG_IN });
    await socket.close();
  });

  test("X-ACT-4 X-HOOK-2 an operation of a WebSocket forwards the headers of the socket", async () => {
    const socket = await openSocket(api, { headers: { "x-upgrade": "1", cookie: "session=7" } });
    await socket.init({ headers: { ...reader, "X-Own": "caf\u00e9", Authorization: "Bearer own" } });
    socket.send({ id: "1", type: "subscribe", payload: { query: LOG_IN } });
    expect(await socket.next()).toMatchObject({ type: "next" });
    expect(hook.requests[0]?.headers).toMatchObject({
      "x-upgrade": "1",
      cookie: "session=7",
      "x-own": "caf\u00c3\u00a9", // the bytes of UTF-8
      authorization: "Bearer own",
    });
    expect(JSON.stringify(hook.requests[0])).not.toContain(adminSecret);
    await socket.close();
  });

  test("X-ACT-4 X-HOOK-4 cookies of a page of another origin are not forwarded", async () => {
    for (const origin of [undefined, `http://127.0.0.1:${api.port}`, "https://evil.example"])
      await api.gql(LOG_IN, {}, { ...reader, cookie: "session=7", origin });
    expect(hook.requests.map(({ headers }) => headers["cookie"])).toEqual(["session=7", "session=7", undefined]);
  });

  test("X-ACT-4 mutations call their actions one after another, and stop at the first error", async () => {
    hook.answer = (response, { body }) =>
      json({ message: "no" }, JSON.parse(body).input.login.name === "b" ? 400 : 200)(response, hook.requests[0]!);
    const answer = await api.gql(
      'mutation { a: login(login: {name: "b"}) { value } b: login(login: {name: "c"}) { value } }',
      {},
      reader,
    );
    expect(readError(answer)).toMatchObject({ message: "no" });
    expect(hook.requests).toHaveLength(1);
  });

  test("X-ACT-4a an action of a mutation sees the writes before it, which stay if it fails", async () => {
    const insert = (name: string) => `insert_artist_one(object: {name: "${name}"}) { name }`;
    const names = () => api.sql("select name from artist where name in ('Before', 'After') order by name");
    let visibleRows: unknown;
    hook.answer = (response, hookRequest) =>
      void names().then((rows) => {
        visibleRows = rows;
        json({ message: "no" }, 400)(response, hookRequest);
      });
    const answer = await api.gql(
      `mutation { a: ${insert("Before")} login(login: {name: "x"}) { value } b: ${insert("After")} }`,
    );
    expect(readError(answer)).toMatchObject({ message: "no" });
    expect(visibleRows).toEqual([{ name: "Before" }]);
    expect(await names()).toEqual(visibleRows);
    await api.sql("delete from artist where name = 'Before'");
  });

  test("X-ACT-4 X-HTTP-2 a client that disconnects ends the call", async () => {
    let pendingResponse: ServerResponse | undefined;
    let isClosed = false;
    hook.answer = (response) => void (pendingResponse = response.on("close", () => (isClosed = true)));
    const controller = new AbortController();
    const clientAnswer = fetch(`${api.url}/v1/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", ...reader },
      body: JSON.stringify({ query: LOG_IN }),
      signal: controller.signal,
    }).catch(() => "aborted");
    await until(() => pendingResponse !== undefined, "the webhook is called");
    controller.abort();
    expect(await clientAnswer).toBe("aborted");
    await until(() => isClosed, "the call ends");
  });
});

describe("the errors", () => {
  test.each([
    [{ message: "locked" }, { path: "$.selectionSet.login", code: "unexpected" }],
    [
      { message: "locked", code: "locked-out" },
      { path: "$.selectionSet.login", code: "locked-out" },
    ],
    [
      { message: "locked", code: "ignored", extensions: { code: "mine", until: [1, 2] } },
      { code: "mine", until: [1, 2] },
    ],
  ])("X-ACT-5 status 4xx with %j is an error of the client", async (answer, extensions) => {
    hook.answer = json(answer, 422);
    expect(readError(await api.gql(LOG_IN, {}, reader))).toEqual({ message: "locked", extensions });
    const response = await api.post("/v1/graphql", { headers: reader, body: { query: LOG_IN } });
    expect(response.status).toBe(200);
    expect(log).toEqual([]);
  });

  const INVALID = "unexpected response from webhook: ";
  test.each([
    [{}, `${INVALID}expecting a value for "value", but got null`],
    [{ value: 1 }, `${INVALID}expecting a string for "value", but got a number`],
    [{ value: "t", level: "medium" }, `${INVALID}expecting a value of "Level" for "level", but got a string`],
    [{ value: "t", artist_id: 1.5 }, `${INVALID}expecting an integer for "artist_id", but got a number`],
    [
      { value: "t", parents: [{ value: "u" }, {}] },
      `${INVALID}expecting a value for "parents"[1]."value", but got null`,
    ],
    [[], `${INVALID}expecting an object for the result, but got a list`],
    [null, `${INVALID}expecting a value for the result, but got null`],
  ])("X-ACT-6 the result %j does not fit the output type", async (answer, message) => {
    hook.answer = json(answer);
    expect(readError(await api.gql(LOG_IN, {}, reader))).toEqual({
      message,
      extensions: { path: "$.selectionSet.login", code: "unexpected" },
    });
  });

  test("X-ACT-6 members without a field are ignored, and nested objects are selected", async () => {
    hook.answer = json({ value: "t", more: 1, parents: [{ value: "u", artist_id: 7 }] });
    const { data } = await api.gql(
      'mutation { login(login: {name: "a"}) { at parents { v: value artist_id __typename } } }',
      {},
      reader,
    );
    expect(data.login).toEqual({ at: null, parents: [{ v: "u", artist_id: 7, __typename: "Token" }] });
  });

  test.each([
    ["status 500", json({ secret: 1 }, 500), "internal error", "status 500"],
    ["a redirect", json({}, 302), "internal error", "status 302"],
    [
      "no JSON",
      (response: ServerResponse) => void response.end("nope"),
      "not a valid json response from webhook",
      undefined,
    ],
    ["no message", json({ error: 1 }, 400), `${INVALID}an error has a "message"`, undefined],
    [
      "no JSON and 400",
      (response: ServerResponse) => void response.writeHead(400).end("<"),
      "not a valid json response from webhook",
      undefined,
    ],
    [
      "no answer",
      (response: ServerResponse) => void response.destroy(),
      "http exception when calling webhook",
      "ECONNRESET",
    ],
  ])("X-ACT-7 %s is an error of the server", async (_, answer, message, logText) => {
    const otherApi = await start({ metadata: buildDocument() });
    hook.answer = answer;
    log.length = 0;
    for (const attempt of [1, 2])
      expect([attempt, readError(await otherApi.gql(LOG_IN, {}, reader))]).toEqual([
        attempt,
        { message, extensions: { path: "$.selectionSet.login", code: "unexpected" } },
      ]);
    expect(log).toHaveLength(logText === undefined ? 0 : 1);
    if (logText !== undefined) expect(log[0]).toContain(logText);
    expect(log.join()).not.toMatch(/secret|127\.0\.0\.1/);
  });

  test("X-ACT-6 JSON of another content type is a result", async () => {
    hook.answer = (response) => void response.writeHead(200, { "content-type": "text/html" }).end('{"value":"u"}');
    expect((await api.gql(LOG_IN, {}, reader)).data).toEqual({ login: { value: "u" } });
  });

  test("X-ACT-7 X-HTTP-4 a private address is rejected, and the log says so", async () => {
    const otherApi = await start({ metadata: buildDocument(), webhookAllowedHosts: [] });
    log.length = 0;
    expect(readError(await otherApi.gql(LOG_IN, {}, reader))).toMatchObject({
      message: "http exception when calling webhook",
    });
    expect(log.join()).toContain("private address");
    expect(hook.requests).toEqual([]);
  });

  test("X-ACT-7 a webhook that is too slow fails its field, and delays no other request", async () => {
    const slowAction = { ...LOGIN, definition: definition({ timeout: 1 }) };
    const otherApi = await start({ metadata: buildDocument([slowAction]) });
    hook.answer = () => undefined;
    const clientAnswer = otherApi.gql(LOG_IN, {}, reader);
    await until(() => hook.requests.length === 1, "the webhook is called");
    expect((await otherApi.gql("{ artist(limit: 1) { id } }")).data.artist).toHaveLength(1);
    expect(readError(await clientAnswer)).toMatchObject({ message: "http exception when calling webhook" });
    expect(log.join()).toContain("no complete answer within 1 s");
  });
});

describe("cookies of the answer", () => {
  const cookies = ["session=8; Path=/; HttpOnly", "seen=1"];
  const setCookies =
    (body: unknown, status = 200) =>
    (response: ServerResponse): void =>
      void response.writeHead(status, { "set-cookie": cookies, "x-other": "1" }).end(JSON.stringify(body));

  const ask = (query: string, headers = {}): ReturnType<TestApi["post"]> =>
    api.post("/v1/graphql", { body: { query }, headers: { ...reader, ...headers } });

  test.each([
    ["a mutation", LOG_IN, { value: "t" }, 200, cookies],
    ["a query", "{ weather }", ["fine"], 200, cookies],
    ["a rejection", LOG_IN, { message: "no" }, 400, cookies],
    [
      "two actions",
      `mutation { a: ${LOG_IN.slice(11, -1)} b: ${LOG_IN.slice(11)}`,
      { value: "t" },
      200,
      [...cookies, ...cookies],
    ],
  ])(
    "X-ACT-15 the response to %s has the cookies, and no other header of the webhook",
    async (_, query, body, status, expected) => {
      hook.answer = setCookies(body, status);
      const { headers, rawHeaders } = await ask(query);
      expect(rawHeaders.filter(([name]) => name === "Set-Cookie").map(([, value]) => value)).toEqual(expected);
      expect(headers).not.toHaveProperty("x-other");
      hook.answer = json(body, status);
      expect((await ask(query)).headers).not.toHaveProperty("set-cookie");
    },
  );

  test("X-ACT-15 a page of another origin gets no cookies", async () => {
    hook.answer = setCookies({ value: "t" });
    const sameOrigin = await ask(LOG_IN, { origin: `http://127.0.0.1:${api.port}` });
    const otherOrigin = await ask(LOG_IN, { origin: "https://evil.example" });
    expect([sameOrigin.headers["set-cookie"], otherOrigin.headers["set-cookie"]]).toEqual([
      cookies.join(", "),
      undefined,
    ]);
  });
});
