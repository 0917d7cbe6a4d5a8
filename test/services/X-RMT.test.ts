/** Remote schemas: root fields of other GraphQL APIs beside those of the tables. */
import { buildSchema, printSchema } from "graphql";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { remoteSchemas } from "../../plugins/services/index.ts";
import { start as startProgram } from "../cli/run.ts";
import { asAdmin, capabilities, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { introspect } from "../support/graphql-data.ts";
import { adminSecret } from "../support/tokens.ts";
import { openSocket } from "../support/socket.ts";
import {
  collectWarnings,
  buildMetadataDocument,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { until } from "../support/until.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

const remote = await startRemote();
const database = await testDatabase();

const definition = (extraKeys: Entry = {}): Entry => ({ url: remote.url, ...extraKeys });
const remoteEntry = (extraKeys: Entry = {}, ofDefinition: Entry = {}): Entry => ({
  name: "shop",
  definition: definition(ofDefinition),
  ...extraKeys,
});
const withRemotes = (...remotes: readonly Entry[]): Entry =>
  buildMetadataDocument(
    [table("album", { select_permissions: permissions({ reader: { columns: ["id", "title"], filter: {} } }) })],
    {
      remote_schemas: remotes,
    },
  );
const start = (metadata: Entry | undefined, extraOptions: StartOptions = {}): Promise<TestApi> =>
  startWithWebhooks({ ...(metadata && { metadata }), ...extraOptions });

const api = await start(withRemotes(remoteEntry()));

beforeEach(() => {
  remote.requests.length = 0;
  remote.words.length = 0;
  remote.answer = undefined;
  remote.cookies = [];
});

describe("queries", () => {
  test("X-RMT-1 local and remote fields are in one answer, in the order of the document", async () => {
    const { data, errors } = await api.gql(
      '{ countries { code } album(limit: 1, order_by: {id: asc}) { id } se: country(code: "SE") { name } __typename }',
    );
    expect(errors).toBeUndefined();
    expect(Object.keys(data)).toEqual(["countries", "album", "se", "__typename"]);
    expect(data).toEqual({
      countries: [{ code: "SE" }, { code: "JP" }, { code: "ES" }],
      album: [{ id: 1 }],
      se: { name: "Sweden" },
      __typename: "query_root",
    });
  });

  test("X-RMT-6 arguments, variables, defaults, enums, aliases, fragments and directives reach the remote", async () => {
    const { data, errors } = await api.gql(
      `query ($in: Continent, $filter: CountryFilter, $no: Boolean = false, $unused: Int = 3) {
         all: countries(continent: $in, named: $filter) { ...names c: code @include(if: $no) }
         album(limit: $unused) { id }
         literal: countries(named: {}) { name }
       }
       fragment names on Country { title: name ...more @skip(if: $no) }
       fragment more on Country { continent }`,
      { in: "EU", filter: { starts: "Sw" } },
    );
    expect(errors).toBeUndefined();
    expect(data.all).toEqual([{ title: "Sweden", continent: "EU" }]);
    expect(data.literal).toEqual([{ name: "Sweden" }, { name: "Spain" }]);
    expect(data.album).toHaveLength(3);
  });

  test("X-RMT-6 unions and interfaces keep their types", async () => {
    const { data, errors } = await api.gql(
      `{ search(text: "S") { __typename ... on Country { code } ... on City { title } } node(id: "t1") { id ... on City { title } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      search: [
        { __typename: "Country", code: "SE" },
        { __typename: "Country", code: "ES" },
        { __typename: "City", title: "Stockholm" },
      ],
      node: { id: "t1", title: "Stockholm" },
    });
  });

  test("X-RMT-6 numbers of scalars keep all digits in both directions", async () => {
    remote.answer = (body) => {
      expect(body).toContain("12345678901234567890");
      return { status: 200, text: '{"data":{"echo":98765432109876543210,"ratio":1.50}}' };
    };
    const answer = await api.post("/v1/graphql", {
      headers: { ...asAdmin(), "content-type": "application/json" },
      body: '{"query":"query ($v: Big) { echo(value: $v) }","variables":{"v":12345678901234567890}}',
    });
    expect(answer.text).toBe('{"data":{"echo":98765432109876543210}}');
    remote.answer = () => ({ status: 200, text: '{"data":{"ratio":1.50}}' });
    expect(await api.gql("{ ratio }")).toEqual({ data: { ratio: 1.5 } });
    remote.answer = () => ({ status: 200, text: '{"data":{"ratio":12345678901234567890}}' });
    expect(await api.gql("{ ratio }")).toEqual({ data: { ratio: 12345678901234567000 } });
    remote.answer = undefined;
    const float = await api.post("/v1/graphql", {
      headers: { ...asAdmin(), "content-type": "application/json" },
      body: '{"query":"query ($v: Float) { echo(float: $v) }","variables":{"v":2.50}}',
    });
    expect(float.text).toBe('{"data":{"echo":2.5}}');
  });

  test.each([
    ["{ countries { nothing } }", 'Cannot query field "nothing" on type "Country".'],
    [
      "{ countries }",
      'Field "countries" of type "[Country!]!" must have a selection of subfields. Did you mean "countries { ... }"?',
    ],
    ["{ country { name } }", 'Field "country" argument "code" of type "ID!" is required, but it was not provided.'],
    [
      "query ($c: String!) { country(code: $c) { name } }",
      'Variable "$c" of type "String!" used in position expecting type "ID!".',
    ],
    [
      '{ country(code: "SE", more: 1) { name } }',
      'Unknown argument "more" on field "Query.country". Did you mean "code"?',
    ],
  ])("X-RMT-6 %s is rejected before the remote is called", async (query, message) => {
    const { errors } = await api.gql(query, query.startsWith("query") ? { c: "SE" } : undefined);
    expect(errors).toEqual([{ message, extensions: expect.objectContaining({ code: "validation-failed" }) }]);
    expect(remote.requests).toEqual([]);
  });

  test("X-RMT-6 a value that does not fit its variable is rejected", async () => {
    const query = "query ($in: Continent) { countries(continent: $in) { code } }";
    expect((await api.gql(query, { in: "EU" })).errors).toBeUndefined();
    const { errors } = await api.gql(query, { in: "XX" });
    expect(errors[0].message).toContain('Value "XX" does not exist in "Continent" enum');
    expect(errors[0].extensions).toEqual({ path: "$.variables", code: "validation-failed" });
  });

  test("X-RMT-1 introspection has the types of tables and remotes", async () => {
    const schema = await introspect(api);
    const sdl = printSchema(schema);
    for (const part of [
      "union Found = Country | City",
      "type Country implements Node",
      "type City implements Node",
      "interface Node",
      'starts: String = "S"',
      "type album ",
    ])
      expect(sdl).toContain(part);
    expect(
      schema
        .getQueryType()
        ?.getFields()
        ["countries"]?.args.map(({ name }) => name),
    ).toEqual(["codes", "continent", "named"]);
  });
});

describe("mutations", () => {
  test("X-RMT-12 the fields of a mutation run in their order, with a transaction between remote fields", async () => {
    const { data, errors } = await api.gql(`mutation {
      a: add(word: "one")
      insert_album_one(object: {title: "Between", artist_id: 1}) { title }
      b: add(word: "two")
      delete_album(where: {title: {_eq: "Between"}}) { affected_rows }
    }`);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      a: ["one"],
      insert_album_one: { title: "Between" },
      b: ["one", "two"],
      delete_album: { affected_rows: 1 },
    });
  });

  test("X-RMT-12 after an error of a remote field, no later field runs and earlier writes stay", async () => {
    const { data, errors } = await api.gql(`mutation {
      insert_album_one(object: {title: "Kept", artist_id: 1}) { title }
      fail
      add(word: "never")
    }`);
    expect(data).toBeUndefined();
    expect(errors).toEqual([{ message: "the word is rejected", path: ["fail"] }]);
    expect(remote.words).toEqual([]);
    expect(await database.query("delete from album where title = 'Kept' returning title")).toHaveLength(1);
  });
});

describe("errors", () => {
  test("X-RMT-7 errors of the remote keep message, path and extensions", async () => {
    const { data, errors } = await api.gql("{ album { id } list: countries { code broken } }");
    expect(data).toBeUndefined();
    expect(errors).toEqual(
      ["SE", "JP", "ES"].map((code, i) => ({
        message: `no data for ${code}`,
        path: ["list", i, "broken"],
        extensions: { code: "BROKEN" },
      })),
    );
  });

  test.each([
    ["a status without a result", { status: 503, text: "away" }, "its answer with status 503 is not a GraphQL result"],
    ["no GraphQL result", { status: 200, text: "[]" }, "its answer with status 200 is not a GraphQL result"],
  ])("X-RMT-8 %s is an error of the remote", async (_, answer, reason) => {
    remote.answer = () => answer;
    expect((await api.gql("{ secret }")).errors).toEqual([
      {
        message: `the remote schema shop failed: ${reason}`,
        extensions: { path: "$.selectionSet.secret", code: "remote-schema-error" },
      },
    ]);
  });
});

describe("requests", () => {
  test("X-RMT-4 the remote receives session variables, and configured headers before those of the client", async () => {
    vi.stubEnv("REMOTE_TOKEN", "from-env");
    const headers = [
      { name: "Authorization", value: "Bearer fixed" },
      { name: "X-Token", value_from_env: "REMOTE_TOKEN" },
    ];
    const forwarding = await start(withRemotes(remoteEntry({}, { headers, forward_client_headers: true })));
    const forwardedHeaders = {
      "x-custom": "mine",
      authorization: "Bearer client",
      "x-hasura-user-id": "7",
      "x-hasura-note": "caf\u00c3\u00a9",
    };
    const answer = await forwarding.gql(
      "{ secret }",
      {},
      { ...asAdmin(), ...forwardedHeaders, accept: "application/json" },
    );
    expect(answer).toEqual({ data: { secret: "treasure" } });
    const [request] = remote.requests;
    expect(request?.headers).toMatchObject({
      "x-custom": "mine",
      authorization: "Bearer fixed",
      "x-token": "from-env",
      "x-hasura-user-id": "7",
      "x-hasura-note": "caf\u00c3\u00a9",
      "x-hasura-role": "admin",
      "content-type": "application/json",
    });
    for (const name of Object.keys(request?.headers ?? {})) expect(name).not.toMatch(/secret|^x-session-/);
    await api.gql("{ secret }", {}, { ...asAdmin(), ...forwardedHeaders });
    expect(remote.requests[1]?.headers).not.toHaveProperty("x-custom");
    expect(remote.requests[1]?.headers).not.toHaveProperty("authorization");
    vi.unstubAllEnvs();
  });

  test("X-RMT-4 an operation of a WebSocket forwards the headers of connection_init", async () => {
    const forwarding = await start(withRemotes(remoteEntry({}, { forward_client_headers: true })));
    const socket = await openSocket(forwarding);
    await socket.init({ headers: { ...asAdmin(), "X-Custom": "mine", "X-Hasura-User-Id": "7" } });
    socket.send({ id: "1", type: "subscribe", payload: { query: "{ secret }" } });
    expect(await socket.next()).toMatchObject({ type: "next" });
    expect(remote.requests[0]?.headers).toMatchObject({ "x-custom": "mine", "x-hasura-user-id": "7" });
    expect(JSON.stringify(remote.requests[0])).not.toContain(adminSecret);
    await socket.close();
  });

  test("X-RMT-4a the fields of a query are one request to the remote, and those of a mutation one each", async () => {
    const fields = Array.from({ length: 200 }, (_, i) => `f${i}: country(code: "${i === 7 ? "SE" : "XX"}") { ...one }`);
    const query = `query ($in: Continent) { ${fields.join(" ")} list: countries(continent: $in) { ...one } album(limit: 1) { id } }
      fragment one on Country { name }`;
    const { data, errors } = await api.gql(query, { in: "AS" });
    expect(errors).toBeUndefined();
    expect([data.f6, data.f7, data.list]).toEqual([null, { name: "Sweden" }, [{ name: "Japan" }]]);
    expect(remote.requests).toHaveLength(1);
    await api.gql('mutation { a: add(word: "1") b: add(word: "2") }');
    expect(remote.requests).toHaveLength(3);
    const failure = await api.gql("{ secret failing list: countries { broken } }");
    expect(failure.errors[0]).toMatchObject({ message: expect.any(String), extensions: { code: "BROKEN" } });
    expect([["failing"], ["list", 0, "broken"]]).toContainEqual(failure.errors[0].path);
  });

  test("X-RMT-4b X-HTTP-10 a response has the cookies of all remotes that were called, also with errors", async () => {
    const otherRemote = await startRemote("type Query { time: String }");
    const twoRemotesApi = await start(
      withRemotes(remoteEntry(), { name: "clock", definition: { url: otherRemote.url } }),
    );
    remote.cookies = ["session=8; Path=/; HttpOnly", "seen=1"];
    otherRemote.cookies = ["zone=cet"];
    const ask = async (query: string | readonly string[], headers = {}): Promise<readonly string[]> => {
      const body = typeof query === "string" ? { query } : query.map((text) => ({ query: text }));
      const { rawHeaders } = await twoRemotesApi.post("/v1/graphql", { headers: { ...asAdmin(), ...headers }, body });
      return rawHeaders.filter(([name]) => name.toLowerCase() === "set-cookie").map(([, value]) => value);
    };
    expect((await ask("{ secret time album(limit: 1) { id } }")).toSorted()).toEqual(
      [...remote.cookies, ...otherRemote.cookies].toSorted(),
    );
    expect((await ask(["{ secret }", "{ time }"])).toSorted()).toEqual(
      [...remote.cookies, ...otherRemote.cookies].toSorted(),
    );
    expect(await ask('mutation { a: add(word: "1") b: add(word: "2") }')).toEqual([
      ...remote.cookies,
      ...remote.cookies,
    ]);
    expect(await ask("{ failing }")).toEqual(remote.cookies);
    expect(await ask("{ album(limit: 1) { id } }")).toEqual([]);
    expect(await ask("{ time }", { origin: "https://evil.example" })).toEqual([]);
    expect(await ask("{ time }", { origin: `http://127.0.0.1:${twoRemotesApi.port}` })).toEqual(otherRemote.cookies);
    remote.answer = () => ({ status: 503, text: "away" });
    expect(await ask("{ secret }")).toEqual(remote.cookies);
  });

  test("X-RMT-4 url_from_env and templates of the URL read environment variables", async () => {
    vi.stubEnv("SHOP_URL", remote.url);
    vi.stubEnv("SHOP_PORT", new URL(remote.url).port);
    const { name } = remoteEntry();
    for (const target of [{ url_from_env: "SHOP_URL" }, { url: "http://127.0.0.1:{{SHOP_PORT}}/graphql" }]) {
      const otherApi = await start(withRemotes({ name, definition: target }));
      expect(await otherApi.gql("{ secret }")).toEqual({ data: { secret: "treasure" } });
    }
    vi.unstubAllEnvs();
  });

  test("X-RMT-8 a private address that is not allowed, and an answer above the limit, are errors", async () => {
    const warnings = collectWarnings();
    const guardedApi = await start(withRemotes(remoteEntry()), { webhookAllowedHosts: [], logger: warnings.logger });
    expect((await guardedApi.gql("{ secret }")).errors[0].message).toBe(
      "field 'secret' not found in type: 'query_root'",
    );
    expect(warnings.all()).toEqual([
      "remote schema shop: the remote schema shop failed: the server has a private address, which WEBHOOK_ALLOWED_HOSTS does not allow; ignored",
    ]);
    const limitedApi = await start(withRemotes(remoteEntry()), { webhookMaxAnswerBytes: 30_000 });
    remote.answer = () => ({ status: 200, text: JSON.stringify({ data: { secret: "x".repeat(40_000) } }) });
    expect((await limitedApi.gql("{ secret }")).errors[0].message).toBe(
      "the remote schema shop failed: the answer of the server is larger than 30000 bytes",
    );
  });

  test("X-RMT-8 a remote has its timeout for an answer", async () => {
    const hasty = await start(withRemotes(remoteEntry({}, { timeout_seconds: 1 })));
    // On a busy machine the introspection may exceed the timeout too, and is then repeated.
    await until(async () => (await hasty.gql("{ secret }")).errors === undefined, "the remote schema is served");
    remote.answer = () => "wait";
    expect((await hasty.gql("{ secret album { id } }")).errors[0].message).toBe(
      "the remote schema shop failed: the server gave no complete answer within 1 s",
    );
  });
});

describe("availability", () => {
  test("X-RMT-8a an unavailable remote removes only its own fields, which return when the remote is available again", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    const otherRemote = await startRemote("type Query { late: String }");
    const warnings = collectWarnings();
    await otherRemote.stop();
    const lame = await start(withRemotes(remoteEntry(), { name: "late", definition: { url: otherRemote.url } }), {
      logger: warnings.logger,
    });
    expect(warnings.all()).toEqual([
      "remote schema late: the remote schema late failed: the connection to the server failed: ECONNREFUSED; ignored",
    ]);
    expect(await lame.gql("{ secret }")).toEqual({ data: { secret: "treasure" } });
    expect((await lame.gql("{ late }")).errors[0].message).toBe("field 'late' not found in type: 'query_root'");
    await otherRemote.start();
    vi.advanceTimersByTime(5000);
    vi.useRealTimers();
    await until(async () => (await lame.gql("{ late }")).errors === undefined, "the remote schema is back");
    await lame.reload();
    expect(otherRemote.introspections).toBe(1);
  });

  test.each([
    [{ url: "x", url_from_env: "y" }, "the definition has either url or url_from_env"],
    [{ url: 7 }, "url is not a string"],
    [{ url: "nowhere" }, "the remote schema shop failed: the address of the server is not an http or https URL"],
    [
      { url: "{{NO_SUCH_VARIABLE}}" },
      "the remote schema shop failed: the environment variable NO_SUCH_VARIABLE is not set",
    ],
    [{ url: "http://127.0.0.1/", headers: [{ name: "a" }] }, "headers[0] needs either value or value_from_env"],
    [{ url: "http://127.0.0.1/", timeout_seconds: -1 }, "timeout_seconds is not a number up to 3600"],
  ])("X-RMT-8b the definition %j is inconsistent", async (wrong, reason) => {
    const warnings = collectWarnings();
    const lame = await start(withRemotes({ name: "shop", definition: wrong }), { logger: warnings.logger });
    expect(warnings.all()).toEqual([`remote schema shop: ${reason}; ignored`]);
    expect(await lame.gql("{ album(limit: 1) { id } }")).toEqual({ data: { album: [{ id: expect.any(Number) }] } });
  });
});

describe("schemas of code", () => {
  test("X-RMT-2 a schema of graphql-js runs in the process, with the session in its context", async () => {
    const schema = buildSchema("type Query { who(loud: Boolean = true): String! }");
    const { who: whoField } = schema.getQueryType()?.getFields() ?? {};
    if (whoField) whoField.resolve = (_, { loud }, { session }) => `${session.role} ${loud}`;
    const part = remoteSchemas({
      here: { schema, permissions: { reader: "type Query { who: String! }" } },
      there: { url: remote.url, headers: { "x-key": "k" } },
    });
    const localApi = await start(undefined, { parts: [part], anonRole: "music_reader" });
    expect(await localApi.gql("{ who secret }")).toEqual({ data: { who: "admin true", secret: "treasure" } });
    expect(remote.requests[0]?.headers).toMatchObject({ "x-key": "k" });
  });

  test.skipIf(!capabilities.realServer)(
    "X-RMT-3 the standalone server serves a remote schema of the metadata",
    async () => {
      const program = startProgram(["--preset", "plus"], {
        DATABASE_URL: String(database.options.databaseUrl),
        METADATA: temporaryFile("metadata.json", JSON.stringify(withRemotes(remoteEntry()))),
        ADMIN_SECRET: adminSecret,
        WEBHOOK_ALLOWED_HOSTS: "127.0.0.1",
        PORT: "0",
      });
      const [, origin] = await program.untilPrinted(/(http:\/\/\S+)\/v1\/graphql/);
      const response = await fetch(`${origin}/v1/graphql`, {
        method: "POST",
        headers: { "x-session-admin-secret": adminSecret },
        body: JSON.stringify({ query: '{ country(code: "SE") { name } }' }),
      });
      expect(await response.json()).toEqual({ data: { country: { name: "Sweden" } } });
      await program.stop();
    },
  );

  test("X-RMT-3 a schema of another copy of graphql is rejected at the start", async () => {
    const part = remoteSchemas({ odd: { schema: { ...buildSchema("type Query { a: Int }") } as never } });
    await expect(start(undefined, { parts: [part] })).rejects.toThrow(
      /the schema of the remote schema odd uses another copy of the package graphql than relapi/,
    );
  });
});
