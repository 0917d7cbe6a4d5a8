/** Long responses of GraphQL queries go to the client while they arrive from the database. */
import { request as send } from "node:http";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { definePlugin, without } from "../../core/index.ts";
import { capabilities, forGraphql, startApi, type Answer } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { hasSpeed } from "../support/families.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { startMeasured, type MeasuredApi } from "../support/metrics.ts";
import { startDatabaseProxy } from "../support/proxy.ts";
import { openSlowClient, untilFigure, type SlowClient } from "../support/slow-client.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const ROWS = 6_000;
/** More than the buffers of both sockets take, which are 10 MB on Linux. */
const LONG_BYTES = 16_000_000;
/** Compressed, it is still longer than these buffers. */
const NOISE_LENGTH = 20_000_000;
/** A text that compression leaves three quarters of. */
const noise = (length: number): string =>
  `(select string_agg(encode(decode(md5(i::text), 'hex'), 'base64'), '') from generate_series(1, ${Math.ceil(length / 24)}) i)`;
const database = await testDatabase();
await database.query(`
  create schema flood;
  create table flood.crate (id int primary key, label text, note text);
  insert into flood.crate select i, 'crate "' || i || '", säck', case when i % 3 > 0 then repeat('é', 30) end
    from generate_series(1, ${ROWS}) i;
  create table flood.part (id int primary key, crate_id int references flood.crate, name text);
  create index on flood.part (crate_id);
  insert into flood.part select i, i, 'part ' || i from generate_series(1, 1000) i;
  create table flood.long as select 1 as id, repeat('x', ${LONG_BYTES}) as t;
  create table flood.text as select 1 as id, ${noise(1_000_000)} as t;
  create table flood.noise as
    select 1 as id, ${noise(NOISE_LENGTH)} as t;
  create view flood.broken as select id, 1 / (id - ${ROWS}) as n from flood.crate;
`);

/** True if responses are streamed. An embedded database returns the whole result at once. */
const isStreaming = capabilities.realServer && hasSpeed;
const ENDPOINT = "query ($n: Int!) { flood_crate(order_by: {id: asc}, limit: $n) { id label note } }";
const options = forGraphql({
  dbSchemas: ["flood"],
  streamAboveBytes: 64 * 1024,
  streamPatience: 600,
  unreadTimeout: 600,
  dbPool: 6,
  metadata: buildMetadataDocument(
    ["crate", "part", "long", "text", "noise", "broken"].map((name) =>
      table(
        `flood.${name}`,
        name === "crate"
          ? {
              array_relationships: [
                {
                  name: "parts",
                  using: {
                    foreign_key_constraint_on: { table: { schema: "flood", name: "part" }, column: "crate_id" },
                  },
                },
              ],
            }
          : {},
      ),
    ),
    {
      query_collections: [{ name: "api", definition: { queries: [{ name: "crates", query: ENDPOINT }] } }],
      rest_endpoints: [
        {
          name: "crates",
          url: "crates/:n",
          methods: ["GET", "POST"],
          comment: "",
          definition: { query: { collection_name: "api", query_name: "crates" } },
        },
      ],
    },
  ),
  dbTxEnd: "commit-allow-override",
});
const api = await startMeasured(options);
const bufferedApi = await startApi({ ...options, parts: hasSpeed ? [without("streamed-answers")] : [] });

const admin = { "x-session-admin-secret": adminSecret };
const streamCount = async (target: MeasuredApi): Promise<number> =>
  (await target.metrics())["relapi_streams_total"] ?? -1;

/** The response without the time and the request's id. */
const readHeaders = ({ rawHeaders }: Answer): unknown =>
  rawHeaders.filter(([name]) => name !== "Date" && name !== "x-request-id");

const crates = "{ flood_crate(order_by: {id: asc}) { id label note } }";
const severalFields =
  "{ a: flood_crate(order_by: {id: asc}) { id label } flood_part(limit: 1) { id } c: flood_crate_aggregate { aggregate { count } } }";
const mixedQuery = `{ flood_crate(order_by: {id: asc}) { id label note } __type(name: "flood_crate") { name } }`;

