/** `query @live` and multipart, on every transport. */
import { request } from "node:http";
import { afterAll, describe, expect, test } from "vitest";
import { definePlugin, without } from "../../core/index.ts";
import { forGraphql, startApi, type TestApi } from "../support/api.ts";
import { initSocket, openEvents, startLive, subscribe, untilProcessed } from "../support/live.ts";
import { adminSecret } from "../support/tokens.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";

const api = await startLive(forGraphql({ liveQueryInterval: 20, liveDirective: true }));
afterAll(() => api.close());

const set = (id: number, country: string): Promise<unknown> =>
  api.sql("update artist set country = $1 where id = $2", [country, id]);

const QUERY =
  "query Live($id: Int!) @live { artist_by_pk(id: $id) { country } artist_aggregate { aggregate { count } } }";

const headers = { "x-session-admin-secret": adminSecret };

interface Parts {
  readonly status: number;
  readonly contentType: string;
  readonly text: () => string;
  /** The JSON of the parts that have arrived completely. */
  readonly parts: () => any[];
  readonly ended: Promise<void>;
  close(): void;
}

const openParts = (target: TestApi, accept: string, body: unknown): Promise<Parts> =>
  new Promise((resolve, reject) => {
    const clientRequest = request(
      { port: target.port, path: "/v1/graphql", method: "POST", headers: { ...headers, accept } },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("error", () => undefined);
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers["content-type"] ?? "",
          text: () => text,
          parts: () =>
            text
              .split("\r\n--graphql")
              .slice(1, -1)
              .map((part) => JSON.parse(part.slice(part.indexOf("\r\n\r\n")))),
          ended: new Promise((end) => response.on("close", () => end())),
          close: () => clientRequest.destroy(),
        });
      },
    );
    clientRequest.on("error", reject);
    clientRequest.end(typeof body === "string" ? body : JSON.stringify(body));
  });

const APOLLO = "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json";

