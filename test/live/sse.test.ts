import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { startApi } from "../support/api.ts";
import { adminSecret } from "../support/tokens.ts";
import { openEvents as open, startLive } from "../support/live.ts";
import { until } from "../support/until.ts";

const api = await startLive({ dbSchemas: ["sea", "land", "public"], liveQueryInterval: 20 });

const subscription = (query: string, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "x-session-admin-secret": adminSecret, ...headers },
  body: { query },
});

test("R-PATH-11 additional slashes are accepted in event streams of both surfaces", async () => {
  const lenientApi = await startApi({ compatMode: false, anonRole: "sea_anon" });
  const rows = await open(lenientApi, "//api//ports/?select=id&id=eq.1");
  await until(() => rows.events.length === 1, "the first event");
  expect(rows.events[0]!.data).toBe('[{"id":1}]');
  rows.close();
  const fields = await open(lenientApi, "//v1/graphql/", subscription("{ __typename }"));
  await until(() => fields.events.length > 0, "the first event");
  expect(fields.events[0]).toMatchObject({ event: "next", data: '{"data":{"__typename":"query_root"}}' });
  fields.close();
  await lenientApi.close();
});

describe("REST", () => {
  test("R-MED-1 G-SUB-3 a stream sends an event for each changed result, with its hash as id", async () => {
    const stream = await open(api, "/vessels?select=name,tonnage&id=eq.1", {
      headers: { origin: "https://shop.example" },
    });
    expect(stream.response.statusCode).toBe(200);
    expect(stream.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(stream.response.headers["access-control-allow-origin"]).toBe("*");
    await until(() => stream.events.length === 1, "the first event");
    const [row] = await api.sql("select name, tonnage from sea.vessels where id = 1");
    expect(JSON.parse(stream.events[0]!.data)).toMatchObject([{ name: row!.name }]);
    await api.sql("update sea.vessels set name = 'Live' where id = 1");
    await until(() => stream.events.length === 2, "the second event");
    expect(JSON.parse(stream.events[1]!.data)).toMatchObject([{ name: "Live" }]);
    expect(stream.events[1]!.id).not.toBe(stream.events[0]!.id);
    await api.sql("update sea.vessels set name = name");
    await api.settle();
    expect(stream.events.length).toBe(2);
    stream.close();
    await api.sql("update sea.vessels set name = $1 where id = 1", [row!.name]);
  });

  test("R-MED-1 Last-Event-ID suppresses an unchanged result", async () => {
    const path = "/vessels?select=name&id=eq.2&limit=1";
    const first = await open(api, path);
    await until(() => first.events.length === 1, "the first event");
    first.close();
    const resumedStream = await open(api, path, { headers: { "last-event-id": first.events[0]!.id! } });
    await api.settle();
    expect(resumedStream.events).toEqual([]);
    await api.sql("update sea.vessels set name = name || '!' where id = 2");
    await until(() => resumedStream.events.length === 1, "the first event");
    resumedStream.close();
    const thirdStream = await open(api, path, { headers: { "last-event-id": first.events[0]!.id! } });
    await until(() => thirdStream.events.length === 1, "the first event");
    thirdStream.close();
    await api.sql("update sea.vessels set name = replace(name, '!', '') where id = 2");
  });

  test("R-FLT-3 filters of every type run for many clients in one statement", async () => {
    const paths = [
      "/vessels?select=id&name=eq.Fram",
      "/vessels?select=id&tonnage=gte.100&order=id",
      "/vessels?select=id&id=in.(1,3)&order=id",
      "/vessels?select=id&id=in.(2)&order=id",
      "/vessels?select=id&name=like.*r*&offset=1&order=id",
      "/vessels?select=id,voyages(id)&voyages.limit=1&order=id",
    ];
    const streams = await Promise.all(paths.map((path) => open(api, path)));
    await until(() => streams.every((stream) => stream.events.length === 1), "the first event of each");
    for (const [i, path] of paths.entries()) {
      expect(streams[i]!.events[0]!.event).toBeUndefined();
      expect(JSON.parse(streams[i]!.events[0]!.data)).toEqual((await api.get(path)).json());
      streams[i]!.close();
    }
  });

  test("R-PIPE-1 an invalid request is answered as without a stream", async () => {
    expect((await open(api, "/nothing")).response.statusCode).toBe(404);
    expect((await open(api, "/vessels?id=nope.1")).response.statusCode).toBe(400);
    expect((await open(api, "/vessels", { headers: { authorization: "Bearer x" } })).response.statusCode).toBe(401);
  });

  test("R-ERR-1 an error of a run is an event named failure", async () => {
    const stream = await open(api, "/vessels?select=id&id=eq.abc");
    await until(() => stream.events.length === 1, "the first event");
    expect(stream.events[0]!.event).toBe("failure");
    expect(JSON.parse(stream.events[0]!.data)).toMatchObject({ code: "22P02" });
    stream.close();
  });

  test("R-MED-1 without the plugin the media type is unknown", async () => {
    const otherApi = await startApi({ parts: [without("sse")] });
    expect((await open(otherApi, "/vessels")).response.statusCode).toBe(406);
    await otherApi.close();
  });
});

describe("GraphQL", () => {
  test("G-SUB-3 a subscription by POST sends an event next for each result", async () => {
    const plainApi = await startApi({ dbSchemas: ["public"], liveQueryInterval: 20 });
    const live = await open(plainApi, "/v1/graphql", subscription("subscription { artist_by_pk(id: 1) { country } }"));
    await until(() => live.events.length === 1, "the first event");
    expect(live.events[0]!.event).toBe("next");
    await plainApi.sql("update artist set country = 'SSE' where id = 1");
    await until(() => live.events.length === 2, "the second event");
    expect(JSON.parse(live.events[1]!.data)).toEqual({ data: { artist_by_pk: { country: "SSE" } } });
    const closePromise = plainApi.close();
    await live.closed;
    expect(live.events.at(-1)).toMatchObject({ event: "complete" });
    await closePromise;
  });

  test("G-HTTP-9 a subscription without an event stream is rejected", async () => {
    const answer = await api.gql("subscription { __typename }");
    expect(answer.errors[0].extensions.code).toBe("unexpected-payload");
  });

  test("G-HTTP-7 a body that is not UTF-8 is rejected in an event", async () => {
    const answer = await api.post("/v1/graphql", {
      headers: { ...subscription("").headers, accept: "text/event-stream", "content-type": "application/json" },
      body: Buffer.from('{"query":"subscription { vessels(where: {name: {_eq: \\"\xe9\\"}}) { id } }"}', "latin1"),
    });
    expect(answer.text).toContain('"message":"Error in $: the body is not UTF-8"');
  });

  test("G-SUB-9 an error or a query sends one event next and then complete", async () => {
    const bad = await open(api, "/v1/graphql", subscription("subscription { nothing }"));
    await bad.closed;
    expect(bad.events.map(({ event }) => event)).toEqual(["next", "complete"]);
    expect(JSON.parse(bad.events[0]!.data)).toMatchObject({ errors: [{ extensions: { code: "validation-failed" } }] });
    const query = await open(api, "/v1/graphql", subscription("{ __typename }"));
    await query.closed;
    expect(query.events).toMatchObject([
      { event: "next", data: '{"data":{"__typename":"query_root"}}' },
      { event: "complete" },
    ]);
  });

  test("G-AUTH-13 invalid credentials are answered by the rules of the surface", async () => {
    const answer = await api.post("/v1/graphql", {
      headers: { accept: "text/event-stream", authorization: "Nonsense" },
      body: { query: "subscription { __typename }" },
    });
    expect(answer.json().errors).toEqual([
      { message: "Malformed Authorization header", extensions: { path: "$", code: "invalid-headers" } },
    ]);
  });

  test("G-AUTH-4 a wrong admin secret is answered without a stream", async () => {
    const answer = await open(
      api,
      "/v1/graphql",
      subscription("subscription { __typename }", { "x-session-admin-secret": "wrong" }),
    );
    expect(answer.response.headers["content-type"]).toBe("application/json; charset=utf-8");
    answer.close();
  });
});
