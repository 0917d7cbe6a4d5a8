/** Input and output are limited in bytes and time. */
import express from "express";
import { createServer, type RequestListener } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { without } from "../../core/index.ts";
import { serve } from "../../presets/server/serve.ts";
import { initSocket, openEvents, subscribe } from "../support/live.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import { capabilities, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const MIB = 1024 * 1024;
/** Enables tests that need most of a minute of processor time and gigabytes of memory in the database. */
const LARGE_ANSWERS = (process.env["LARGE_ANSWERS"] ?? "") !== "";
const admin = { "x-session-admin-secret": adminSecret };

const first = await startApi();
const { database } = first;
await first.sql(`
  create schema edge;
  grant usage on schema edge to sea_anon;
  create table edge.long (id int primary key, t text);
  insert into edge.long values (1, repeat('x', 600000)), (2, repeat('y', 600000)), (3, 'short'), (4, repeat('z', 16000000));
  grant select on edge.long to sea_anon;
  create table edge.word (t text, u text);
  grant select, insert on edge.word to sea_anon;
  create function edge.words(rows json) returns setof edge.word language sql stable as
    'select * from json_populate_recordset(null::edge.word, rows)';
  create function edge.size(t text) returns int language sql immutable as 'select length(t)';
`);

const start = (options: StartOptions = {}): Promise<MeasuredApi> => startMeasured({ dbSchemas: ["edge"], ...options });

/** An API shared by all tests with these options, started by the first one. */
const sharing = (options: StartOptions): (() => Promise<MeasuredApi>) => {
  let api: Promise<MeasuredApi> | undefined;
  return () => (api ??= start(options));
};
const withMebibyte = sharing({ maxResultBytes: MIB });
const rollingBack = sharing({ dbTxEnd: "rollback" });
const withSmallBodies = sharing({ maxBodyBytes: 100_000, dbTxEnd: "rollback" });
const impatient = sharing({ requestTimeout: 1 });

interface Raw {
  readonly socket: Socket;
  received(): string;
  readonly closed: Promise<void>;
}

const open = (port: number, text: string): Raw => {
  let received = "";
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  socket.on("data", (chunk) => (received += chunk.toString("latin1"))).on("error", () => undefined);
  atFileEnd(async () => void socket.destroy());
  return {
    socket,
    received: () => received,
    closed: new Promise((resolve) => socket.on("close", () => resolve())),
  };
};

/** Sends pieces until the connection ends. */
const trickle = async ({ socket, closed }: Raw, piece: string | Buffer, everyMs: number): Promise<void> => {
  const timer = setInterval(() => socket.write(piece), everyMs);
  await closed;
  clearInterval(timer);
};

/** Takes control of the clock by which the API detects slow clients, and of the timer that checks it. */
const takeClock = (): ((ms: number) => void) => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
};

