/** The code of the guides: their first block is the code that runs here. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { definePlugin, RelApiError, type Plan, type Plugin, type Session } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { adminSecret, bearer } from "../support/tokens.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { epochFields } from "./guides/epoch-fields.ts";
import { firstEmbeds } from "./guides/first-embeds.ts";
import {
  apiKeySessions,
  confirmed,
  echoSockets,
  everyMinute,
  storedDocuments,
  likeUuid,
  newest,
  rowEstimates,
  rowLimit,
  springTides,
  tides,
  tideTable,
} from "./guides/hooks.ts";
import { liveLines } from "./guides/live-lines.ts";
import { ndjsonMedia } from "./guides/ndjson-media.ts";
import { prefixOperator } from "./guides/prefix-operator.ts";
import { searchMethod } from "./guides/search-method.ts";
import { tenants } from "./guides/tenants.ts";
import { leaveOut } from "./left-out.ts";
import type { RestHandler } from "../../plugins/rest/api.ts";
import { liveRunEndedSignal } from "../../plugins/live/api.ts";

afterEach(() => vi.useRealTimers());

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), "utf8");

test.each([
  ["write-an-operator", "prefix-operator"],
  ["write-an-embedding-mode", "first-embeds"],
  ["write-a-media-type", "ndjson-media"],
  ["write-a-graphql-field", "epoch-fields"],
  ["write-a-loaded-field", "../../plugins/loaded-field"],
  ["write-an-aggregate", "../../plugins/median"],
  ["write-an-ordering", "../../plugins/distance"],
  ["write-a-root-field", "../../plugins/root-fields"],
  ["write-a-rest-method", "search-method"],
  ["tenants", "tenants"],
  ["live-queries", "live-lines"],
  ["write-a-request-step", "../../plugins/slow-requests"],
  ["write-a-setting", "../../plugins/maintenance"],
  ["use-your-own-users", "../../plugins/app-users"],
  ["write-sql", "../../plugins/request-log"],
  ["look-up-callers", "../../plugins/stored-keys"],
  ["write-a-rest-route", "../../plugins/search-route"],
  ["write-a-change-source", "../../plugins/reported-changes"],
])("C-API-6 the guide %s shows the code that is tested", (guide, file) => {
  const [, block] = /```ts\n([\s\S]*?)```/.exec(read(`../../docs/guides/${guide}.md`)) ?? [];
  expect(block).toBe(
    read(`./guides/${file}.ts`)
      .replaceAll(/(?:\.\.\/)+core\/index\.ts/g, "relapi")
      .replaceAll(/(?:\.\.\/)+(plugins\/.*)\.ts"/g, 'relapi/$1"'),
  );
});

test.each([["write-a-preference", "key-order"]])(
  "C-API-6 the guide %s shows the plugin %s of test/plugins",
  (guide, file) => {
    const [, block] = /```ts\n([\s\S]*?)```/.exec(read(`../../docs/guides/${guide}.md`)) ?? [];
    expect(block).toBe(
      read(`../plugins/${file}.ts`)
        .replaceAll("../../core/index.ts", "relapi")
        .replaceAll(/\.\.\/\.\.\/(plugins\/.*)\.ts"/g, 'relapi/$1"'),
    );
  },
);

test.each(["reference/hooks", "guides/share-between-plugins"])(
  "C-API-6 the examples of %s are the code that is tested",
  (page) => {
    const blocks = Array.from(
      read(`../../docs/${page}.md`).matchAll(/```ts\n([\s\S]*?)```/g),
      ([, block]) => block ?? "",
    );
    expect(blocks).not.toEqual([]);
    const withoutIndent = (text: string): string => text.replace(/^ +/gm, "");
    for (const block of blocks) expect(withoutIndent(read("./guides/hooks.ts"))).toContain(withoutIndent(block));
  },
);

describe("hooks", async () => {
  let lookUps = 0;
  const sessionOfKey = (key: string): Session => {
    lookUps++;
    return { role: key, isAdmin: false, databaseRole: key, claims: {}, variables: { "x-session-role": key } };
  };
  let liveRunCount = 0;
  let dueCount = () => 0;
  const countingLiveRuns = definePlugin({
    name: "counting-live-runs",
    apply: (_, context) => {
      dueCount = () => context.counters.get("live-queries-due");
      context.use(liveRunEndedSignal).listen(() => void liveRunCount++);
    },
  });
  const api = await startApi({
    ...forGraphql(),
    parts: [
      ...leaveOut("notify-changes", "replication-changes"),
      countingLiveRuns,
      rowEstimates,
      newest,
      rowLimit,
      likeUuid,
      everyMinute,
      echoSockets,
      storedDocuments(new Map([["one", "{ artist_by_pk(id: 1) { name } }"]])),
      apiKeySessions(sessionOfKey),
    ],
  });
  await api.sql(
    "create table many (id int primary key); insert into many select * from generate_series(1, 150); grant select on many to sea_anon; analyze many; grant select (id, c_uuid) on specimen to sea_anon",
  );
  await api.reload();

  test("R-SC-1 a tap of introspect adds a part to the model", () => {
    const relation = api.relApi.model().relations.get("public\0many");
    const estimates = api.relApi.model().pluginFacts["row-estimates"] as ReadonlyMap<number, number>;
    expect(estimates.get(relation?.oid ?? 0)).toBe(150);
  });

  test("R-CAC-1 a tap of authorize looks up the session of each key once", async () => {
    const before = lookUps;
    const readers = await Promise.all(
      [1, 2].map(() => api.get("/artist?select=name&limit=1", { headers: { "x-api-key": "music_reader" } })),
    );
    await api.get("/artist", { headers: { "x-api-key": "music_nobody" } });
    expect(readers.map(({ status }) => status)).toEqual([200, 200]);
    expect(lookUps - before).toBe(2);
  });

  test("R-RNG-5 a tap of transformPlan limits only the anonymous role", async () => {
    expect((await api.get("/many")).json()).toHaveLength(100);
    expect((await api.gql("{ many { id } }", {}, { "x-session-admin-secret": null })).data.many).toHaveLength(100);
    expect((await api.gql("{ many { id } }")).data.many).toHaveLength(150);
  });

  test("X-PAR-1 a tap of readParameters reads a parameter, and unknown names get the dialect's error", async () => {
    expect((await api.get("/many?newest=id&select=id&limit=1")).json()).toEqual([{ id: 150 }]);
    expect((await api.get("/many?newest=unheard")).json()).toMatchObject({ code: "42703" });
  });

  test("R-FLT-12 a tap of compileFilter makes an operator work for one more type", async () => {
    expect((await api.get("/specimen?select=id&c_uuid=like.3f25*")).json()).toEqual([{ id: 1 }]);
  });

  const ask = async (body: object, role: string) =>
    (
      await api.post("/v1/graphql", {
        headers: { "x-session-admin-secret": adminSecret, "x-session-role": role },
        body,
      })
    ).json();

  test("X-DOC-1 a tap of findGqlDocument finds a document by its name", async () => {
    expect(await ask({ stored: "one" }, "admin")).toEqual({ data: { artist_by_pk: { name: "Abba" } } });
    expect((await ask({ stored: "two" }, "admin")).errors[0].message).toBe("the key 'query' was not present");
  });

  test("X-DOC-2 a tap of checkGqlDocument rejects a document for a role", async () => {
    const query = "{ artist_by_pk(id: 2) { name } }";
    expect((await ask({ query }, "music_guest")).errors[0].message).toBe("not for guests");
    expect((await ask({ stored: "one" }, "music_guest")).errors?.[0].message).not.toBe("not for guests");
    expect(await ask({ query }, "admin")).toHaveProperty("data");
  });

  test("X-DIR-1 a tap of gqlDirectives adds a directive that is allowed, listed and read", async () => {
    const confirmedApi = await startApi(forGraphql({ parts: [confirmed], dbTxEnd: "rollback" }));
    const message = async (query: string) => (await confirmedApi.gql(query)).errors?.[0].message;
    const fields = "{ delete_artist_by_pk(id: 0) { id } }";
    expect(await message(`mutation ${fields}`)).toBe("mutations need @confirmed");
    expect(await message(`mutation @confirmed ${fields}`)).toBeUndefined();
    expect(await message(`mutation ($twice: Boolean!) @confirmed(twice: $twice) ${fields}`)).toBe(
      'expecting a value for non-nullable variable: "twice"',
    );
    expect(await message(`mutation @confirmed(thrice: true) ${fields}`)).toBe(
      "'confirmed' has no argument named 'thrice'",
    );
    expect(await message("query @confirmed { artist { id } }")).toBe("directive 'confirmed' is not allowed on a query");
    const { data } = await confirmedApi.gql("{ __schema { directives { name description locations } } }");
    expect(data.__schema.directives[1]).toEqual({
      name: "confirmed",
      description: "the mutation is meant",
      locations: ["MUTATION"],
    });
    await confirmedApi.close();
  });

  test("G-SUB-4 a tap of watchChanges is asked before the other change sources", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const socket = await openSocket(api);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { artist_by_pk(id: 4) { country } }" } });
    expect(await socket.next((message) => message.type === "next")).toMatchObject({
      payload: { data: { artist_by_pk: { country: null } } },
    });
    await until(() => dueCount() === 0, "what changed before anybody watched has been looked at");
    const before = liveRunCount;
    await api.sql("update artist set country = 'FR' where id = 4");
    await vi.advanceTimersByTimeAsync(59_999);
    expect(liveRunCount).toBe(before);
    await vi.advanceTimersByTimeAsync(1);
    expect(await socket.next((message) => message.type === "next")).toMatchObject({
      payload: { data: { artist_by_pk: { country: "FR" } } },
    });
    expect(liveRunCount).toBe(before + 1);
    await api.sql("update artist set country = null where id = 4");
    await socket.close();
  });

  test("X-UPG-1 a tap of takeUpgrade takes a socket, and its error is sent if no plugin takes the upgrade", async () => {
    const socket = await openSocket(api, { path: "/echo", protocols: [] });
    socket.send({ id: "1", type: "hello" });
    expect(await socket.next()).toEqual({ id: "1", type: "hello" });
    await socket.close();
    await expect(openSocket(api, { path: "/nothing" })).rejects.toThrow("rejected with 404: only /echo");
  });
});

describe("services and hooks of plugins", () => {
  const tideAt = async (parts: readonly Plugin[], port: string): Promise<string> => {
    const api = await startApi({ parts });
    return (await fetch(`${api.url}/tide/${port}`)).text();
  };

  test("X-SVC-1 a service and a declared hook work behind a route", async () => {
    expect(await tideAt([tides, tideTable], "Brest")).toBe("3");
    // The plugin is listed before the plugin that it requires.
    expect(await tideAt([springTides, tides, tideTable], "Brest")).toBe("7");
    expect(await tideAt([springTides, tides, tideTable], "Oslo")).toBe("3");
  });

  test("X-SVC-1 a service that no plugin offers is undefined", async () => {
    expect(await tideAt([tideTable], "Brest")).toBe("no tides here");
  });
});

const startBoth = async (plugin: Plugin, options: StartOptions = {}): Promise<{ rest: TestApi; graphql: TestApi }> => ({
  rest: await startApi({ ...options, parts: [plugin] }),
  graphql: await startApi(forGraphql({ ...options, parts: [plugin] })),
});

describe("a transport", async () => {
  const api = await startApi(forGraphql({ parts: [liveLines] }));
  const ask = (query: string) =>
    fetch(`${api.url}/live-lines`, {
      method: "POST",
      body: JSON.stringify({ query }),
      headers: { "x-session-admin-secret": adminSecret },
    });

  test("G-SUB-3 the transport sends a result at once and after each change", async () => {
    const response = await ask("subscription { artist_by_pk(id: 4) { country } }");
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const line = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString();
    expect(await line()).toBe('{"data":{"artist_by_pk":{"country":null}}}\n');
    await api.sql("update artist set country = 'NO' where id = 4");
    expect(await line()).toBe('{"data":{"artist_by_pk":{"country":"NO"}}}\n');
    await api.sql("update artist set country = null where id = 4");
    await reader.cancel();
  });

  test("G-ERR-1 the transport sends an error of the request as an error", async () => {
    expect(await (await ask("subscription { nothing }")).json()).toMatchObject({
      errors: [{ extensions: { code: "validation-failed" } }],
    });
    expect(await (await ask("mutation { delete_artist(where: {}) { affected_rows } }")).json()).toMatchObject({
      errors: [{ message: "a mutation cannot be a live query", extensions: { code: "bad-request" } }],
    });
  });
});

describe("an operator", async () => {
  const { rest, graphql } = await startBoth(prefixOperator);
  cases(rest, [
    {
      title: "R-FLT-1 the operator works in a filter",
      request: "GET /vessels?select=name&name=starts.Ar",
      answer: [{ name: "Ariel" }],
    },
    {
      title: "R-FLT-1 the operator works negated and in logic trees",
      request: "GET /vessels?select=name&or=(name.starts.Ar,name.not.starts.F)&order=id",
      answer: [{ name: "Ariel" }, { name: "Gjoa" }],
    },
    {
      title: "R-FLT-12 the database rejects the operator on another type",
      request: "GET /vessels?id=starts.1",
      status: 404,
      answer: expect.objectContaining({ code: "42883" }),
    },
  ]);
  test("G-OP-1 the operator works in where, only for text columns", async () => {
    expect(await graphql.gql('{ artist(where: {name: {_starts: "Ab"}}) { name } }')).toEqual({
      data: { artist: [{ name: "Abba" }] },
    });
    expect((await graphql.gql('{ artist(where: {id: {_starts: "1"}}) { name } }')).errors[0].message).toBe(
      "field '_starts' not found in type: 'Int_comparison_exp'",
    );
  });
});

describe("an embedding mode", async () => {
  const { rest, graphql } = await startBoth(firstEmbeds, { dbAggregatesEnabled: true });
  cases(rest, [
    {
      title: "R-EMB-1 the mode returns the first row as an object, or null",
      request: "GET /ports?select=name,~vessels(name)&vessels.order=tonnage&order=id",
      answer: [
        { name: "Oslo", vessels: { name: "Fram" } },
        { name: "Leith", vessels: null },
      ],
    },
    {
      title: "R-EMB-7 the mode takes an alias and a filter",
      request:
        "GET /ports?select=name,vessels(id),biggest:~vessels(name)&vessels.id=eq.1&biggest.order=tonnage.desc&biggest.tonnage=lt.500&id=eq.1",
      answer: [{ name: "Oslo", vessels: [{ id: 1 }], biggest: { name: "Fram" } }],
    },
    {
      title: "R-EMB-11 the mode can be an inner join",
      request: "GET /ports?select=name,~vessels!inner(name)&vessels.order=tonnage",
      answer: [{ name: "Oslo", vessels: { name: "Fram" } }],
    },
    {
      title: "R-ORD-3 parents can be ordered by the embed",
      request: "GET /voyages?select=id,~vessels(name)&order=vessels(name).desc,id.desc",
      answer: [
        { id: 3, vessels: { name: "Fram" } },
        { id: 2, vessels: { name: "Ariel" } },
        { id: 1, vessels: { name: "Ariel" } },
      ],
    },
    {
      title: "R-AGG-2 the mode works beside aggregates",
      request: "GET /voyages?select=count(),~vessels(name)",
      check: (answer) =>
        expect(new Set(answer.json())).toEqual(
          new Set([
            { count: 1, vessels: { name: "Fram" } },
            { count: 2, vessels: { name: "Ariel" } },
          ]),
        ),
    },
  ]);
  test("G-REL-2 each relationship has a field of the mode with the arguments of the list", async () => {
    const answer = await graphql.gql(
      "{ artist(order_by: {id: asc}) { albums_first(order_by: {sold: desc_nulls_last}, where: {price: {_gt: 5}}) { title artist { name } } } }",
    );
    expect(answer).toEqual({
      data: {
        artist: [
          { albums_first: { title: "Waterloo", artist: { name: "Abba" } } },
          { albums_first: { title: "Debut", artist: { name: "Bjork" } } },
          { albums_first: { title: "Tago Mago", artist: { name: "Can" } } },
          { albums_first: null },
        ],
      },
    });
    expect(
      await graphql.gql(
        "{ artist(limit: 1, order_by: {id: asc}) { albums(limit: 1, order_by: {id: asc}) { title } } }",
      ),
    ).toEqual({ data: { artist: [{ albums: [{ title: "Arrival" }] }] } });
  });
});

describe("a media type", async () => {
  const accept = { accept: "application/x-ndjson" };
  cases(await startApi({ parts: [ndjsonMedia] }), [
    {
      title: "R-MED-1 the media type is used if the client accepts it",
      request: "GET /ports?select=id,name&order=id",
      headers: accept,
      bytes: '{"id":1,"name":"Oslo"}\n{"id":2,"name":"Leith"}',
      responseHeaders: { "Content-Type": "application/x-ndjson", "Content-Range": "0-1/*" },
    },
    {
      title: "R-MED-1 the media type formats an answer without rows",
      request: "GET /ports?id=eq.9",
      headers: accept,
      bytes: "",
    },
    {
      title: "R-MED-1 the media type formats results of functions that return values",
      request: "GET /rpc/tonnages",
      headers: accept,
      bytes: "853\n402\n47",
    },
    {
      title: "R-MED-1 the media type does not change the other media types",
      request: "GET /ports?select=id&id=eq.1",
      answer: [{ id: 1 }],
    },
  ]);
});

describe("a field of the GraphQL schema", async () => {
  const api = await startApi(forGraphql({ parts: [epochFields] }));
  test("G-GEN-4 the field is in rows of each table, nested rows too", async () => {
    expect(await api.gql("{ artist(where: {id: {_in: [1, 3]}}, order_by: {id: asc}) { born born_epoch } }")).toEqual({
      data: {
        artist: [
          { born: "1972-11-01", born_epoch: 89424000 },
          { born: null, born_epoch: null },
        ],
      },
    });
    expect(await api.gql("{ album_by_pk(id: 1) { artist { born_epoch } } }")).toEqual({
      data: { album_by_pk: { artist: { born_epoch: 89424000 } } },
    });
  });
  test("G-GEN-1 the field exists only for roles that may read the column", async () => {
    expect((await api.gql("{ artist { born_epoch } }", {}, asAdmin("music_reader"))).errors[0].message).toBe(
      "field 'born_epoch' not found in type: 'artist'",
    );
  });
});

describe("a REST method", async () => {
  const search = { headers: { "content-type": "text/plain" } };
  cases(await startApi({ parts: [searchMethod] }), [
    {
      title: "R-PATH-7 the method answers like GET with the body as its query",
      request: "SEARCH /vessels",
      body: "select=name&tonnage=gte.500",
      ...search,
      answer: [{ name: "Ariel" }],
    },
    {
      title: "R-LEX-11 the method reports parse errors",
      request: "SEARCH /vessels",
      body: "name=fuzzy.x",
      ...search,
      status: 400,
      answer: expect.objectContaining({ code: "PGRST100" }),
    },
    {
      title: "R-OPT-1 the method is listed in Allow",
      request: "OPTIONS /vessels",
      responseHeaders: { Allow: "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE,SEARCH" },
    },
    {
      title: "R-PATH-7 functions do not have the method",
      request: "SEARCH /rpc/add_numbers",
      body: "a=1&b=2",
      ...search,
      status: 405,
    },
  ]);
});

describe("handlers of a route", async () => {
  const careful = definePlugin({
    name: "careful",
    requires: ["rest-writes"],
    apply: (hooks, context) => {
      hooks.buildRestRoute.tap("careful", (route) => {
        const remove = route.methods.get("DELETE");
        if (remove === undefined || route.target.kind !== "relation") return route;
        const { schema, name } = route.target.relation;
        const withFilter: RestHandler = (exchange, target) => {
          if (exchange.query === undefined)
            throw new RelApiError({ code: "bare-delete", status: 400, message: "DELETE needs a filter" });
          return remove(exchange, target);
        };
        const report: RestHandler = async (exchange) => {
          const plan: Plan = {
            kind: "read",
            from: { relation: { schema, name } },
            shape: "rows",
            output: [{ kind: "all" }],
          };
          const program = context.prepare({ plan, envelope: { media: "application/json" } }, exchange.session, "rest");
          const [row] = await context.execute({
            session: exchange.session,
            access: "read only",
            schema,
            programs: [{ program, values: [] }],
            end: "commit",
          });
          return { status: 200, headers: [["Content-Type", "application/json"]], body: row?.["body"] ?? "" };
        };
        return {
          ...route,
          methods: new Map([
            ...[...route.methods].filter(([method]) => method !== "PATCH"),
            ["DELETE", withFilter],
            ["REPORT", report],
          ]),
        };
      });
    },
  });
  cases(await startApi({ parts: [careful], dbTxEnd: "rollback" }), [
    {
      title: "R-PATH-7 a plugin can wrap a handler",
      request: "DELETE /logbook",
      status: 400,
      answer: { code: "bare-delete", message: "DELETE needs a filter", details: null, hint: null },
    },
    {
      title: "R-PATH-7 the other handlers of the route still work",
      request: "DELETE /logbook?entry=eq.calm",
      status: 204,
    },
    { title: "R-PATH-7 a plugin can remove a handler", request: "PATCH /logbook", body: {}, status: 405 },
    {
      title: "R-OPT-1 added handlers are listed in Allow",
      request: "OPTIONS /logbook",
      responseHeaders: { Allow: "OPTIONS,GET,HEAD,POST,DELETE,REPORT" },
    },
    {
      title: "R-OAS-2 added handlers are listed in the description",
      request: "GET /",
      check: (answer) => expect(Object.keys(answer.json().paths["/logbook"])).toEqual(["get", "post", "delete"]),
    },
    {
      title: "R-TX-1 a handler can query the database",
      request: "REPORT /logbook",
      answer: [{ entry: "fair wind" }, { entry: "calm" }],
    },
  ]);
});

describe("tenants", async () => {
  const api = await startApi(forGraphql({ parts: [tenants] }));
  await api.sql(`
    create table project (id int primary key, tenant_id int not null default 0, name text);
    create table task (id int primary key, tenant_id int not null default 0, project_id int references project, name text);
    grant all on project, task to music_reader;
    insert into project values (1, 1, 'ours'), (2, 2, 'theirs');
    insert into task values (1, 1, 1, 'a'), (2, 2, 2, 'b'), (3, 2, 1, 'of another tenant, in our project')`);
  await api.reload();
  const first = bearer({
    "https://hasura.io/jwt/claims": {
      "x-hasura-default-role": "music_reader",
      "x-hasura-allowed-roles": ["music_reader"],
      "x-hasura-tenant-id": "1",
    },
  });
  const headers = asAdmin("music_reader", { "tenant-id": "1" });

  test("G-PRM-7 rows of other tenants are invisible on every path", async () => {
    expect(await api.gql("{ project { id tasks { id } } }", {}, headers)).toEqual({
      data: { project: [{ id: 1, tasks: [{ id: 1 }] }] },
    });
    expect(
      await api.gql(
        '{ project_aggregate { aggregate { count } } task(where: {project: {name: {_eq: "theirs"}}}) { id } }',
        {},
        headers,
      ),
    ).toEqual({
      data: { project_aggregate: { aggregate: { count: 1 } }, task: [] },
    });
    expect(await api.gql("{ project(order_by: {id: asc}) { id } }")).toEqual({
      data: { project: [{ id: 1 }, { id: 2 }] },
    });
  });

  test("R-EMB-9 rows of other tenants are invisible over REST, with the tenant of the token", async () => {
    expect((await api.get("/project?select=id,task(id)", { headers: first })).json()).toEqual([
      { id: 1, task: [{ id: 1 }] },
    ]);
    expect((await api.get("/project?select=id", { headers })).json()).toEqual([{ id: 1 }]);
  });

  test("R-WRT-1 writes stay within the tenant", async () => {
    const insertAnswer = await api.post("/project?select=id,tenant_id", {
      headers: { ...headers, prefer: "return=representation" },
      body: { id: 3, tenant_id: 2, name: "new" },
    });
    expect(insertAnswer.json()).toEqual([{ id: 3, tenant_id: 1 }]);
    expect(
      (await api.delete("/project?id=in.(2,3)", { headers: { ...headers, prefer: "return=representation" } })).json(),
    ).toHaveLength(1);
    expect(
      await api.gql('mutation { update_task(where: {}, _set: {name: "z"}) { affected_rows } }', {}, headers),
    ).toEqual({ data: { update_task: { affected_rows: 1 } } });
    expect(
      (await api.gql("mutation { update_task(where: {}, _set: {tenant_id: 2}) { affected_rows } }", {}, headers))
        .errors[0].extensions.code,
    ).toBe("permission-error");
  });

  test("G-FIL-7 without a tenant the request fails", async () => {
    expect((await api.gql("{ project { id } }", {}, asAdmin("music_reader"))).errors[0].message).toBe(
      'missing session variable: "x-session-tenant-id"',
    );
  });
});
