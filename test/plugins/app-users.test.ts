/** The application's own users as callers, over HTTP and WebSocket. */
import express, { type RequestHandler } from "express";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startApi, type TestApi } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { sendRequest } from "../support/http.ts";
import { openSocket } from "../support/socket.ts";
import { appUsers } from "./app-users.ts";

const sessions = new Map([["sid-of-ann", { id: "7", role: "sea_clerk" }]]);

const logIn: RequestHandler = (request, _response, next) => {
  const sid = /(?:^|; )sid=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
  if (sid === "broken") return next(new Error("the session store is away"));
  Object.assign(request, { user: sid === undefined ? undefined : sessions.get(sid) });
  next();
};

const inner = await startApi({ parts: [appUsers(logIn)], dbSchemas: ["app"], anonRole: "sea_anon" });
await inner.sql(`
  create schema app;
  grant usage on schema app to sea_anon, sea_clerk;
  create function app.who() returns json language sql stable as $$
    select json_build_object('role', current_user, 'user', nullif(current_setting('session.user_id', true), '')) $$;
  create table app.note (id int primary key, owner int);
  insert into app.note values (1, 7), (2, 8);
  grant select on app.note to sea_anon, sea_clerk;
  alter table app.note enable row level security;
  create policy mine on app.note using (owner = nullif(current_setting('session.user_id', true), '')::int);
`);
await inner.reload();

const app = express().use(logIn).use("/db", inner.relApi);
const server = app.listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));
atFileEnd(async () => void server.close());
const { port } = server.address() as AddressInfo;
const agent = new Agent();

const get = (path: string, cookie?: string) => sendRequest({ port, agent }, "GET", path, { headers: { cookie } });

test("X-AUTH-1 the user of the application's middleware is the caller", async () => {
  expect((await get("/db/api/rpc/who", "sid=sid-of-ann")).json()).toEqual({ role: "sea_clerk", user: "7" });
  expect((await get("/db/api/note", "sid=sid-of-ann")).json()).toEqual([{ id: 1, owner: 7 }]);
  const answer = await sendRequest({ port, agent }, "POST", "/db/v1/graphql", {
    headers: { cookie: "sid=sid-of-ann" },
    body: { query: "{ app_note { id } }" },
  });
  expect(answer.json()).toEqual({ data: { app_note: [{ id: 1 }] } });
});

test("X-AUTH-1 without a logged-in user the next scheme decides", async () => {
  expect((await get("/db/api/rpc/who")).json()).toEqual({ role: "sea_anon", user: null });
  expect((await get("/db/api/rpc/who", "sid=unknown")).json()).toEqual({ role: "sea_anon", user: null });
});

test("X-AUTH-1 the middleware runs for the upgrade of a WebSocket", async () => {
  const target = { ...inner, wsUrl: `ws://127.0.0.1:${port}/db` } as TestApi;
  const socket = await openSocket(target, { headers: { cookie: "sid=sid-of-ann" } });
  await socket.init({});
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { app_note { id } }" } });
  expect(await socket.next()).toMatchObject({ type: "next", payload: { data: { app_note: [{ id: 1 }] } } });
  await socket.close();
});

test("X-AUTH-1 a middleware that fails rejects the socket without showing its error", async () => {
  const target = { ...inner, wsUrl: `ws://127.0.0.1:${port}/db` } as TestApi;
  const socket = await openSocket(target, { headers: { cookie: "sid=broken" } });
  socket.send({ type: "connection_init", payload: {} });
  const { code, reason } = await socket.closed;
  expect(code).toBeGreaterThanOrEqual(4000);
  expect(reason).not.toContain("session store");
});