describe("the directive @live", () => {
  test("G-LIV-1 @live over graphql-transport-ws sends results with several root fields until the client completes", async () => {
    await set(1, "A");
    const socket = await initSocket(api);
    subscribe(socket, "1", QUERY, { id: 1 });
    const { payload } = await socket.next();
    expect(payload.data.artist_by_pk).toEqual({ country: "A" });
    expect(payload.data.artist_aggregate.aggregate.count).toBeGreaterThan(0);
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    await set(1, "B");
    expect((await socket.next()).payload.data.artist_by_pk).toEqual({ country: "B" });
    socket.send({ id: "1", type: "complete" });
    await untilProcessed(socket);
    await set(1, "C");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
  });

  test("G-LIV-1 @live over graphql-ws, the older protocol, sends results", async () => {
    await set(2, "A");
    const socket = await openSocket(api, { path: "/v1/graphql", protocols: ["graphql-ws"] });
    socket.send({ type: "connection_init", payload: { headers } });
    await socket.next(({ type }) => type === "connection_ack");
    socket.send({ id: "1", type: "start", payload: { query: QUERY, variables: { id: 2 } } });
    expect((await socket.next()).payload.data.artist_by_pk).toEqual({ country: "A" });
    await set(2, "B");
    const message = await socket.next();
    expect([message.type, message.payload.data.artist_by_pk]).toEqual(["data", { country: "B" }]);
    await socket.close();
  });

  test("G-LIV-1 @live sends events, and accepts Last-Event-ID", async () => {
    await set(3, "A");
    const options = { method: "POST", headers, body: { query: QUERY, variables: { id: 3 } } };
    const stream = await openEvents(api, "/v1/graphql", options);
    await until(() => stream.events.length === 1, "the first message");
    await set(3, "B");
    await until(() => stream.events.length === 2, "the second message");
    expect(JSON.parse(stream.events[1]!.data).data.artist_by_pk).toEqual({ country: "B" });
    stream.close();
    const lastId = stream.events[1]!.id!;
    const resumedStream = await openEvents(api, "/v1/graphql", {
      ...options,
      headers: { ...headers, "last-event-id": lastId },
    });
    await api.settle();
    expect(resumedStream.events).toEqual([]);
    resumedStream.close();
  });

  test("G-LIV-2 @live(if: false) and plain HTTP send one result", async () => {
    const socket = await initSocket(api);
    const query = "query ($on: Boolean!) @live(if: $on) { artist_by_pk(id: 1) { id } }";
    subscribe(socket, "1", query, { on: false });
    expect((await socket.next()).type).toBe("next");
    expect((await socket.next()).type).toBe("complete");
    subscribe(socket, "2", query, { on: true });
    expect((await socket.next()).type).toBe("next");
    await api.settle();
    expect(socket.takeMessages()).toEqual([]);
    await socket.close();
    expect(await api.gql("query @live { artist_by_pk(id: 1) { id } }")).toEqual({ data: { artist_by_pk: { id: 1 } } });
  });

  test.each([
    ["mutation @live { delete_artist_by_pk(id: 0) { id } }", "directive 'live' is not allowed on a mutation"],
    ["{ artist(limit: 1) @live { id } }", "directive 'live' is not allowed on a field"],
    ["query @live @live { artist { id } }", "the following directives are used more than once: ['live']"],
    ["query @live(every: 5) { artist { id } }", "'live' has no argument named 'every'"],
    ['query @live(if: "yes") { artist { id } }', "expected a boolean for type 'Boolean', but found a string"],
    ["query @live(if: null) { artist { id } }", "expected a boolean for type 'Boolean', but found null"],
    ["query @live(if: $x) { artist { id } }", 'unbound variable "x"'],
    ["query ($x: Int!) @live(if: $x) { artist { id } }", 'expecting a value for non-nullable variable: "x"'],
    ["query @live { nothing }", "field 'nothing' not found in type: 'query_root'"],
    ["subscription @live { artist { id } album { id } }", "subscriptions must select one top level field"],
  ])("G-LIV-2 an invalid use of @live is rejected on every transport: %s", async (query, message) => {
    const socket = await initSocket(api);
    subscribe(socket, "1", query);
    const rejection = await socket.next();
    expect([rejection.type, rejection.payload[0].message]).toEqual(["error", message]);
    await socket.close();
    const parts = await openParts(api, APOLLO, { query });
    await parts.ended;
    expect(parts.parts().at(-1).payload.errors[0].message).toBe(message);
  });

  test("G-LIV-3 @live rejects fields that functions of a plugin resolve", async () => {
    const { GraphQLString } = await import("graphql");
    const clock = definePlugin({
      name: "clock",
      apply: (hooks) =>
        hooks.buildGqlField.tap("clock", (fields, { scope }) =>
          scope === "query_root"
            ? {
                ...fields,
                clock: {
                  config: { type: GraphQLString },
                  toPlan: { kind: "custom", run: () => Promise.resolve("12") },
                },
              }
            : fields,
        ),
    });
    const otherApi = await startApi(forGraphql({ parts: [clock], liveDirective: true }));
    expect(await otherApi.gql("{ clock }")).toEqual({ data: { clock: "12" } });
    const socket = await initSocket(otherApi);
    subscribe(socket, "1", "query @live { clock }");
    const { type, payload } = await socket.next();
    expect([type, payload[0].message]).toEqual(["error", "a field that a function answers cannot be live"]);
    await socket.close();
    await otherApi.close();
  });

  test("G-LIV-2 X-DIR-1 introspection lists @live in its order", async () => {
    const { data } = await api.gql(
      "{ __schema { directives { name locations args { name defaultValue type { kind } } } } }",
    );
    expect(data.__schema.directives.map(({ name }: any) => name)).toEqual(["cached", "include", "live", "skip"]);
    expect(data.__schema.directives[2]).toEqual({
      name: "live",
      locations: ["QUERY", "SUBSCRIPTION"],
      args: [
        { name: "if", defaultValue: "true", type: { kind: "NON_NULL" } },
        { name: "patch", defaultValue: "false", type: { kind: "NON_NULL" } },
      ],
    });
  });

  test("G-LIV-2 @live is unknown without the setting or plugin, and its argument without patches", async () => {
    const patch = "query @live(patch: true) { artist { id } }";
    for (const [options, message] of [
      [{}, "directive 'live' is not defined in the schema"],
      [{ liveDirective: true, parts: [without("live-directive")] }, "directive 'live' is not defined in the schema"],
      [{ liveDirective: true, parts: [without("live-patches")] }, "'live' has no argument named 'patch'"],
    ] as const) {
      const otherApi = await startApi(forGraphql(options));
      expect((await otherApi.gql(patch)).errors[0].message).toBe(message);
      await otherApi.close();
    }
  });
});