describe("the size of results", () => {
  test("R-BND-1 the limit does not apply to connecting and to loading the schema", async () => {
    const api = await start({ maxResultBytes: 300 });
    expect((await api.get("/long?select=id&id=eq.3")).json()).toEqual([{ id: 3 }]);
    expect((await api.get("/long?select=t&id=eq.1")).json()).toMatchObject({ code: "PGRSTX01" });
    await api.reload();
    expect((await api.get("/long?select=id&id=eq.3")).json()).toEqual([{ id: 3 }]);
  });

  test("R-BND-1 G-DBE-16 R-BND-1a a result that is too large is rejected on both surfaces, and only its connection is dropped", async () => {
    const api = await withMebibyte();
    const rejectedCount = async (): Promise<number> => (await api.metrics())["relapi_results_refused_total"] ?? 0;
    const before = await rejectedCount();
    const rejection = {
      code: "PGRSTX01",
      details: null,
      hint: null,
      message: "The database response exceeds 1048576 bytes (MAX_RESULT_BYTES)",
    };
    const answers = await Promise.all([
      api.get("/long?select=t&id=in.(1,2)"),
      api.get("/long?select=id&id=eq.3"),
      api.get("/long?select=t&id=eq.1"),
      api.gql("{ edge_long(where: {id: {_in: [1, 2]}}) { t } }"),
    ]);
    expect([answers[0].status, answers[0].json()]).toEqual([500, rejection]);
    expect([answers[1].status, answers[1].json()]).toEqual([200, [{ id: 3 }]]);
    expect(answers[2].bytes.length).toBeGreaterThan(600_000);
    expect(answers[3]).toEqual({
      errors: [{ message: rejection.message, extensions: { path: "$", code: "unexpected" } }],
    });
    expect(
      (
        await api.post("/v1alpha1/graphql", {
          headers: admin,
          body: { query: "{ edge_long(where: {id: {_in: [1, 2]}}) { t } }" },
        })
      ).status,
    ).toBe(500);
    expect((await api.get("/long?select=id&id=eq.3")).json()).toEqual([{ id: 3 }]);
    expect((await rejectedCount()) - before).toBe(3);
  });

  test("R-BND-1 R-BND-1a live queries whose results are too large together run separately", async () => {
    const api = await withMebibyte();
    const socket = await initSocket(api);
    const query = "subscription ($id: Int!) { edge_long(where: {id: {_eq: $id}}) { t } }";
    for (const id of [1, 2]) subscribe(socket, String(id), query, { id });
    const results = new Map<string, string>();
    for (let i = 0; i < 2; i++) {
      const { id, payload } = await socket.next();
      results.set(id, payload.data.edge_long[0].t.slice(0, 2));
    }
    expect(results).toEqual(
      new Map([
        ["1", "xx"],
        ["2", "yy"],
      ]),
    );
    subscribe(socket, "both", "subscription { edge_long(where: {id: {_lt: 3}}) { t } }");
    expect((await socket.next((message) => message.id === "both")).payload.errors ?? "none").not.toBe("none");
    expect((await api.get("/long?select=id&id=eq.3")).status).toBe(200);
  });

  test.skipIf(!LARGE_ANSWERS || !capabilities.realServer)(
    "R-BND-1 a row of half a gigabyte does not end the server",
    { timeout: 600_000 },
    async () => {
      const api = await start();
      await api.sql(
        "create table edge.huge as select 1 as id, repeat('x', 30000000) as t; grant select on edge.huge to sea_anon",
      );
      await api.reload();
      const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `a${i}:t`);
      expect((await api.get(`/huge?select=${names(19).join(",")}`)).json()).toMatchObject({ code: "PGRSTX01" });
      expect((await api.get("/huge?select=id")).json()).toEqual([{ id: 1 }]);
      expect((await api.gql(`{ edge_huge { ${names(6).join(" ")} } }`)).errors[0].message).toContain(
        "MAX_RESULT_BYTES",
      );
      expect(await api.gql("{ edge_huge { id } }")).toEqual({ data: { edge_huge: [{ id: 1 }] } });
    },
  );
});

describe("large bodies", () => {
  const words = Array.from({ length: 10_000 }, (_, i) => ({
    t: `säck "${i}",\n${"é".repeat(i % 40)}`,
    u: i % 7 ? `${i}` : null,
  }));
  const quote = (text: string | null): string => (text === null ? "NULL" : `"${text.replaceAll('"', '""')}"`);
  const csv = `t,u\n${words.map(({ t, u }) => `${quote(t)},${quote(u)}`).join("\n")}`;
  const bodies: readonly (readonly [title: string, path: string, type: string, body: string])[] = [
    ["JSON", "/word", "application/json", JSON.stringify(words)],
    ["JSON with columns", "/word?columns=t,u", "application/json", `\r\n ${JSON.stringify(words)}`],
    ["CSV", "/word", "text/csv", csv],
    ["a call's JSON", "/rpc/words", "application/json", JSON.stringify({ rows: words })],
  ];

  test.each(bodies)("R-BND-8 a large body arrives completely: %s", async (_title, path, type, body) => {
    const api = await rollingBack();
    const { status, text } = await api.post(
      path.includes("rpc") ? path : `${path}${path.includes("?") ? "&" : "?"}select=t,u`,
      {
        headers: { "content-type": type, prefer: "return=representation" },
        body,
      },
    );
    expect(status).toBeLessThan(300);
    expect(JSON.parse(text)).toEqual(words);
  });

  test("R-BND-8 large bodies arrive compressed, in pieces, and in sequence on one connection", async () => {
    const api = await start({ dbTxEnd: "rollback", dbPool: 1 });
    const headers = { "content-type": "application/json", prefer: "return=representation" };
    const body = JSON.stringify(words);
    for (const [extraHeaders, bytes] of [
      [{ "content-encoding": "gzip" }, gzipSync(body)],
      [{}, body],
      [{ "content-length": null, "transfer-encoding": "chunked" }, body],
    ] as const) {
      const answer = await api.post("/word?select=t,u", { headers: { ...headers, ...extraHeaders }, body: bytes });
      expect(answer.json()).toEqual(words);
      expect((await api.post("/word", { headers, body: { t: "small" } })).json()).toEqual([{ t: "small", u: null }]);
    }
  });

  test("R-BND-8 an error of the database in a large body is reported", async () => {
    const api = await rollingBack();
    const body = `${JSON.stringify(words).slice(0, -1)}, {"t": nope}]`;
    const headers = { "content-type": "application/json" };
    expect((await api.post("/word?columns=t,u", { headers, body })).json()).toMatchObject({ code: "22P02" });
    expect((await api.post("/word", { headers, body })).json()).toMatchObject({ code: "PGRST102" });
    expect((await api.get("/word?limit=1")).status).toBe(200);
  });
});

