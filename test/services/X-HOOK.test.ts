/** Callers that a webhook identifies, over HTTP and sockets, on both surfaces. */
import { once } from "node:events";
import { request, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  compose,
  definePlugin,
  optionsFromEnvironment,
  without,
  type PluginContext,
  type RelApiOptions,
} from "../../core/index.ts";
import { gqlCompat, plus, restCompat } from "../../presets/index.ts";
import {
  BROWSER,
  forGraphql,
  startApi,
  type Answer,
  type HeaderValues,
  type StartOptions,
  type TestApi,
} from "../support/api.ts";
import { subscribe } from "../support/live.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import {
  callGraphql,
  callRest,
  gqlError,
  installCallerSettings,
  readGraphqlSettings,
  readRestSettings,
} from "../support/caller-settings.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, jwtSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { json, startHook } from "./hook-server.ts";
import { collectLines } from "../support/logger.ts";

const hook = await startHook();
const { logger, lines: log } = collectLines("error", "warn");

const options: RelApiOptions = { authHook: hook.url, jwtSecret: undefined, anonRole: undefined, logger };
const api = await startApi(forGraphql(options));
await installCallerSettings(api);
const start = (extraOptions: StartOptions): Promise<TestApi> => startApi(forGraphql({ ...options, ...extraOptions }));
const posting = await start({ authHookMode: "post" });
const hasty = await start({ authHookTimeout: 1 });
const patient = await start({ authHookTimeout: 3600 });

const READER = { "X-Hasura-Role": "music_reader" };

beforeEach(() => {
  hook.requests.length = 0;
  log.length = 0;
  hook.answer = json(READER);
});
afterEach(() => void vi.useRealTimers());

const askTypename = (target: TestApi, headers: HeaderValues = {}): Promise<Answer> =>
  target.post("/v1/graphql", { headers, body: { query: "{ __typename }" } });

describe("the settings", () => {
  test("X-HOOK-1 without the setting no webhook is called, and the other schemes decide", async () => {
    const plain = await start({ authHook: undefined, anonRole: "music_nobody" });
    expect(readRestSettings(await callRest(plain)).current_user).toBe("music_nobody");
    expect(hook.requests).toEqual([]);
  });

  test("X-HOOK-1 the variables of Hasura set the webhook", () => {
    const environment = {
      HASURA_GRAPHQL_AUTH_HOOK: "https://auth.example/hook",
      HASURA_GRAPHQL_AUTH_HOOK_MODE: "POST",
      HASURA_GRAPHQL_AUTH_HOOK_SEND_REQUEST_BODY: "false",
    };
    expect(optionsFromEnvironment(gqlCompat({}), environment)).toEqual({
      authHook: "https://auth.example/hook",
      authHookMode: "post",
      authHookSendRequestBody: false,
    });
  });

  test("X-HOOK-1a a stored JWT secret is ignored and reported until it is removed", async () => {
    const [{ name }] = (await api.sql("select quote_ident(current_database()) as name")) as [{ readonly name: string }];
    let healthProblems: PluginContext["healthProblems"] | undefined;
    const watch = definePlugin({ name: "watch", apply: (_, context) => void ({ healthProblems } = context) });
    const ownApi = await start({ parts: [watch] });
    const problem =
      "ignoring tokens: authHook (AUTH_HOOK) and jwtSecret (JWT_SECRET) are both set: callers are identified by a webhook or by tokens, so unset one of them";
    await api.sql(`alter role current_user in database ${name} set pgrst.jwt_secret = '${jwtSecret}'`);
    await ownApi.reload();
    expect(log).toEqual([`${problem} undefined`]);
    expect(healthProblems?.list()).toEqual([`auth hook: ${problem}`]);
    expect(readRestSettings(await callRest(ownApi)).current_user).toBe("music_reader");
    await api.sql(`alter role current_user in database ${name} reset pgrst.jwt_secret`);
    await ownApi.reload();
    expect(healthProblems?.list()).toEqual([]);
  });

  test("X-HOOK-1 a webhook and tokens are rejected at the start", async () => {
    await expect(start({ jwtSecret })).rejects.toThrow(
      "authHook (AUTH_HOOK) and jwtSecret (JWT_SECRET) are both set: callers are identified by a webhook or by tokens, so unset one of them",
    );
  });

  test.each(["http://user:password@127.0.0.1/", "http://[nowhere/"])("X-HOOK-1 the URL %s is rejected", async (url) => {
    await expect(start({ authHook: url })).rejects.toThrow(
      /^(?:plugin "auth-hook"[^]*)?authHook \(AUTH_HOOK\) must be an http or https URL without user and password$/,
    );
  });

  test.each([
    ["gqlCompat", gqlCompat],
    ["plus", plus],
  ])("X-HOOK-1 the preset %s calls the webhook for callers of GraphQL", async (_, preset) => {
    const otherApi = await startApi(forGraphql({ ...options, preset }));
    expect(readGraphqlSettings(await callGraphql(otherApi)).current_user).toBe("music_reader");
    expect(hook.requests).toHaveLength(1);
  });

  test("X-HOOK-1 the preset restCompat calls the webhook for callers of REST", async () => {
    const otherApi = await startApi(forGraphql({ ...options, preset: restCompat }));
    expect(readRestSettings(await callRest(otherApi)).current_user).toBe("music_reader");
    expect(hook.requests).toHaveLength(1);
  });

  test("X-HOOK-1 a preset without the plugin calls no webhook", async () => {
    const otherApi = await startApi(
      forGraphql({ ...options, anonRole: "music_nobody", parts: [without("auth-hook")] }),
    );
    expect(readRestSettings(await callRest(otherApi)).current_user).toBe("music_nobody");
    expect(hook.requests).toEqual([]);
  });
});

