/** The auth scheme of the guide, which queries the database. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { storedKeys } from "./stored-keys.ts";

const computeHash = (key: string): string => createHash("sha256").update(key).digest("hex");

const api = await startApi(forGraphql({ anonRole: "music_nobody", parts: [storedKeys] }));
await api.sql(`
  create schema app;
  create table app.api_key (hash text primary key, role text not null, owner text not null, expires_at timestamptz not null);
  insert into app.api_key values
    ('${computeHash("open sesame")}', 'music_reader', '7', 'infinity'),
    ('${computeHash("too late")}', 'music_reader', '8', '2000-01-01');
  create function who() returns json language sql stable as $$
    select json_build_object('role', current_user, 'user', nullif(current_setting('session.user_id', true), '')) $$;
  grant execute on function who() to music_reader, music_nobody;
`);
await api.reload();

const withKey = (key: string) => api.get("/rpc/who", { headers: { "x-api-key": key } });

test("R-AUT-6 the role of a caller comes from the table", async () => {
  expect((await withKey("open sesame")).json()).toEqual({ role: "music_reader", user: "7" });
  expect((await api.get("/rpc/who")).json()).toEqual({ role: "music_nobody", user: null });
});

test.each(["unknown", "too late", "'; drop table app.api_key; --"])("R-AUT-9 the key %j is rejected", async (key) => {
  const answer = await withKey(key);
  expect([answer.status, answer.json().message]).toEqual([401, "unknown API key"]);
});

test("R-AUT-15 a key that is removed closes its open sockets", async () => {
  await api.sql(`insert into app.api_key values ('${computeHash("lent")}', 'music_reader', '9', 'infinity')`);
  const socket = await openSocket(api);
  await socket.init({ "x-api-key": "lent" });
  await api.sql(`delete from app.api_key where owner = '9'; notify api_key_changed`);
  expect((await socket.closed).code).toBe(4403);
  expect((await withKey("lent")).status).toBe(401);
});
