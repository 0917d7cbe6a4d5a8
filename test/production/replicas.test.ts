/** Replicas that are away, slow or behind. */
import { beforeAll, describe, expect, test } from "vitest";
import { hasPostgres, startPrimary, startStandby, type Server } from "../support/cluster.ts";
import { startProxy, type Proxy } from "../support/proxy.ts";
import type { TestApi } from "../support/api.ts";
import { createShop, isHere, keepAsking, logOf, pause, startShop, type Line } from "./failures.ts";
import { eventually } from "./support.ts";

describe.skipIf(!isHere(hasPostgres))("replicas", () => {
  let primary: Server;
  let standbys: readonly [Server, Server];
  let network: Proxy;
  const urlAt = (place: string): string => `postgres://postgres@${place}/postgres`;

  beforeAll(async () => {
    primary = await startPrimary();
    await createShop(primary);
    await primary.query(
      "create function public.place() returns text language sql stable as $$ select current_setting('port') $$",
    );
    standbys = [await startStandby(primary, "s1"), await startStandby(primary, "s2")];
    network = await startProxy(standbys[1].port);
  });

  const start = async (...places: readonly string[]): Promise<{ readonly api: TestApi; readonly lines: Line[] }> => {
    const log = logOf();
    const options = { databaseReplicaUrls: places.map(urlAt), databaseReplicaMaxLag: 1, logger: log.logger };
    return { api: await startShop(primary.url, options), lines: log.lines };
  };

  /** Where reads have run, and how long they took at most. */
  const placesOf = async (
    api: TestApi,
    count = 8,
  ): Promise<{ readonly ports: Set<number>; readonly slowestMs: number }> => {
    const ports = new Set<number>();
    let slowestMs = 0;
    for (let i = 0; i < count; i++) {
      const startedAtMs = performance.now();
      const answer = await api.get("/rpc/place");
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      expect(answer.status).toBe(200);
      ports.add(Number(answer.json()));
    }
    return { ports, slowestMs };
  };

  const only = (...servers: readonly Server[]): Set<number> => new Set(servers.map(({ port }) => port));
  const answersAt = async (api: TestApi, ...servers: readonly Server[]): Promise<boolean> => {
    const { ports } = await placesOf(api);
    return ports.size === servers.length && servers.every(({ port }) => ports.has(port));
  };
  const warnings = (lines: readonly Line[]): readonly string[] =>
    lines.filter(({ level }) => level !== "info").map(({ message, facts }) => `${message} ${JSON.stringify(facts)}`);

  test("R-HST-8 reads go to the replicas in turn, writes to the primary", async () => {
    const { api, lines } = await start(standbys[0].place, standbys[1].place);
    expect((await placesOf(api)).ports).toEqual(only(...standbys));
    expect((await api.post("/crate", { body: '{"label":"in turn"}' })).status).toBe(201);
    expect(warnings(lines)).toEqual([]);
    await api.close();
  });

  test("R-HST-8 one that is away at the start holds nobody up", async () => {
    network.swallow();
    const startedAtMs = performance.now();
    const { api, lines } = await start("127.0.0.1:1", network.place);
    const { ports, slowestMs } = await placesOf(api);
    expect(performance.now() - startedAtMs).toBeLessThan(3000);
    expect(ports).toEqual(only(primary));
    expect(slowestMs).toBeLessThan(1000);
    await eventually(() => warnings(lines).length === 2, 3000);
    expect(warnings(lines).join("\n")).toMatch(/left out of reads.*replica":1.*ECONNREFUSED/);
    network.heal();
    await eventually(() => answersAt(api, standbys[1]), 4000);
    expect(lines.some(({ message }) => message.includes("answers reads again"))).toBe(true);
    await api.close();
  }, 30_000);

  test("R-HST-8 one that dies is left out, and comes back by itself; no read fails", async () => {
    const { api, lines } = await start(standbys[0].place, standbys[1].place);
    const reads = [1, 2, 3].map((id) => keepAsking(() => api.get(`/crate?id=eq.${id}`)));
    await pause(500);
    await standbys[0].kill();
    await pause(1200);
    expect((await placesOf(api)).ports).toEqual(only(standbys[1]));
    await standbys[0].start();
    await eventually(() => answersAt(api, ...standbys), 5000);
    for (const asked of await Promise.all(reads.map((each) => each.stop()))) expect(asked.failed).toBe(0);
    expect(warnings(lines)).toHaveLength(1);
    await api.close();
  }, 30_000);

  test("R-HST-8 one that is slow is left out until it is not", async () => {
    const { api } = await start(network.place);
    expect((await placesOf(api)).ports).toEqual(only(standbys[1]));
    network.delay(700);
    await pause(1500);
    const { ports, slowestMs } = await placesOf(api);
    expect([ports, slowestMs < 500]).toEqual([only(primary), true]);
    network.delay(0);
    await eventually(() => answersAt(api, standbys[1]), 6000);
    await api.close();
  }, 30_000);

  test("R-HST-8 a network that swallows packets: what runs there is answered by the primary", async () => {
    const { api } = await start(network.place);
    expect((await placesOf(api)).ports).toEqual(only(standbys[1]));
    network.swallow();
    const startedAtMs = performance.now();
    const inside = await Promise.all([api.get("/rpc/place"), api.get("/rpc/place"), api.get("/crate?id=eq.1")]);
    expect(inside.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(performance.now() - startedAtMs).toBeLessThan(2500);
    expect((await placesOf(api)).slowestMs).toBeLessThan(500);
    network.heal();
    await eventually(() => answersAt(api, standbys[1]), 6000);
    await api.close();
  }, 30_000);

  test("R-HST-8 one that is behind is left out until it has caught up", async () => {
    const { api, lines } = await start(standbys[0].place);
    expect((await placesOf(api)).ports).toEqual(only(standbys[0]));
    await pause(2500); // longer than the lag that is allowed, with nothing to replay
    expect((await placesOf(api)).ports).toEqual(only(standbys[0]));
    await standbys[0].query("select pg_wal_replay_pause()");
    await primary.query("insert into crate (label) values ('behind')");
    expect((await placesOf(api)).ports).toEqual(only(standbys[0]));
    await eventually(() => answersAt(api, primary), 4000);
    expect(warnings(lines).join()).toContain("more than 1 seconds behind");
    await standbys[0].query("select pg_wal_replay_resume()");
    await eventually(() => answersAt(api, standbys[0]), 4000);
    await api.close();
  }, 30_000);
});
