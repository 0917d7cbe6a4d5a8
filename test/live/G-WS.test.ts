import { once } from "node:events";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import express from "express";
import { WebSocket } from "ws";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { compose, without } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, signToken } from "../support/tokens.ts";
import { initSocket, startLive, subscribe, untilProcessed } from "../support/live.ts";
import { lockTable, untilLocked } from "../support/locks.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const api = await startLive(forGraphql({ liveQueryInterval: 20 }));
/** An API whose first socket starts the heartbeat timer, so that a test can replace the timer. */
const clockedApi = await startLive(forGraphql());
const authenticatedApi = await startApi(
  forGraphql({ anonRole: undefined, corsAllowedOrigins: ["https://shop.example"] }),
);

afterAll(() => api.close());

/** Replaces timers by those that the test advances. Sockets and statements need no timers. */
const stopTimers = (): void => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
afterEach(() => void vi.useRealTimers());

/** The response to a rejected upgrade. */
const tryUpgrade = (target: TestApi, path: string, headers: Record<string, string> = {}): Promise<string> =>
  openSocket(target, { path, headers }).then(
    () => "granted",
    (error: Error) => error.message,
  );

/** Payloads whose headers are not strings. */
const ODD_PAYLOADS = [
  { headers: { "x-session-admin-secret": adminSecret, "x-session-role": null } },
  { headers: { "x-session-admin-secret": adminSecret, "X-Session-Role": 7 } },
  { headers: { "x-session-admin-secret": adminSecret, "x-session-role": ["music_reader"] } },
  { headers: { "x-session-admin-secret": adminSecret, "x-session-role": { name: "music_reader" } } },
  { headers: { "x-session-admin-secret": adminSecret, "x-session-artist-id": 1 } },
  { headers: { "x-session-admin-secret": adminSecret, traced: true } },
  { headers: [["x-session-role", "music_reader"]] },
  { headers: "x-session-role: music_reader" },
  { "x-session-admin-secret": adminSecret, "x-session-role": null },
  { "x-session-admin-secret": adminSecret, Authorization: 1 },
  "music_reader",
];

