import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { compose, definePlugin, relApi, without, type Counters } from "../../core/index.ts";
import { asAdmin, capabilities, forGraphql, startApi, type HeaderValues, type TestApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import {
  callGraphql,
  callRest,
  gqlError,
  installCallerSettings,
  readGraphqlSettings,
  readRestSettings,
  type CallerSettings,
} from "../support/caller-settings.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { createLogger } from "../support/logger.ts";
import { buildMetadataDocument } from "../support/metadata-document.ts";

let api: TestApi;

const loadSettings = async (
  headers: HeaderValues,
  extraSettings: readonly string[] = [],
  target = api,
): Promise<CallerSettings> => readGraphqlSettings(await callGraphql(target, headers, extraSettings));

const READER = {
  sub: "7",
  "x-session-default-role": "music_reader",
  "x-session-user-id": "7",
  "x-session-Org-Unit": "north",
};

beforeAll(async () => {
  api = await startApi(forGraphql({ anonRole: "music_nobody", appSettings: { region: "north" } }));
  await installCallerSettings(api);
  await api.sql(`
    create function public.current_caller_settings() returns setof public.caller_setting language sql volatile as $$ select * from public.caller_settings() $$;
    create function public.session_settings(hasura_session json) returns setof public.caller_setting language sql stable as $$ select 'session', hasura_session::text $$;
    create function public.session_of_setting(setting public.caller_setting, hasura_session json) returns text language sql stable as $$ select hasura_session::text $$;
    insert into public.caller_setting values ('row', '')`);
  await api.reload();
});

describe("settings", () => {
  test("G-SES-1 G-SES-6 session.variables has all session variables as one object", async () => {
    const callerSettings = await loadSettings(asAdmin("music_reader", { "User-Id": "7", org: 'o "1"' }));
    expect(JSON.parse(callerSettings["session.variables"]!)).toEqual({
      "x-session-role": "music_reader",
      "x-session-user-id": "7",
      "x-session-org": 'o "1"',
    });
  });
  test("G-SES-1 session variables of a token have names in lower case and text values", async () => {
    const callerSettings = await loadSettings(bearer({ ...READER, "x-session-level": 3 }));
    expect(JSON.parse(callerSettings["session.variables"]!)).toEqual({
      "x-session-role": "music_reader",
      "x-session-user-id": "7",
      "x-session-org-unit": "north",
      "x-session-level": "3",
    });
  });
  test("G-SES-2 each session variable is a setting with underscores for dashes", async () => {
    const callerSettings = await loadSettings(
      asAdmin("music_reader", {
        "user-id": "7",
        "a-b-c": "d",
        "2nd": "no setting",
        "a.b": "no setting",
        variables: "no setting",
      }),
      ["session.a_b_c"],
    );
    expect(callerSettings).toMatchObject({
      "session.role": "music_reader",
      "session.user_id": "7",
      "session.a_b_c": "d",
    });
    expect(JSON.parse(callerSettings["session.variables"]!)).toMatchObject({
      "x-session-2nd": "no setting",
      "x-session-a.b": "no setting",
      "x-session-variables": "no setting",
    });
  });
  test("G-SES-3 request.jwt.claims has the acting role as the role of the token", async () => {
    const callerSettings = await loadSettings({
      ...bearer({
        ...READER,
        role: "music_writer",
        "x-session-allowed-roles": ["music_reader", "music_editor"],
        list: [1, null],
      }),
      "x-session-role": "music_editor",
    });
    expect(JSON.parse(callerSettings["request.jwt.claims"]!)).toEqual({
      ...READER,
      role: "music_editor",
      "x-session-allowed-roles": ["music_reader", "music_editor"],
      list: [1, null],
    });
  });
  test("G-SES-3 numbers of claims keep their digits", async () => {
    const callerSettings = await loadSettings(
      bearer('{"role":"music_reader","id":12345678901234567890,"n":0.12345678901234567}'),
    );
    expect(callerSettings["request.jwt.claims"]).toBe(
      '{"role":"music_reader","id":12345678901234567890,"n":0.12345678901234567}',
    );
  });
  test("G-SES-3 without a token the claims have only the role", async () => {
    expect((await loadSettings({}))["request.jwt.claims"]).toBe('{"role":"music_nobody"}');
    expect((await loadSettings(asAdmin("music_reader", { "user-id": "7" })))["request.jwt.claims"]).toBe(
      '{"role":"music_reader"}',
    );
    expect((await loadSettings(asAdmin()))["request.jwt.claims"]).toBe('{"role":"admin"}');
  });
  test("G-SES-4 hasura.user has the session variables with the prefix x-hasura", async () => {
    expect(JSON.parse((await loadSettings(bearer(READER)))["hasura.user"]!)).toEqual({
      "x-hasura-role": "music_reader",
      "x-hasura-user-id": "7",
      "x-hasura-org-unit": "north",
    });
  });
  test("G-SES-6 the acting role is always a session variable, and the secret and backend headers never are", async () => {
    expect(JSON.parse((await loadSettings(asAdmin()))["session.variables"]!)).toEqual({ "x-session-role": "admin" });
    expect(await loadSettings(asAdmin())).toMatchObject({
      "session.role": "admin",
      role: "none",
      current_user: "postgres",
    });
    const backend = await loadSettings(
      { ...asAdmin("music_reader"), "x-session-use-backend-only-permissions": "true" },
      ["session.admin_secret", "session.use_backend_only_permissions"],
    );
    expect(JSON.parse(backend["session.variables"]!)).toEqual({ "x-session-role": "music_reader" });
    expect([backend["session.admin_secret"], backend["session.use_backend_only_permissions"]]).toEqual([null, null]);
    expect(JSON.parse((await loadSettings({}))["session.variables"]!)).toEqual({ "x-session-role": "music_nobody" });
  });
  test("G-SES-10 the search path, settings of the role and application, and the request without secrets are set", async () => {
    const names = [
      "search_path",
      "app.desk",
      "statement_timeout",
      "app.settings.region",
      "request.method",
      "request.path",
      "request.headers",
      "request.cookies",
    ];
    const callerSettings = await loadSettings(
      { ...asAdmin("sea_clerk"), "x-hasura-admin-secret": "another", "X-Tenant": "t", cookie: "a=b; c=d" },
      names,
    );
    expect(callerSettings).toMatchObject({
      search_path: '"public"',
      "app.desk": "front",
      statement_timeout: "5s",
      "app.settings.region": "north",
      "request.method": "POST",
      "request.path": "/v1/graphql",
    });
    expect(JSON.parse(callerSettings["request.cookies"]!)).toEqual({ a: "b", c: "d" });
    const headers = JSON.parse(callerSettings["request.headers"]!);
    expect(headers).toMatchObject({ "x-tenant": "t", "x-session-role": "sea_clerk" });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/admin-secret|cookie/)]));
  });
});

