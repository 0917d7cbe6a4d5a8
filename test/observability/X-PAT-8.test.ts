/** The results that are stored for subscribers with patches, and their limit. */
import { afterAll, expect, test } from "vitest";
import { forGraphql } from "../support/api.ts";
import { initSocket, openEvents, subscribe } from "../support/live.ts";
import { startMeasured } from "../support/metrics.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const api = await startMeasured(
  forGraphql({ liveDirective: true, liveQueryInterval: 30, maxLivePatchTotalBytes: 40_000, maxLivePatchBytes: 25_000 }),
);
afterAll(() => api.close());
await api.sql(`create table public.page (id int primary key, text text not null);
  insert into public.page select i, i || repeat('x', 9000) from generate_series(1, 6) i`);
await api.reload();

const patchBytes = async (): Promise<number> => (await api.metrics())["relapi_live_patch_bytes"]!;
const untilNothingStored = (): Promise<void> =>
  until(async () => (await patchBytes()) === 0, "no result is stored any more");
const pages = (from: number, to: number): string =>
  `subscription @live(patch: true) { page(where: {id: {_gte: ${from}, _lte: ${to}}}, order_by: {id: asc}) { id text } }`;
const change = (id: number): Promise<unknown> => api.sql(`update public.page set text = text || '.' where id = ${id}`);

test("X-PAT-8 each result is stored once for all its subscribers until the last of them leaves", async () => {
  const [socket, otherSocket] = [await initSocket(api), await initSocket(api)];
  subscribe(socket, "1", pages(1, 2));
  await socket.next();
  const bytes = await patchBytes();
  expect(bytes).toBeGreaterThan(18_000);
  subscribe(otherSocket, "1", pages(1, 2));
  await otherSocket.next();
  await change(1);
  expect((await socket.next()).payload.extensions.live.patch).toHaveLength(1);
  expect((await otherSocket.next()).payload.extensions.live.patch).toHaveLength(1);
  expect(await patchBytes()).toBe(bytes + 1);
  socket.send({ id: "1", type: "complete" });
  await otherSocket.close();
  await untilNothingStored();
  await socket.close();
});

test("X-PAT-8 results are stored on every transport", async () => {
  const headers = { "x-session-admin-secret": adminSecret };
  const rows = await openEvents(api, "/api/page?id=eq.1&live=patch", { headers });
  await until(() => rows.events.length === 1, "the rows arrive");
  const events = await openEvents(api, "/v1/graphql", { method: "POST", headers, body: { query: pages(3, 3) } });
  await until(() => events.events.length === 1, "the result arrives");
  expect(await patchBytes()).toBeGreaterThan(18_000);
  rows.close();
  events.close();
  await untilNothingStored();
});

test("X-PAT-8 X-PAT-4 a result is sent whole if it exceeds the remaining memory or its limit, until memory is free again", async () => {
  const socket = await initSocket(api);
  const nextEvent = async (id: string) => (await socket.next((message) => message.id === id)).payload.extensions.live;
  subscribe(socket, "filler", pages(5, 6));
  await nextEvent("filler");
  subscribe(socket, "first", pages(1, 2));
  await nextEvent("first");
  subscribe(socket, "second", pages(3, 4));
  await nextEvent("second");
  await change(3);
  expect(await nextEvent("second")).toEqual({ version: 2 });
  await change(1);
  expect((await nextEvent("first")).patch).toHaveLength(1);
  socket.send({ id: "filler", type: "complete" });
  await change(3);
  expect(await nextEvent("second")).toEqual({ version: 3 });
  await change(3);
  expect((await nextEvent("second")).patch).toHaveLength(1);
  for (const id of ["first", "second"]) socket.send({ id, type: "complete" });
  subscribe(socket, "large", pages(1, 6));
  await nextEvent("large");
  await change(5);
  expect(await nextEvent("large")).toEqual({ version: 2 });
  await socket.close();
});

test("X-PAT-8 no result is stored for subscribers without patches", async () => {
  const socket = await initSocket(api);
  await untilNothingStored();
  subscribe(socket, "1", pages(1, 2).replace("@live(patch: true)", ""));
  await socket.next();
  expect(await patchBytes()).toBe(0);
  await socket.close();
});
