import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectSettings } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { serve, type StandaloneServer } from "../../presets/server/serve.ts";
import { capabilities, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { lockTable, untilLocked } from "../support/locks.ts";
import { freePort } from "../support/ports.ts";
import { adminSecret, bearer, jwtSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { collectMessages, createLogger } from "../support/logger.ts";

const database = await testDatabase();
const options = {
  ...database.options,
  dbSchemas: ["sea", "land"],
  anonRole: "sea_anon",
  jwtSecret,
  adminSecret,
  logLevel: "silent",
  appSettings: { key: "very secret" },
} as const;

let standaloneServer: StandaloneServer;
let admin: string;

beforeAll(async () => {
  const adminPort = await freePort();
  standaloneServer = await serve({
    options,
    server: { host: "127.0.0.1", port: 0, adminPort, unixSocketMode: 0o660, workers: 1 },
  });
  await standaloneServer.api.ready;
  admin = `http://127.0.0.1:${adminPort}`;
});

afterAll(() => standaloneServer.stop());

const get = async (path: string): Promise<readonly [status: number, text: string, type: string | null]> => {
  const response = await fetch(admin + path);
  return [response.status, await response.text(), response.headers.get("content-type")];
};

test("R-ADM-1 R-ADM-1a /live and /ready answer 200 with an empty body", async () => {
  expect(await get("/live")).toEqual([200, "", null]);
  expect(await get("/ready")).toEqual([200, "", null]);
});

test("R-ADM-1 other paths of the admin listener are 404 and list the endpoints, and other methods are 404", async () => {
  const paths = "admin endpoints: /live, /ready, /metrics, /live-queries, /config, /schema_cache\n";
  for (const path of ["/", "/ports", "/live/", "/api/ports"])
    expect(await get(path)).toEqual([404, paths, "text/plain; charset=utf-8"]);
  expect((await fetch(`${admin}/live`, { method: "POST" })).status).toBe(404);
});

test("R-ADM-1b X-PAGE-6 a browser gets a page that links to the endpoints, with colours for light and dark", async () => {
  const response = await fetch(admin, { headers: { accept: "text/html" } });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  const text = await response.text();
  expect(text).toContain("@media (prefers-color-scheme: dark)");
  expect(text).toContain("td a { white-space: nowrap; }"); // a phone would break the paths into pieces
  const links = [...text.matchAll(/<a href="([^"]*)"/g)].map(([, link]) => link!);
  expect(links).toHaveLength(6);
  for (const link of links) expect((await fetch(new URL(link, `${admin}/`))).status).not.toBe(404);
});

test("R-ADM-1 the listener of the API does not serve the admin endpoints", async () => {
  expect((await fetch(`${standaloneServer.address}/live`)).status).toBe(404);
  expect((await fetch(`${standaloneServer.address}/api/metrics`)).status).toBe(404);
});

test("R-ADM-1 /schema_cache shows the model as JSON", async () => {
  const [status, text, type] = await get("/schema_cache");
  expect([status, type]).toEqual([200, "application/json; charset=utf-8"]);
  const model = JSON.parse(text);
  expect(model.schemas).toEqual(["sea", "land"]);
  expect(model.relations["sea.vessels"]).toMatchObject({ schema: "sea", name: "vessels", primaryKey: ["id"] });
});

test("R-ADM-1 /schema_cache has the keys of PostgREST's schema cache", async () => {
  const [, text] = await get("/schema_cache");
  const cache = JSON.parse(text);
  for (const key of ["dbTables", "dbRelationships", "dbRoutines", "dbRepresentations", "dbMediaHandlers"])
    expect(Array.isArray(cache[key]), key).toBe(true);
  const findEntry = (pairs: readonly [{ readonly qiName: string }, unknown][], name: string) =>
    pairs.find(([key]) => key.qiName === name)?.[1];
  expect(findEntry(cache.dbTables, "vessels")).toMatchObject({
    tableName: "vessels",
    tableIsView: false,
    tablePKCols: ["id"],
    tableColumns: { name: { colName: "name", colType: "text", colNullable: false } },
  });
  const ofVessels = cache.dbRelationships.find(([[key]]: [[{ qiName: string }]]) => key.qiName === "vessels")[1];
  const tags = new Set(
    ofVessels.map((relationship: { relCardinality?: { tag: string } }) => relationship.relCardinality?.tag),
  );
  expect(tags).toEqual(new Set(["M2O", "O2M", "O2O", "M2M", undefined])); // computed relationships have no cardinality
  expect(findEntry(cache.dbRoutines, "fleet_weight")).toMatchObject([
    { pdName: "fleet_weight", pdVolatility: "stable" },
  ]);
});

test("R-ADM-1 /config shows the settings without secrets", async () => {
  const [status, text] = await get("/config");
  expect(status).toBe(200);
  expect(text).toContain('db-schemas = "sea,land"\n');
  expect(text).toContain("db-pool = 10\n");
  for (const secret of [jwtSecret, adminSecret, "very secret", "postgres://"]) expect(text).not.toContain(secret);
});

/** The samples of metrics by name and labels. */
const metrics = async (): Promise<Readonly<Record<string, number>>> => {
  const [status, text, type] = await get("/metrics");
  expect([status, type]).toEqual([200, "text/plain; charset=utf-8"]);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
};

test("R-ADM-2 /metrics lists every metric with its kind", async () => {
  const [, text] = await get("/metrics");
  for (const [name, kind] of [
    ["pgrst_schema_cache_query_time_seconds", "gauge"],
    ["pgrst_schema_cache_loads_total", "counter"],
    ["pgrst_db_pool_timeouts_total", "counter"],
    ["pgrst_db_pool_available", "gauge"],
    ["pgrst_db_pool_waiting", "gauge"],
    ["pgrst_db_pool_max", "gauge"],
    ["pgrst_jwt_cache_requests_total", "counter"],
    ["pgrst_jwt_cache_hits_total", "counter"],
    ["pgrst_jwt_cache_evictions_total", "counter"],
    ["relapi_refused_total", "counter"],
  ])
    expect(text).toContain(`# TYPE ${name} ${kind}\n`);
});

test("R-ADM-2 /metrics counts loads of the schema and uses of the JWT cache", async () => {
  const before = await metrics();
  expect(before).toMatchObject({
    pgrst_db_pool_max: capabilities.realServer ? 10 : 1,
    pgrst_db_pool_waiting: 0,
    pgrst_db_pool_timeouts_total: 0,
    'pgrst_schema_cache_loads_total{status="FAIL"}': 0,
  });
  expect(before["pgrst_schema_cache_query_time_seconds"]).toBeGreaterThan(0);
  const headers = bearer({ role: "sea_clerk" });
  for (let i = 0; i < 3; i++)
    expect((await fetch(`${standaloneServer.address}/api/ports`, { headers })).status).toBe(200);
  await standaloneServer.api.reload();
  const after = await metrics();
  expect(after['pgrst_schema_cache_loads_total{status="SUCCESS"}']).toBe(
    before['pgrst_schema_cache_loads_total{status="SUCCESS"}']! + 1,
  );
  expect(after["pgrst_jwt_cache_requests_total"]).toBe(before["pgrst_jwt_cache_requests_total"]! + 3);
  expect(after["pgrst_jwt_cache_hits_total"]).toBe(before["pgrst_jwt_cache_hits_total"]! + 2);
});

test("R-ADM-2 R-LIM-1 G-LIM-1 a metric counts the rejected requests of each limit by its option", async () => {
  const before = await metrics();
  const embeds = `${standaloneServer.address}/api/ports?select=${Array.from({ length: 51 }, (_, i) => `a${i}:vessels(id)`).join()}`;
  for (let i = 0; i < 2; i++) expect((await fetch(embeds)).status).toBe(400);
  const batch = JSON.stringify(Array.from({ length: 101 }, () => ({ query: "{ __typename }" })));
  expect((await fetch(`${standaloneServer.address}/v1/graphql`, { method: "POST", body: batch })).status).toBe(200);
  const after = await metrics();
  const limits = collectSettings(fullCompat({})).filter(({ isLimit }) => isLimit === true);
  expect(limits.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["maxEmbeds", "maxBatchEntries", "maxSocketOperations"]),
  );
  for (const { name: limit } of limits) {
    const name = `relapi_refused_total{limit="${limit}"}`;
    expect(after[name], limit).toBe(before[name]! + (limit === "maxEmbeds" ? 2 : limit === "maxBatchEntries" ? 1 : 0));
  }
});

test("R-ADM-1 /live and /ready report a listener of the API that is gone", async () => {
  const adminPort = await freePort();
  const ownServer = await serve({
    options,
    server: { host: "127.0.0.1", port: 0, adminPort, unixSocketMode: 0o660, workers: 1 },
  });
  await ownServer.api.ready;
  await new Promise<void>((resolve) => ownServer.server.close(() => resolve()));
  expect((await fetch(`http://127.0.0.1:${adminPort}/live`)).status).toBe(500);
  expect((await fetch(`http://127.0.0.1:${adminPort}/ready`)).status).toBe(500);
  await ownServer.api.close();
});

test.skipIf(!capabilities.realServer)(
  "R-ADM-1 /ready reports a missing schema and an unreachable database",
  async () => {
    const adminPort = await freePort();
    const closedPort = await freePort();
    const ownServer = await serve({
      options: { ...options, databaseUrl: `postgres://postgres@127.0.0.1:${closedPort}/x` },
      server: { host: "127.0.0.1", port: 0, adminPort, unixSocketMode: 0o660, workers: 1 },
    });
    const fetchStatus = async (path: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${adminPort}${path}`)).status;
    expect([await fetchStatus("/live"), await fetchStatus("/ready"), await fetchStatus("/schema_cache")]).toEqual([
      200, 503, 503,
    ]);
    const reason =
      /^there is no schema yet, or the database does not answer\nschema: failed to load the schema: .*ECONNREFUSED.*\n$/;
    await until(
      async () => reason.test(await (await fetch(`http://127.0.0.1:${adminPort}/ready`)).text()),
      "ready tells the reason",
    );
    await ownServer.stop();
  },
);

test("R-ADM-1 R-ADM-1a /ready names the problem while the old schema, metadata and settings are served", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-ready-"));
  const metadata = join(folder, "metadata.yaml");
  const write = (text: string): void => writeFileSync(metadata, text);
  write("version: 3\nsources: []\n");
  const adminPort = await freePort();
  const ownServer = await serve({
    options: { ...options, metadata },
    server: { host: "127.0.0.1", port: 0, adminPort, unixSocketMode: 0o660, workers: 1 },
  });
  await ownServer.api.ready;
  const ready = async (): Promise<readonly [number, string]> => {
    const response = await fetch(`http://127.0.0.1:${adminPort}/ready`);
    return [response.status, await response.text()];
  };
  expect(await ready()).toEqual([200, ""]);
  write("version: 3\nsources: [\n");
  await ownServer.api.reload();
  expect(await ready()).toEqual([
    200,
    expect.stringMatching(
      /^metadata: failed to load the new metadata; keeping the previous metadata: .*metadata\.yaml:3:1 .*\n$/,
    ),
  ]);
  expect((await fetch(`${ownServer.address}/api/ports?limit=1`)).status).toBe(200);
  write("version: 3\nsources: []\n");
  await ownServer.api.reload();
  expect(await ready()).toEqual([200, ""]);
  await ownServer.stop();
  rmSync(folder, { recursive: true });
});