describe("unread responses", () => {
  /** Options with which responses wait in the process, not in the database. */
  const waitingOptions: StartOptions = { streamPatience: 1, dbPool: 1 };
  const ask = (api: TestApi): Raw => open(api.port, "GET /long?select=t&id=eq.4 HTTP/1.1\r\nHost: x\r\n\r\n");
  const openPaused = (api: TestApi): Raw => {
    const raw = ask(api);
    raw.socket.pause();
    return raw;
  };

  const metricsAre = (
    api: MeasuredApi,
    isExpected: (metrics: Readonly<Record<string, number>>) => boolean,
  ): Promise<void> => until(async () => isExpected(await api.metrics()), "the metrics have the expected values");
  const closedAre = (api: MeasuredApi, count: number): Promise<void> =>
    metricsAre(api, ({ relapi_unread_closed_total: closedCount }) => closedCount === count);

  test("R-BND-2 a client that reads nothing is disconnected, and a slow one is not", async () => {
    const api = await start({ unreadTimeout: 6, streamPatience: 600 });
    const turnClock = takeClock();
    const stuckClients = [openPaused(api), openPaused(api)];
    const slowClient = openPaused(api);
    // The client reads every three seconds, and enough for the system to accept more bytes from the server.
    for (let expectedLength = 4 * MIB; expectedLength < 16_000_000; expectedLength += 4 * MIB) {
      slowClient.socket.resume();
      await until(() => slowClient.received().length >= expectedLength, "a piece of the answer");
      slowClient.socket.pause();
      turnClock(3000);
    }
    slowClient.socket.resume();
    await until(() => slowClient.received().length > 16_000_000, "all of the answer");
    await until(async () => {
      turnClock(2000);
      return (await api.metrics())["relapi_unread_closed_total"] === 2;
    }, "both connections that read nothing are closed");
    for (const { socket, closed, received } of stuckClients) {
      socket.resume(); // reading the buffered data is necessary to see the end
      await closed;
      expect(received().length).toBeLessThan(16_000_000);
    }
    await metricsAre(api, ({ relapi_unread_bytes: bytes }) => bytes === 0);
    await closedAre(api, 2);
  });

  test("R-BND-2 beyond the limit the connections that stalled longest are closed first", async () => {
    const api = await start({ maxUnreadBytes: 20_000_000, unreadTimeout: 600, ...waitingOptions });
    const sockets: Raw[] = [];
    for (let i = 0; i < 4; i++) {
      sockets.push(openPaused(api));
      await closedAre(api, i);
      await metricsAre(api, ({ relapi_unread_bytes: bytes = 0 }) => bytes > 0 && bytes <= 20_000_000);
    }
    const newest = sockets.pop() as Raw;
    for (const { socket, closed, received } of sockets) {
      socket.resume();
      await closed;
      expect(received().length).toBeLessThan(16_000_000);
    }
    newest.socket.resume();
    await until(() => newest.received().length > 16_000_000, "all of the newest answer");
    await closedAre(api, 3);
  });

  test("R-BND-2 R-BND-2a the limit of unread bytes applies to event streams and sockets", async () => {
    const api = await start({ unreadTimeout: 1 });
    const events = open(
      api.port,
      "GET /long?select=t&id=eq.4 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n",
    );
    events.socket.pause();
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { edge_long(where: {id: {_eq: 4}}) { t } }");
    socket.socket.pause();
    await closedAre(api, 2);
    socket.socket.resume();
    events.socket.resume();
    expect((await socket.closed).code).toBe(1006);
    await events.closed;
  });
});