describe("the connection", () => {
  test("G-WS-1 G-WS-2 the payload of connection_init has headers in headers or at its top, in any letter case", async () => {
    for (const payload of [
      { headers: { "X-Session-Admin-Secret": adminSecret, "x-SESSION-role": "music_reader" } },
      { "x-session-admin-secret": adminSecret },
    ]) {
      const socket = await openSocket(authenticatedApi);
      socket.send({ type: "connection_init", payload });
      expect(await socket.next()).toEqual({ type: "connection_ack" });
      await socket.close();
    }
  });

  test("G-WS-1 G-WS-1a headers of the upgrade apply, and those of the payload take precedence", async () => {
    const socket = await openSocket(authenticatedApi, { headers: asAdmin("music_reader") as Record<string, string> });
    await socket.init({});
    subscribe(socket, "1", "{ diary { id } }");
    expect(await socket.next()).toMatchObject({ type: "error" });
    await socket.close();
    const wrongSocket = await openSocket(authenticatedApi, { headers: { "x-session-admin-secret": "wrong" } });
    await wrongSocket.init({ headers: { "x-session-admin-secret": adminSecret } });
    await wrongSocket.close();
  });

  test("G-WS-3 the server sends a ping after the acknowledgement and every five seconds", async () => {
    stopTimers();
    const socket = await openSocket(clockedApi);
    const types: string[] = [];
    socket.socket.on("message", (data: Buffer) => types.push(JSON.parse(data.toString()).type));
    await socket.init();
    const isPing = (message: any): boolean => message.type === "ping";
    expect(await socket.next(isPing)).toEqual({ type: "ping", payload: { message: "keepalive" } });
    vi.advanceTimersByTime(4900);
    await untilProcessed(socket);
    expect(types).toEqual(["connection_ack", "ping", "pong"]);
    vi.advanceTimersByTime(200);
    expect(await socket.next(isPing)).toEqual({ type: "ping", payload: { message: "keepalive" } });
    await socket.close();
  });

  test("G-WS-3 a client's ping is answered with its payload, also before the acknowledgement", async () => {
    const socket = await openSocket(api);
    const isPong = (message: any): boolean => message.type === "pong";
    socket.send({ type: "ping", payload: { n: 1 } });
    expect(await socket.next(isPong)).toEqual({ type: "pong", payload: { n: 1 } });
    socket.send({ type: "ping" });
    expect(await socket.next(isPong)).toEqual({ type: "pong" });
    socket.send({ type: "pong" });
    await socket.init();
    await socket.close();
  });

  test("G-WS-3 a pong may arrive in pieces of any size and together with other messages", async () => {
    const { socket, frames } = await openRaw(api);
    const pong = maskFrame('{"type":"pong"}');
    const ping = (n: number): Buffer => maskFrame(JSON.stringify({ type: "ping", payload: { n } }));
    const waitForPong = (n: number): Promise<string> =>
      frames((text) => text === JSON.stringify({ type: "pong", payload: { n } }));
    const write = async (...pieces: Buffer[]): Promise<void> => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve)); // the server reads it before the next one
      }
    };
    await write(
      pong,
      maskFrame('{"type":"pong","payload":{"message":"keepalive"}}'),
      maskFrame('{"type":"pong","payload":{"other":1}}'),
      ping(1),
    );
    await waitForPong(1);
    await write(pong.subarray(0, 9), pong.subarray(9), ping(2));
    await waitForPong(2);
    await write(Buffer.concat([pong, ping(3), pong]));
    await waitForPong(3);
    await write(Buffer.concat([ping(4), ping(5)]).subarray(0, -7), Buffer.concat([ping(4), ping(5)]).subarray(-7));
    await waitForPong(5);
    // Messages with fewer words or without a mask do not count.
    await write(pong, maskFrame('{"type":"pung"}'));
    expect(await frames((text) => text.startsWith("\u0011"))).toContain("Parsing client message failed");
    socket.destroy();
    const unmaskedClient = await openRaw(api);
    unmaskedClient.socket.write(Buffer.concat([Buffer.from([0x81, 15]), Buffer.from('{"type":"pong"}')]));
    expect(await unmaskedClient.frames((text) => text.startsWith("\u0003"))).toBeDefined(); // the close code is 1002
    unmaskedClient.socket.destroy();
  });
});

/** Encodes a client frame. */
const maskFrame = (text: string): Buffer => {
  const mask = Buffer.from([1, 2, 3, 4]);
  return Buffer.concat([
    Buffer.from([0x81, 0x80 | text.length]),
    mask,
    Buffer.from(text).map((byte, i) => byte ^ (mask[i & 3] ?? 0)),
  ]);
};

/**
 * Opens a connection on which the test writes bytes. `frames` waits for a frame with the wanted payload (a close begins
 * with its code's two bytes).
 */
const openRaw = async (
  target: TestApi,
): Promise<{ readonly socket: Duplex; frames(isExpected: (text: string) => boolean): Promise<string> }> => {
  const headers = {
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-protocol": "graphql-transport-ws",
  };
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const clientRequest = request({ port: target.port, path: "/v1/graphql/ws", headers });
    clientRequest
      .on("upgrade", (_response, duplex) => resolve(duplex))
      .on("error", reject)
      .end();
  });
  let bytes = Buffer.alloc(0);
  const texts: string[] = [];
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (let length = bytes[1]; length !== undefined && bytes.length >= 2 + length; length = bytes[1]) {
      texts.push(bytes.toString("latin1", 2, 2 + length));
      bytes = bytes.subarray(2 + length);
    }
  });
  const frames = async (isExpected: (text: string) => boolean): Promise<string> => {
    await until(() => texts.some(isExpected), "the frame");
    return texts.find(isExpected) ?? "";
  };
  return { socket, frames };
};