describe("the request to the webhook", () => {
  test("X-HOOK-2 GET has the headers of the caller, except those of the connection and its content", async () => {
    const sentHeaders = {
      authorization: "Bearer something",
      cookie: "session=7",
      "x-hasura-role": "music_editor",
      "x-custom": "caf\u00c3\u00a9", // the bytes of `café` in UTF-8
    };
    const excludedHeaders = {
      "content-md5": "Q2hlY2sgSW50ZWdyaXR5IQ==",
      "user-agent": "agent of the caller",
      referer: "http://127.0.0.1/page",
      accept: "application/graphql-response+json",
      "accept-encoding": "br",
      "accept-language": "nl",
      "accept-datetime": "Thu, 31 May 2007 20:35:00 GMT",
      "cache-control": "no-store",
      dnt: "1",
      te: "trailers",
    };
    await askTypename(api, { ...sentHeaders, ...excludedHeaders });
    const [hookRequest] = hook.requests;
    expect(hookRequest).toMatchObject({ method: "GET", url: "/hook?key=hook-secret", body: "", headers: sentHeaders });
    for (const [name, value] of Object.entries({ ...excludedHeaders, "content-type": "application/json" }))
      expect(hookRequest?.headers[name], name).not.toBe(value);
    expect(hookRequest?.headers).not.toHaveProperty("content-length");
    expect(hookRequest?.headers.host).toBe(new URL(hook.url).host);
  });

  test("X-HOOK-3 POST has the headers as sent, and the GraphQL request", async () => {
    const body = {
      query: "query Q($a: bigint) { __typename }",
      operationName: "Q",
      variables: { a: 1 },
      extensions: {},
    };
    await posting.post("/v1/graphql", { headers: { "X-Custom": "caf\u00c3\u00a9" }, body });
    const [hookRequest] = hook.requests;
    expect(hookRequest).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
    expect(hookRequest?.headers).not.toHaveProperty("x-custom");
    const { headers, request: sentRequest } = JSON.parse(hookRequest?.body ?? "");
    expect(headers).toMatchObject({ "x-custom": "café", "content-type": "application/json" });
    const { extensions: _, ...members } = body;
    expect(sentRequest).toEqual(members);
  });

  test("X-HOOK-3 POST keeps the case of the names of headers", async () => {
    const client = request(`${posting.url}/v1/graphql`, { method: "POST", headers: { "X-MiXed": "1" } });
    const [response] = (await once(client.end("{}"), "response")) as [IncomingMessage];
    await once(response.resume(), "end");
    expect(JSON.parse(hook.requests[0]?.body ?? "").headers).toHaveProperty("X-MiXed", "1");
  });

  test("X-HOOK-3 POST has all requests of a batch, all digits of numbers, and the request of a URL", async () => {
    const batch = '[{"query":"{ __typename }"},{"query":"{ x }","variables":{"id":12345678901234567890}}]';
    await posting.post("/v1/graphql", { headers: { "content-type": "application/json" }, body: batch });
    expect(hook.requests[0]?.body).toContain(
      '"request":[{"operationName":null,"query":"{ __typename }","variables":null},{"operationName":null,"query":"{ x }","variables":{"id":12345678901234567890}}]',
    );
    await posting.get(
      `/v1/graphql?query=${encodeURIComponent("{ __typename }")}&variables=${encodeURIComponent('{"a":1}')}`,
    );
    expect(JSON.parse(hook.requests[1]?.body ?? "").request).toEqual({
      operationName: null,
      query: "{ __typename }",
      variables: { a: 1 },
    });
  });

  test("X-HOOK-3 POST has null for requests of REST and for bodies that are not GraphQL requests", async () => {
    await posting.post("/api/artist", { body: { query: "x" } });
    await posting.post("/v1/graphql", { body: "no JSON" });
    expect(hook.requests.map(({ body }) => JSON.parse(body).request)).toEqual([null, null]);
  });

  test("X-HOOK-3 X-AUTH-4 a body beyond the size of a short one still reaches the surface", async () => {
    const query = `{ __typename }${" ".repeat(100_000)}`;
    const answer = await posting.post("/v1/graphql", { body: { query } });
    expect(answer.json()).toEqual({ data: { __typename: "query_root" } });
    expect(JSON.parse(hook.requests[0]?.body ?? "").request.query).toBe(query);
  });

  test("X-HOOK-3 POST without the request body", async () => {
    const otherApi = await start({ authHookMode: "post", authHookSendRequestBody: false });
    await askTypename(otherApi);
    expect(Object.keys(JSON.parse(hook.requests[0]?.body ?? ""))).toEqual(["headers"]);
  });

  test("X-HOOK-4 the webhook gets no cookies of a page of another origin", async () => {
    const otherApi = await start({ corsAllowedOrigins: ["https://shop.example"] });
    const origins = [undefined, `http://127.0.0.1:${otherApi.port}`, "https://shop.example", "https://evil.example"];
    for (const origin of origins) await askTypename(otherApi, { cookie: "session=7", origin });
    expect(hook.requests.map(({ headers }) => headers.cookie)).toEqual([
      "session=7",
      "session=7",
      "session=7",
      undefined,
    ]);
  });
});