describe("request bodies", () => {
  const call = (t: string): string => JSON.stringify({ t });
  const query = (id: number): string =>
    JSON.stringify({ query: "query ($id: Int!) { edge_long(where: {id: {_eq: $id}}) { id } }", variables: { id } });

  test("R-BND-3 G-HTTP-15 R-BND-3a compressed bodies are unpacked on both surfaces", async () => {
    const api = await withSmallBodies();
    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["x-gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", brotliCompressSync],
      ["identity", Buffer.from],
    ] as const) {
      const headers = { "content-type": "application/json", "content-encoding": encoding };
      expect(
        (await api.post("/rpc/size", { headers, body: pack(Buffer.from(call("x".repeat(50_000)))) })).text,
        encoding,
      ).toBe("50000");
      expect(
        (
          await api.post("/v1/graphql", { headers: { ...headers, ...admin }, body: pack(Buffer.from(query(3))) })
        ).json(),
        encoding,
      ).toEqual({ data: { edge_long: [{ id: 3 }] } });
    }
  });

  test("R-BND-3 G-HTTP-15 R-BND-3a a body that unpacks to more than the limit is 413 at every address", async () => {
    const blanks = Buffer.alloc(2 * MIB, " ");
    const bombs = [
      ["gzip", gzipSync(blanks)],
      ["deflate", deflateSync(blanks)],
      ["br", brotliCompressSync(blanks, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ] as const;
    const api = await withSmallBodies();
    const rejectedCount = async (): Promise<number> => (await api.metrics())["relapi_bodies_refused_total"] ?? 0;
    const before = await rejectedCount();
    for (const [encoding, body] of bombs) {
      const bomb = { headers: { ...admin, "content-type": "application/json", "content-encoding": encoding }, body };
      expect(bomb.body.length).toBeLessThan(100_000);
      const rest = await api.post("/rpc/size", bomb);
      expect([rest.status, rest.json().code, rest.json().message]).toEqual([
        413,
        "PGRST102",
        "The request body is larger than 100000 bytes",
      ]);
      for (const path of ["/v1/graphql", "/v1alpha1/graphql", "/api/graphql"])
        expect((await api.post(path, bomb)).status, path).toBe(413);
      expect(
        (await api.post("/v1/graphql", { ...bomb, headers: { ...bomb.headers, accept: "text/event-stream" } })).status,
      ).toBe(413);
    }
    expect((await rejectedCount()) - before).toBe(15);
  });

  test("R-BND-9 G-HTTP-15 a URL longer than the limit is 414 at every address and for calls", async () => {
    const api = await start({ maxUrlBytes: 100 });
    const path = (length: number): string => "/long?id=eq.0&t=eq.".padEnd(length, "x");
    expect((await api.get(path(100))).json()).toEqual([]);
    const rejection = await api.get(path(101));
    expect([rejection.status, rejection.json()]).toEqual([
      414,
      {
        code: "PGRST100",
        details: null,
        hint: "The limit is the setting maxUrlBytes.",
        message: "The URL is longer than 100 bytes",
      },
    ]);
    for (const address of ["/v1/graphql", "/v1alpha1/graphql"])
      expect((await api.get(`${address}?query=${"x".repeat(100)}`)).status, address).toBe(414);
    await expect(api.relApi.rest({ method: "GET", path: path(101) })).rejects.toMatchObject({
      status: 414,
    });
    expect((await api.metrics())['relapi_refused_total{limit="maxUrlBytes"}']).toBe(4);
  });

  /** Sends everything before it reads anything, as blocking clients do. Rejects if the connection is reset. */
  const sendAll = (port: number, head: string, bytes: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1");
      const chunks: Buffer[] = [];
      socket.on("error", reject).on("end", () => resolve(Buffer.concat(chunks).toString("latin1")));
      atFileEnd(async () => void socket.destroy());
      socket.pause();
      socket.write(head);
      const piece = Buffer.alloc(64 * 1024, "x");
      let remainingBytes = bytes;
      const write = (): void => {
        while (remainingBytes > 0) {
          const length = Math.min(remainingBytes, piece.length);
          remainingBytes -= length;
          if (!socket.write(piece.subarray(0, length))) return void socket.once("drain", write);
        }
        socket.on("data", (chunk) => void chunks.push(chunk)).resume();
      };
      write();
    });

  const parseBody = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));

  test("R-BND-9 R-BND-10 R-BND-9a R-BND-10a R-BND-10b the standalone server accepts 64 KiB of URL and headers, and answers more with an error object", async () => {
    const server = await serve({
      options: { ...database.options, dbSchemas: ["edge"], anonRole: "sea_anon", logLevel: "silent" },
      server: { port: 0, host: "127.0.0.1", unixSocketMode: 0o600, workers: 1 },
    });
    atFileEnd(server.stop);
    await server.api.ready;
    const { port } = server.server.address() as AddressInfo;
    const get = (query: string, headers = ""): Promise<string> =>
      sendAll(
        port,
        `GET /api/long?select=id&id=eq.3&t=neq.${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`,
        0,
      );
    const pad = (length: number): string => "y".repeat(length);
    expect(parseBody(await get(pad(65_000), `Authorization: Basic ${pad(40_000)}\r\n`))).toEqual([{ id: 3 }]);
    const rejection = await get(pad(66_000));
    expect(rejection).toMatch(/^HTTP\/1\.1 414 /);
    expect(parseBody(rejection)).toMatchObject({ code: "PGRST100", hint: "The limit is the setting maxUrlBytes." });
    for (const [query, headers] of [
      [pad(140_000), ""],
      [pad(5_000_000), ""],
      ["", `Authorization: Basic ${pad(140_000)}\r\n`],
      ["", `X-Some: ${pad(5_000_000)}\r\n`],
    ] as const) {
      const rejectedAnswer = await get(query, headers);
      expect(rejectedAnswer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/);
      expect(parseBody(rejectedAnswer)).toEqual({
        code: "PGRST100",
        details: null,
        hint: "The limit is the setting maxUrlBytes for the URL, and the same number of bytes for the headers.",
        message: "The URL and the headers of the request are too long",
      });
    }
    const invalidAnswer = await sendAll(port, "GET /api/long HTTP/1.1\r\nHost: x\r\nno header\r\n\r\n", 0);
    expect(invalidAnswer).toMatch(/^HTTP\/1\.1 400 /);
    expect(parseBody(invalidAnswer)).toMatchObject({ code: "PGRST102" });
    const requests = ["GET /api/long?select=id&id=eq.3&offset=1", "GET /api/nowhere", "DELETE /api/long?id=eq.0"];
    const pipelinedAnswers = await sendAll(
      port,
      `${requests.map((request) => `${request} HTTP/1.1\r\nHost: x\r\n\r\n`).join("")}{"body":"without a length"}`,
      0,
    );
    const statuses = pipelinedAnswers
      .split("HTTP/1.1 ")
      .slice(1)
      .map((answer) => Number(answer.slice(0, 3)));
    expect(statuses).toEqual([200, 404, 401, 400]);
  });

  test.each([
    ["node:http", (listener: RequestListener) => listener],
    ["Express", (listener: RequestListener) => express().use(listener)],
  ] as const)("R-BND-10 G-HTTP-15 a response reaches a client that still sends a body, with %s", async (_, mount) => {
    const api = await withSmallBodies();
    const port = await startHttpServer(mount(api.relApi));
    const bytes = 8 * MIB;
    const json = "Content-Type: application/json";
    for (const [path, header, status] of [
      ["/rpc/size", json, 413],
      ["/word", json, 413],
      ["/word", `${json}\r\nAuthorization: Bearer no.token.here`, 401],
      ["/nowhere", json, 413],
      ["/rpc/size", `${json}\r\nContent-Encoding: zstd`, 415],
      ["/rpc/size", `${json}\r\nHost: y`, 400],
      ["/v1/graphql", json, 413],
      ["/v1/graphql", `${json}\r\nContent-Encoding: zstd`, 415],
      ["/v1/graphql", `${json}\r\nX-Session-Admin-Secret: wrong`, 200],
    ] as const)
      for (const length of [`Content-Length: ${bytes}`, "Transfer-Encoding: chunked"]) {
        const chunk = length.startsWith("Transfer") ? `${bytes.toString(16)}\r\n` : "";
        const head = `POST ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\nConnection: close\r\n${length}\r\n\r\n${chunk}`;
        const answer = await sendAll(port, head, bytes);
        expect([path, header, length, answer.slice(0, 12)]).toEqual([path, header, length, `HTTP/1.1 ${status}`]);
        expect(answer.endsWith("}")).toBe(status !== 400);
      }
  });

  test("R-BND-3 R-BND-3b a body that cannot be unpacked is 400, and an unknown encoding 415", async () => {
    const api = await withSmallBodies();
    const send = (encoding: string, path = "/rpc/size") =>
      api.post(path, {
        headers: { ...admin, "content-type": "application/json", "content-encoding": encoding },
        body: call("abc"),
      });
    const invalidAnswer = await send("gzip");
    expect([invalidAnswer.status, invalidAnswer.json()]).toEqual([
      400,
      { code: "PGRST102", details: null, hint: null, message: "The request body cannot be unpacked as gzip" },
    ]);
    expect((await send("gzip", "/v1/graphql")).json().errors[0].extensions.code).toBe("bad-request");
    for (const encoding of ["zstd", "gzip, br"]) {
      const unknown = await send(encoding);
      expect([unknown.status, unknown.json().message, unknown.headers["accept-encoding"]]).toEqual([
        415,
        `Content-Encoding not acceptable: ${encoding}`,
        "gzip, x-gzip, deflate, br",
      ]);
      expect((await send(encoding, "/v1/graphql")).status).toBe(415);
    }
  });

  test("R-BND-3 R-BND-3a CSV counts as the JSON of its rows too", async () => {
    const api = await withSmallBodies();
    const post = (csv: string) =>
      api.post("/word", {
        headers: { "content-type": "text/csv", prefer: "return=representation,count=exact" },
        body: csv,
      });
    const validAnswer = await post(`t,u\n${"1,2\n".repeat(4000)}`);
    expect([validAnswer.status, validAnswer.json().length, validAnswer.json()[3999]]).toEqual([
      201,
      4000,
      { t: "1", u: "2" },
    ]);
    const rejectedCount = async (): Promise<number> => (await api.metrics())["relapi_bodies_refused_total"] ?? 0;
    const before = await rejectedCount();
    for (const csv of [`t\n${"1\n".repeat(20_000)}`, `${"n".repeat(5000)}\n${"1\n".repeat(20)}`]) {
      const rejection = await post(csv);
      expect([rejection.status, rejection.json().message]).toEqual([
        413,
        "The request body is larger than 100000 bytes",
      ]);
    }
    expect((await rejectedCount()) - before).toBe(2);
  });

  test("R-BND-3 R-BND-3a a body that a parser in front has read counts too", async () => {
    const api = await withSmallBodies();
    const port = await startHttpServer(
      express()
        .use(express.json({ limit: "10mb" }))
        .use(api.relApi),
    );
    const url = `http://127.0.0.1:${port}/rpc/size`;
    const post = (body: string) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
        body: gzipSync(body),
      });
    expect(await (await post(call("x".repeat(90_000)))).text()).toBe("90000");
    expect((await post(call("x".repeat(110_000)))).status).toBe(413);
  });

  test("R-BND-3 a body beyond the default of 32 MiB is rejected by its announced size", async () => {
    const raw = open(
      first.port,
      `POST /rpc/greet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${32 * MIB + 1}\r\n\r\n`,
    );
    await until(() => raw.received().includes("\r\n\r\n"), "an answer");
    expect(raw.received()).toContain("HTTP/1.1 413 ");
    raw.socket.destroy();
  });
});