describe("operations", () => {
  test("G-WS-4 G-WS-5 G-WS-7 a query or mutation is answered by next and complete", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "q", "query One($id: Int!) { album_by_pk(id: $id) { id } }", { id: 1 });
    expect(await socket.next()).toEqual({ id: "q", type: "next", payload: { data: { album_by_pk: { id: 1 } } } });
    expect(await socket.next()).toEqual({ id: "q", type: "complete" });
    subscribe(socket, "m", 'mutation { update_artist_by_pk(pk_columns: {id: 4}, _set: {country: "WS"}) { country } }');
    expect(await socket.next()).toEqual({
      id: "m",
      type: "next",
      payload: { data: { update_artist_by_pk: { country: "WS" } } },
    });
    expect(await socket.next()).toEqual({ id: "m", type: "complete" });
    await socket.close();
  });

  test("G-WS-4 large numbers in variables keep their digits", async () => {
    const socket = await initSocket(api);
    socket.send(
      '{"id":"1","type":"subscribe","payload":{"query":"query ($n: numeric!) { album(where: {price: {_gt: $n}}) { id } }","variables":{"n":99999999999999999999.5}}}',
    );
    expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { album: [] } } });
    await socket.close();
  });

  test("G-WS-6 G-CON-8 an error ends the operation without complete, and its id can be used again", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "1", 'mutation { insert_artist_one(object: {id: 1, name: "x"}) { id } }');
    expect(await socket.next()).toMatchObject({
      id: "1",
      type: "error",
      payload: [
        { message: expect.stringMatching(/^Uniqueness violation/), extensions: { code: "constraint-violation" } },
      ],
    });
    subscribe(socket, "1", "{ nothing }");
    expect(await socket.next()).toMatchObject({
      id: "1",
      type: "error",
      payload: [{ extensions: { code: "validation-failed" } }],
    });
    await untilProcessed(socket);
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
  });

  test("G-WS-7 complete of the client ends a live query, and an unknown id is ignored", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { country } }");
    await socket.next();
    socket.send({ id: "1", type: "complete" });
    socket.send({ id: "unknown", type: "complete" });
    await untilProcessed(socket);
    await api.sql("update artist set country = 'CC' where id = 1");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { country } }");
    expect(await socket.next()).toMatchObject({ id: "1", payload: { data: { artist_by_pk: { country: "CC" } } } });
    await socket.close();
  });

  test("G-WS-16 messages are handled in order while live queries continue", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "live", "subscription { artist_by_pk(id: 3) { country } }");
    await socket.next();
    for (let i = 0; i < 20; i++)
      subscribe(
        socket,
        `m${i}`,
        `mutation { update_artist_by_pk(pk_columns: {id: 3}, _set: {country: "c${i}"}) { country } }`,
      );
    const order: string[] = [];
    while (order.length < 20) {
      const message = await socket.next();
      if (message.id !== "live" && message.type === "next") order.push(message.id);
    }
    expect(order).toEqual(Array.from({ length: 20 }, (_, i) => `m${i}`));
    await socket.next((message) => message.id === "live" && message.payload.data.artist_by_pk.country === "c19");
    await socket.close();
  });

  test("G-WS-16a a ping is answered while a query runs, and other messages wait", async () => {
    const socket = await initSocket(api);
    const unlock = await lockTable(api.database, "studio");
    subscribe(socket, "1", "{ studio(limit: 0) { id } }");
    await untilLocked(api.database);
    subscribe(socket, "2", "{ __typename }");
    socket.send({ type: "ping", payload: { n: 1 } });
    expect(await socket.next((message) => message.type === "pong")).toEqual({ type: "pong", payload: { n: 1 } });
    await unlock();
    expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { studio: [] } } });
    expect(await socket.next()).toEqual({ id: "1", type: "complete" });
    expect(await socket.next()).toMatchObject({ id: "2", type: "next" });
    await socket.close();
  });

  test("G-WS-16a complete ends the query that runs", async () => {
    const socket = await initSocket(api);
    const unlock = await lockTable(api.database, "studio");
    subscribe(socket, "1", "{ studio(limit: 0) { id } }");
    await untilLocked(api.database);
    socket.send({ id: "1", type: "complete" });
    subscribe(socket, "1", "{ __typename }");
    expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { __typename: "query_root" } } });
    await unlock();
    expect(await socket.next()).toEqual({ id: "1", type: "complete" });
    await untilProcessed(socket);
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
  });

  test("G-WS-16a complete of a mutation that runs only omits its response", async () => {
    const socket = await initSocket(api);
    const unlock = await lockTable(api.database, "artist");
    subscribe(socket, "1", 'mutation { update_artist_by_pk(pk_columns: {id: 3}, _set: {country: "left"}) { id } }');
    await untilLocked(api.database);
    socket.send({ id: "1", type: "complete" });
    subscribe(socket, "2", "{ artist_by_pk(id: 3) { country } }");
    await unlock();
    expect(await socket.next()).toEqual({
      id: "2",
      type: "next",
      payload: { data: { artist_by_pk: { country: "left" } } },
    });
    await socket.close();
  });

  test("G-WS-16a complete of a live query that waits behind a query is not lost", async () => {
    const socket = await initSocket(api);
    const unlock = await lockTable(api.database, "studio");
    subscribe(socket, "1", "{ studio(limit: 0) { id } }");
    await untilLocked(api.database);
    subscribe(socket, "live", "subscription { artist_by_pk(id: 3) { country } }");
    socket.send({ id: "live", type: "complete" });
    await unlock();
    expect(await socket.next()).toMatchObject({ id: "1", type: "next" });
    expect(await socket.next()).toEqual({ id: "1", type: "complete" });
    await untilProcessed(socket);
    await api.sql("update artist set country = 'unheard' where id = 3");
    await api.settle();
    expect(socket.takeMessages().filter(({ payload }) => payload?.data?.artist_by_pk?.country === "unheard")).toEqual(
      [],
    );
    await socket.close();
  });
});