describe("multipart responses", () => {
  const subscription = "subscription ($id: Int!) { artist_by_pk(id: $id) { country } }";

  test("G-MP-1 Apollo's multipart protocol sends payloads, empty parts as heartbeats and an end", async () => {
    const otherApi = await startApi(forGraphql({ liveQueryInterval: 20 }));
    await set(4, "A");
    const parts = await openParts(otherApi, APOLLO, { query: subscription, variables: { id: 4 } });
    expect([parts.status, parts.contentType]).toEqual([
      200,
      'multipart/mixed;boundary="graphql";subscriptionSpec="1.0"',
    ]);
    await until(() => parts.parts().length === 2, "the second message");
    await set(4, "B");
    await until(() => parts.parts().length === 3, "the third message");
    expect(parts.parts()).toEqual([
      {},
      { payload: { data: { artist_by_pk: { country: "A" } } } },
      { payload: { data: { artist_by_pk: { country: "B" } } } },
    ]);
    expect(parts.text().startsWith("\r\n--graphql\r\nContent-Type: application/json; charset=utf-8\r\n\r\n")).toBe(
      true,
    );
    const closePromise = otherApi.close();
    await parts.ended;
    await closePromise;
    expect(parts.text().endsWith("\r\n--graphql--\r\n")).toBe(true);
  });

  test("G-MP-2 parts without a payload report whether more follow", async () => {
    await set(4, "A");
    const parts = await openParts(api, "multipart/mixed, application/json", {
      query: subscription,
      variables: { id: 4 },
    });
    expect(parts.contentType).toBe('multipart/mixed;boundary="graphql"');
    await until(() => parts.parts().length === 1, "the first message");
    expect(parts.parts()).toEqual([{ data: { artist_by_pk: { country: "A" } }, hasNext: true }]);
    parts.close();
    const queryParts = await openParts(api, "multipart/mixed", { query: "{ artist_by_pk(id: 4) { country } }" });
    await queryParts.ended;
    expect(queryParts.parts()).toEqual([
      { data: { artist_by_pk: { country: "A" } }, hasNext: true },
      { hasNext: false },
    ]);
  });

  test("G-MP-3 a client that prefers another type, or incremental delivery, gets an ordinary response", async () => {
    for (const accept of [
      "application/json, multipart/mixed",
      "multipart/mixed;deferSpec=20220824, application/json",
    ]) {
      const answer = await openParts(api, accept, { query: "{ __typename }" });
      await answer.ended;
      expect(answer.text()).toBe('{"data":{"__typename":"query_root"}}');
    }
  });

  test.each([
    ["no JSON", "{", "invalid-json"],
    ["a list", "[]", "parse-failed"],
    ["no query", "{}", "parse-failed"],
    ["no such field", { query: "subscription { nothing }" }, "validation-failed"],
    ["a missing variable", { query: subscription }, "validation-failed"],
    ["two fields", { query: "subscription { artist { id } album { id } }" }, "validation-failed"],
  ])("G-MP-4 an error is the only part of a multipart response: %s", async (_title, body, code) => {
    const parts = await openParts(api, APOLLO, body);
    await parts.ended;
    expect(parts.parts().slice(1)).toMatchObject([{ payload: { errors: [{ extensions: { code } }] } }]);
  });

  test("G-MP-4 rejected credentials are answered without multipart", async () => {
    const answer = await fetch(`${api.url}/v1/graphql`, {
      method: "POST",
      headers: { accept: APOLLO, "x-session-admin-secret": "wrong" },
      body: "{}",
    });
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(((await answer.json()) as any).errors[0].extensions.code).toBe("access-denied");
  });

  test("G-HTTP-9 without the plugin a subscription over HTTP is rejected", async () => {
    const otherApi = await startApi(forGraphql({ parts: [without("multipart")] }));
    const answer = await openParts(otherApi, APOLLO, { query: "subscription { __typename }" });
    await answer.ended;
    expect(JSON.parse(answer.text()).errors[0].extensions.code).toBe("unexpected-payload");
    await otherApi.close();
  });
});