describe("statements that read session variables", () => {
  gqlCases(
    () => api,
    [
      {
        title: "G-SES-8 the row policy of the reference selects the rows",
        role: "music_artist",
        session: { "Artist-Id": "1" },
        query: "{ diary(order_by: [{id: asc}]) { id } }",
        data: { diary: [{ id: 1 }, { id: 2 }] },
      },
      {
        title: "G-SES-8 another value of the session variable selects other rows",
        role: "music_artist",
        session: { "artist-id": "2" },
        query: "{ diary { id } }",
        data: { diary: [{ id: 3 }] },
      },
      {
        title: "G-SES-8 without the session variable no row is visible",
        role: "music_artist",
        query: "{ diary { id } }",
        data: { diary: [] },
      },
      {
        title: "G-SES-7 a mutation changes only rows that the policy shows",
        role: "music_artist",
        session: { "artist-id": "1" },
        query: 'mutation { update_diary(where: {}, _set: {body: "mine"}) { affected_rows } }',
        data: { update_diary: { affected_rows: 2 } },
      },
      {
        title: "G-SES-7 an insert that the policy forbids is rejected",
        role: "music_artist",
        session: { "artist-id": "1" },
        query: 'mutation { insert_diary_one(object: {artist_id: 2, body: "yours"}) { id } }',
        error: { message: 'new row violates row-level security policy for table "diary"', code: "permission-error" },
      },
      {
        title: "G-SES-5 the session argument of a function has the session variables",
        session: { "artist-id": "2" },
        query: "{ session_albums { artist_id } }",
        data: { session_albums: expect.arrayContaining([{ artist_id: 2 }]) },
      },
    ],
  );
  test("G-SES-7 functions of mutations read the session variables", async () => {
    const answer = await api.post("/v1/graphql", {
      headers: bearer(READER),
      body: { query: "mutation { current_caller_settings { name value } }" },
    });
    const callerSettings = Object.fromEntries(
      answer.json().data.current_caller_settings.map((row: { name: string; value: string }) => [row.name, row.value]),
    );
    expect(callerSettings).toMatchObject({
      "session.user_id": "7",
      role: "music_reader",
      current_user: "music_reader",
    });
  });
  test("G-SES-7 every root field of a query reads the session variables", async () => {
    const answer = await api.post("/v1/graphql", {
      headers: bearer(READER),
      body: {
        query:
          '{ a: caller_settings { name value } b: caller_settings(where: {name: {_eq: "session.user_id"}}) { value } }',
      },
    });
    expect(answer.json().data.b).toEqual([{ value: "7" }]);
  });
  test("G-SES-5 functions and computed fields get both prefixes", async () => {
    const bothPrefixes = {
      "x-session-role": "admin",
      "x-hasura-role": "admin",
      "x-session-user-id": "7",
      "x-hasura-user-id": "7",
    };
    const answer = await api.gql(
      '{ session_settings { value } caller_setting(where: {name: {_eq: "row"}}) { session_of_setting } }',
      {},
      { "x-session-user-id": "7" },
    );
    expect(answer).toHaveProperty("data");
    expect(JSON.parse(answer.data.session_settings[0].value)).toEqual(bothPrefixes);
    expect(JSON.parse(answer.data.caller_setting[0].session_of_setting)).toEqual(bothPrefixes);
  });
});

