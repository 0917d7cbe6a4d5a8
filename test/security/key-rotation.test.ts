/** Keys rotate behind a `jwk_url`, and a key server misbehaves. */
import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { startApi, type TestApi } from "../support/api.ts";
import { createRsaKeys } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { collectMessages } from "../support/logger.ts";
import { startHttpServer } from "../support/http-server.ts";

const { getJwk: jwkOf, sign } = createRsaKeys(4);

/** The number of tokens, which makes each token new to the API. */
let tokens = 0;
const signToken = (i: number, kid?: string): string => sign(i, { role: "sea_clerk", jti: tokens++ }, kid);

let answer: (response: ServerResponse) => void;
let fetches = 0;
const serveKeys =
  (...indexes: readonly number[]) =>
  (response: ServerResponse): void =>
    void response.end(JSON.stringify({ keys: indexes.map(jwkOf) }));

const port = await startHttpServer((_, response) => {
  fetches++;
  answer(response);
});
const url = `http://127.0.0.1:${port}/keys`;

/** A key set may be fetched again after a second on this clock, which only tests advance. A whole number of
 *  milliseconds keeps the sums exact. */
let nowMs = Math.ceil(performance.now());
const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
afterAll(() => clock.mockRestore());
const turnClock = (ms = 1000): void => void (nowMs += ms);

answer = serveKeys(0);
const { logger, lines: log } = collectMessages("error", "warn");
const api: TestApi = await startApi({ jwtSecret: JSON.stringify({ jwk_url: url }), logger });

const fetchStatus = async (token: string): Promise<number> =>
  (await api.get("/ports?select=id&limit=1", { headers: { authorization: `Bearer ${token}` } })).status;
const fetchGqlErrorCode = async (token: string): Promise<string | undefined> =>
  (
    await api.post("/v1/graphql", {
      headers: { authorization: `Bearer ${token}` },
      body: { query: "{ __typename }" },
    })
  ).json().errors?.[0].extensions.code;

beforeEach(() => {
  turnClock(60_000); // the next fetch may begin, and the next failure is logged
  fetches = 0;
  log.length = 0;
});

test("R-AUT-14 G-AUTH-22 R-AUT-14a a new key is accepted with its first token, and a removed key is rejected, on both surfaces", async () => {
  answer = serveKeys(0);
  expect(await fetchStatus(signToken(0))).toBe(200);
  answer = serveKeys(0, 1);
  expect([await fetchStatus(signToken(1)), await fetchGqlErrorCode(signToken(1))]).toEqual([200, undefined]);
  expect([await fetchStatus(signToken(0)), fetches]).toEqual([200, 1]);
  const old = signToken(0);
  expect(await fetchStatus(old)).toBe(200);
  turnClock();
  answer = serveKeys(1, 2);
  expect(await fetchGqlErrorCode(signToken(2))).toBeUndefined();
  // This includes tokens that were verified before.
  expect([await fetchStatus(old), await fetchGqlErrorCode(old), await fetchStatus(signToken(0))]).toEqual([
    401,
    "invalid-jwt",
    401,
  ]);
  expect([await fetchStatus(signToken(1)), await fetchStatus(signToken(2))]).toEqual([200, 200]);
});

/** Serves these keys, and lets the API fetch again at once. */
const haveKeys = async (...indexes: readonly number[]): Promise<void> => {
  answer = serveKeys(...indexes);
  expect(await fetchStatus(signToken(0, "unknown"))).toBe(401);
  turnClock();
  fetches = 0;
};

test("R-AUT-14 another key with the same kid replaces the old one", async () => {
  await haveKeys(1, 2);
  answer = (response) => void response.end(JSON.stringify({ keys: [{ ...jwkOf(3), kid: "k1" }, jwkOf(2)] }));
  expect(await fetchStatus(signToken(3, "k1"))).toBe(200);
  expect(await fetchStatus(signToken(1))).toBe(401);
  answer = serveKeys(1, 2);
  turnClock();
  expect(await fetchStatus(signToken(1))).toBe(200);
});