describe("the caller", () => {
  test("X-HOOK-5 the role and the variables of the answer are those of SQL on both surfaces", async () => {
    hook.answer = json({
      "x-hasura-role": "music_artist",
      "X-Hasura-Artist-Id": "3",
      "X-Session-User-Id": "7",
      other: "",
    });
    const requestedHeaders = { "x-session-role": "music_editor", "x-hasura-user-id": "8" };
    for (const callerSettings of [
      readRestSettings(await callRest(api, requestedHeaders)),
      readGraphqlSettings(await callGraphql(api, requestedHeaders)),
    ]) {
      expect(callerSettings).toMatchObject({
        current_user: "music_artist",
        "session.role": "music_artist",
        "session.user_id": "7",
      });
      expect(JSON.parse(callerSettings["session.variables"] ?? "")).toEqual({
        "x-session-role": "music_artist",
        "x-session-artist-id": "3",
        "x-session-user-id": "7",
      });
    }
  });

  test("X-HOOK-5 the variables decide the rows of permissions in the metadata and of row policies", async () => {
    const permission = { columns: ["id"], filter: { artist_id: { _eq: "X-Hasura-Artist-Id" } } };
    const metadata = buildMetadataDocument([
      table("album", { select_permissions: permissions({ listener: permission }) }),
    ]);
    const otherApi = await start({ metadata });
    const expected = (id: number) =>
      api.sql(`select coalesce(json_agg(id order by id), '[]') as ids from album where artist_id = ${id}`);
    for (const id of [1, 2]) {
      const [{ ids }] = (await expected(id)) as any;
      expect(ids.length).toBeGreaterThan(0);
      hook.answer = json({ "X-Hasura-Role": "listener", "X-Hasura-Artist-Id": String(id) });
      const answer = await otherApi.post("/v1/graphql", { body: { query: "{ album(order_by: {id: asc}) { id } }" } });
      expect(answer.json().data.album.map((row: { id: number }) => row.id)).toEqual(ids);
      hook.answer = json({ "X-Hasura-Role": "music_artist", "X-Hasura-Artist-Id": String(id) });
      const rows = await api.get("/api/album?select=id&order=id");
      expect(rows.json().map((row: { id: number }) => row.id)).toEqual(ids);
    }
  });

  test("X-HOOK-5 the role admin is an ordinary role, unless the setting for tokens says otherwise", async () => {
    hook.answer = json({ "X-Hasura-Role": "admin" });
    expect((await callRest(api)).status).toBeGreaterThanOrEqual(400);
    const otherApi = await start({ adminRoleInTokens: true });
    expect(readGraphqlSettings(await callGraphql(otherApi))["session.role"]).toBe("admin");
  });

  test("X-HOOK-5a X-SET-5 the role admin can be the administrator without the plugin jwt-tokens", async () => {
    hook.answer = json({ "X-Hasura-Role": "admin" });
    const environment = { ADMIN_ROLE_IN_TOKENS: "true" };
    const environmentOptions = optionsFromEnvironment(compose(gqlCompat({}), without("jwt-tokens")), environment);
    const otherApi = await start({ ...environmentOptions, parts: [without("jwt-tokens")] });
    expect(readGraphqlSettings(await callGraphql(otherApi))["session.role"]).toBe("admin");
  });

  test("X-HOOK-5 the webhook is called for each request, even if the request equals an earlier one", async () => {
    hook.answer = json({ ...READER, "Cache-Control": "max-age=600" });
    await askTypename(api);
    await askTypename(api);
    expect(hook.requests).toHaveLength(2);
  });

  test("X-HOOK-10 the admin secret takes precedence, and a wrong one is rejected, without the webhook", async () => {
    expect(readGraphqlSettings(await callGraphql(api, { "x-hasura-admin-secret": adminSecret }))["session.role"]).toBe(
      "admin",
    );
    const answer = await callGraphql(api, { "x-hasura-admin-secret": "guess" });
    expect(gqlError(answer).message).toBe("invalid x-session-admin-secret");
    expect(hook.requests).toEqual([]);
  });
});

