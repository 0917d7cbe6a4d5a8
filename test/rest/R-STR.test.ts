/** Long responses are sent to the client while they arrive from the database. */
import { get as httpGet } from "node:http";
import { createGunzip, createGzip } from "node:zlib";
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { capabilities, startApi, type Answer } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { hasSpeed } from "../support/families.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import { startDatabaseProxy } from "../support/proxy.ts";
import { openSlowClient, untilFigure, type SlowClient } from "../support/slow-client.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const ROW_COUNT = 6_000;
/** More than the buffers of both sockets, which are 10 MB on Linux. */
const LONG_BYTES = 16_000_000;
const database = await testDatabase();
await database.query(`
  create schema flow;
  grant usage on schema flow to sea_anon, sea_clerk;
  create table flow.crate (id int primary key, label text, note text, owner text);
  insert into flow.crate select i, 'crate "' || i || '", säck', case when i % 3 > 0 then repeat('é', 30) end,
    case when i % 2 = 0 then 'sea_clerk' else 'sea_anon' end from generate_series(1, ${ROW_COUNT}) i;
  create table flow.part (id int primary key, crate_id int references flow.crate, name text);
  create index on flow.part (crate_id);
  insert into flow.part select i, i, 'part ' || i from generate_series(1, 1000) i;
  grant select on flow.crate, flow.part to sea_anon, sea_clerk;
  create table flow.owned as select * from flow.crate;
  alter table flow.owned enable row level security;
  create policy own on flow.owned for select using (owner = current_user);
  grant select on flow.owned to sea_anon, sea_clerk;
  create table flow.long as select 1 as id, repeat('x', ${LONG_BYTES}) as t;
  create table flow.text as select 1 as id, repeat('x', 1000000) as t;
  grant select on flow.long, flow.text to sea_anon;
  create view flow.broken as select id, 1 / (id - ${ROW_COUNT}) as n from flow.crate;
  grant select on flow.broken to sea_anon;
  create function flow.crates(up_to int) returns setof flow.crate stable language sql as
    'select * from flow.crate where id <= up_to order by id';
  create function flow.labels() returns setof text stable language sql as 'select label from flow.crate order by id';
  create function flow.told() returns setof flow.crate language plpgsql stable as $$ begin
    perform set_config('response.headers', '[{"X-Told": "yes"}]', true);
    perform set_config('response.status', '203', true);
    return query select * from flow.crate order by id; end $$;
  create function flow.written() returns setof flow.crate language sql volatile as 'select * from flow.crate order by id';
`);

/** True if responses are streamed. An embedded database returns the whole result at once. */
const isStreaming = capabilities.realServer && hasSpeed;
const options = {
  dbSchemas: ["flow"],
  streamAboveBytes: 64 * 1024,
  streamPatience: 600,
  unreadTimeout: 600,
};
const api = await startMeasured(options);
const bufferedApi = await startApi({ ...options, parts: hasSpeed ? [without("streamed-answers")] : [] });

const streamCount = async (target: MeasuredApi): Promise<number> =>
  (await target.metrics())["relapi_streams_total"] ?? -1;

/** The headers without the time. */
const readHeaders = ({ rawHeaders }: Answer): unknown => rawHeaders.filter(([name]) => name !== "Date");