test("R-AUT-14 a flood of tokens with unknown keys causes one fetch a second and delays no request", async () => {
  await haveKeys(1, 2);
  let isOver = false;
  let rejectionCount = 0;
  const flood = Array.from({ length: 10 }, async (_, worker) => {
    for (let i = 0; !isOver; i++) {
      expect(await fetchStatus(signToken(0, `unknown ${worker} ${i}`))).toBe(401);
      rejectionCount++;
    }
  });
  /** Expects all pending tokens to be rejected, and later tokens too. */
  const goesOn = async (): Promise<void> => {
    const expectedCount = rejectionCount + 4 * flood.length;
    await until(() => rejectionCount >= expectedCount, "the flood of tokens goes on");
  };
  for (let second = 1; second <= 3; second++) {
    await goesOn();
    expect(fetches).toBe(second);
    turnClock(999);
    await goesOn();
    expect(fetches).toBe(second);
    turnClock(1);
  }
  await goesOn();
  // A valid token does not wait for the fetch that the flood awaits.
  let release: () => void = () => undefined;
  answer = (response) => void (release = () => serveKeys(1, 2)(response));
  turnClock();
  await until(() => fetches === 5, "the flood causes a fetch");
  expect(await fetchStatus(signToken(1))).toBe(200);
  release();
  // A new key is published during the flood.
  await goesOn();
  answer = serveKeys(1, 2, 3);
  expect(await fetchStatus(signToken(3))).toBe(401);
  turnClock();
  expect(await fetchStatus(signToken(3))).toBe(200);
  isOver = true;
  await Promise.all(flood);
  expect(fetches).toBe(6);
});

/** Faults of the key server. The first two end after the API's time limit of 3 s. */
const faults: readonly (readonly [fault: string, answer: (response: ServerResponse) => void])[] = [
  ["says nothing", () => undefined],
  ["never ends its answer", (response) => void response.write('{"keys":[')],
  ["sends HTML", (response) => void response.end("<html>")],
  ["has no key", (response) => void response.end('{"keys":[]}')],
  ["has no list of keys", (response) => void response.end('{"keys":"none"}')],
  ["fails", (response) => void response.writeHead(500).end()],
  ["sends too much", (response) => void response.end("x".repeat(2_000_000))],
  ["closes the connection", (response) => void response.socket?.destroy()],
];

test.each(faults)("R-AUT-14 R-AUT-14a a key server that %s affects no other caller", async (_fault, faulty) => {
  await haveKeys(1, 2);
  let give: () => void = () => undefined;
  answer = (response) => void (give = () => faulty(response));
  const unknown = fetchStatus(signToken(0));
  await until(() => fetches === 1, "the keys are fetched");
  expect(await fetchStatus(signToken(1))).toBe(200);
  give();
  expect(await fetchStatus(signToken(1))).toBe(200);
  expect(await unknown).toBe(401);
  expect(await fetchStatus(signToken(1))).toBe(200);
  expect(log).toEqual(["failed to fetch token keys"]);
  answer = serveKeys(1, 2, 0);
  turnClock();
  expect(await fetchStatus(signToken(0))).toBe(200);
});

test("R-AUT-14 R-AUT-14a the same problem is logged once a minute for any number of requests", async () => {
  await haveKeys(1, 2);
  answer = (response) => void response.writeHead(503).end();
  for (let second = 1; second <= 4; second++) {
    expect(await fetchStatus(signToken(3, "nobody's"))).toBe(401);
    expect(fetches).toBe(second);
    turnClock();
  }
  expect(log).toEqual(["failed to fetch token keys"]);
  turnClock(60_000);
  expect(await fetchStatus(signToken(3, "nobody's"))).toBe(401);
  expect(log).toHaveLength(2);
});
