import { describe, expect, test, vi } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { startLive } from "../support/live.ts";
import { lockTable, untilLocked } from "../support/locks.ts";
import { openSocket, type TestSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";

const api = await startLive(forGraphql({ liveQueryInterval: 20 }));

const OLD = "/v1alpha1/graphql";

const openLegacy = (path = "/v1/graphql"): Promise<TestSocket> => openSocket(api, { path, protocols: ["graphql-ws"] });

const initLegacy = async (path?: string, payload?: unknown): Promise<TestSocket> => {
  const socket = await openLegacy(path);
  await socket.init(payload);
  return socket;
};

const start = (
  socket: TestSocket,
  id: string,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): void => socket.send({ id, type: "start", payload: { query, variables } });

describe("the connection", () => {
  test("G-WSL-1 the acknowledgement is followed by ka at once and every five seconds", async () => {
    // No other socket has started the heartbeat timer.
    const otherApi = await startApi(forGraphql());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const socket = await openSocket(otherApi, { path: "/v1/graphql", protocols: ["graphql-ws"] });
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
    const any = (): boolean => true;
    expect(await socket.next(any)).toEqual({ type: "connection_ack" });
    expect(await socket.next(any)).toEqual({ type: "ka" });
    vi.advanceTimersByTime(4900);
    start(socket, "1", "{ nothing }");
    expect(await socket.next(any)).toMatchObject({ id: "1", type: "error" });
    expect(await socket.next(any)).toEqual({ id: "1", type: "complete" });
    vi.advanceTimersByTime(200);
    expect(await socket.next(any)).toEqual({ type: "ka" });
    vi.useRealTimers();
    await socket.close();
    await otherApi.close();
  });

  test("G-WSL-2 rejected credentials are answered by connection_error, and the connection ends", async () => {
    const socket = await openLegacy();
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": "wrong" } } });
    expect(await socket.next()).toEqual({ type: "connection_error", payload: "invalid x-session-admin-secret" });
    expect(await socket.closed).toEqual({
      code: 4400,
      reason: "Connection initialization failed: invalid x-session-admin-secret",
    });
  });

  test("G-WSL-9 connection_terminate ends the connection", async () => {
    const socket = await initLegacy();
    socket.send({ type: "connection_terminate" });
    expect((await socket.closed).code).toBe(1000);
  });

  test("G-WSL-10 a second connection_init is ignored", async () => {
    const socket = await initLegacy();
    socket.send({ type: "connection_init", payload: {} });
    start(socket, "1", "{ __typename }");
    expect(await socket.next()).toMatchObject({ type: "data", id: "1" });
    await socket.close();
  });
});

describe("operations", () => {
  test("G-WSL-3 a query is answered by data and complete", async () => {
    const socket = await initLegacy();
    start(socket, "1", "query ($id: Int!) { album_by_pk(id: $id) { id } }", { id: 2 });
    expect(await socket.next()).toEqual({ type: "data", id: "1", payload: { data: { album_by_pk: { id: 2 } } } });
    expect(await socket.next()).toEqual({ type: "complete", id: "1" });
    await socket.close();
  });

  test("G-WSL-3 G-WSL-6 a live query sends data until stop, and an unknown id is ignored", async () => {
    const socket = await initLegacy();
    start(socket, "1", "subscription { artist_by_pk(id: 1) { country } }");
    expect(await socket.next()).toMatchObject({ type: "data", id: "1" });
    await api.sql("update artist set country = 'L1' where id = 1");
    expect(await socket.next()).toEqual({
      type: "data",
      id: "1",
      payload: { data: { artist_by_pk: { country: "L1" } } },
    });
    socket.send({ id: "1", type: "stop" });
    socket.send({ id: "2", type: "stop" });
    start(socket, "3", "{ __typename }"); // its answer shows that the server has processed the messages before it
    expect(await socket.next()).toMatchObject({ type: "data", id: "3" });
    expect(await socket.next()).toEqual({ type: "complete", id: "3" });
    await api.sql("update artist set country = 'L2' where id = 1");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
  });

  test("G-WSL-6 G-WS-16a stop ends the query that runs", async () => {
    const socket = await initLegacy();
    const unlock = await lockTable(api.database, "studio");
    start(socket, "1", "{ studio(limit: 0) { id } }");
    await untilLocked(api.database);
    socket.send({ id: "1", type: "stop" });
    start(socket, "2", "{ __typename }");
    expect(await socket.next()).toEqual({ type: "data", id: "2", payload: { data: { __typename: "query_root" } } });
    await unlock();
    expect(await socket.next()).toEqual({ type: "complete", id: "2" });
    await socket.close();
  });

  test("G-WSL-4 an error before the execution is answered by error and complete", async () => {
    const socket = await initLegacy();
    start(socket, "1", "subscription { albun { id } }");
    const error = {
      message: "field 'albun' not found in type: 'subscription_root'",
      extensions: { path: "$.selectionSet.albun", code: "validation-failed" },
    };
    expect(await socket.next()).toEqual({ type: "error", id: "1", payload: { errors: [error] } });
    expect(await socket.next()).toEqual({ type: "complete", id: "1" });
    await socket.close();
    const old = await initLegacy(OLD);
    start(old, "1", "{ albun { id } }");
    expect(await old.next()).toEqual({
      type: "error",
      id: "1",
      payload: {
        path: "$.selectionSet.albun",
        error: "field 'albun' not found in type: 'query_root'",
        code: "validation-failed",
      },
    });
    expect(await old.next()).toEqual({ type: "complete", id: "1" });
    await old.close();
  });

  test("G-WSL-5 an error in the execution is answered by data with errors and complete", async () => {
    const mutation = 'mutation { insert_artist_one(object: {id: 1, name: "x"}) { id } }';
    const socket = await initLegacy();
    start(socket, "1", mutation);
    expect(await socket.next()).toMatchObject({
      type: "data",
      id: "1",
      payload: { errors: [{ extensions: { code: "constraint-violation" } }] },
    });
    expect(await socket.next()).toEqual({ type: "complete", id: "1" });
    await socket.close();
    const old = await initLegacy(OLD);
    start(old, "1", mutation);
    expect(await old.next()).toMatchObject({
      type: "data",
      id: "1",
      payload: { errors: [{ error: expect.stringMatching(/^Uniqueness/), code: "constraint-violation" }] },
    });
    await old.close();
  });

  test("G-WSL-7 G-WSL-7a start is rejected before connection_init, and with an id in use", async () => {
    const socket = await openLegacy();
    start(socket, "1", "{ __typename }");
    expect(await socket.next()).toEqual({
      type: "error",
      id: "1",
      payload: {
        message: "start received before the connection is initialised",
        extensions: { path: "$", code: "start-failed" },
      },
    });
    expect(await socket.next()).toEqual({ type: "complete", id: "1" });
    await socket.init();
    start(socket, "1", "subscription { artist { id } }");
    await socket.next();
    start(socket, "1", "subscription { artist { id } }");
    expect(await socket.next()).toMatchObject({
      type: "error",
      id: "1",
      payload: { message: "an operation already exists with this id: 1", extensions: { code: "start-failed" } },
    });
    await socket.close();
    const old = await openLegacy(OLD);
    start(old, "1", "{ __typename }");
    expect(await old.next()).toEqual({
      type: "error",
      id: "1",
      payload: { path: "$", error: "start received before the connection is initialised", code: "start-failed" },
    });
    await old.close();
  });

  test.each([
    ["no JSON", "{"],
    ["an unknown type", { type: "subscribe", id: "1" }],
    ["no id", { type: "start", payload: {} }],
  ])("G-WSL-8 the connection continues after an invalid message: %s", async (_, message) => {
    const socket = await initLegacy();
    socket.send(message);
    expect(await socket.next()).toEqual({
      type: "connection_error",
      payload: expect.stringMatching(/^parsing ClientMessage failed, ./),
    });
    start(socket, "1", "{ __typename }");
    expect(await socket.next()).toMatchObject({ type: "data", id: "1" });
    await socket.close();
  });

  test.each([
    { headers: { "x-session-admin-secret": adminSecret, "x-session-role": null } },
    { headers: { "x-session-admin-secret": adminSecret, "x-session-artist-id": 1 } },
    { headers: ["music_reader"] },
    { "x-session-admin-secret": adminSecret, "x-session-role": null },
    [],
  ])("G-WS-1 G-WSL-8 connection_init with %j is rejected, and the connection continues", async (payload) => {
    const socket = await openSocket(api, { path: "/v1/graphql", protocols: ["graphql-ws"] });
    socket.send({ type: "connection_init", payload });
    expect(await socket.next()).toEqual({
      type: "connection_error",
      payload: expect.stringMatching(/^parsing ClientMessage failed, .*'connection_init'/),
    });
    start(socket, "1", "{ __typename }");
    expect(await socket.next()).toMatchObject({
      type: "error",
      payload: { message: "start received before the connection is initialised" },
    });
    await socket.close();
  });

  test("G-WSL-5 G-SUB-7 a right that is lost while a live query runs is answered by data with errors", async () => {
    await api.sql(
      "create table if not exists public.revoked (id int primary key); insert into public.revoked values (1); grant select on public.revoked to music_reader",
    );
    await api.reload();
    const socket = await initLegacy("/v1/graphql", { headers: asAdmin("music_reader") });
    start(socket, "1", "subscription { revoked { id } }");
    expect(await socket.next()).toMatchObject({ payload: { data: { revoked: [{ id: 1 }] } } });
    await api.sql("revoke select on public.revoked from music_reader; insert into public.revoked values (2)");
    expect(await socket.next()).toMatchObject({
      type: "data",
      id: "1",
      payload: { errors: [{ extensions: { code: "permission-error" } }] },
    });
    await api.sql(
      "grant select on public.revoked to music_reader; delete from public.revoked where id = 2; insert into public.revoked values (3)",
    );
    expect(await socket.next()).toMatchObject({ payload: { data: { revoked: [{ id: 1 }, { id: 3 }] } } });
    await socket.close();
  });
});

test("G-WSL-1 without the plugin its subprotocol is unknown", async () => {
  const otherApi = await startApi(forGraphql({ parts: [without("legacy-websocket")] }));
  const socket = await openSocket(otherApi, { path: "/v1/graphql", protocols: ["graphql-ws"] });
  expect((await socket.closed).code).toBe(1002);
  await otherApi.close();
});