describe("plugins", () => {
  const fetchArgument = async (target: TestApi): Promise<unknown> => {
    const { data } = await target.gql("{ session_settings { value } }", {}, { "x-session-user-id": "7" });
    return JSON.parse(data.session_settings[0].value);
  };
  const ownVariables = { "x-session-role": "admin", "x-session-user-id": "7" };

  test("G-SES-4 G-SES-5 without hasura-session its setting and names are missing, and the others stay", async () => {
    const reducedApi = await startApi(forGraphql({ anonRole: "music_nobody", parts: [without("hasura-session")] }));
    const callerSettings = await loadSettings(bearer(READER), [], reducedApi);
    expect(callerSettings["hasura.user"] || null).toBe(null); // "" on a connection where another API has set it
    expect(callerSettings).toMatchObject({ "session.user_id": "7" });
    expect(await fetchArgument(reducedApi)).toEqual(ownVariables);
  });
  test("G-SES-1 G-SES-2 G-SES-3 without session-settings the claims and the setting hasura.user stay", async () => {
    const reducedApi = await startApi(forGraphql({ anonRole: "music_nobody", parts: [without("session-settings")] }));
    const callerSettings = await loadSettings(bearer(READER), [], reducedApi);
    expect([callerSettings["session.variables"] || null, callerSettings["session.user_id"] || null]).toEqual([
      null,
      null,
    ]);
    expect(callerSettings).toMatchObject({ role: "music_reader" });
    expect(JSON.parse(callerSettings["request.jwt.claims"]!)).toMatchObject({ sub: "7" });
    expect(JSON.parse(callerSettings["hasura.user"]!)).toMatchObject({ "x-hasura-user-id": "7" });
  });
  test("G-SES-3 G-SES-10 without request-settings the claims and the request are missing, and the other settings stay", async () => {
    const reducedApi = await startApi(forGraphql({ anonRole: "music_nobody", parts: [without("request-settings")] }));
    const callerSettings = await loadSettings(bearer(READER), ["request.headers", "request.method"], reducedApi);
    for (const name of ["request.jwt.claims", "request.headers", "request.method"])
      expect([name, callerSettings[name] || null]).toEqual([name, null]);
    expect(callerSettings).toMatchObject({ role: "music_reader", "session.user_id": "7" });
  });
  test("X-SES-1 a plugin adds settings, computed once per session, and a prefix", async () => {
    let calls = 0;
    const tenants = definePlugin({
      name: "tenants",
      sessions: [
        {
          name: "tenants",
          prefix: "x-acme-",
          settings: ({ role, variables }) => {
            calls++;
            return [["acme.tenant", `${role} ${variables["x-session-org-unit"] ?? "nobody"}`]];
          },
        },
      ],
    });
    const tenantsApi = await startApi(forGraphql({ anonRole: "music_nobody", parts: [tenants] }));
    const caller = bearer(READER);
    for (let i = 0; i < 3; i++)
      expect(await loadSettings(caller, ["acme.tenant"], tenantsApi)).toMatchObject({
        "acme.tenant": "music_reader north",
      });
    expect(calls).toBe(1);
    expect(await fetchArgument(tenantsApi)).toEqual({
      ...ownVariables,
      "x-hasura-role": "admin",
      "x-hasura-user-id": "7",
      "x-acme-role": "admin",
      "x-acme-user-id": "7",
    });
  });
  test("X-HDR-1 a plugin's secret headers are hidden from SQL on both surfaces", async () => {
    const keys = definePlugin({ name: "keys", secretHeaders: ["X-Api-Key"] });
    const keysApi = await startApi(forGraphql({ anonRole: "music_nobody", parts: [keys, without("admin-secret")] }));
    const headers = { "x-api-key": "k", "x-session-admin-secret": "of nobody", "x-tenant": "t" };
    for (const callerSettings of [
      await loadSettings(headers, ["request.headers"], keysApi),
      readRestSettings(await callRest(keysApi, headers, ["request.headers"])),
    ]) {
      const requestHeaders = JSON.parse(callerSettings["request.headers"]!);
      expect(requestHeaders).toMatchObject({ "x-tenant": "t", "x-session-admin-secret": "of nobody" });
      expect(requestHeaders).not.toHaveProperty("x-api-key");
    }
  });
  test("X-SES-1 an error in the settings of a plugin is logged with the plugin and fails the request", async () => {
    const faulty = definePlugin({
      name: "faulty",
      sessions: [
        {
          name: "faulty",
          settings: () => {
            throw new Error("no tenants today");
          },
        },
      ],
    });
    const logLines: unknown[] = [];
    const logger = createLogger({
      error: (message: string, fields?: object) => void logLines.push({ message, ...fields }),
    });
    const faultyApi = await startApi(forGraphql({ anonRole: "music_nobody", parts: [faulty], logger }));
    expect(gqlError(await callGraphql(faultyApi)).code).toBe("unexpected");
    expect(logLines).toMatchObject([{ plugin: "faulty", hook: 'sessions("faulty").settings' }]);
  });
  test("X-SES-1 two plugins with one prefix are rejected at the start", () => {
    const session = (name: string) => definePlugin({ name, sessions: [{ name, prefix: "x-acme-" }] });
    expect(() => relApi(compose({ plugins: [session("a"), session("b")], options: {} }))).toThrow(
      'prefix of session variables "x-acme-" is declared by plugins "a" and "b": rename one or remove one of the plugins',
    );
  });
});