describe("several request bodies", () => {
  test("R-BND-7 G-HTTP-15 R-BND-7a a large body without room is 413, and small or single bodies are accepted", async () => {
    const api = await start({ maxPendingBodyBytes: 1_000_000, requestTimeout: 600 });
    const call = (bytes: number): string => JSON.stringify({ t: "x".repeat(bytes) });
    const send = (path: string, bytes: number) =>
      api.post(path, {
        headers: { ...admin, "content-type": "application/json", "content-encoding": "gzip" },
        body: gzipSync(call(bytes)),
      });
    expect((await send("/rpc/size", 2_000_000)).text).toBe("2000000");
    // This client sends most of a body and then stops.
    const unfinishedRequest = open(
      api.port,
      `POST /rpc/size HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n${call(950_000)}`,
    );
    await until(async () => (await api.metrics())["relapi_body_bytes"]! > 900_000, "most of the body has arrived");
    const rejection = await send("/rpc/size", 200_000);
    expect([rejection.status, rejection.json(), rejection.headers["retry-after"]]).toEqual([
      413,
      {
        code: "PGRST102",
        details: null,
        hint: null,
        message: "Pending request bodies exceed 1000000 bytes in total",
      },
      "1",
    ]);
    for (const path of ["/v1/graphql", "/v1alpha1/graphql"]) {
      const answer = await send(path, 200_000);
      expect([answer.status, answer.json().errors[0].extensions.code], path).toEqual([413, "bad-request"]);
    }
    expect((await send("/rpc/size", 60_000)).text).toBe("60000");
    unfinishedRequest.socket.destroy();
    await until(async () => (await api.metrics())["relapi_body_bytes"] === 0, "the memory of the body is free");
    expect((await send("/rpc/size", 200_000)).text).toBe("200000");
    expect((await api.metrics())["relapi_bodies_refused_total"]).toBe(3);
  });
});

