/** Spans, as an SDK of OpenTelemetry gets them. */
import { propagation, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { optionsFromEnvironment, relApi } from "../../core/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";

const PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const parents = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

let api: TestApi;
const start = (options: StartOptions = {}): Promise<TestApi> =>
  startApi({ dbSchemas: ["sea", "land", "public"], tracing: true, traceRatio: 1, ...options });

beforeAll(async () => {
  trace.setGlobalTracerProvider(provider);
  // The function reads the header as the SDK's own propagator does.
  propagation.setGlobalPropagator({
    inject: () => undefined,
    fields: () => ["traceparent"],
    extract: (context, carrier: any) => {
      const [, traceId, spanId, flags] = parents.exec(carrier.traceparent ?? "") ?? [];
      if (traceId === undefined || spanId === undefined) return context;
      return trace.setSpanContext(context, {
        traceId,
        spanId,
        traceFlags: Number.parseInt(flags ?? "0", 16),
        isRemote: true,
      });
    },
  });
  api = await start();
});
afterAll(() => provider.shutdown());
beforeEach(() => exporter.reset());
afterEach(() => vi.restoreAllMocks());

const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
const spanNamed = (name: string): ReadableSpan => {
  const match = spans().find((span) => span.name === name);
  if (match === undefined) throw new Error(`no span ${name} among ${spans().map((span) => span.name)}`);
  return match;
};
const toMilliseconds = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;

test("X-TRC-1 X-TRC-2 a request has spans for its plan, its connection and its statement, in the caller's trace", async () => {
  const answer = await api.get("/ports?select=id&id=eq.4711", { headers: { traceparent: PARENT } });
  const request = spanNamed("GET rest read ports");
  expect(request.spanContext().traceId).toBe(TRACE);
  expect(request.parentSpanContext?.spanId).toBe("00f067aa0ba902b7");
  expect(answer.headers["traceparent"]).toBe(`00-${TRACE}-${request.spanContext().spanId}-01`);
  expect(request.attributes).toMatchObject({
    "http.request.method": "GET",
    "http.response.status_code": 200,
    "url.path": "/ports",
    "url.scheme": "http",
    "relapi.surface": "rest",
    "relapi.role": "sea_anon",
  });
  expect(spans().map(({ name }) => name)).toEqual(["plan", "acquire", "statement", "GET rest read ports"]);
  for (const below of spans().slice(0, 3)) {
    expect(below.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    expect(toMilliseconds(below.startTime)).toBeGreaterThanOrEqual(toMilliseconds(request.startTime) - 0.01);
    expect(toMilliseconds(below.endTime)).toBeLessThanOrEqual(toMilliseconds(request.endTime) + 0.01);
  }
  const { attributes, kind } = spanNamed("statement");
  expect(kind).toBe(2);
  expect(attributes).toMatchObject({
    "db.system.name": "postgresql",
    "db.operation.name": "read",
    "db.collection.name": "ports",
  });
  expect(attributes["db.query.text"]).toContain("$1");
  expect(JSON.stringify(spans().map((span) => span.attributes))).not.toContain("4711");
});

test("X-TRC-2 an error of GraphQL marks its span as failed, with any status", async () => {
  await api.gql("query Wrong { nothing }");
  const { status, attributes } = spanNamed("POST graphql query Wrong");
  expect([status.code, attributes["error.type"], attributes["http.response.status_code"]]).toEqual([
    2,
    "validation-failed",
    200,
  ]);
  await api.get("/ports?id=eq.x");
  expect(spanNamed("statement").attributes).toMatchObject({
    "db.response.status_code": "22P02",
    "error.type": "22P02",
  });
  expect(spanNamed("GET rest read ports").status.code).toBe(0); // an error that the client caused
});

test("X-TRC-1b an operation of a WebSocket has a span in the trace of the client, and its statement is below", async () => {
  const socket = await openSocket(api);
  await socket.init({ ...asAdmin(), traceparent: PARENT });
  socket.send({ id: "1", type: "subscribe", payload: { query: "query Own { artist_by_pk(id: 4) { country } }" } });
  await socket.next((message) => message.type === "next");
  const operation = spanNamed("WEBSOCKET graphql query Own");
  expect(operation.spanContext().traceId).toBe(TRACE);
  expect(operation.attributes).toMatchObject({ "http.response.status_code": 200, "relapi.role": "admin" });
  expect(spanNamed("statement").parentSpanContext?.spanId).toBe(operation.spanContext().spanId);
  exporter.reset();
  socket.send({ id: "2", type: "subscribe", payload: { query: "query Wrong { nothing }" } });
  await socket.next((message) => message.type === "error");
  expect(spanNamed("WEBSOCKET graphql query Wrong").attributes).toMatchObject({ "error.type": "validation-failed" });
  await socket.close();
});

test("X-TRC-3 the delivery of a live query has a span", async () => {
  const socket = await openSocket(api);
  await socket.init(asAdmin());
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { artist_by_pk(id: 4) { country } }" } });
  await socket.next((message) => message.type === "next");
  exporter.reset();
  await api.sql("update artist set country = 'XX' where id = 4");
  await socket.next((message) => message.type === "next");
  await api.sql("update artist set country = null where id = 4");
  const delivery = spanNamed("delivery");
  const roots = spans().filter(({ name }) => name === "live query");
  expect(roots.map((root) => root.spanContext().spanId)).toContain(delivery.parentSpanContext?.spanId);
  expect(delivery.attributes["relapi.live.deliveries"]).toBe(1);
  await socket.close();
});

test("X-TRC-4 the database receives the trace in its application name or in a comment that no request text can end", async () => {
  for (const [traceStatements, expected] of [
    ["application-name", /^relapi 00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/],
    [
      "comment",
      /\/\*action='tell',framework='relapi',traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01'\*\//,
    ],
  ] as const) {
    const ownApi = await start({ traceStatements });
    await ownApi.sql(
      `create or replace function sea.tell() returns text language sql volatile as $$ select ${traceStatements === "comment" ? "current_query()" : "current_setting('application_name')"} $$`,
    );
    await ownApi.reload();
    for (let i = 0; i < 3; i++) {
      const answer = await ownApi.post("/rpc/tell", { body: {}, headers: { traceparent: PARENT } });
      expect(answer.json()).toMatch(expected);
    }
    const query = 'query Tell { artist(where: {name: {_eq: "*/ nothing"}}) { id } }';
    expect(
      (await ownApi.post("/v1/graphql", { body: { query }, headers: { ...asAdmin(), traceparent: PARENT } })).json(),
    ).toEqual({
      data: { artist: [] },
    });
    // The trace is not sampled, so SQL does not mention it.
    const quiet = await ownApi.post("/rpc/tell", { body: {}, headers: { traceparent: PARENT.replace(/01$/, "00") } });
    expect(quiet.json()).not.toMatch(expected);
  }
});

test("X-TRC-5 the sampling rate applies to requests without a trace, and others follow the decision of their trace", async () => {
  const unsampledApi = await start({ traceRatio: 0 });
  exporter.reset();
  const untracedAnswer = await unsampledApi.get("/ports?select=id");
  expect(untracedAnswer.headers["traceparent"]).toBeUndefined();
  const unsampledAnswer = await unsampledApi.get("/ports?select=id", {
    headers: { traceparent: PARENT.replace(/01$/, "00") },
  });
  expect(unsampledAnswer.headers["traceparent"]).toBeUndefined();
  expect(spans()).toEqual([]);
  const sampledAnswer = await unsampledApi.get("/ports?select=id", { headers: { traceparent: PARENT } });
  expect(sampledAnswer.headers["traceparent"]).toMatch(new RegExp(`^00-${TRACE}-`));
  // A trace that is not sampled elsewhere is not sampled here, with any rate.
  exporter.reset();
  await api.get("/ports?select=id", { headers: { traceparent: PARENT.replace(/01$/, "00") } });
  expect(spans()).toEqual([]);

  const half = await start({ traceRatio: 0.5 });
  const random = vi.spyOn(Math, "random");
  const traceIds = new Set<string>();
  for (const chance of [0.1, 0.5, 0.49, 0.99]) {
    exporter.reset();
    random.mockReturnValue(chance);
    await half.get("/ports?select=id&limit=1");
    const matches = spans().filter(({ name }) => name === "GET rest read ports");
    expect(matches, `${chance}`).toHaveLength(chance < 0.5 ? 1 : 0);
    for (const span of matches) traceIds.add(span.spanContext().traceId);
  }
  expect(traceIds.size).toBe(2);
});

test("X-TRC-5 the sampling rate is a number from 0 to 1", () => {
  for (const traceRatio of [-0.1, 1.1, Number.NaN, "half" as unknown as number])
    expect(() => relApi(fullCompat({ databaseUrl: "postgres://localhost/none", traceRatio }))).toThrow(
      "a number from 0 to 1",
    );
  const read = (text: string) => optionsFromEnvironment(fullCompat({}), { TRACE_RATIO: text });
  expect(read(".05")).toEqual({ traceRatio: 0.05 });
  for (const text of ["2", "-1", "5%", "1e-1", ".", "0,1"]) expect(() => read(text)).toThrow("TRACE_RATIO");
});

test("X-TRC-1 without the setting there are no spans and no header", async () => {
  const otherApi = await startApi();
  exporter.reset();
  const answer = await otherApi.get("/ports?select=id", { headers: { traceparent: PARENT } });
  expect(answer.headers["traceparent"]).toBeUndefined();
  expect(spans()).toEqual([]);
});

describe("X-TRC-1 parts of a request", () => {
  let plusApi: TestApi;
  beforeAll(async () => {
    const source = {
      native_queries: [{ root_field_name: "all_ports", code: "select id from sea.ports", returns: "port" }],
      logical_models: [{ name: "port", fields: [{ name: "id", type: "int" }] }],
    };
    plusApi = await start({ preset: plus, metadata: buildMetadataDocument([table("artist")], {}, source) });
  });

  /** The names of the spans below a span. Checks that all of them are in the trace of that span. */
  const below = (request: ReadableSpan): readonly string[] => {
    for (const span of spans()) expect(span.spanContext().traceId).toBe(request.spanContext().traceId);
    return spans()
      .filter((span) => span.parentSpanContext?.spanId === request.spanContext().spanId)
      .map(({ name }) => name);
  };

  test.each([{}, { traceparent: PARENT }])(
    "X-TRC-1 the requests of a batch are in its span, with %o",
    async (headers) => {
      const answer = await plusApi.post("/api/batch", {
        body: [{ path: "/ports?select=id" }, { path: "/vessels?select=id&limit=1" }],
        headers: { ...headers },
      });
      expect(answer.status, answer.text).toBe(200);
      const batch = spanNamed("POST rest batch");
      expect(below(batch)).toEqual(["GET rest read ports", "GET rest read vessels"]);
      expect(below(spanNamed("GET rest read ports"))).toEqual(["plan", "acquire", "statement"]);
      expect(batch.spanContext().traceId === TRACE).toBe("traceparent" in headers);
    },
  );

  test("X-TRC-1 X-TRC-5 nothing in a batch is traced if the batch is not sampled", async () => {
    const rarely = await start({ preset: plus, traceRatio: 0 });
    expect((await rarely.post("/api/batch", { body: [{ path: "/ports?select=id" }] })).status).toBe(200);
    expect(spans()).toEqual([]);
    await rarely.close();
  });

  test("X-TRC-1 the reads of a tool of the Model Context Protocol are in its span", async () => {
    const answer = await plusApi.post("/mcp", {
      headers: { accept: "application/json, text/event-stream", ...asAdmin("sea_anon") },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "read_rows", arguments: { table: "ports", select: "id" } },
      },
    });
    expect(answer.status, answer.text).toBe(200);
    // The second statement reads whether more rows exist.
    expect(below(spanNamed("POST mcp tools/call read_rows"))).toEqual(["GET rest read ports", "GET rest read ports"]);
  });

  test("X-TRC-1 a native query has a connection span and a statement span", async () => {
    const { data, errors } = await plusApi.gql("query Native { all_ports { id } }");
    expect(errors).toBeUndefined();
    expect(data.all_ports.length).toBeGreaterThan(0);
    expect(below(spanNamed("POST graphql query Native"))).toEqual(["plan", "acquire", "statement"]);
  });
});