describe("values of session variables", () => {
  const HOSTILE = [
    "'; drop table diary; --",
    '"; set role postgres; --',
    "\\'; select 1",
    "$1",
    "{a,b}",
    "%s",
    "none",
    "ünï مو 🚢",
    " blank ",
    "x".repeat(5000),
  ];
  test.each(HOSTILE)("G-SES-9 the value %j is passed unchanged", async (value) => {
    const text = value.trim();
    const callerSettings = await loadSettings({
      ...asAdmin("music_reader"),
      "x-session-user-id": Buffer.from(text).toString("latin1"),
    });
    expect(callerSettings).toMatchObject({ "session.user_id": text, current_user: "music_reader" });
    expect(JSON.parse(callerSettings["session.variables"]!)["x-session-user-id"]).toBe(text);
    const fromToken = await loadSettings(
      bearer({ "x-session-default-role": "music_reader", "x-session-user-id": value }),
    );
    expect(fromToken).toMatchObject({ "session.user_id": value, current_user: "music_reader" });
  });
  test("G-SES-9 values of the upgrade and of the first message of a socket are passed unchanged", async () => {
    const text = "ünï مو 🚢 Ã©";
    const headers = asAdmin("music_reader", { "user-id": Buffer.from(text).toString("latin1") }) as Record<
      string,
      string
    >;
    for (const [socketHeaders, payload] of [
      [headers, {}],
      [{}, { headers: asAdmin("music_reader", { "user-id": text }) }],
    ] as const) {
      const socket = await openSocket(api, { headers: socketHeaders });
      await socket.init(payload);
      socket.send({
        id: "1",
        type: "subscribe",
        payload: { query: '{ caller_settings(where: {name: {_eq: "session.user_id"}}) { value } }' },
      });
      expect((await socket.next((message) => message.type === "next")).payload).toEqual({
        data: { caller_settings: [{ value: text }] },
      });
      await socket.close();
    }
  });
  test("G-SES-9 line breaks and blanks in a token are passed unchanged", async () => {
    const value = "a\r\nX-Session-Role: admin\n\tb";
    expect(
      await loadSettings(bearer({ "x-session-default-role": "music_reader", "x-session-user-id": value })),
    ).toMatchObject({
      "session.user_id": value,
      "session.role": "music_reader",
    });
  });
  test("G-SES-9 the database rejects a value with a NUL", async () => {
    const answer = await callGraphql(
      api,
      bearer({ "x-session-default-role": "music_reader", "x-session-user-id": "a\u0000b" }),
    );
    expect(gqlError(answer).code).toBe("data-exception");
  });
  test("G-SES-2 names that are not valid settings do not reach SQL", async () => {
    const odd = [
      "x-session-a'b",
      'x-session-a"b',
      "x-session-a b",
      "x-session-a;b",
      "x-session-ä",
      "x-session-",
      "x-session-__proto__",
      "x-session-A.B",
    ];
    const callerSettings = await loadSettings(
      bearer({ ...READER, ...Object.fromEntries(odd.map((name) => [name, name])) }),
    );
    expect(callerSettings.current_user).toBe("music_reader");
    expect(JSON.parse(callerSettings["session.variables"]!)).toMatchObject(
      Object.fromEntries(odd.map((name) => [name.toLowerCase(), name])),
    );
  });
});