describe("several live queries", () => {
  test("G-SUB-12 a live query beyond the limit is rejected by each transport, and running ones continue", async () => {
    const api = await start({ maxLiveQueryBytes: 60_000 });
    const message = "The live queries exceed 60000 bytes in total";
    const query = "subscription ($t: String) { edge_long(where: {t: {_neq: $t}, id: {_eq: 3}}) { id } }";
    const socket = await initSocket(api);
    subscribe(socket, "first", query, { t: "x".repeat(3000) });
    expect(await socket.next()).toMatchObject({ id: "first", type: "next" });
    subscribe(socket, "second", query, { t: "y".repeat(3000) });
    expect(await socket.next()).toEqual({
      id: "second",
      type: "error",
      payload: [{ message, extensions: { path: "$", code: "bad-request" } }],
    });
    const streams = [
      await openEvents(api, "/v1/graphql", {
        method: "POST",
        headers: admin,
        body: { query, variables: { t: "z".repeat(3000) } },
      }),
      await openEvents(api, `/long?select=id&t=neq.${"z".repeat(3000)}`),
    ];
    for (const { closed } of streams) await closed;
    expect(streams[0]!.events.map(({ event, data }) => [event, data.includes(message)])).toEqual([
      ["next", true],
      ["complete", false],
    ]);
    expect(streams[1]!.events.map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
      ["failure", { code: "PGRSTX02", details: null, hint: null, message }],
    ]);
    await first.sql("update edge.long set id = 30 where id = 3");
    expect(await socket.next()).toMatchObject({ id: "first", type: "next", payload: { data: { edge_long: [] } } });
    await first.sql("update edge.long set id = 3 where id = 30");
    expect((await api.metrics())["relapi_live_queries_refused_total"]).toBe(3);
    socket.send({ id: "first", type: "complete" });
    await until(async () => (await api.metrics())["relapi_live_query_bytes"] === 0, "the live query has ended");
    subscribe(socket, "third", query, { t: "y".repeat(3000) });
    await until(async () => (await api.metrics())["relapi_live_query_bytes"]! > 48_000, "another runs");
  });
});

