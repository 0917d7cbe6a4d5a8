/** An api in an Express application, behind the middleware that applications use: security headers, CORS, compression,
 *  sessions, rate limits and parsed bodies. */
import compression from "compression";
import cors from "cors";
import express, { type RequestHandler } from "express";
import { rateLimit } from "express-rate-limit";
import session from "express-session";
import helmet from "helmet";
import { Agent } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startApi, type TestApi } from "../support/api.ts";
import { sendRequest, type Answer, type RequestParts } from "../support/http.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";
import { startHttpServer } from "../support/http-server.ts";
import { appUsers } from "./app-users.ts";

interface MountedApi {
  readonly api: TestApi;
  readonly port: number;
  readonly wsUrl: string;
  send(method: string, path: string, parts?: RequestParts): Promise<Answer>;
}

const SCHEMA = `
  drop schema if exists app cascade;
  create schema app;
  grant usage on schema app to sea_anon, sea_clerk;
  create table app.note (id int primary key, owner int, text text, big numeric);
  insert into app.note values (1, 7, repeat('a', 5000)), (2, 8, 'b');
  grant select, insert, update on app.note to sea_anon, sea_clerk;
`;

/** Mounts an api under `/db`, behind the handlers. */
const mount = async (handlers: readonly RequestHandler[], options: Parameters<typeof startApi>[0] = {}) => {
  const api = await startApi({ dbSchemas: ["app"], anonRole: "sea_anon", ...options });
  await api.sql(SCHEMA);
  await api.reload();
  const app = express();
  for (const handler of handlers) app.use(handler);
  const port = await startHttpServer(app.use("/db", api.relApi));
  const agent = new Agent();
  const send: MountedApi["send"] = (method, path, parts) => sendRequest({ port, agent }, method, path, parts);
  return { api, port, wsUrl: `ws://127.0.0.1:${port}`, send } satisfies MountedApi;
};

const QUERY = "{ app_note(order_by: {id: asc}) { id } }";
const ROWS = [{ id: 1 }, { id: 2 }];

/** Reads by REST, GraphQL and a WebSocket, and writes. */
const expectAllToWork = async ({ send, wsUrl }: MountedApi, headers: Readonly<Record<string, string>> = {}) => {
  expect((await send("GET", "/db/api/note?select=id&order=id", { headers })).json()).toEqual(ROWS);
  const body = { query: QUERY };
  expect((await send("POST", "/db/v1/graphql", { headers, body })).json()).toEqual({ data: { app_note: ROWS } });
  const writeAnswer = await send("PATCH", "/db/api/note?id=eq.2&select=text", {
    headers: { ...headers, prefer: "return=representation" },
    body: { text: "changed" },
  });
  expect([writeAnswer.status, writeAnswer.json()]).toEqual([200, [{ text: "changed" }]]);
  const socket = await openSocket({ wsUrl }, { path: "/db/v1/graphql/ws", headers });
  await socket.init({});
  socket.send({ id: "1", type: "subscribe", payload: { query: `subscription ${QUERY}` } });
  expect(await socket.next()).toMatchObject({ type: "next", payload: { data: { app_note: ROWS } } });
  await socket.close();
};

