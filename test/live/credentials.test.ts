/** Credentials that become invalid end the sockets and streams that they opened, on every transport. */
import { describe, expect, test, vi } from "vitest";
import { definePlugin, RelApiError, type RelApiOptions } from "../../core/index.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { openEvents, subscribe } from "../support/live.ts";
import { openSocket, type TestSocket } from "../support/socket.ts";
import { createRsaKeys } from "../support/tokens.ts";
import { credentialsChangedSignal } from "../../plugins/auth/api.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const { getJwk: jwkOf, sign } = createRsaKeys(3);
const signToken = (i: number): string => sign(i, { role: "sea_clerk" });

let servedKeys: readonly number[] = [0, 1];
let isAway = false;
let fetches = 0;
const keyPort = await startHttpServer((_, response) => {
  fetches++;
  if (isAway) response.destroy();
  else response.end(JSON.stringify({ keys: servedKeys.map(jwkOf) }));
});
const jwkUrl = `http://127.0.0.1:${keyPort}/keys`;

/** Options that change while the server runs. */
let changingOptions: RelApiOptions = {};
const movingSettings = definePlugin({
  name: "moving-settings",
  apply: (_, context) => context.addOptionSource({ name: "the test", read: async () => changingOptions }),
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** A live query on a socket, after its first result. */
const live = async (
  api: TestApi,
  headers: Readonly<Record<string, string>>,
  protocol = "graphql-transport-ws",
): Promise<TestSocket> => {
  const socket = await openSocket(api, { protocols: [protocol] });
  if (protocol === "graphql-ws") {
    socket.send({ type: "connection_init", payload: { headers } });
    socket.send({ id: "1", type: "start", payload: { query: "subscription { sea_ports(limit: 1) { id } }" } });
    await socket.next(({ type }) => type === "data");
  } else {
    await socket.init({ headers });
    subscribe(socket, "1", "subscription { sea_ports(limit: 1) { id } }");
    await socket.next(({ type }) => type === "next");
  }
  return socket;
};

/** Resolves to true if the server responds on the socket, after all earlier messages. */
const isOpen = (socket: TestSocket): Promise<boolean> => {
  socket.send({ type: "ping" });
  return Promise.race([socket.next(({ type }) => type === "pong").then(() => true), socket.closed.then(() => false)]);
};

const GRAPHQL = { method: "POST", body: { query: "subscription { sea_ports(limit: 1) { id } }" } };

describe("R-AUT-15", async () => {
  const api = await startApi({
    jwtSecret: JSON.stringify({ jwk_url: jwkUrl }),
    adminSecret: undefined,
    adminSecrets: ["administrator-one", "administrator-two"],
    parts: [movingSettings],
  });
  const fetchStatus = async (token: string): Promise<number> =>
    (await api.get("/ports?select=id&limit=1", { headers: bearer(token) })).status;

  test("R-AUT-15 G-WS-15 a key that leaves the key set ends the connections of its tokens on every transport", async () => {
    const old = bearer(signToken(0));
    const stays = [
      await live(api, bearer(signToken(1))),
      await live(api, {}),
      await live(api, { "x-session-admin-secret": "administrator-one" }),
    ];
    const [modern, legacy] = [await live(api, old), await live(api, old, "graphql-ws")];
    const rest = await openEvents(api, "/ports?select=id&limit=1", { headers: old });
    const graphql = await openEvents(api, "/v1/graphql", { ...GRAPHQL, headers: old });
    await until(() => rest.events.length > 0 && graphql.events.length > 0, "the first events");

    servedKeys = [1, 2];
    // The keys are fetched again, but not immediately after the last fetch.
    await until(async () => (await fetchStatus(signToken(2))) === 200, "the new key is known");
    expect(await modern.closed).toEqual({
      code: 4403,
      reason: expect.stringMatching(/^Forbidden: Could not verify JWT: /),
    });
    expect((await legacy.closed).code).toBe(4403);
    await Promise.all([rest.closed, graphql.closed]);
    expect(graphql.events.at(-1)?.event).toBe("complete");
    expect(await fetchStatus(signToken(0))).toBe(401);
    expect(await Promise.all(stays.map(isOpen))).toEqual([true, true, true]);
    for (const socket of stays) await socket.close();
  });

  test("R-AUT-15 a removed admin secret and a new required audience end their connections", async () => {
    const [firstSocket, secondSocket] = [
      await live(api, { "x-session-admin-secret": "administrator-one" }),
      await live(api, { "x-session-admin-secret": "administrator-two" }),
    ];
    changingOptions = { adminSecrets: ["administrator-two"] };
    await api.relApi.reload();
    expect(await firstSocket.closed).toEqual({ code: 4403, reason: "Forbidden: invalid x-session-admin-secret" });
    const token = sign(1, { role: "sea_clerk", aud: "others" });
    const [otherSocket, noAudienceSocket] = [await live(api, bearer(token)), await live(api, bearer(signToken(1)))];
    changingOptions = { ...changingOptions, jwtAud: "us" };
    await api.relApi.reload();
    expect(await otherSocket.closed).toMatchObject({ code: 4403 });
    expect([await isOpen(secondSocket), await isOpen(noAudienceSocket)]).toEqual([true, true]);
    await secondSocket.close();
    await noAudienceSocket.close();
  });

  test("R-AUT-14 R-AUT-15 a reload of the settings keeps the keys while the key server is unavailable", async () => {
    const open = await live(api, bearer(signToken(1)));
    const before = fetches;
    isAway = true;
    changingOptions = { ...changingOptions, dbMaxRows: 500 };
    await api.relApi.reload();
    expect([await fetchStatus(signToken(1)), await isOpen(open), fetches]).toEqual([200, true, before]);
    isAway = false;
    await open.close();
  });
});

test("R-AUT-15 an auth scheme that fails closes no connection and is asked again", async () => {
  let answers: () => void = () => undefined;
  let callCount = 0;
  let tell: () => void = () => undefined;
  const scheme = definePlugin({
    name: "tickets",
    apply: (hooks, context) => {
      const signal = context.use(credentialsChangedSignal);
      tell = () => signal.emit(undefined);
      hooks.authorize.tapPromise("tickets", async (credentials) => {
        if (credentials.header("x-ticket") === undefined) return undefined;
        callCount++;
        answers();
        return { role: "sea_clerk", databaseRole: "sea_clerk", isAdmin: false, claims: {}, variables: {} };
      });
    },
  });
  const api = await startApi({ parts: [scheme] });
  const socket = await live(api, { "x-ticket": "yes" });
  answers = () => {
    throw new RelApiError({ code: "unexpected", status: 503, message: "the ticket office is closed" });
  };
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  tell();
  await until(() => callCount === 2, "the scheme is asked");
  expect(await isOpen(socket)).toBe(true);
  answers = () => {
    throw new RelApiError({ code: "access-denied", status: 401, message: "no such ticket" });
  };
  vi.advanceTimersByTime(5000);
  expect(await socket.closed).toEqual({ code: 4403, reason: "Forbidden: no such ticket" });
  expect(callCount).toBe(3);
  vi.useRealTimers();
});