test("R-ADM-3 R-ADM-3a the access log has one line per request, by level, without secrets", async () => {
  const { logger, lines } = collectMessages("access");
  const ownApi = await startApi({ logger });
  const token = bearer({ role: "sea_clerk" });
  await ownApi.get("/ports?select=id&id=eq.1", {
    headers: { ...token, referer: "https://a.example/x", "user-agent": 'an "agent"' },
  });
  await ownApi.get("/ports", { headers: { authorization: "Bearer nonsense" } });
  expect(lines[0]).toMatch(
    /^127\.0\.0\.1 - sea_clerk \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\] "GET \/ports\?select=id&id=eq\.1 HTTP\/1\.1" 200 10 "https:\/\/a\.example\/x" "an \\"agent\\""$/,
  );
  expect(lines[1]).toMatch(/^127\.0\.0\.1 - - .* 401 \d+ "" ""$/);
  expect(lines.join("\n")).not.toContain(token.authorization.slice(7));
});

test("R-ADM-3 R-ADM-3a with SERVER_TRACE_HEADER an access line ends with that header and the seconds of the request", async () => {
  const { logger, lines } = collectMessages("access");
  const ownApi = await startApi({ serverTraceHeader: "X-Request-Id", logger });
  await ownApi.get("/ports?select=id&id=eq.1", { headers: { "x-request-id": 'abc"1' } });
  await ownApi.get("/ports?select=id&id=eq.1");
  expect(lines[0]).toMatch(/ 200 10 "" "" "abc\\"1" \d+\.\d{6}$/);
  expect(lines[1]).toMatch(/ 200 10 "" "" "" \d+\.\d{6}$/);
});

test.skipIf(!capabilities.realServer)("R-ADM-5 a request that waits too long for a connection is 504", async () => {
  const ownApi = await startApi({ dbPool: 1, dbPoolAcquisitionTimeout: 1 });
  await until(async () => (await ownApi.get("/ports?limit=1")).status === 200, "the one connection is open");
  const unlock = await lockTable(ownApi.database, "sea.logbook");
  const longRequest = ownApi.get("/logbook?limit=1");
  await untilLocked(ownApi.database);
  const rejection = await ownApi.get("/ports");
  expect([rejection.status, rejection.json()]).toEqual([
    504,
    { code: "PGRST003", details: null, hint: null, message: "Timed out acquiring connection from connection pool." },
  ]);
  await unlock();
  expect((await longRequest).status).toBe(200);
});

test.skipIf(!capabilities.realServer)("R-ADM-5 an exhausted pool writes one line to the log", async () => {
  const lines: unknown[] = [];
  const warn = (...line: unknown[]): void => void lines.push(line);
  const ownApi = await startApi({
    dbPool: 1,
    dbPoolAcquisitionTimeout: 1,
    logger: createLogger({ warn }),
  });
  await until(async () => (await ownApi.get("/ports?limit=1")).status === 200, "the one connection is open");
  const unlock = await lockTable(ownApi.database, "sea.logbook");
  const longRequest = ownApi.get("/logbook?limit=1");
  await untilLocked(ownApi.database);
  for (let round = 0; round < 2; round++)
    for (const { status } of await Promise.all(["/ports", "/vessels", "/voyages"].map((path) => ownApi.get(path))))
      expect(status).toBe(504);
  await unlock();
  expect((await longRequest).status).toBe(200);
  expect(lines).toEqual([
    [
      "no database connection became free in time: requests are answered 504",
      { connections: 1, waiting: expect.any(Number), seconds: 1 },
    ],
  ]);
});