describe("close codes", () => {
  test.each([
    ["no JSON", "{"],
    ["an unknown type", { type: "start", id: "1" }],
    ["a message of servers", { type: "next", id: "1", payload: {} }],
    ["no id", { type: "subscribe", payload: { query: "{ __typename }" } }],
    ["no payload", { type: "subscribe", id: "1" }],
  ])("G-WS-8 an invalid message ends the connection with 4400: %s", async (_, message) => {
    const socket = await openSocket(api);
    socket.send(message);
    const { code, reason } = await socket.closed;
    expect(code).toBe(4400);
    expect(reason).toMatch(/^Parsing client message failed: ./);
  });

  test.each(ODD_PAYLOADS.map((payload) => [JSON.stringify(payload), payload] as const))(
    "G-WS-1 G-WS-8 G-WS-1a connection_init with %s is rejected",
    async (_, payload) => {
      const socket = await openSocket(api);
      socket.send({ type: "connection_init", payload });
      const { code, reason } = await socket.closed;
      expect(code).toBe(4400);
      expect(reason).toMatch(/^Parsing client message failed: .*connection_init/);
    },
  );

  test.each([null, {}, { headers: null }, { headers: {} }, { lang: 1, headers: {} }, { lang: null }])(
    "G-WS-1 connection_init with %j is accepted",
    async (payload) => {
      const socket = await openSocket(api, { headers: { "x-session-admin-secret": adminSecret } });
      await socket.init(payload);
      await socket.close();
    },
  );

  test("G-WS-9 subscribe before connection_init ends the connection with 4401", async () => {
    const socket = await openSocket(api);
    subscribe(socket, "1", "{ __typename }");
    expect(await socket.closed).toEqual({ code: 4401, reason: "Unauthorized" });
  });

  test("G-WS-10 rejected credentials end the connection with 4403", async () => {
    const socket = await openSocket(api);
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": "wrong" } } });
    expect(await socket.closed).toEqual({ code: 4403, reason: "Forbidden: invalid x-session-admin-secret" });
  });

  test("G-WS-10 G-WS-15 G-CON-8 G-WS-10a a token ends the connection when it expires", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const expiresAtMs = Math.ceil(Date.now() / 1000) * 1000 + 60_000;
    vi.setSystemTime(expiresAtMs - 20);
    const socket = await openSocket(api);
    const token = signToken({
      "x-session-default-role": "music_reader",
      "x-session-allowed-roles": ["music_reader"],
      exp: expiresAtMs / 1000,
    });
    await socket.init({ headers: { Authorization: `Bearer ${token}` } });
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { id } }");
    expect(await socket.next()).toMatchObject({ type: "next" });
    vi.setSystemTime(expiresAtMs);
    expect(await socket.closed).toEqual({ code: 4403, reason: "Forbidden: Could not verify JWT: JWTExpired" });
  });

  test("G-WS-11 a connection without connection_init ends after three seconds with 4408", async () => {
    stopTimers();
    const socket = await openSocket(clockedApi);
    vi.advanceTimersByTime(2999);
    await untilProcessed(socket);
    expect(socket.socket.readyState).toBe(WebSocket.OPEN);
    vi.advanceTimersByTime(1);
    expect(await socket.closed).toEqual({ code: 4408, reason: "Connection initialisation timeout" });
  });

  test("G-WS-12 an id in use ends the connection with 4409", async () => {
    const socket = await initSocket(api);
    subscribe(socket, "x", "subscription { artist { id } }");
    subscribe(socket, "x", "subscription { artist { id } }");
    expect(await socket.closed).toEqual({ code: 4409, reason: "Subscriber for x already exists" });
  });

  test("G-WS-13 a second connection_init ends the connection with 4429", async () => {
    const socket = await initSocket(api);
    socket.send({ type: "connection_init" });
    expect(await socket.closed).toEqual({ code: 4429, reason: "Too many initialisation requests" });
  });

  test("G-WS-14 an unknown subprotocol ends the connection with 1002", async () => {
    const socket = await openSocket(api, { protocols: ["soap"] });
    expect((await socket.closed).code).toBe(1002);
  });

  test("G-WS-20 shutdown closes every connection with 1001", async () => {
    const otherApi = await startApi(forGraphql());
    const sockets = [
      await initSocket(otherApi),
      await openSocket(otherApi, { protocols: ["graphql-ws"] }),
      await openSocket(otherApi),
    ];
    subscribe(sockets[0]!, "1", "subscription { artist { id } }");
    await sockets[0]!.next();
    await otherApi.close();
    for (const socket of sockets) expect((await socket.closed).code).toBe(1001);
  });

  test("G-WS-20 R-ADM-4 a shutdown closes many connections gradually, so that clients do not reconnect at once", async () => {
    const otherApi = await startApi(forGraphql());
    const codes: number[] = [];
    const all = await Promise.all(
      // These sockets wait for an init.
      Array.from({ length: 120 }, () => openSocket(otherApi, { protocols: ["graphql-ws"] })),
    );
    for (const { closed } of all) void closed.then(({ code }) => codes.push(code));
    stopTimers();
    const closePromise = otherApi.close();
    // That is about one per millisecond.
    for (const count of [50, 100, 120]) {
      await until(() => codes.length >= count, "the sockets of the group have closed");
      expect(codes).toHaveLength(count);
      await vi.advanceTimersByTimeAsync(50);
    }
    expect(new Set(codes)).toEqual(new Set([1001]));
    vi.useRealTimers();
    await closePromise;
  });
});

