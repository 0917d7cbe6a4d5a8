/** Keys that rotate behind a `jwk_url`, and a key server that does not behave. */
import { generateKeyPairSync } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startApi, type TestApi } from "../support/api.ts";
import { pause } from "../support/live.ts";
import { signToken } from "../support/tokens.ts";

const keys = Array.from({ length: 4 }, () => generateKeyPairSync("rsa", { modulusLength: 2048 }));
const jwkOf = (i: number) => ({ ...keys[i]!.publicKey.export({ format: "jwk" }), kid: `k${i}`, alg: "RS256" });

const tokenOf = (i: number, kid = `k${i}`): string =>
  signToken(
    { role: "sea_clerk", jti: Math.random() },
    { key: keys[i]!.privateKey, algorithm: "RS256", header: { kid } },
  );

let answer: (response: ServerResponse) => void;
let fetchedAtMs: number[] = [];
const setOf =
  (...indexes: readonly number[]) =>
  (response: ServerResponse): void =>
    void response.end(JSON.stringify({ keys: indexes.map(jwkOf) }));

const server = createServer((_, response) => {
  fetchedAtMs.push(performance.now());
  answer(response);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`; // it listens
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

answer = setOf(0);
const log: string[] = [];
const note = (line: string): void => void log.push(line);
const api: TestApi = await startApi({
  jwtSecret: JSON.stringify({ jwk_url: url }),
  logger: { error: note, warn: note, info: () => undefined, debug: () => undefined, access: () => undefined },
});

const statusOf = async (token: string): Promise<number> =>
  (await api.get("/ports?select=id&limit=1", { headers: { authorization: `Bearer ${token}` } })).status;
const graphqlOf = async (token: string): Promise<string | undefined> =>
  (
    await api.post("/v1/graphql", {
      headers: { authorization: `Bearer ${token}` },
      body: { query: "{ __typename }" },
    })
  ).json().errors?.[0].extensions.code;

beforeEach(async () => {
  await pause(1050); // the next fetch may begin
  fetchedAtMs = [];
  log.length = 0;
});

test("R-AUT-14 G-AUTH-22 a new key is accepted with its first token, a removed one is refused, on both surfaces", async () => {
  expect(await statusOf(tokenOf(0))).toBe(200);
  answer = setOf(0, 1);
  expect([await statusOf(tokenOf(1)), await graphqlOf(tokenOf(1))]).toEqual([200, undefined]);
  expect([await statusOf(tokenOf(0)), fetchedAtMs.length]).toEqual([200, 1]);
  const old = tokenOf(0);
  expect(await statusOf(old)).toBe(200);
  await pause(1050);
  answer = setOf(1, 2);
  expect(await graphqlOf(tokenOf(2))).toBeUndefined();
  // a token that was verified before, too
  expect([await statusOf(old), await graphqlOf(old), await statusOf(tokenOf(0))]).toEqual([401, "invalid-jwt", 401]);
  expect([await statusOf(tokenOf(1)), await statusOf(tokenOf(2))]).toEqual([200, 200]);
});

test("R-AUT-14 another key under the same name", async () => {
  answer = (response) => void response.end(JSON.stringify({ keys: [{ ...jwkOf(3), kid: "k1" }, jwkOf(2)] }));
  expect(await statusOf(tokenOf(3, "k1"))).toBe(200);
  expect(await statusOf(tokenOf(1))).toBe(401);
  answer = setOf(1, 2);
  await pause(1050);
  expect(await statusOf(tokenOf(1))).toBe(200);
});

test("R-AUT-14 a flood of tokens with unknown keys causes one fetch a second, and holds up nobody", async () => {
  answer = setOf(1, 2);
  let isOver = false;
  const statuses = new Set<number>();
  const flood = Array.from({ length: 10 }, async (_, worker) => {
    for (let i = 0; !isOver; i++) statuses.add(await statusOf(tokenOf(0, `unknown ${worker} ${i}`)));
  });
  const startedMs = performance.now();
  let slowestMs = 0;
  while (performance.now() - startedMs < 3200) {
    const sentMs = performance.now();
    expect(await statusOf(tokenOf(1))).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - sentMs);
  }
  // a new key comes while it goes on
  answer = setOf(1, 2, 3);
  const token = tokenOf(3);
  const newMs = performance.now();
  while ((await statusOf(token)) !== 200) expect(performance.now() - newMs).toBeLessThan(5000);
  isOver = true;
  await Promise.all(flood);
  expect([...statuses]).toEqual([401]);
  const gaps = fetchedAtMs.slice(1).map((at, i) => at - fetchedAtMs[i]!);
  expect(fetchedAtMs.length).toBeGreaterThanOrEqual(3);
  expect(Math.min(...gaps)).toBeGreaterThan(900); // as they arrive: they are sent a second apart
  expect(fetchedAtMs.length).toBeLessThanOrEqual(1 + (performance.now() - startedMs) / 1000);
  expect(slowestMs).toBeLessThan(1500);
});

test("R-AUT-14 a key server that hangs, lies, sends too much or is gone harms nobody", async () => {
  const bad: readonly ((response: ServerResponse) => void)[] = [
    () => undefined, // it says nothing
    (response) => void response.write('{"keys":['), // it never ends
    (response) => void response.end("<html>"),
    (response) => void response.end('{"keys":[]}'),
    (response) => void response.end('{"keys":"none"}'),
    (response) => void response.writeHead(500).end(),
    (response) => void response.end("x".repeat(2_000_000)),
    (response) => void response.socket?.destroy(),
  ];
  for (const each of bad) {
    await pause(1050);
    answer = each;
    const unknown = statusOf(tokenOf(0));
    await pause(20);
    const sentMs = performance.now();
    expect(await statusOf(tokenOf(1))).toBe(200);
    expect(performance.now() - sentMs).toBeLessThan(1000);
    expect(await unknown).toBe(401);
    expect(performance.now() - sentMs).toBeLessThan(4500);
  }
  expect(log.filter((line) => line === "failed to fetch token keys").length).toBeLessThanOrEqual(bad.length);
  answer = setOf(1, 2, 0);
  await pause(1050);
  expect(await statusOf(tokenOf(0))).toBe(200);
});

test("R-AUT-14 the same trouble is told once a minute, however often it is met", async () => {
  answer = (response) => void response.writeHead(503).end();
  for (let i = 0; i < 4; i++) {
    expect(await statusOf(tokenOf(3, "nobody's"))).toBe(401);
    await pause(1050);
  }
  expect(fetchedAtMs.length).toBeGreaterThanOrEqual(3);
  expect(log).toEqual(["failed to fetch token keys"]);
});