describe("the same response with and without streaming", () => {
  type StreamedCase = [what: string, query: string, isStreamed?: boolean];
  test.each<StreamedCase>([
    ["one root field", crates],
    ["rows with their own", "{ flood_crate(order_by: {id: desc}) { label parts(order_by: {id: asc}) { name } } }"],
    ["one long value", "{ flood_text { id t } }"],
    ["several root fields, which one statement answers as one value", severalFields],
    ["a name beside it", "{ __typename flood_crate(order_by: {id: asc}) { id label __typename } }"],
    ["the schema beside it, which no statement answers", mixedQuery, false],
    ["a short one", "{ flood_crate(limit: 3, order_by: {id: asc}) { id } }", false],
    ["a mutation", "mutation { update_flood_crate(where: {}, _set: {note: null}) { returning { id label } } }", false],
  ])(
    "R-STR-7 a response is the same with and without streaming: %s",
    async (...[, query, isStreamed = true]: StreamedCase) => {
      const before = await streamCount(api);
      const streamedAnswer = await api.post("/v1/graphql", {
        body: { query },
        headers: { ...admin, prefer: "tx=rollback" },
      });
      expect(await streamCount(api)).toBe(before + (isStreamed && isStreaming ? 1 : 0));
      const bufferedAnswer = await bufferedApi.post("/v1/graphql", {
        body: { query },
        headers: { ...admin, prefer: "tx=rollback" },
      });
      expect(streamedAnswer.bytes.equals(bufferedAnswer.bytes)).toBe(true);
      expect(streamedAnswer.status).toBe(200);
      expect(streamedAnswer.text.slice(0, 100)).not.toContain("errors");
      expect(readHeaders(streamedAnswer)).toEqual(readHeaders(bufferedAnswer));
      expect(streamedAnswer.headers["content-length"]).toBe(String(streamedAnswer.bytes.length));
    },
  );

  test("R-STR-7 GET and named queries are streamed", async () => {
    for (const path of [`/v1/graphql?query=${encodeURIComponent(crates)}`, `/api/rest/crates/${ROWS}`]) {
      const before = await streamCount(api);
      const streamedAnswer = await api.get(path, { headers: admin });
      expect(await streamCount(api)).toBe(before + (isStreaming ? 1 : 0));
      const bufferedAnswer = await bufferedApi.get(path, { headers: admin });
      expect(streamedAnswer.bytes.length).toBeGreaterThan(200_000);
      expect(streamedAnswer.bytes.equals(bufferedAnswer.bytes)).toBe(true);
      expect(readHeaders(streamedAnswer)).toEqual(readHeaders(bufferedAnswer));
      const head = await api.head(path, { headers: admin });
      expect(head.bytes.length).toBe(0);
      expect(readHeaders(head)).toEqual(readHeaders(await bufferedApi.head(path, { headers: admin })));
    }
  });

  test("R-STR-7 R-STR-7a a client that accepts gzip gets compressed chunks", async () => {
    for (const query of [crates, severalFields, mixedQuery, "{ flood_text { t } }"]) {
      const plain = await bufferedApi.post("/v1/graphql", { body: { query }, headers: admin });
      const zippedAnswer = await api.post("/v1/graphql", {
        body: { query },
        headers: { ...admin, "accept-encoding": "gzip" },
      });
      expect(zippedAnswer.headers["content-encoding"]).toBe("gzip");
      expect(zippedAnswer.headers["vary"]).toBe("Accept-Encoding");
      const isStreamed = isStreaming && query !== mixedQuery;
      expect(zippedAnswer.headers["transfer-encoding"]).toBe(isStreamed ? "chunked" : undefined);
      expect(gunzipSync(zippedAnswer.bytes).equals(plain.bytes)).toBe(true);
    }
  });

  test("R-STR-7 R-STR-7a HTTP/1.0 gets an uncompressed answer, because its end is not marked", async () => {
    const body = JSON.stringify({ query: crates });
    const client = openSlowClient(
      api.port,
      `POST /v1/graphql HTTP/1.0\r\nx-session-admin-secret: ${adminSecret}\r\nAccept-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const chunks: Buffer[] = [];
    client.socket.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
    await client.closed;
    const answer = Buffer.concat(chunks);
    const headersEnd = answer.indexOf("\r\n\r\n");
    const head = answer.toString("latin1", 0, headersEnd).toLowerCase();
    const length = answer.length - headersEnd - 4;
    expect(head).toContain(`content-length: ${length}`);
    if (isStreaming) expect(head).not.toContain("gzip");
  });

  test("R-STR-7 an error in the last row is answered as without streaming", async () => {
    const query = "{ flood_broken(order_by: {id: asc}) { id n } }";
    const [streamedAnswer, bufferedAnswer] = [
      await api.post("/v1/graphql", { body: { query }, headers: admin }),
      await bufferedApi.post("/v1/graphql", { body: { query }, headers: admin }),
    ];
    expect(streamedAnswer.status).toBe(200);
    expect(streamedAnswer.json()).toEqual(bufferedAnswer.json());
    expect(streamedAnswer.json().errors[0].extensions.code).toBe("data-exception");
  });

  test("R-STR-7 batches, calls of the application and plugins that read the body receive it whole", async () => {
    const before = await streamCount(api);
    const { data } = (await bufferedApi.post("/v1/graphql", { body: { query: crates }, headers: admin })).json();
    const batch = await api.post("/v1/graphql", { body: [{ query: crates }, { query: crates }], headers: admin });
    expect(batch.json()).toEqual([{ data }, { data }]);
    const callResult = await api.relApi.graphql({ query: crates, session: { role: "admin", isAdmin: true } });
    expect(callResult).toEqual({ data });
    expect(await streamCount(api)).toBe(before);
    let byteCount = 0;
    const bytesPlugin = definePlugin({
      name: "looking",
      apply: (_hooks, context) =>
        context.addStep({
          name: "looking",
          beforeAuthorize: (exchange) => void Object.defineProperty(exchange, "needsBody", { value: true }),
          afterResponse: (_, { bytes }) => void (byteCount = bytes),
        }),
    });
    const observedApi = await startMeasured({ ...options, parts: [...(options.parts ?? []), bytesPlugin] });
    const answer = await observedApi.post("/v1/graphql", { body: { query: crates }, headers: admin });
    expect(answer.json()).toEqual({ data });
    expect(byteCount).toBe(answer.bytes.length);
  });
});

const ask = (port: number, query: string, headers = ""): SlowClient => {
  const body = JSON.stringify({ query });
  return openSlowClient(
    port,
    `POST /v1/graphql HTTP/1.1\r\nHost: x\r\nx-session-admin-secret: ${adminSecret}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
};

const LONG_QUERY = "{ flood_long { t } }";
const GZIP = "Accept-Encoding: gzip\r\n";
const NOISE = "{ flood_noise { t } }";
/** Less than the whole response, compressed. */
const NOISE_BYTES = 12_000_000;

const untilRead = (receivedBytes: () => number, bytes: number): Promise<void> =>
  until(() => receivedBytes() >= bytes, `${bytes} bytes are read`);

/** The pause of a slow client between two reads. */
const slowly = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

describe.skipIf(!isStreaming)("the pace of the client", () => {
  test("R-STR-7 the database waits for a client that does not read, and the client later receives everything", async () => {
    const clients = [ask(api.port, LONG_QUERY), ask(api.port, LONG_QUERY), ask(api.port, NOISE, GZIP)];
    await untilFigure(api, "relapi_streams_waiting", (count) => count === 3);
    // Data without backpressure would have arrived before these other long responses are complete.
    for (let i = 0; i < 3; i++)
      expect((await api.post("/v1/graphql", { body: { query: crates }, headers: admin })).status).toBe(200);
    const figures = await api.metrics();
    expect(figures["relapi_streams_waiting"]).toBe(3);
    expect(figures["relapi_unread_bytes"]).toBeLessThan(LONG_BYTES);
    for (const { socket } of clients) socket.resume();
    for (const [index, { receivedBytes }] of clients.entries())
      await untilRead(receivedBytes, index === 2 ? NOISE_BYTES : LONG_BYTES);
    await untilFigure(api, "relapi_streams_waiting", (count) => count === 0);
    await untilFigure(api, "relapi_db_pool_in_use", (count) => count === 0);
  });

  test("R-STR-7 a client that reads slowly receives everything", async () => {
    for (const [query, headers, bytes] of [
      [LONG_QUERY, "", LONG_BYTES] as const,
      [NOISE, GZIP, NOISE_BYTES] as const,
    ]) {
      const { socket, receivedBytes } = ask(api.port, query, headers);
      for (let byteCount = 3_000_000; byteCount < bytes; byteCount += 3_000_000) {
        socket.resume();
        await untilRead(receivedBytes, byteCount);
        socket.pause();
        await slowly();
      }
      socket.resume();
      await untilRead(receivedBytes, bytes);
    }
  });

  test("R-STR-7 when a client disconnects, its connection is free and clean", async () => {
    const smallPoolApi = await startMeasured({ ...options, dbPool: 2 });
    for (const headers of ["", GZIP, ""]) {
      const { socket } = ask(smallPoolApi.port, NOISE, headers);
      await untilFigure(smallPoolApi, "relapi_streams_waiting", (count) => count === 1);
      socket.destroy();
      await untilFigure(smallPoolApi, "relapi_streams_waiting", (count) => count === 0);
      await untilFigure(smallPoolApi, "relapi_db_pool_in_use", (count) => count === 0);
      const query = "{ flood_crate(limit: 1) { id } }";
      const requests = [1, 2].map(() => smallPoolApi.post("/v1/graphql", { body: { query }, headers: admin }));
      for (const answer of await Promise.all(requests)) expect(answer.json().data.flood_crate).toHaveLength(1);
    }
    expect(
      await smallPoolApi.sql(
        "select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'active' and query like '%\"flood\".\"noise\"%' and pid <> pg_backend_pid()",
      ),
    ).toEqual([{ n: 0 }]);
  });

  describe("a lost connection to the database", () => {
    let brokenApi: MeasuredApi;
    beforeAll(async () => {
      const proxy = await startDatabaseProxy(database);
      proxy.breakAfter(5_000_000);
      brokenApi = await startMeasured({ ...options, databaseUrl: proxy.url });
    });

    test.each([
      ["plain", "", NOISE_LENGTH],
      ["compressed", GZIP, NOISE_BYTES],
    ] as const)("R-STR-7 a lost database connection breaks off the answer: %s", async (_, headers, bytes) => {
      const { socket, receivedBytes, closed } = ask(brokenApi.port, NOISE, headers);
      let end = "";
      socket.on("data", (chunk: Buffer) => (end = chunk.toString("latin1").slice(-10)));
      socket.resume();
      await closed;
      expect(receivedBytes()).toBeGreaterThan(0);
      expect(receivedBytes()).toBeLessThan(bytes);
      expect(end.endsWith("\r\n0\r\n\r\n")).toBe(false); // the last chunk
      await untilFigure(brokenApi, "relapi_streams_waiting", (count) => count === 0);
      const query = "{ flood_crate(limit: 1) { id } }";
      expect((await brokenApi.post("/v1/graphql", { body: { query }, headers: admin })).json().data).toBeDefined();
    });

    test("R-STR-7 a client of Node receives an error", async () => {
      const outcome = new Promise<string>((resolve, reject) => {
        const clientRequest = send(
          {
            port: brokenApi.port,
            method: "POST",
            path: "/v1/graphql",
            headers: { ...admin, "accept-encoding": "gzip" },
          },
          (response) => {
            response
              .on("end", () => resolve("complete"))
              .on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"))
              .resume();
          },
        );
        clientRequest.on("error", reject).end(JSON.stringify({ query: NOISE }));
      });
      expect(await outcome).toBe("ECONNRESET");
    });
  });

  test("R-STR-7 after STREAM_PATIENCE the remainder is held in memory, and the connection is free", async () => {
    const patientApi = await startMeasured({ ...options, streamPatience: 1 });
    for (const [query, headers, bytes] of [
      [LONG_QUERY, "", LONG_BYTES] as const,
      [NOISE, GZIP, NOISE_BYTES] as const,
    ]) {
      const { socket, receivedBytes } = ask(patientApi.port, query, headers);
      await untilFigure(patientApi, "relapi_streams_waiting", (count) => count === 1);
      await untilFigure(patientApi, "relapi_db_pool_in_use", (count) => count === 0);
      await untilFigure(patientApi, "relapi_unread_bytes", (unreadBytes) => unreadBytes > bytes / 8);
      socket.resume();
      await untilRead(receivedBytes, bytes);
    }
  });

  test("R-STR-7 later requests on the connection in an application of node:http are answered in turn", async () => {
    const port = await startHttpServer((request, response) => void api.relApi(request, response));
    const { socket, receivedBytes } = ask(port, LONG_QUERY);
    const body = JSON.stringify({ query: "{ flood_crate(limit: 1, order_by: {id: asc}) { id } }" });
    socket.write(
      `POST /v1/graphql HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-session-admin-secret: ${adminSecret}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let end = "";
    socket.on("data", (chunk) => (end = chunk.toString("latin1").slice(-200)));
    socket.resume();
    await until(() => receivedBytes() > LONG_BYTES && end.includes('"id":1'), "both answers");
  });
});