describe("the upgrade", () => {
  test("G-WS-17 an upgrade of another path is rejected with 404", async () => {
    expect(await tryUpgrade(api, "/v2/graphql")).toBe(
      "rejected with 404: only '/v1/graphql', '/v1alpha1/graphql', '/v1/graphql/ws' are supported on websockets",
    );
  });

  test.each(["/v1/graphql/", "//v1//graphql/ws//", "/v1alpha1/graphql/"])(
    "G-WS-17 R-PATH-11 an upgrade of %s with additional slashes is accepted without compatibility mode",
    async (path) => {
      expect(await tryUpgrade(api, path)).toMatch(/^rejected with 404/);
      const lenientApi = await startApi(forGraphql({ compatMode: false }));
      const socket = await openSocket(lenientApi, { path });
      await socket.init();
      subscribe(socket, "1", "subscription { team_by_pk(id: 1) { name } }");
      expect(await socket.next()).toMatchObject({ payload: { data: { team_by_pk: { name: "Reds" } } } });
      await socket.close();
      await lenientApi.close();
    },
  );

  test("G-WS-17 G-WS-19 R-PATH-11 a path with additional slashes has the protocol of the plain path, also below a mount", async () => {
    const lenientApi = await startApi(forGraphql({ compatMode: false }));
    const port = await startHttpServer(express().use("/db", lenientApi.relApi));
    for (const [path, isTransport] of [
      ["/db//v1/graphql/ws/", true],
      ["/db/v1/graphql/", false],
    ] as const) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
      await once(socket, "open");
      socket.send(JSON.stringify({ type: "connection_init", payload: { headers: asAdmin() } }));
      const [first] = await once(socket, "message");
      const [second] = await once(socket, "message");
      expect([first, second].map(String)).toContain('{"type":"connection_ack"}');
      expect([first, second].some((message) => String(message).includes('"ping"'))).toBe(isTransport);
      socket.terminate();
    }
    await lenientApi.close();
  });

  test("G-WS-18 an upgrade with an origin that is not listed is rejected", async () => {
    const body =
      '{"path":"$","error":"received origin header does not match configured CORS domains","code":"access-denied"}';
    expect(await tryUpgrade(authenticatedApi, "/v1/graphql/ws", { origin: "https://evil.example" })).toBe(
      `rejected with 400: ${body}`,
    );
    expect(await tryUpgrade(authenticatedApi, "/v1/graphql/ws", { origin: "https://shop.example" })).toBe("granted");
    expect(await tryUpgrade(authenticatedApi, "/v1/graphql/ws")).toBe("granted");
  });

  test("G-WS-18 headers of the payload do not change the origin", async () => {
    expect(await tryUpgrade(authenticatedApi, "/v1/graphql", { origin: "null" })).toMatch(/^rejected with 400/);
  });

  test.each([
    ["/v1/graphql/ws", [], "transport"],
    ["/v1/graphql", [], "legacy"],
    ["/v1alpha1/graphql", [], "legacy"],
    ["/v1/graphql", ["graphql-ws", "graphql-transport-ws"], "transport"],
    ["/v1/graphql/ws", ["graphql-ws"], "legacy"],
  ] as const)("G-WS-19 the upgrade of %s with the subprotocols %j uses %s", async (path, protocols, protocol) => {
    const socket = await openSocket(api, { path, protocols });
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
    expect(await socket.next((message) => message.type !== "connection_ack")).toMatchObject({
      type: protocol === "legacy" ? "ka" : "ping",
    });
    await socket.close();
  });

  test("G-HTTP-12 GET of the socket path without an upgrade is 426", async () => {
    const answer = await api.get("/v1/graphql/ws");
    expect([answer.status, answer.headers["upgrade"]]).toEqual([426, "websocket"]);
  });
});

