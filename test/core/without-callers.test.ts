/** The behaviour for callers and live queries without a plugin: schemes of authentication, metadata, transports,
 *  sources of changes. */
import { describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { bearer } from "../support/tokens.ts";
import { leaveOut } from "./left-out.ts";
import { buildMetadataDocument, table, permissions } from "../support/metadata-document.ts";

const start = (names: readonly string[], options: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ ...options, parts: leaveOut(...names) }));

const countries = "{ artist(limit: 1, order_by: {id: asc}) { country } }";

const askAs = async (api: TestApi, headers: Readonly<Record<string, unknown>> = {}): Promise<any> =>
  (await api.post("/v1/graphql", { headers: headers as never, body: { query: countries } })).json();

describe("schemes", async () => {
  const noSecret = await start(["admin-secret"]);
  const noTokens = await start(["jwt-tokens"]);
  const noAnonymous = await start(["anonymous"]);
  const wrongToken = { authorization: "Bearer x.y.z" };

  test("G-AUTH-1 without admin-secret its header has no effect, right or wrong, and the next scheme decides", async () => {
    const { errors } = await askAs(noSecret, asAdmin());
    // The anonymous role may read only names.
    expect(errors[0].message).toBe("field 'country' not found in type: 'artist'");
    expect(
      (await noSecret.get("/artist?select=name&id=eq.1", { headers: { "x-session-admin-secret": "wrong" } })).json(),
    ).toEqual([{ name: "Abba" }]);
    expect(
      await askAs(
        noSecret,
        bearer({
          "https://hasura.io/jwt/claims": {
            "x-hasura-default-role": "music_reader",
            "x-hasura-allowed-roles": ["music_reader"],
          },
        }),
      ),
    ).toEqual({
      data: { artist: [{ country: "SE" }] },
    });
  });

  test("R-AUT-1 without jwt-tokens no scheme reads a token, and the next scheme decides", async () => {
    expect((await noTokens.get("/artist?select=name&id=eq.1", { headers: wrongToken })).json()).toEqual([
      { name: "Abba" },
    ]);
    expect(
      (await noTokens.get("/artist?select=country&id=eq.1", { headers: bearer({ role: "music_reader" }) })).status,
    ).toBe(401);
    expect(await askAs(noTokens, { ...wrongToken, ...asAdmin() })).toEqual({ data: { artist: [{ country: "SE" }] } });
  });

  test("R-AUT-6 without anonymous a caller without credentials is rejected for any anonRole", async () => {
    const answer = await noAnonymous.get("/artist?select=name");
    expect([answer.status, answer.json().code, answer.headers["www-authenticate"]]).toEqual([
      401,
      "PGRST302",
      "Bearer",
    ]);
    expect((await askAs(noAnonymous)).errors[0].extensions.code).toBe("access-denied");
    expect(await askAs(noAnonymous, asAdmin())).toEqual({ data: { artist: [{ country: "SE" }] } });
  });
});

describe("metadata", async () => {
  const metadata = buildMetadataDocument([
    table("artist", {
      configuration: { custom_name: "Musician" },
      select_permissions: permissions({
        music_reader: { columns: ["id"], filter: { id: { _eq: 2 } } },
        visitor: { columns: ["id"], filter: { id: { _eq: 2 } } },
      }),
    }),
  ]);
  const fullApi = await start([], { metadata });
  const noPermissions = await start(["metadata-permissions"], { metadata });
  const noMetadata = await start(["metadata"], { metadata });
  const noLoader = await start(["metadata-loader"], { metadata });
  const musicians = "{ Musician(order_by: {id: asc}) { id } }";

  test("G-PRM-3 without metadata-permissions grants apply, and no caller acts as the login role", async () => {
    expect(await fullApi.gql(musicians, {}, asAdmin("music_reader"))).toEqual({ data: { Musician: [{ id: 2 }] } });
    expect(await fullApi.gql(musicians, {}, asAdmin("visitor"))).toEqual({ data: { Musician: [{ id: 2 }] } });
    expect(
      (await noPermissions.gql("{ Musician(order_by: {id: asc}) { id country } }", {}, asAdmin("music_reader"))).data
        .Musician,
    ).toHaveLength(4);
    expect((await noPermissions.gql(musicians, {}, asAdmin("visitor"))).errors[0].message).toBe(
      "field 'Musician' not found in type: 'query_root'",
    );
  });

  test.each([
    ["metadata", noMetadata],
    ["metadata-loader", noLoader],
  ])("G-MET-1 without %s the option changes nothing", async (_, api) => {
    expect((await api.gql(musicians)).errors[0].message).toBe("field 'Musician' not found in type: 'query_root'");
    expect((await api.gql("{ artist { id } }")).data.artist).toHaveLength(4);
  });
});