describe("the same response with and without streaming", () => {
  const csv = { accept: "text/csv" };
  type StreamedCase = [what: string, path: string, headers: Readonly<Record<string, string>>, isStreamed?: boolean];
  test.each<StreamedCase>([
    ["JSON", "/crate?order=id", {}],
    ["CSV", "/crate?order=id", csv],
    ["nulls left out", "/crate?order=id", { accept: "application/vnd.pgrst.array+json;nulls=stripped" }],
    ["a window", "/crate?limit=2000&offset=17&order=id", {}],
    ["a range", "/crate?order=id", { "range-unit": "items", range: "5-3000" }],
    ["an exact count", "/crate?order=id&limit=2000", { prefer: "count=exact" }],
    ["an exact count of all", "/crate?order=id", { prefer: "count=exact" }],
    ["a planned count, for which another statement runs", "/crate?order=id", { prefer: "count=planned" }, false],
    ["embedded rows and an order", "/crate?select=label,part(name)&order=id.desc", {}],
    ["filters", "/crate?label=like.*5*&id=gt.100&order=id", {}],
    ["preferences that are applied", "/crate?order=id", { prefer: "handling=strict, timezone=Asia/Tokyo" }],
    ["a named profile", "/crate?order=id", { "accept-profile": "flow" }],
    ["one long value", "/text", {}],
    ["one long value as an object", "/text", { accept: "application/vnd.pgrst.object+json" }],
    ["a function's rows", "/rpc/crates?up_to=3000", {}],
    ["a function's rows as CSV", "/rpc/crates?up_to=3000", csv],
    ["a function's values", "/rpc/labels", {}],
    ["headers and a status of SQL", "/rpc/told", {}, false],
    ["a short one", "/crate?limit=3", {}, false],
  ])(
    "R-STR-1 R-STR-2 a response is the same with and without streaming: %s",
    async (...[, path, headers, isStreamed = true]: StreamedCase) => {
      const before = await streamCount(api);
      const streamedAnswer = await api.get(path, { headers });
      expect(await streamCount(api)).toBe(before + (isStreamed && isStreaming ? 1 : 0));
      const bufferedAnswer = await bufferedApi.get(path, { headers });
      expect(streamedAnswer.bytes.equals(bufferedAnswer.bytes)).toBe(true);
      expect(streamedAnswer.status).toBe(bufferedAnswer.status);
      expect(readHeaders(streamedAnswer)).toEqual(readHeaders(bufferedAnswer));
      expect(streamedAnswer.headers["content-length"]).toBe(String(streamedAnswer.bytes.length));
    },
  );

  test("R-STR-1 calls by POST have the same response with and without streaming", async () => {
    for (const name of ["crates", "written"]) {
      const parts = { body: name === "crates" ? { up_to: 4000 } : {} };
      const [streamedAnswer, bufferedAnswer] = [
        await api.post(`/rpc/${name}`, parts),
        await bufferedApi.post(`/rpc/${name}`, parts),
      ];
      expect(streamedAnswer.bytes.equals(bufferedAnswer.bytes)).toBe(true);
      expect(readHeaders(streamedAnswer)).toEqual(readHeaders(bufferedAnswer));
    }
  });

  test("R-STR-1 HEAD has the headers of a streamed answer and no body", async () => {
    const answer = await api.head("/crate?order=id");
    expect(answer.bytes.length).toBe(0);
    expect(readHeaders(answer)).toEqual(readHeaders(await bufferedApi.head("/crate?order=id")));
  });

  test("R-STR-1 each caller receives only their own rows in a streamed answer", async () => {
    const editor = bearer({ role: "sea_clerk" });
    for (const headers of [{}, editor]) {
      const [streamedAnswer, bufferedAnswer] = [
        await api.get("/owned?order=id", { headers }),
        await bufferedApi.get("/owned?order=id", { headers }),
      ];
      expect(streamedAnswer.json()).toHaveLength(ROW_COUNT / 2);
      expect(streamedAnswer.bytes.equals(bufferedAnswer.bytes)).toBe(true);
    }
    expect((await api.get("/owned?limit=1", { headers: editor })).json()[0].owner).toBe("sea_clerk");
  });

  test("R-STR-1 R-STR-1a an error in the last row is answered as without streaming", async () => {
    const [streamedAnswer, bufferedAnswer] = [
      await api.get("/broken?order=id"),
      await bufferedApi.get("/broken?order=id"),
    ];
    expect(streamedAnswer.status).toBe(400);
    expect(streamedAnswer.json()).toEqual(bufferedAnswer.json());
    expect(streamedAnswer.json().code).toBe("22012");
  });

  test("R-STR-6 with ETags an answer has a tag and is not streamed", async () => {
    const etagApi = await startMeasured({ ...options, etags: true });
    const answer = await etagApi.get("/crate?order=id");
    expect(answer.headers["etag"]).toMatch(/^"/);
    expect(await streamCount(etagApi)).toBe(0);
  });

  test("R-STR-6 a call of the application receives the whole body at once", async () => {
    const { body } = await api.relApi.rest({ path: "/crate?order=id", session: { role: "sea_anon" } });
    expect(Buffer.from(body as string).equals((await bufferedApi.get("/crate?order=id")).bytes)).toBe(true);
  });

  test("R-STR-2 middleware that compresses receives the body in pieces", async () => {
    // This passes the body through another stream, like `compression`.
    const port = await startHttpServer((request, response) => {
      const gzip = createGzip();
      const { write, end, writeHead } = response;
      gzip.on("data", (chunk: Buffer) => void (write.call(response, chunk, "utf8") || gzip.pause()));
      response.on("drain", () => gzip.resume());
      gzip.on("end", () => void Reflect.apply(end, response, []));
      gzip.on("drain", () => response.emit("drain"));
      Object.assign(response, {
        writeHead: (...head: Parameters<typeof writeHead>) => {
          response.removeHeader("Content-Length");
          response.setHeader("Content-Encoding", "gzip");
          return writeHead.apply(response, head);
        },
        write: (chunk: Buffer) => gzip.write(chunk),
        end: (chunk?: Buffer) => gzip.end(chunk),
      });
      api.relApi(request, response);
    });
    const text = await new Promise<Buffer>((resolve, reject) => {
      httpGet({ port, host: "127.0.0.1", path: "/crate?order=id", agent: false }, (response) => {
        expect(response.headers["content-encoding"]).toBe("gzip");
        expect(response.headers["content-length"]).toBeUndefined();
        const chunks: Buffer[] = [];
        response
          .pipe(createGunzip())
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", () => resolve(Buffer.concat(chunks)))
          .on("error", reject);
      }).on("error", reject);
    });
    expect(text.equals((await bufferedApi.get("/crate?order=id")).bytes)).toBe(true);
  });
});

const ask = (port: number, path: string): SlowClient => openSlowClient(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);

const untilRead = (receivedBytes: () => number, bytes = LONG_BYTES): Promise<void> =>
  until(() => receivedBytes() >= bytes, `${bytes} bytes are read`);

/** Longer than the statement needs to produce its rows. */
const STATEMENT_SECONDS = 4;

/** The pause of a slow client between two pieces. */
const slowly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

describe.skipIf(!isStreaming)("the pace of the client", () => {
  test("R-STR-3 the database waits for a client that does not read, and the client later receives everything", async () => {
    const clients = [ask(api.port, "/long"), ask(api.port, "/long"), ask(api.port, "/long")];
    await untilFigure(api, "relapi_streams_waiting", (count) => count === 3);
    // Data without backpressure would have arrived before these other long responses are complete.
    for (let i = 0; i < 3; i++) expect((await api.get("/crate?order=id")).status).toBe(200);
    const figures = await api.metrics();
    expect(figures["relapi_streams_waiting"]).toBe(3);
    expect(figures["relapi_unread_bytes"]).toBeLessThan(LONG_BYTES);
    for (const { socket } of clients) socket.resume();
    for (const { receivedBytes } of clients) await untilRead(receivedBytes);
    await untilFigure(api, "relapi_streams_waiting", (count) => count === 0);
    await untilFigure(api, "relapi_db_pool_in_use", (count) => count === 0);
  });

  test("R-STR-3 a client that reads slowly receives everything", async () => {
    const { socket, receivedBytes } = ask(api.port, "/long");
    for (let byteCount = 3_000_000; byteCount < LONG_BYTES; byteCount += 3_000_000) {
      socket.resume();
      await untilRead(receivedBytes, byteCount);
      socket.pause();
      await slowly();
    }
    socket.resume();
    await untilRead(receivedBytes);
  });

  test("R-STR-3 later requests on the connection of a streamed answer are answered in turn", async () => {
    const { socket, receivedBytes } = ask(api.port, "/long");
    socket.write("GET /crate?limit=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let end = "";
    socket.on("data", (chunk) => (end = chunk.toString("latin1").slice(-200)));
    socket.resume();
    await until(() => receivedBytes() > LONG_BYTES && end.includes('"id":1'), "both answers");
  });

  test("R-STR-5 when a client disconnects, its database connection is free and clean", async () => {
    const smallPoolApi = await startMeasured({ ...options, dbPool: 2 });
    for (let i = 0; i < 3; i++) {
      const { socket } = ask(smallPoolApi.port, "/long");
      await untilFigure(smallPoolApi, "relapi_streams_waiting", (count) => count === 1);
      socket.destroy();
      await untilFigure(smallPoolApi, "relapi_streams_waiting", (count) => count === 0);
      await untilFigure(smallPoolApi, "relapi_db_pool_in_use", (count) => count === 0);
      for (const answer of await Promise.all([smallPoolApi.get("/crate?limit=1"), smallPoolApi.get("/crate?limit=1")]))
        expect(answer.json()).toHaveLength(1);
    }
    expect(
      await smallPoolApi.sql(
        "select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'active' and query like '%flow%long%' and pid <> pg_backend_pid()",
      ),
    ).toEqual([{ n: 0 }]);
  });

  test("R-STR-5 a lost database connection breaks off the streamed answer", async () => {
    const proxy = await startDatabaseProxy(database);
    proxy.breakAfter(5_000_000);
    const brokenApi = await startMeasured({ ...options, databaseUrl: proxy.url });
    const { socket, receivedBytes, closed } = ask(brokenApi.port, "/long");
    socket.resume();
    await closed;
    expect(receivedBytes()).toBeGreaterThan(0);
    expect(receivedBytes()).toBeLessThan(LONG_BYTES);
    expect((await brokenApi.get("/crate?limit=1")).status).toBe(200);
    await untilFigure(brokenApi, "relapi_streams_waiting", (count) => count === 0);
  });

  test("R-STR-4 R-STR-4a half of the connections may wait for clients, and other answers are held in memory", async () => {
    const smallPoolApi = await startMeasured({ ...options, dbPool: 2 });
    const clients = [ask(smallPoolApi.port, "/long"), ask(smallPoolApi.port, "/long"), ask(smallPoolApi.port, "/long")];
    await untilFigure(smallPoolApi, "relapi_streams_waiting", (count) => count === 1);
    await untilFigure(smallPoolApi, "relapi_unread_bytes", (bytes) => bytes > LONG_BYTES / 2);
    expect((await smallPoolApi.get("/crate?limit=1")).status).toBe(200);
    for (const { socket, receivedBytes } of clients) {
      socket.resume();
      await untilRead(receivedBytes);
    }
  });

  test("R-STR-4 after STREAM_PATIENCE the remainder is held in memory, and the connection is free", async () => {
    const patientApi = await startMeasured({ ...options, streamPatience: 1 });
    const { socket, receivedBytes } = ask(patientApi.port, "/long");
    await untilFigure(patientApi, "relapi_streams_waiting", (count) => count === 1);
    await untilFigure(patientApi, "relapi_db_pool_in_use", (count) => count === 0);
    await untilFigure(patientApi, "relapi_unread_bytes", (bytes) => bytes > LONG_BYTES / 8);
    socket.resume();
    await untilRead(receivedBytes);
  });

  test("R-STR-4 a client that reads nothing for UNREAD_TIMEOUT is disconnected", async () => {
    const strictApi = await startMeasured({ ...options, unreadTimeout: 1 });
    const { socket, receivedBytes, closed } = ask(strictApi.port, "/long");
    await untilFigure(strictApi, "relapi_unread_closed_total", (count) => count === 1);
    await untilFigure(strictApi, "relapi_db_pool_in_use", (count) => count === 0);
    socket.resume();
    await closed;
    expect(receivedBytes()).toBeLessThan(LONG_BYTES);
  });

  test("R-STR-4 statement_timeout covers the time until the body begins, and not the time of the client", async () => {
    const timeoutApi = await startMeasured({ ...options, anonStatementTimeout: STATEMENT_SECONDS });
    const { socket, receivedBytes } = ask(timeoutApi.port, "/long");
    await untilFigure(timeoutApi, "relapi_streams_waiting", (count) => count === 1);
    await until(async () => {
      const [statement] = await timeoutApi.sql<{ seconds: number }>(
        `select extract(epoch from now() - query_start)::float8 as seconds from pg_stat_activity
          where datname = current_database() and query like '%"flow"."long"%' and pid <> pg_backend_pid()
          order by query_start desc limit 1`,
      );
      return (statement?.seconds ?? 0) > STATEMENT_SECONDS;
    }, "the statement has run for longer than its timeout");
    socket.resume();
    await untilRead(receivedBytes);
    await untilFigure(timeoutApi, "relapi_db_pool_in_use", (count) => count === 0);
    expect((await timeoutApi.get("/crate?limit=1")).status).toBe(200);
  });

  test("R-STR-4 a closing server waits for a streamed answer", async () => {
    const closingApi = await startApi({ ...options, shutdownGrace: 600 });
    const { socket, receivedBytes } = ask(closingApi.port, "/long");
    socket.resume();
    await untilRead(receivedBytes, 1);
    await closingApi.relApi.close();
    await untilRead(receivedBytes);
  });
});