describe("limits and slow clients", () => {
  test("G-WS-22 pings are sent at the interval of the setting", async () => {
    const frequentApi = await startApi(forGraphql({ websocketKeepalive: 1 }));
    stopTimers();
    const socket = await initSocket(frequentApi);
    const isPing = (message: any): boolean => message.type === "ping";
    for (let count = 0; count < 4; count++) {
      await socket.next(isPing);
      vi.advanceTimersByTime(980);
      await untilProcessed(socket);
      vi.advanceTimersByTime(20);
    }
    await socket.next(isPing);
    await socket.close();
    vi.useRealTimers();
    await frequentApi.close();
  });

  test("G-WS-4 R-ADM-2 more operations than the limit on one connection are rejected", async () => {
    const limitedApi = await startLive(forGraphql({ maxSocketOperations: 2 }));
    const socket = await initSocket(limitedApi);
    for (const id of ["1", "2", "3"]) subscribe(socket, id, "subscription { artist { id } }");
    const error = await socket.next((message) => message.type === "error");
    expect(error).toMatchObject({
      id: "3",
      payload: [{ message: "too many operations on one connection: the limit is 2" }],
    });
    expect(limitedApi.context.counters.get("refused-maxSocketOperations")).toBe(1);
    await socket.close();
    await limitedApi.close();
  });

  test("G-WS-8 R-ADM-2 a message beyond the limit ends the connection with 1009", async () => {
    const limitedApi = await startLive(forGraphql({ maxSocketMessageBytes: 2000 }));
    const socket = await initSocket(limitedApi);
    subscribe(socket, "1", `{ __typename } # ${"x".repeat(3000)}`);
    expect((await socket.closed).code).toBe(1009);
    expect(limitedApi.context.counters.get("refused-maxSocketMessageBytes")).toBe(1);
    await limitedApi.close();
  });

  test("G-WS-17 R-ADM-2 more connections than the limit are rejected with 503", async () => {
    const limitedApi = await startLive(forGraphql({ maxSockets: 1 }));
    const socket = await initSocket(limitedApi);
    expect(await tryUpgrade(limitedApi, "/v1/graphql/ws")).toMatch(/^rejected with 503/);
    expect(limitedApi.context.counters.get("refused-maxSockets")).toBe(1);
    await socket.close();
    await until(() => limitedApi.context.counters.get("sockets") === 0, "the server has forgotten the socket");
    expect(await tryUpgrade(limitedApi, "/v1/graphql/ws")).toBe("granted");
    await limitedApi.close();
  });

  test("G-SUB-3 a client that does not read skips results and receives the newest one later", async () => {
    await api.sql(
      "create table if not exists public.bulk (id int primary key, n int, filler text); insert into public.bulk values (1, 0, repeat('x', 1000000))",
    );
    await api.reload();
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { bulk_by_pk(id: 1) { n filler } }");
    await socket.next();
    const reader = await initSocket(api);
    subscribe(reader, "1", "subscription { bulk_by_pk(id: 1) { n } }");
    await reader.next();
    socket.socket.pause();
    for (let n = 1; n <= 60; n++) {
      await api.sql("update public.bulk set n = $1 where id = 1", [n]);
      await reader.next((message) => message.payload.data.bulk_by_pk.n === n);
    }
    // One result is in transit; a newer one is made once the client has read it.
    expect(api.context.counters.get("unread-bytes")).toBeGreaterThan(0);
    expect(api.context.counters.get("unread-bytes")).toBeLessThan(3_000_000);
    socket.socket.resume();
    let count = 0;
    for (let n = 0; n < 60; count++) n = (await socket.next()).payload.data.bulk_by_pk.n;
    expect(count).toBeLessThan(20);
    await reader.close();
    await socket.close();
  });
});