describe("live queries", async () => {
  const subscription = "subscription { artist_by_pk(id: 4) { country } }";
  const country = (api: TestApi, value: string | null): Promise<unknown> =>
    api.sql("update artist set country = $1 where id = 4", [value]);
  const untilClosed = (api: TestApi, protocol: string, path?: string): Promise<unknown> =>
    openSocket(api, { protocols: [protocol], ...(path === undefined ? {} : { path }) }).then(
      ({ closed }) => closed,
      (error: Error) => error.message,
    );
  const openSubscription = async (api: TestApi) => {
    const socket = await openSocket(api);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: subscription } });
    expect(await socket.next((message) => message.type === "next")).toMatchObject({
      payload: { data: { artist_by_pk: { country: null } } },
    });
    return socket;
  };

  const noQueries = await start(["live-queries"]);
  const noTransport = await start(["websocket-transport", "sse"]);
  const noLegacy = await start(["legacy-websocket", "notify-changes", "replication-changes"]);
  const apiWithoutSources = await start(["notify-changes", "replication-changes", "poll-changes"]);

  test("G-SUB-1 without live-queries no subscriptions exist", async () => {
    expect((await noQueries.gql(subscription)).errors[0]).toEqual({
      message: "no subscriptions exist",
      extensions: { path: "$", code: "validation-failed" },
    });
    expect((await noQueries.gql("{ __schema { subscriptionType { name } } }")).data).toEqual({
      __schema: { subscriptionType: null },
    });
  });

  test("G-HTTP-12 without live-queries the address of sockets is unknown", async () => {
    expect((await noQueries.get("/v1/graphql/ws")).status).toBe(404);
    expect(await untilClosed(noQueries, "graphql-transport-ws")).toMatch(/^rejected with 404/);
  });

  test("X-UPG-1 without upgrades and the transports an upgrade is a plain request", async () => {
    const noUpgrades = await start(["upgrades"]);
    expect("attach" in noUpgrades.relApi).toBe(false);
    expect(await untilClosed(noUpgrades, "graphql-transport-ws")).toMatch(/^rejected with 426/);
  });

  test("G-WS-1 without websocket-transport its protocol is not supported", async () => {
    expect(await untilClosed(noTransport, "graphql-transport-ws")).toMatchObject({ code: 1002 });
    const legacy = await openSocket(noTransport, { protocols: ["graphql-ws"] });
    legacy.send({ type: "connection_init", payload: { headers: asAdmin() } });
    expect(await legacy.next((message) => message.type === "connection_ack")).toEqual({ type: "connection_ack" });
    await legacy.close();
  });

  test("G-HTTP-2 without sse a subscription over HTTP is rejected", async () => {
    const answer = await noTransport.post("/v1/graphql", {
      headers: { accept: "text/event-stream", ...asAdmin() },
      body: { query: subscription },
    });
    expect(answer.json().errors[0].message).toBe("subscriptions are not supported over HTTP, use websockets instead");
  });

  test("G-WSL-1 without legacy-websocket its protocol is not supported", async () => {
    expect(await untilClosed(noLegacy, "graphql-ws", "/v1/graphql")).toMatchObject({ code: 1002 });
  });

  test("G-SUB-4 without notify-changes and replication-changes the next change source is used", async () => {
    const socket = await openSubscription(noLegacy);
    await country(noLegacy, "FR");
    expect(await socket.next((message) => message.type === "next")).toMatchObject({
      payload: { data: { artist_by_pk: { country: "FR" } } },
    });
    await country(noLegacy, null);
    await socket.close();
  });

  test("G-SUB-4 without any change source a live query sends one result", async () => {
    const socket = await openSubscription(apiWithoutSources);
    const watching = await openSubscription(noLegacy);
    await country(apiWithoutSources, "FR");
    // An api that has sources has noticed the change by then.
    expect(await watching.next((message) => message.type === "next")).toMatchObject({
      payload: { data: { artist_by_pk: { country: "FR" } } },
    });
    const otherSubscription = "subscription { artist_by_pk(id: 4) { marker: country } }";
    socket.send({ id: "2", type: "subscribe", payload: { query: otherSubscription } });
    expect(await socket.next()).toMatchObject({ id: "2", payload: { data: { artist_by_pk: { marker: "FR" } } } });
    await country(apiWithoutSources, null);
    await watching.close();
    await socket.close();
  });
});