test("X-OVER-2 responses have the headers of helmet and all headers of the api", async () => {
  const app = await mount([helmet()]);
  await expectAllToWork(app);
  const answer = await app.send("GET", "/db/api/note?select=id&limit=1", { headers: { prefer: "count=exact" } });
  expect(answer.headers).toMatchObject({
    "content-range": "0-0/2",
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  // The pages of the api have a policy of their own, without which they would not run.
  const page = await app.send("GET", "/db/v1/graphql", { headers: { accept: "text/html" } });
  expect([page.status, page.headers["content-security-policy"]]).toEqual([200, expect.stringContaining("nonce-")]);
});

describe("X-OVER-2 cors", () => {
  test("X-OVER-2 cors of the application decides on preflights, and its headers are sent once", async () => {
    const origin = "https://shop.example";
    const app = await mount([cors({ origin, credentials: true })], { corsAllowedOrigins: [origin] });
    await expectAllToWork(app, { origin });
    const preflight = { headers: { origin, "access-control-request-method": "PATCH" } };
    expect((await app.send("OPTIONS", "/db/api/note", preflight)).status).toBe(204);
    const { rawHeaders } = await app.send("GET", "/db/api/note?select=id", { headers: { origin } });
    const originHeaders = rawHeaders.filter(([name]) => name.toLowerCase() === "access-control-allow-origin");
    expect(originHeaders.map(([, value]) => value)).toEqual([origin]);
  });
});

describe("X-OVER-2 compression", () => {
  test("X-OVER-2 the middleware compression compresses responses of both surfaces", async () => {
    const app = await mount([compression()]);
    await expectAllToWork(app);
    const headers = { "accept-encoding": "gzip" };
    const rest = await app.send("GET", "/db/api/note?select=id,text&order=id&limit=1", { headers });
    expect(rest.headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(rest.bytes).toString())).toEqual([{ id: 1, text: "a".repeat(5000) }]);
    const graphql = await app.send("POST", "/db/v1/graphql", {
      headers,
      body: { query: "{ app_note(where: {id: {_eq: 1}}) { text } }" },
    });
    expect(JSON.parse(gunzipSync(graphql.bytes).toString()).data.app_note[0].text).toHaveLength(5000);
  });

  test.each([
    ["REST", "/db/api/note?select=id,text&id=eq.2", undefined],
    ["GraphQL", "/db/v1/graphql", { query: "subscription { app_note(where: {id: {_eq: 2}}) { id text } }" }],
  ] as const)("X-OVER-2 compression does not delay events of a live query: %s", async (_, path, body) => {
    const app = await mount([compression()], { liveQueryInterval: 20 });
    const response = await fetch(`http://127.0.0.1:${app.port}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { accept: "text/event-stream", "accept-encoding": "gzip", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const readUntil = async (expected: string): Promise<void> => {
      while (!text.includes(expected)) {
        const part = await reader?.read();
        if (part?.done !== false) throw new Error(`the stream has ended after: ${text}`);
        text += part.value;
      }
    };
    await readUntil('"b"');
    await app.api.sql("update app.note set text = 'a new text' where id = 2");
    await readUntil("a new text");
    await reader?.cancel();
  });
});

test("X-OVER-2 the user of an express-session is the caller, also of a WebSocket", async () => {
  const sessions = session({ secret: "a secret", resave: false, saveUninitialized: false });
  const logIn: RequestHandler = (request, response, next) => {
    if (request.path !== "/login") return next();
    Object.assign(request.session, { user: { id: "7", role: "sea_clerk" } });
    response.end();
  };
  const readUser: RequestHandler = (request, _response, next) => {
    Object.assign(request, { user: (request.session as { user?: unknown } | undefined)?.user });
    next();
  };
  const readSession = (request: any, response: any, next: (error?: unknown) => void) =>
    sessions(request, response, (error) => (error === undefined ? readUser(request, response, next) : next(error)));
  const app = await mount([sessions, logIn, readUser], { parts: [appUsers(readSession)] });
  await app.api.sql(`
    alter table app.note enable row level security;
    create policy mine on app.note to sea_clerk using (owner = current_setting('session.user_id', true)::int)`);
  const login = await app.send("GET", "/login");
  const cookie = login.headers["set-cookie"]?.split(";")[0] ?? "";
  const headers = { cookie };
  const ownNotes = [{ id: 1 }];
  expect((await app.send("GET", "/db/api/note?select=id", { headers })).json()).toEqual(ownNotes);
  expect((await app.send("GET", "/db/api/note?select=id")).json()).toEqual([]);
  const socket = await openSocket(app, { path: "/db/v1/graphql/ws", headers });
  await socket.init({});
  socket.send({ id: "1", type: "subscribe", payload: { query: `subscription ${QUERY}` } });
  expect(await socket.next()).toMatchObject({ payload: { data: { app_note: ownNotes } } });
  await socket.close();
});

test("X-OVER-2 express-rate-limit rejects requests beyond its limit, and its headers reach the client", async () => {
  const app = await mount([rateLimit({ windowMs: 86_400_000, limit: 2, standardHeaders: "draft-6" })]);
  const first = await app.send("GET", "/db/api/note?select=id&order=id");
  expect([first.json(), first.headers["ratelimit-remaining"]]).toEqual([ROWS, "1"]);
  expect((await app.send("POST", "/db/v1/graphql", { body: { query: QUERY } })).status).toBe(200);
  expect((await app.send("GET", "/db/api/note?select=id")).status).toBe(429);
});

describe("X-OVER-2 express.json() has read the body", () => {
  test("X-OVER-2 writes and GraphQL requests work after express.json() has read the body", async () => {
    const app = await mount([express.json(), express.urlencoded()]);
    await expectAllToWork(app);
    const headers = { ...bearer({ role: "sea_clerk" }), prefer: "return=representation" };
    const rows = [
      { id: 3, text: "ü" },
      { id: 4, text: null },
    ];
    const insertAnswer = await app.send("POST", "/db/api/note?select=id,text", { headers, body: rows });
    expect([insertAnswer.status, insertAnswer.json()]).toEqual([201, rows]);
  });

  test("X-OVER-2 all middleware works together", async () => {
    const limit = rateLimit({ windowMs: 86_400_000, limit: 1000 });
    const sessions = session({ secret: "a secret", resave: false, saveUninitialized: true });
    await expectAllToWork(await mount([helmet(), cors(), compression(), sessions, limit, express.json()]));
  });
});