describe("one connection shared by two callers", () => {
  let narrowApi: TestApi;
  let counters: Counters;
  beforeAll(async () => {
    const reader = definePlugin({ name: "counter-reader", apply: (_hooks, context) => void ({ counters } = context) });
    narrowApi = await startApi(
      // These options set no value without credentials, so any value belongs to another caller.
      forGraphql({
        anonRole: "music_nobody",
        anonStatementTimeout: 0,
        dbPool: 1,
        dbPoolMaxIdletime: 600,
        parts: [reader],
      }),
    );
    await narrowApi.sql(
      `create function public.nap(seconds float8) returns text language sql volatile set statement_timeout = '200ms' as $$ select pg_sleep(seconds)::text $$`,
    );
    await narrowApi.reload();
  });

  const EXTRA_SETTINGS = [
    "session.artist_id",
    "session.org",
    "request.headers",
    "request.cookies",
    "app.desk",
    "timezone",
    "statement_timeout",
    "transaction_read_only",
  ];
  const first = asAdmin("sea_clerk", { "artist-id": "1", org: "first", "user-id": "1" });
  /**
   * Checks that no value of the first caller is left: in no setting, not in the role, and in nothing derived from them.
   */
  const expectClean = (callerSettings: CallerSettings, pid: string | null | undefined): void => {
    expect(callerSettings.pid).toBe(pid);
    expect(callerSettings).toMatchObject({
      current_user: "music_nobody",
      role: "music_nobody",
      "session.role": "music_nobody",
      "request.jwt.claims": '{"role":"music_nobody"}',
    });
    for (const name of ["session.artist_id", "session.org", "session.user_id", "app.desk"])
      expect(callerSettings[name] ?? "", name).toBe("");
    expect(callerSettings.statement_timeout).toBe("0");
    expect(callerSettings.timezone).toBe("UTC");
    expect(JSON.stringify(callerSettings)).not.toMatch(/first|sea_clerk/);
  };
  const bothSurfaces = async (pid: string | null | undefined): Promise<void> => {
    expectClean(await loadSettings({}, EXTRA_SETTINGS, narrowApi), pid);
    expectClean(readRestSettings(await callRest(narrowApi, {}, EXTRA_SETTINGS)), pid);
  };
  const firstCaller = async (): Promise<string | null | undefined> => {
    const callerSettings = await loadSettings(first, EXTRA_SETTINGS, narrowApi);
    expect(callerSettings).toMatchObject({
      current_user: "sea_clerk",
      "session.artist_id": "1",
      "session.org": "first",
      "app.desk": "front",
      statement_timeout: "5s",
    });
    return callerSettings.pid;
  };

  test("G-SES-7 R-TX-6 no session variable is left after a response", async () => {
    await bothSurfaces(await firstCaller());
  });
  test("G-SES-7 R-TX-6 no session variable is left after a response of REST", async () => {
    const pid = await firstCaller();
    readRestSettings(await callRest(narrowApi, { ...first, prefer: "timezone=America/Lima" }, EXTRA_SETTINGS));
    await bothSurfaces(pid);
  });
  test("G-SES-7 R-TX-6 no session variable is left after a mutation", async () => {
    const pid = await firstCaller();
    const answer = await narrowApi.gql(
      'mutation { update_artist(where: {id: {_eq: -1}}, _set: {name: "x"}) { affected_rows } }',
      {},
      { "x-session-org": "first" },
    );
    expect(answer).toEqual({ data: { update_artist: { affected_rows: 0 } } });
    await bothSurfaces(pid);
  });
  test.each([
    ["an error of the database", 'mutation { raise_state(args: {state: "P0001", message: "no"}) { id } }'],
    ["a violated constraint", 'mutation { insert_artist_one(object: {name: "Abba"}) { id } }'],
  ])("G-SES-7 R-TX-6 no session variable is left after %s", async (_title, query) => {
    const pid = await firstCaller();
    const answer = await narrowApi.gql(query, {}, { "x-session-org": "first" });
    expect(answer).toHaveProperty("errors");
    await bothSurfaces(pid);
  });
  test("G-SES-7 R-TX-6 no session variable is left after settings that could not be made", async () => {
    const pid = await firstCaller();
    const answer = await narrowApi.get("/api/rpc/caller_settings", {
      headers: bearer({ role: "nobody_of_that_name", "x-session-org": "first" }),
    });
    expect(answer.status).toBe(401);
    await bothSurfaces(pid);
  });
  test("G-SES-7 R-TX-6 no session variable is left after a rejected result", async () => {
    const pid = await firstCaller();
    const answer = await narrowApi.patch("/api/artist?id=gt.0", {
      headers: {
        ...asAdmin(undefined, { org: "first" }),
        accept: "application/vnd.pgrst.object+json",
        prefer: "return=representation",
      },
      body: { country: "X" },
    });
    expect(answer.json().code).toBe("PGRST116");
    await bothSurfaces(pid);
  });
  test.skipIf(!capabilities.realServer)("G-SES-7 R-TX-6 no session variable is left after a time-out", async () => {
    const pid = await firstCaller();
    const answer = await narrowApi.post("/api/rpc/nap", { headers: first, body: { seconds: 600 } });
    expect(answer.json().code).toBe("57014");
    await bothSurfaces(pid);
  });
  test.skipIf(!capabilities.realServer)(
    "G-SES-7 R-TX-6 no session variable is left after a client that disconnected",
    async () => {
      await narrowApi.sql(
        "create or replace function public.doze(seconds float8) returns text language sql volatile as $$ select pg_sleep(seconds)::text $$",
      );
      await narrowApi.reload();
      await firstCaller();
      const abandonedRequest = request({
        host: "127.0.0.1",
        port: narrowApi.port,
        method: "POST",
        path: "/api/rpc/doze",
        headers: { ...(first as Record<string, string>), "content-type": "application/json" },
      });
      abandonedRequest.on("error", () => {});
      abandonedRequest.end('{"seconds":600}');
      const countSleeping = async (): Promise<number> =>
        (
          await narrowApi.sql(
            "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
          )
        ).length;
      await until(async () => (await countSleeping()) === 1, "the statement runs");
      abandonedRequest.destroy();
      await until(() => counters.get("pool-available") === 1, "the connection is free");
      expect(await countSleeping()).toBe(0);
      const { pid } = await loadSettings({}, EXTRA_SETTINGS, narrowApi);
      await bothSurfaces(pid);
    },
  );
  test("G-SES-7 R-TX-6 each of many successive callers sees only its own values", async () => {
    const callers = Array.from({ length: 60 }, (_, i) => i);
    const allSettings = await Promise.all(
      callers.map((i) =>
        i % 3 === 0
          ? loadSettings({}, [], narrowApi)
          : i % 3 === 1
            ? loadSettings(
                bearer({ "x-session-default-role": "music_reader", "x-session-user-id": `t${i}` }),
                [],
                narrowApi,
              )
            : loadSettings(asAdmin("music_editor", { "user-id": `a${i}` }), [], narrowApi),
      ),
    );
    expect(
      allSettings.map((callerSettings) => [callerSettings.current_user, callerSettings["session.user_id"] ?? ""]),
    ).toEqual(
      callers.map((i) =>
        i % 3 === 0 ? ["music_nobody", ""] : i % 3 === 1 ? ["music_reader", `t${i}`] : ["music_editor", `a${i}`],
      ),
    );
  });
});

