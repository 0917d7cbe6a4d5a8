/**
 * Limits by role and rate: excess requests are rejected in each surface's format, and other callers are not affected.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { compose, without, type Preset, type RelApiOptions } from "../../core/index.ts";
import { restCompat } from "../../presets/index.ts";
import { capabilities } from "../support/database.ts";
import { asAdmin, forGraphql, startApi, type HeaderValues, type StartOptions, type TestApi } from "../support/api.ts";
import { buildGqlErrorBody } from "../support/cases.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";
import { collectMessages } from "../support/logger.ts";

const NAMES = "{ artist(limit: 1, order_by: {id: asc}) { name } }";
const NAME = { data: { artist: [{ name: "Abba" }] } };

const reader = (...columns: readonly string[]) => ({
  select_permissions: [{ role: "music_reader", permission: { columns, filter: {} } }],
});

const SOURCE = {
  name: "default",
  kind: "postgres",
  configuration: {},
  tables: [
    {
      table: "artist",
      array_relationships: [
        { name: "albums", using: { foreign_key_constraint_on: { table: "album", column: "artist_id" } } },
      ],
      ...reader("id", "name"),
    },
    {
      table: "album",
      object_relationships: [{ name: "artist", using: { foreign_key_constraint_on: "artist_id" } }],
      ...reader("id", "title"),
    },
  ],
};

const metadata = (apiLimits: unknown) => ({ version: 3, sources: [SOURCE], api_limits: apiLimits });

const start = (options: StartOptions = {}): Promise<TestApi> => startApi(forGraphql(options));

const ask = (api: TestApi, query = NAMES, headers = {}) => api.post("/v1/graphql", { headers, body: { query } });

describe("safe writes", async () => {
  const api = await start({ safeWrites: true });

  test.each([
    ["PATCH", "/artist", "UPDATE"],
    ["DELETE", "/artist", "DELETE"],
    ["DELETE", "/artist?select=id", "DELETE"],
    ["DELETE", "/artist?not.or=()", "DELETE"],
  ])("R-LIM-5 %s %s without a filter is rejected", async (method, path, verb) => {
    const body = method === "PATCH" ? { country: "XX" } : undefined;
    const answer = await api.request(method, path, { headers: bearer({ role: "music_editor" }), body });
    expect([answer.status, answer.json()]).toEqual(
      path.includes("or=")
        ? [400, expect.objectContaining({ code: expect.stringMatching(/^(21000|PGRST100)$/) })]
        : [
            400,
            {
              code: "21000",
              details: null,
              hint: "Add a filter. The setting safeWrites requires one.",
              message: `${verb} requires a WHERE clause`,
            },
          ],
    );
  });

  test.each([
    ["mutation { delete_album(where: {}) { affected_rows } }", "DELETE"],
    ["mutation { delete_album(where: {_and: [{}, {_not: {_or: []}}]}) { affected_rows } }", "DELETE"],
    ['mutation { update_album(where: {}, _set: {title: "x"}) { affected_rows } }', "UPDATE"],
    ["mutation { update_album_many(updates: [{where: {id: {_eq: 1}}, _set: {title: \"x\"}}, {where: {}, _set: {title: \"x\"}}]) { affected_rows } }", "UPDATE"], // prettier-ignore
  ])("G-LIM-7 %s without a condition is rejected, also for administrators", async (query, verb) => {
    expect(await api.gql(query)).toEqual({
      errors: [
        {
          message: `${verb} requires a WHERE clause`,
          extensions: { path: "$", code: "unfiltered-write" },
        },
      ],
    });
  });

  test("R-LIM-5 G-LIM-7 a write with a filter is accepted, also if it matches no row", async () => {
    const headers = { ...asAdmin(), prefer: "tx=rollback, return=representation" };
    expect((await api.delete("/artist?id=eq.-1", { headers })).json()).toEqual([]);
    expect((await api.delete("/artist?or=(id.eq.-1,id.eq.-2)", { headers })).json()).toEqual([]);
    const deletion = "mutation { delete_album(where: {id: {_eq: -1}}) { affected_rows } }";
    expect(await api.gql(deletion)).toEqual({ data: { delete_album: { affected_rows: 0 } } });
    const nobody = "mutation { delete_album(where: {_or: []}) { affected_rows } }";
    expect(await api.gql(nobody)).toEqual({ data: { delete_album: { affected_rows: 0 } } });
    const byKey = "mutation { delete_album_by_pk(id: -1) { id } }";
    expect(await api.gql(byKey)).toEqual({ data: { delete_album_by_pk: null } });
  });

  test("R-LIM-5 writes without filters are accepted by default and without the plugin", async () => {
    for (const parts of [[], [without("safe-writes")]]) {
      const usual = await start({ parts, safeWrites: parts.length > 0 });
      const answer = await usual.delete("/artist_tag", { headers: { ...asAdmin(), prefer: "tx=rollback" } });
      expect([204, 404]).toContain(answer.status);
      const document = "mutation { delete_album(where: {}) { affected_rows } }";
      const { data } = await usual.gql(document, {}, { prefer: "tx=rollback" });
      expect(data.delete_album.affected_rows).toBeGreaterThan(1);
    }
  });

  test("G-GEN-4 non-null types of related rows are unchanged by the plugin", async () => {
    const usual = await start({});
    const types = "{ __schema { types { name fields { name type { kind name ofType { kind name } } } } } }";
    expect(await api.gql(types)).toEqual(await usual.gql(types));
  });
});

describe("limits by role", async () => {
  const api = await start({
    metadata: metadata({
      depth_limit: { global: 2, per_role: { music_reader: 1, admin: 1 } },
      node_limit: { global: 3 },
      batch_limit: { global: 2 },
    }) as RelApiOptions["metadata"] & object,
  });

  const deep = "{ album(limit: 1) { title artist { name albums(limit: 1) { title } } } }";

  test("G-LIM-8 depth, nodes and batches are limited by role, with fragments, and not for introspection and administrators", async () => {
    expect(await api.gql(deep, {}, asAdmin("music_reader"))).toEqual(
      buildGqlErrorBody("the operation has a depth of 3, more than 1", "depth-limit-exceeded"),
    );
    const documentWithFragments =
      "query { ...a } fragment a on query_root { album(limit: 1) { ...b } } fragment b on album { artist { name } }";
    expect(await api.gql(documentWithFragments, {}, asAdmin("music_reader"))).toEqual(
      buildGqlErrorBody("the operation has a depth of 2, more than 1", "depth-limit-exceeded"),
    );
    expect((await api.gql(deep)).data.album).toHaveLength(1);
    const introspection = "{ __schema { types { fields { type { ofType { name } } } } } }";
    expect((await api.gql(introspection, {}, asAdmin("music_reader"))).errors).toBeUndefined();
    const wide =
      "{ a: album(limit: 1) { id } b: album(limit: 1) { id } c: album(limit: 1) { id } d: album(limit: 1) { id } }";
    expect(await api.gql(wide, {}, asAdmin("music_reader"))).toEqual(
      buildGqlErrorBody("the operation has 4 nodes, more than 3", "node-limit-exceeded"),
    );
    const batch = await api.post("/v1/graphql", {
      headers: asAdmin("music_reader"),
      body: [{ query: NAMES }, { query: NAMES }, { query: NAMES }],
    });
    const batchError = buildGqlErrorBody("the batch has 3 operations, more than 2", "batch-limit-exceeded");
    expect([batch.status, batch.json()]).toEqual([200, [batchError, batchError, batchError]]);
  });

  test("G-LIM-8 the limits apply over a socket to queries and subscriptions", async () => {
    const socket = await openSocket(api);
    socket.send({ type: "connection_init", payload: { headers: asAdmin("music_reader") } });
    expect(await socket.next()).toEqual({ type: "connection_ack" });
    for (const query of [deep, `subscription ${deep}`]) {
      socket.send({ id: "1", type: "subscribe", payload: { query } });
      expect(await socket.next()).toMatchObject({
        type: "error",
        payload: [{ extensions: { code: "depth-limit-exceeded" } }],
      });
    }
    socket.close();
  });

  test("G-LIM-8 the setting takes precedence over the metadata, and disabled switches the limits off", async () => {
    const ownApi = await start({
      apiLimits: { depth_limit: { global: 3 } },
      metadata: metadata({ depth_limit: { global: 1 }, node_limit: { global: 1 } }) as never,
    });
    expect(await ownApi.gql(deep, {}, asAdmin("music_reader"))).toEqual(
      buildGqlErrorBody("the operation has 3 nodes, more than 1", "node-limit-exceeded"),
    );
    const unlimitedApi = await start({
      metadata: metadata({ disabled: true, depth_limit: { global: 1 } }) as never,
    });
    expect((await unlimitedApi.gql(deep, {}, asAdmin("music_reader"))).data.album).toHaveLength(1);
  });

  test("G-LIM-8 an invalid limit is ignored with a line in the log, and every limit without the plugin", async () => {
    const { logger, lines } = collectMessages("warn");
    const odd = {
      depth_limit: { global: "7", per_role: { a: 0 } },
      deep: 1,
      rate_limit: { global: {} },
      node_limit: 5,
    };
    const ownApi = await start({ logger, metadata: metadata(odd) as never });
    expect((await ownApi.gql(deep, {}, asAdmin("music_reader"))).data.album).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("api_limits"))).toEqual([
      "api_limits: depth_limit.global: not a limit; ignored",
      "api_limits: depth_limit.per_role.a: not a limit; ignored",
      "api_limits: deep: unknown limit; ignored",
      "api_limits: rate_limit.global: not a limit; ignored",
    ]);
    const free = await start({
      parts: [without("api-limits")],
      metadata: metadata({ depth_limit: { global: 1 } }) as never,
    });
    expect((await free.gql(deep, {}, asAdmin("music_reader"))).data.album).toHaveLength(1);
  });

  test.skipIf(!capabilities.realServer)("G-LIM-8 an operation that exceeds the time limit is rejected", async () => {
    await api.sql(
      "create function slow_name(a artist) returns text language sql stable as 'select pg_sleep(600)::text'; grant execute on function slow_name to public",
    );
    const [artist] = SOURCE.tables;
    const slowTable = {
      ...artist,
      computed_fields: [{ name: "slow", definition: { function: "slow_name" } }],
      select_permissions: [
        { role: "music_reader", permission: { columns: ["id"], computed_fields: ["slow"], filter: {} } },
      ],
    };
    const ownApi = await start({
      metadata: {
        ...metadata({ time_limit: { global: 0.2 } }),
        sources: [{ ...SOURCE, tables: [slowTable, SOURCE.tables[1]] }],
      } as never,
    });
    expect(await ownApi.gql("{ artist(limit: 1) { slow } }", {}, asAdmin("music_reader"))).toEqual(
      buildGqlErrorBody("the operation took longer than 0.2 seconds", "time-limit-exceeded"),
    );
  });
});

describe("rates", async () => {
  const api = await start({ rateLimits: { sea_anon: 60, music_reader: 6 }, rateLimitBurst: 3 });
  const everybody = await start({
    rateLimits: { "*": 2 },
    rateLimitBy: ["address", "x-session-user-id", "sub"],
  });
  // The buckets refill by this clock, in whole milliseconds, so that sums are exact.
  let nowMs = Math.ceil(performance.now());
  const clock = vi.spyOn(performance, "now");
  beforeAll(() => void clock.mockImplementation(() => nowMs));
  afterAll(() => clock.mockRestore());

  test("R-LIM-6 G-LIM-9 R-LIM-6c requests beyond the burst are 429 on both surfaces, with RateLimit and the time to wait", async () => {
    const rest = [];
    for (let i = 0; i < 4; i++) rest.push(await api.get("/artist?select=name&id=eq.1"));
    expect(rest.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(rest[3]?.json()).toEqual({
      code: "PGRSTX04",
      details: null,
      hint: null,
      message: "more than 60 requests per minute",
    });
    expect(Number(rest[3]?.headers["retry-after"])).toBe(1);
    expect(rest.map(({ headers }) => headers["ratelimit"])).toEqual(
      [2, 1, 0, 0].map((remaining) => `"requests";r=${remaining};t=${3 - remaining}`),
    );
    expect(rest.map(({ headers }) => headers["ratelimit-policy"])).toEqual(Array(4).fill('"requests";q=3;w=3'));
    const graphql = await ask(api);
    expect([graphql.status, graphql.json()]).toEqual([
      429,
      {
        errors: [
          { message: "more than 60 requests per minute", extensions: { path: "$", code: "rate-limit-exceeded" } },
        ],
      },
    ]);
    expect(Number(graphql.headers["retry-after"])).toBe(1);
    nowMs += 999;
    expect((await ask(api)).status).toBe(429);
    nowMs += 1;
    expect((await ask(api)).json()).toEqual(NAME);
  });

  test("G-LIM-9 requests of a batch and operations of a socket are counted separately, and other roles are unaffected", async () => {
    const batch = await api.post("/v1/graphql", {
      headers: asAdmin("music_reader"),
      body: Array.from({ length: 5 }, () => ({ query: NAMES })),
    });
    const rateError = expect.objectContaining({
      errors: [expect.objectContaining({ message: "more than 6 requests per minute" })],
    });
    expect([batch.status, batch.json()]).toEqual([200, [NAME, NAME, NAME, rateError, rateError]]);
    const socket = await openSocket(api);
    socket.send({ type: "connection_init", payload: { headers: asAdmin("music_reader") } });
    await socket.next();
    socket.send({ id: "1", type: "subscribe", payload: { query: NAMES } });
    expect(await socket.next()).toMatchObject({
      type: "error",
      payload: [{ extensions: { code: "rate-limit-exceeded" } }],
    });
    socket.close();
    for (let i = 0; i < 5; i++) expect((await api.gql(NAMES)).data).toEqual(NAME.data);
    for (let i = 0; i < 5; i++) expect((await api.gql(NAMES, {}, asAdmin("music_editor"))).errors).toBeUndefined();
  });

  test("R-LIM-6 R-LIM-6a callers are distinguished by the session variable of the setting", async () => {
    const statuses = async (headers: HeaderValues): Promise<readonly number[]> => {
      const answerStatuses = [];
      for (let i = 0; i < 3; i++)
        answerStatuses.push((await everybody.get("/artist?select=name&id=eq.1", { headers })).status);
      return answerStatuses;
    };
    const [a, b] = [randomUUID(), randomUUID()];
    expect(await statuses(bearer({ role: "music_reader", sub: a }))).toEqual([200, 200, 429]);
    expect(await statuses(bearer({ role: "music_reader", sub: b }))).toEqual([200, 200, 429]);
    expect(await statuses(asAdmin("music_reader", { "user-id": a }))).toEqual([200, 200, 429]);
    expect(await statuses({ ...bearer({ role: "music_reader", sub: a }), "x-forwarded-for": "10.0.0.1" })).toEqual([
      429, 429, 429,
    ]);
    expect(await statuses({})).toEqual([200, 200, 429]);
  });

  test("R-LIM-6 the address of a caller is the one that trusted proxies report", async () => {
    const proxiedApi = await start({
      rateLimits: { "*": 1 },
      rateLimitBy: ["address"],
      trustedProxies: 1,
    });
    const status = async (address: string): Promise<number> =>
      (await proxiedApi.get("/artist?select=name&id=eq.1", { headers: { "x-forwarded-for": address } })).status;
    expect(await status("10.0.0.1")).toBe(200);
    expect(await status("6.6.6.6, 10.0.0.1")).toBe(429); // entries that the client adds itself change nothing
    expect(await status("10.0.0.1, 10.0.0.2")).toBe(200);
  });

  test("R-LIM-6 R-LIM-6b calls of the application are not counted", async () => {
    const ownApi = await start({ rateLimits: { "*": 1 } });
    for (let i = 0; i < 3; i++)
      expect(await ownApi.relApi.graphql({ query: NAMES, session: { role: "music_reader" } })).toEqual(NAME);
    expect(
      (await ownApi.relApi.rest({ path: "/artist?select=name&id=eq.1", session: { role: "music_reader" } })).status,
    ).toBe(200);
  });

  test("G-LIM-9 the rate limit of the metadata applies by role and by session variable", async () => {
    const ownApi = await start({
      metadata: metadata({
        rate_limit: {
          global: { max_reqs_per_min: 2, unique_params: "IP" },
          per_role: { music_reader: { max_reqs_per_min: 1, unique_params: ["x-hasura-user-id"] } },
        },
      }) as never,
    });
    const status = async (role: string, user: string): Promise<number> =>
      (await ask(ownApi, NAMES, asAdmin(role, { "user-id": user }))).status;
    expect([await status("music_reader", "1"), await status("music_reader", "1")]).toEqual([200, 429]);
    expect(await status("music_reader", "2")).toBe(200);
    expect([
      await status("music_editor", "1"),
      await status("music_editor", "2"),
      await status("music_editor", "3"),
    ]).toEqual([200, 200, 429]);
  });

  test("R-LIM-6 rate limits work without the GraphQL surface, and without the plugin no caller is limited", async () => {
    const restOnlyApi = await start({
      rateLimits: { "*": 1 },
      preset: (options): Preset => compose(restCompat(options)),
    });
    expect((await restOnlyApi.get("/artist?select=name&id=eq.1")).status).toBe(200);
    expect((await restOnlyApi.get("/artist?select=name&id=eq.1")).status).toBe(429);
    const free = await start({ rateLimits: { "*": 1 }, parts: [without("rate-limits")] });
    for (let i = 0; i < 3; i++) expect((await free.get("/artist?select=name&id=eq.1")).status).toBe(200);
  });
});
