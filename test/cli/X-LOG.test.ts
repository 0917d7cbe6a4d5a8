/** The log as objects: the fields of a request's line, and the values that no line contains. */
import { beforeAll, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { openSocket } from "../support/socket.ts";
import { signToken } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { relapi, start, startUntil, type Environment, type RunningProgram } from "./run.ts";

/** Both databases have the albums, and a role that may only read them. */
const anonRole = capabilities.realServer ? "music_reader" : "anon";

/** Uses a PostgreSQL server where one exists, because starting the embedded database takes longer than the tests. */
const onDatabase = async (environment: Environment): Promise<Environment> => ({
  PORT: "0",
  HOST: "127.0.0.1",
  ...(capabilities.realServer
    ? { DATABASE_URL: (await testDatabase()).options.databaseUrl, DB_SCHEMAS: "public", ANON_ROLE: anonRole }
    : {}),
  ...environment,
});

let running: RunningProgram;
let url = "";

/** The lines so far that are objects. */
const lines = (): readonly any[] =>
  running
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

const line = async (isExpected: (fields: any) => boolean): Promise<any> => {
  await until(() => lines().some(isExpected), `a line of the log with ${isExpected}`);
  return lines().find(isExpected);
};

beforeAll(async () => {
  running = start([], await onDatabase({ LOG_FORMAT: "json", ADMIN_SECRET: "a secret of the test" }));
  url = (await line(({ message }) => message === "listening")).address;
});

test("X-LOG-1 the default format is text", async () => {
  const { stdout, stderr } = await startUntil(/Try:/, [], await onDatabase({ LOG_FORMAT: undefined }));
  expect(stdout).toContain("Try:");
  expect(stderr).toMatch(/^\S+ info schema loaded \{/m);
});

test("X-LOG-1 every line on stdout is an object", async () => {
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const { level, time, pid } = await line(({ message }) => message === "listening");
  expect([level, pid]).toEqual(["info", running.pid]);
  expect(new Date(time).toISOString()).toBe(time);
});

test("X-LOG-1 X-LOG-3 a REST request is logged with its fields", async () => {
  const response = await fetch(`${url}/api/album?select=title&artist_id=eq.3&limit=1`, {
    headers: { "x-request-id": "rest-1", traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
  });
  expect(response.headers.get("x-request-id")).toBe("rest-1");
  const entry = await line(({ requestId }) => requestId === "rest-1");
  const { durationMs, databaseMs, waitMs, planKey, time: _time, pid, address, userAgent, ...fields } = entry;
  expect(fields).toEqual({
    level: "info",
    message: "request",
    requestId: "rest-1",
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    surface: "rest",
    operation: "read",
    operationName: "album",
    role: anonRole,
    method: "GET",
    path: "/api/album",
    status: 200,
    transactions: 1,
    rows: 1,
    bytes: (await response.text()).length,
  });
  expect(planKey).toMatch(/^[\w-]{22}$/);
  expect(databaseMs).toBeGreaterThan(0);
  expect(durationMs).toBeGreaterThan(databaseMs);
  expect([waitMs >= 0, address, userAgent, pid]).toEqual([true, "127.0.0.1", "node", running.pid]);
});

test("X-LOG-1 a GraphQL request is logged, also with an error of status 200, and equal plans have equal keys", async () => {
  const ask = (id: string, body: object): Promise<Response> =>
    fetch(`${url}/v1/graphql`, { method: "POST", body: JSON.stringify(body), headers: { "x-request-id": id } });
  const query = "query One($id: Int!) { album(where: {artist_id: {_eq: $id}}) { title } }";
  await ask("gql-1", { query, variables: { id: 1 } });
  await ask("gql-2", { query, variables: { id: 2 } });
  await ask("gql-3", { query: "query Wrong { nothing }" });
  const [first, second, wrong] = await Promise.all(
    ["gql-1", "gql-2", "gql-3"].map((id) => line(({ requestId }) => requestId === id)),
  );
  expect(first).toMatchObject({ surface: "graphql", operation: "query", operationName: "One", status: 200 });
  expect(first.planKey).toMatch(/^[\w-]{22}$/);
  expect(first.planKey).toBe(second.planKey);
  expect(wrong).toMatchObject({ operationName: "Wrong", status: 200, error: "validation-failed" });
  expect(wrong.planKey).toBeUndefined();
});

test("X-LOG-3 a missing request id is created, and an invalid one is replaced", async () => {
  for (const headers of [{}, { "x-request-id": 'a "bad" one' }, { "x-request-id": "x".repeat(200) }]) {
    const id = (await fetch(`${url}/api/album?limit=1`, { headers: headers as never })).headers.get("x-request-id");
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(await line(({ requestId }) => requestId === id)).toMatchObject({ status: 200 });
  }
});

test("X-LOG-1 a subscription on a socket is logged with its first result", async () => {
  const socket = await openSocket({ wsUrl: url.replace("http", "ws") } as never);
  await socket.init({});
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription Watch { album(limit: 1) { title } }" } });
  await socket.next(({ type }) => type === "next");
  expect(await line(({ operationName }) => operationName === "Watch")).toMatchObject({
    surface: "graphql",
    transport: "websocket",
    operation: "subscription",
    role: anonRole,
  });
  await socket.close();
});

test("X-LOG-1 no line contains values, tokens, secrets or bodies", async () => {
  const token = signToken({ role: "anon", email: "claim@secret.example" });
  await fetch(`${url}/api/album?title=eq.VALUE_OF_A_FILTER`, { headers: { authorization: `Bearer ${token}` } });
  await fetch(`${url}/api/album`, { method: "POST", body: '{"title":"VALUE_OF_A_BODY"}' });
  await fetch(`${url}/api/nothing?x=eq.VALUE_OF_NOTHING`, { headers: { referer: "http://x/?VALUE_OF_A_REFERER" } });
  await fetch(`${url}/v1/graphql`, {
    method: "POST",
    headers: { "x-session-admin-secret": "a secret of the test", cookie: "VALUE_OF_A_COOKIE=1" },
    body: JSON.stringify({ query: '{ album(where: {title: {_eq: "VALUE_OF_A_DOCUMENT"}}) { title } }' }),
  });
  await fetch(`${url}/v1/graphql`, { method: "POST", body: '{"query":"{ album { VALUE_OF_A_FIELD } }"}' });
  const last = await fetch(`${url}/api/album?limit=1`, { headers: { "x-request-id": "the-last" } });
  expect(last.status).toBe(200);
  await line(({ requestId }) => requestId === "the-last");
  const all = running.output();
  for (const secret of ["VALUE_OF", token, "claim@secret.example", "a secret of the test"])
    expect(all).not.toContain(secret);
  expect((await running.stop()).code).toBe(0);
});

test("X-LOG-1 the pretty format is readable, and names the package that it needs", async () => {
  const { stdout, code } = await startUntil(/listening/, [], await onDatabase({ LOG_FORMAT: "pretty" }));
  expect(code).toBe(0);
  expect(stdout).not.toContain('{"level"');
  const wrong = await relapi([], { PORT: "0", LOG_FORMAT: "xml" });
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    'relapi: invalid LOG_FORMAT "xml": expected one of text, json, pretty\n',
  ]);
});