describe("cookies of the answer", () => {
  const cookies = ["session=8; Path=/; HttpOnly", "seen=1"];
  const setCookies =
    (status = 200) =>
    (response: ServerResponse): void =>
      void response.writeHead(status, { "set-cookie": cookies, "x-other": "1" }).end(JSON.stringify(READER));

  test("X-HOOK-11 results and errors of both surfaces have the cookies, and no other header of the answer", async () => {
    hook.answer = setCookies();
    const answers = [
      await askTypename(api),
      await api.post("/v1/graphql", { body: { query: "{ nothing }" } }),
      await api.get("/api/artist?select=id&limit=1"),
      await api.get("/api/nothing"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
    for (const { headers, rawHeaders } of answers) {
      expect(rawHeaders.filter(([name]) => name === "Set-Cookie").map(([, value]) => value)).toEqual(cookies);
      expect(headers).not.toHaveProperty("x-other");
    }
  });

  test("X-HOOK-11 the cookies belong to one request", async () => {
    hook.answer = setCookies();
    await askTypename(api);
    hook.answer = json(READER);
    expect((await askTypename(api)).headers).not.toHaveProperty("set-cookie");
  });

  test("X-HOOK-11 a rejected caller and a failed webhook set no cookies", async () => {
    for (const status of [401, 500]) {
      hook.answer = setCookies(status);
      expect((await askTypename(api)).headers, String(status)).not.toHaveProperty("set-cookie");
    }
  });

  test("X-HOOK-11 a page of another origin gets no cookies", async () => {
    hook.answer = setCookies();
    const sameOrigin = await askTypename(api, { origin: `http://127.0.0.1:${api.port}` });
    const otherOrigin = await askTypename(api, { origin: "https://evil.example" });
    expect([sameOrigin.headers["set-cookie"], otherOrigin.headers["set-cookie"]]).toEqual([
      cookies.join(", "),
      undefined,
    ]);
  });
});

describe("stored settings", () => {
  const storeSetting = (setting: string): Promise<unknown> =>
    api.sql(
      `do $$ begin execute format('alter role %I in database %I ${setting.replaceAll("'", "''")}', current_user, current_database()); end $$`,
    );
  afterEach(() => storeSetting("reset all"));

  test.each(["get", "post"] as const)(
    "R-SC-8 X-HOOK-4 X-HOOK-11 the allowed origins follow a reload, %s",
    async (mode) => {
      const otherApi = await start({ authHookMode: mode });
      const askFromShop = async (): Promise<readonly boolean[]> => {
        hook.requests.length = 0;
        hook.answer = (response) =>
          void response.writeHead(200, { "set-cookie": "session=8" }).end(JSON.stringify(READER));
        const { headers } = await askTypename(otherApi, { cookie: "session=7", origin: "https://shop.example" });
        const [hookRequest] = hook.requests;
        const sentHeaders = mode === "get" ? hookRequest?.headers : JSON.parse(hookRequest?.body ?? "").headers;
        return ["cookie" in sentHeaders, "set-cookie" in headers];
      };
      expect(await askFromShop()).toEqual([false, false]);
      await storeSetting("set pgrst.server_cors_allowed_origins = 'https://shop.example'");
      await otherApi.reload();
      expect(await askFromShop()).toEqual([true, true]);
    },
  );

  test("R-SC-8 R-AUT-10 the anonymous role follows a reload", async () => {
    const anonymousFlags: boolean[] = [];
    const look = definePlugin({
      name: "look-at-sessions",
      apply: (hooks) =>
        hooks.transformPlan.tap("look-at-sessions", (plan, { session }) => {
          anonymousFlags.push(session.isAnonymous === true);
          return plan;
        }),
    });
    const otherApi = await start({ parts: [look] });
    await callRest(otherApi);
    await storeSetting("set pgrst.db_anon_role = 'music_reader'");
    await otherApi.reload();
    await callRest(otherApi);
    expect(anonymousFlags).toEqual([false, true]);
  });
});

describe("pages", () => {
  test("X-HOOK-12 a page, a preflight and a check of health call no webhook, even if it fails", async () => {
    hook.answer = json({}, 500);
    const otherApi = await start({ compatMode: false });
    const preflight = { origin: "https://shop.example", "access-control-request-method": "GET" };
    const answers = [
      await otherApi.get("/", { headers: BROWSER }),
      await otherApi.get("/v1/graphql", { headers: BROWSER }),
      await otherApi.get("/healthz"),
      await otherApi.options("/api/artist", { headers: preflight }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(hook.requests).toEqual([]);
    expect(answers[0]?.text).toContain("X-Session-Admin-Secret");
  });

  test("X-HOOK-12 the front page names no table, and says who reads credentials without an admin secret", async () => {
    const otherApi = await start({ compatMode: false, adminSecret: undefined });
    const { text } = await otherApi.get("/", { headers: BROWSER });
    expect(text).toContain("Requests need a credential. A webhook reads it from the headers of a request.");
    expect(text).not.toContain("album");
  });
});

describe("a rejection", () => {
  test("X-HOOK-6 status 401 rejects the caller in the words of each surface", async () => {
    hook.answer = json({ reason: "locked" }, 401);
    expect(gqlError(await askTypename(api))).toEqual({
      message: "Authentication hook unauthorized this request",
      code: "access-denied",
      path: "$",
    });
    const answer = await callRest(api);
    expect([answer.status, answer.json().message]).toEqual([401, "Authentication hook unauthorized this request"]);
    expect(log).toEqual([]);
  });
});

const INVALID = "Invalid response from authorization hook";

describe("a webhook that fails", () => {
  test.each([
    ["status 500", json({}, 500), INVALID],
    ["status 403", json(READER, 403), INVALID],
    ["status 204", (response: ServerResponse) => void response.writeHead(204).end(), INVALID],
    [
      "no JSON",
      (response: ServerResponse) => void response.end("nope"),
      `${INVALID}: Error in $: the body is not JSON`,
    ],
    ["a list", json([]), `${INVALID}: Error in $: parsing HashMap failed, expected Object, but encountered Array`],
    [
      "a number",
      json({ ...READER, "X-Hasura-User-Id": 7 }),
      `${INVALID}: Error in $['X-Hasura-User-Id']: parsing Text failed, expected String, but encountered Number`,
    ],
    [
      "an answer of more than 64 KiB",
      json({ ...READER, more: "x".repeat(65_536) }),
      "webhook authentication request failed",
    ],
    ["no answer", (response: ServerResponse) => void response.destroy(), "webhook authentication request failed"],
  ])("X-HOOK-7 %s is an error of the server", async (_, answer, message) => {
    hook.answer = answer;
    expect(gqlError(await askTypename(api))).toEqual({ message, code: "unexpected", path: "$" });
    const onRest = await callRest(api);
    expect([onRest.status, onRest.json().message]).toEqual([500, message]);
    expect((await api.post("/v1alpha1/graphql", { body: { query: "{ __typename }" } })).status).toBe(500);
  });

  test.each([{ "X-Hasura-User-Id": "7" }, { "X-Hasura-Role": "" }])(
    "X-HOOK-7 the answer %j has no role",
    async (variables) => {
      hook.answer = json(variables);
      expect(gqlError(await askTypename(api))).toEqual({
        message: "x-session-role not found in session variables",
        code: "invalid-params",
        path: "$",
      });
      expect((await callRest(api)).status).toBe(500);
    },
  );

  test("X-HOOK-7 the reason is logged once, without the path and the query of the URL", async () => {
    const otherApi = await start({});
    hook.answer = json({ secret: "of the answer" }, 502);
    await askTypename(otherApi, { authorization: "Bearer secret" });
    await askTypename(otherApi, { authorization: "Bearer secret" });
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("the auth hook failed");
    expect(log[0]).toContain("status 502");
    expect(log[0]).toContain(new URL(hook.url).host);
    expect(log[0]).not.toContain("/hook");
    expect(log[0]).not.toContain("secret");
  });

  test("X-HOOK-8 a redirect is not followed", async () => {
    hook.answer = (response) => void response.writeHead(302, { location: "/elsewhere" }).end();
    expect(gqlError(await askTypename(api)).message).toBe(INVALID);
    expect(hook.requests.map(({ url }) => url)).toEqual(["/hook?key=hook-secret"]);
  });

  test("X-HOOK-8 a response that never ends is cut off", async () => {
    let closed: Promise<unknown> | undefined;
    hook.answer = (response) => {
      closed = once(response, "close");
      const writeMore = (): void => void (response.destroyed || response.write("x".repeat(10_000), writeMore));
      writeMore();
    };
    expect(gqlError(await askTypename(api)).message).toBe("webhook authentication request failed");
    await closed;
  });

  test("X-HOOK-8 a webhook that does not answer in time fails its request, and delays no other one", async () => {
    const pendingResponses: ServerResponse[] = [];
    hook.answer = (response, { headers }) =>
      headers["x-held"] === undefined
        ? json(READER)(response, hook.requests[0]!)
        : void pendingResponses.push(response);
    const heldAnswer = askTypename(hasty, { "x-held": "1" });
    await until(() => pendingResponses.length === 1, "the webhook is called");
    expect((await askTypename(api)).json()).toEqual({ data: { __typename: "query_root" } });
    expect(gqlError(await heldAnswer).message).toBe("webhook authentication request failed");
    expect(log.join()).toContain("no complete answer within 1 s");
    pendingResponses[0]?.end(JSON.stringify(READER));
  });

  test("X-HOOK-8 X-AUTH-4 a client that disconnects ends the request to the webhook", async () => {
    let pendingResponse: ServerResponse | undefined;
    hook.answer = (response) => void (pendingResponse = response);
    const client = new AbortController();
    const clientAnswer = fetch(`${patient.url}/api/artist`, { signal: client.signal }).catch(() => "aborted");
    await until(() => pendingResponse !== undefined, "the webhook is called");
    const closed = once(pendingResponse!, "close");
    client.abort();
    await closed;
    expect(await clientAnswer).toBe("aborted");
    expect(log).toEqual([]);
  });
});

describe("a socket", () => {
  test("X-HOOK-2 the webhook gets the headers of connection_init and of the upgrade request", async () => {
    const socket = await openSocket(api, { headers: { "x-upgrade": "1", "x-both": "upgrade" } });
    await socket.init({
      headers: { Authorization: "Bearer something", "X-Both": "init", "X-Name": "café", "a b": "c" },
    });
    expect(hook.requests[0]?.headers).toMatchObject({
      authorization: "Bearer something",
      "x-upgrade": "1",
      "x-both": "init",
      "x-name": "caf\u00c3\u00a9", // the bytes of UTF-8
    });
    expect(Object.keys(hook.requests[0]?.headers ?? {}).filter((name) => name.startsWith("sec-websocket-"))).toEqual(
      [],
    );
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { id } }");
    expect(await socket.next()).toMatchObject({ payload: { data: { artist_by_pk: { id: 1 } } } });
    expect(hook.requests).toHaveLength(1);
    await socket.close();
  });

  test("X-HOOK-3 X-AUTH-5 POST has the headers of a socket by the names that the client wrote", async () => {
    const socket = await openSocket(posting, { headers: { "X-Upgrade": "1", "X-BOTH": "upgrade" } });
    await socket.init({ headers: { Authorization: "Bearer something", "x-Both": "init" } });
    const { headers, request: sentRequest } = JSON.parse(hook.requests[0]?.body ?? "");
    expect(sentRequest).toBeNull();
    expect(headers).toMatchObject({ Authorization: "Bearer something", "X-Upgrade": "1", "x-Both": "init" });
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    expect(names.filter((name) => name === "x-both")).toHaveLength(1);
    for (const name of ["connection", "upgrade", "sec-websocket-key", "sec-websocket-version"])
      expect(names).not.toContain(name);
    await socket.close();
  });

  test("X-HOOK-6 X-HOOK-7 a rejection and an error close the socket", async () => {
    const reasonFor = async (status: number): Promise<unknown> => {
      hook.answer = json({}, status);
      const socket = await openSocket(api);
      socket.send({ type: "connection_init", payload: {} });
      return socket.closed;
    };
    expect(await reasonFor(401)).toEqual({
      code: 4403,
      reason: "Forbidden: Authentication hook unauthorized this request",
    });
    expect(await reasonFor(500)).toEqual({ code: 4500, reason: "Internal server error" });
  });

  test("X-HOOK-8 X-AUTH-4 a socket that closes ends the request to the webhook", async () => {
    let pendingResponse: ServerResponse | undefined;
    hook.answer = (response) => void (pendingResponse = response);
    const socket = await openSocket(patient);
    socket.send({ type: "connection_init", payload: {} });
    await until(() => pendingResponse !== undefined, "the webhook is called");
    const closed = once(pendingResponse!, "close");
    socket.socket.terminate();
    await closed;
  });

  const nowMs = Math.ceil(Date.now() / 1000) * 1000;
  test.each([
    ["Cache-Control", "private, max-age=1"],
    ["cache-control", "max-age=1"],
    ["Expires", new Date(nowMs + 1000).toUTCString()],
  ])("X-HOOK-9 %s: %s ends the session and its live queries", async (name, value) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(nowMs);
    hook.answer = json({ ...READER, [name]: value });
    const socket = await openSocket(api);
    await socket.init({});
    subscribe(socket, "1", "subscription { artist_by_pk(id: 1) { id } }");
    expect(await socket.next()).toMatchObject({ type: "next" });
    vi.setSystemTime(nowMs + 1000);
    expect((await socket.closed).code).toBe(4403);
  });

  test("X-HOOK-9 an expiry that cannot be read is logged and has no effect", async () => {
    const otherApi = await start({});
    hook.answer = json({ ...READER, "Cache-Control": "soon" });
    expect((await askTypename(otherApi)).json()).toEqual({ data: { __typename: "query_root" } });
    expect(log.join()).toContain("the value of Cache-Control");
  });
});