describe("settings and connections of other servers", () => {
  test("G-WS-4 without the transport its subprotocol is unknown", async () => {
    const otherApi = await startApi(
      forGraphql({ preset: (options) => compose(fullCompat(options), without("websocket-transport")) }),
    );
    const socket = await openSocket(otherApi);
    expect((await socket.closed).code).toBe(1002);
    await otherApi.close();
  });

  test("G-WS-17 an upgrade without a key is rejected with 400", async () => {
    const status = await new Promise<number | undefined>((resolve) => {
      request(
        { port: api.port, path: "/v1/graphql/ws", headers: { connection: "Upgrade", upgrade: "websocket" } },
        (response) => resolve(response.statusCode),
      ).end();
    });
    expect(status).toBe(400);
  });

  test("G-WS-7 the end of the socket ends its live queries", async () => {
    const socket = new WebSocket(`${api.wsUrl}/v1/graphql/ws`, ["graphql-transport-ws"]);
    await new Promise((resolve) => socket.once("open", resolve));
    socket.send(JSON.stringify({ type: "connection_init", payload: { headers: asAdmin() } }));
    const live = { id: "1", type: "subscribe", payload: { query: "subscription { team { id } }" } };
    const before = api.context.counters.get("live-subscribers");
    socket.send(JSON.stringify(live));
    const count = (): number => api.context.counters.get("live-subscribers");
    await until(() => count() === before + 1, "the live query has begun");
    socket.terminate();
    await until(() => count() === before, "the live query has ended");
    expect((await api.gql("{ __typename }")).data).toEqual({ __typename: "query_root" });
  });
});