describe.skipIf(!capabilities.realServer)("the search path of the login role", () => {
  let ownApi: TestApi;
  const setPath = async (scope: string, path: string | undefined): Promise<void> => {
    const [row] = await ownApi.sql<{ database: string; role: string }>(
      "select current_database() as database, current_user as role",
    );
    const settingTarget = `${scope === "role" ? `role "${row?.role}" in ` : ""}database "${row?.database}"`;
    await ownApi.sql(
      `alter ${settingTarget} ${path === undefined ? "reset search_path" : `set search_path = ${path}`}`,
    );
    await ownApi.reload();
  };
  const QUERY = "{ coined(order_by: {id: asc}) { id } }";
  const COINED_RESULT = { data: { coined: [{ id: 2 }, { id: 4 }] } };

  beforeAll(async () => {
    ownApi = await startApi(
      forGraphql({
        anonRole: "music_editor",
        metadata: buildMetadataDocument(
          [
            {
              table: "album",
              select_permissions: [{ role: "listener", permission: { columns: "*", filter: {} } }],
            },
          ],
          {},
          { functions: [{ function: "coined" }] },
        ),
      }),
    );
    await ownApi.sql(`
      create schema vault;
      create table vault.coin (album_id int);
      grant usage on schema vault to music_editor;
      grant select on vault.coin to music_editor;
      insert into vault.coin values (2), (4);
      create function public.coined() returns setof album language plpgsql stable as $$ begin return query select * from public.album where id in (select album_id from coin); end $$`);
    await ownApi.reload();
  });

  test("G-SES-11 G-SES-11a a function finds unqualified tables on the database's search path", async () => {
    expect((await ownApi.gql(QUERY)).errors[0].extensions.code).toBe("unexpected");
    await setPath("database", `"$user", public, vault`);
    expect(await ownApi.gql(QUERY)).toEqual(COINED_RESULT);
    expect(await ownApi.gql(QUERY, {}, { "x-session-role": "listener" })).toEqual(COINED_RESULT);
    expect(await ownApi.gql(QUERY, {}, { "x-session-admin-secret": null })).toEqual(COINED_RESULT);
    const socket = await openSocket(ownApi);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: `subscription ${QUERY}` } });
    expect(await socket.next()).toMatchObject({ type: "next", payload: COINED_RESULT });
    await socket.close();
    await setPath("database", undefined);
    expect(await ownApi.gql(QUERY)).toHaveProperty("errors");
  });

  test("G-SES-11 G-SES-11a a function finds unqualified tables on the search path of the login role and connection string", async () => {
    await setPath("role", "vault");
    expect(await ownApi.gql(QUERY)).toEqual(COINED_RESULT);
    await setPath("role", undefined);
    const loginDatabase = {
      ...ownApi.database,
      options: { databaseUrl: `${ownApi.database.options.databaseUrl}?options=-c%20search_path%3Dvault` },
    };
    const api = await startApi(forGraphql({ on: loginDatabase }));
    expect(await api.gql(QUERY)).toEqual(COINED_RESULT);
    await api.close();
  });

  test("G-SES-11 G-SES-11a the login role's own schema is used, and an empty path causes no error", async () => {
    await ownApi.sql(
      `alter schema vault rename to "${(await ownApi.sql<{ role: string }>("select current_user as role"))[0]?.role}"`,
    );
    await ownApi.reload();
    expect(await ownApi.gql(QUERY)).toEqual(COINED_RESULT);
    await setPath("database", "''");
    expect(await ownApi.gql(QUERY)).toHaveProperty("errors");
    expect(await ownApi.gql("{ album_by_pk(id: 1) { id } }")).toEqual({ data: { album_by_pk: { id: 1 } } });
  });

  test("G-SES-11 G-SES-11a the search path of the login role does not apply to REST", async () => {
    await setPath("database", "vault");
    await ownApi.sql(
      "create function public.path_now() returns text language sql stable as $$ select current_setting('search_path') $$",
    );
    await ownApi.reload();
    expect((await ownApi.get("/api/rpc/path_now")).json()).toBe('"public", "public"');
  });
});