describe("slow clients", () => {
  const post = (path: string, bytes: number, extraHeaders = ""): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n${extraHeaders}\r\n`;

  test("R-BND-4 G-HTTP-15 a body that arrives too slowly is 408 on both surfaces and ends the connection", async () => {
    const api = await impatient();
    const lateCount = async (): Promise<number> => (await api.metrics())["relapi_requests_late_total"] ?? 0;
    const before = await lateCount();
    for (const path of ["/rpc/size", "/v1/graphql"]) {
      const raw = open(api.port, post(path, 10_000, `x-session-admin-secret: ${adminSecret}\r\n`));
      await trickle(raw, " ", 100);
      expect(raw.received()).toContain("HTTP/1.1 408 ");
      expect(raw.received()).toContain("The request body did not arrive in time");
    }
    expect((await lateCount()) - before).toBe(2);
  });

  test("R-BND-4 an unread body that arrives too slowly ends the connection", async () => {
    const api = await impatient();
    const raw = open(api.port, post("/rpc/size", 10_000, "Authorization: Bearer nonsense\r\n"));
    await trickle(raw, " ", 100);
    expect(raw.received()).toContain("HTTP/1.1 401 ");
  });

  test("R-BND-4 a long body that arrives steadily is accepted", async () => {
    const api = await start({ requestTimeout: 1 });
    const body = `{"t":"${"x".repeat(200_000)}"}`;
    let bytesRead: () => number = () => 0;
    api.server.once("connection", (socket) => (bytesRead = () => socket.bytesRead));
    const turnClock = takeClock();
    const head = post("/rpc/size", body.length);
    const raw = open(api.port, head);
    for (let offset = 0; offset < body.length; offset += 8192) {
      raw.socket.write(body.slice(offset, offset + 8192));
      await until(() => bytesRead() >= head.length + Math.min(offset + 8192, body.length), "the piece has arrived");
      turnClock(500);
    }
    await until(() => raw.received().endsWith("200000"), "the answer");
    expect(raw.received()).toContain("HTTP/1.1 200 ");
    raw.socket.destroy();
  });

  test("R-BND-4 R-BND-4a slow headers and bodies end on the standalone server, and idle connections stay", async () => {
    const server = await serve({
      options: {
        ...database.options,
        dbSchemas: ["edge"],
        anonRole: "sea_anon",
        logLevel: "silent",
        requestTimeout: 1,
      },
      server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1 },
    });
    try {
      await server.api.ready;
      const { port } = server.server.address() as AddressInfo;
      const idle = open(port, "GET /api/long?select=id&id=eq.3 HTTP/1.1\r\nHost: x\r\n\r\n");
      const [head, body] = [
        open(port, "GET /api/long HTTP/1.1\r\nHost: x\r\n"),
        open(port, post("/api/rpc/size", 10_000)),
      ];
      await Promise.all([trickle(head, "X-A: b\r\n", 100), trickle(body, " ", 100)]);
      expect([head.received(), body.received()].map((text) => text.slice(0, 13))).toEqual([
        "HTTP/1.1 408 ",
        "HTTP/1.1 408 ",
      ]);
      idle.socket.write("GET /api/long?select=id&id=eq.1 HTTP/1.1\r\nHost: x\r\n\r\n");
      await until(() => idle.received().includes('[{"id":1}]'), "the idle connection is answered");
      idle.socket.destroy();
    } finally {
      await server.stop();
    }
  });
});

describe("slow headers on the server of an application", () => {
  test("R-BND-4 R-BND-4a slow headers end after requestTimeout on node:http and in Express, with and without live queries", async () => {
    const api = await impatient();
    const apiWithoutLiveQueries = await start({
      requestTimeout: 1,
      parts: ["websocket-transport", "legacy-websocket", "sse"].map(without),
    });
    for (const handler of [api.relApi, express().use("/db", api.relApi), apiWithoutLiveQueries.relApi]) {
      const server = createServer({ connectionsCheckingInterval: 200 }, handler);
      atFileEnd(async () => void server.close());
      const { port } = server.listen(0).address() as AddressInfo;
      const [first, second] = [
        open(port, "GET /long?id=eq.3 HTTP/1.1\r\nHost: x\r\n\r\n"),
        open(port, "GET /long HTTP/1.1\r\nHost: x\r\n"),
      ];
      await until(() => first.received() !== "", "an answer");
      await trickle(second, "X-A: b\r\n", 100);
      expect(second.received()).toContain("HTTP/1.1 408 ");
      first.socket.destroy();
    }
  });

  test("R-BND-4 R-BND-4a a time limit that the application has set stays", async () => {
    const api = await impatient();
    const server = createServer({ headersTimeout: 59_000 }, api.relApi);
    atFileEnd(async () => void server.close());
    api.relApi.attach(server);
    expect(server.headersTimeout).toBe(59_000);
  });
});

describe("several Host headers", () => {
  const ask = async (port: number, path: string, extraHeaders = ""): Promise<string> => {
    const raw = open(port, `GET ${path} HTTP/1.1\r\nHost: a.example\r\nhOST: b.example\r\n${extraHeaders}\r\n`);
    await raw.closed;
    return raw.received();
  };

  test("R-BND-5 requests with two Host headers are rejected on both surfaces, below Express and in an upgrade", async () => {
    const api = await start();
    const below = await startHttpServer(express().use("/db", api.relApi));
    for (const [port, path] of [
      [api.port, "/long?id=eq.3"],
      [api.port, "/v1/graphql"],
      [api.port, "/v1/version"],
      [below, "/db/long?id=eq.3"],
    ] as const) {
      const text = await ask(port, path);
      expect(text, path).toMatch(/^HTTP\/1\.1 400 /);
      expect(text, path).toContain("\r\nConnection: close\r\n");
      expect(text, path).toContain("more than one Host header");
    }
    const upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    expect(await ask(api.port, "/v1/graphql/ws", upgrade)).toMatch(/^HTTP\/1\.1 400 /);
    expect((await api.get("/long?select=id&id=eq.3")).status).toBe(200);
  });
});
