/** Replicas that are away, slow or behind. */
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, startStandby, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { startProxy, type Proxy } from "../support/proxy.ts";
import { without } from "../../core/index.ts";
import type { StartOptions, TestApi } from "../support/api.ts";
import { createShop, keepAsking, logOf, pause, startShop, type Line } from "./failures.ts";
import { eventually } from "./support.ts";

describe.skipIf(!hasPostgres)("replicas", () => {
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
    expect(performance.now() - startedAtMs).toBeLessThan(1700);
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

  describe("reading one's own writes", () => {
    /** A replica that stands still, and an api that may use it all the same. */
    const behind = async (options: StartOptions, run: (api: TestApi) => Promise<void>): Promise<void> => {
      const api = await startShop(primary.url, { databaseReplicaUrls: [urlAt(standbys[0].place)], ...options });
      await standbys[0].query("select pg_wal_replay_pause()");
      try {
        await run(api);
      } finally {
        await standbys[0].query("select pg_wal_replay_resume()");
        await api.close();
      }
    };
    const count = async (
      api: TestApi,
      label: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<number> => {
      const rest = (await api.get(`/crate?label=eq.${label}`, { headers })).json() as unknown[];
      const { data } = (
        await api.post("/v1/graphql", {
          headers,
          body: JSON.stringify({ query: `{ crate(where: { label: { _eq: "${label}" } }) { id } }` }),
        })
      ).json() as { data: { crate: unknown[] } };
      expect(data.crate).toHaveLength(rest.length);
      return rest.length;
    };

    test("R-RYW-1 by a header, on both surfaces, until the replica has caught up", () =>
      behind({ readYourWrites: "header" }, async (api) => {
        const written = await api.post("/crate", {
          body: '{"label":"own-1"}',
          headers: { origin: "http://shop.example" },
        });
        const position = written.headers["x-write-position"] ?? "";
        expect(position).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
        expect(written.headers["set-cookie"]).toBeUndefined();
        expect(written.headers["access-control-expose-headers"]).toContain("X-Write-Position");
        const headers = { "x-write-position": position };
        expect([await count(api, "own-1"), await count(api, "own-1", headers)]).toEqual([0, 1]);
        expect((await api.get("/rpc/place", { headers })).json()).toBe(String(primary.port));
        const mutation = await api.post("/v1/graphql", {
          body: '{"query":"mutation { insert_crate_one(object: { label: \\"own-2\\" }) { id } }"}',
        });
        const later = { "x-write-position": mutation.headers["x-write-position"] ?? "" };
        expect([await count(api, "own-2", headers), await count(api, "own-2", later)]).toEqual([1, 1]);
        expect((await api.get("/crate?limit=1")).headers["x-write-position"]).toBeUndefined();
        await standbys[0].query("select pg_wal_replay_resume()");
        await eventually(
          async () => (await api.get("/rpc/place", { headers: later })).json() === String(standbys[0].port),
          3000,
        );
      }));

    test("R-RYW-1 R-RYW-2 by a cookie; what is no position counts for nothing", () =>
      behind({ readYourWrites: "both" }, async (api) => {
        const { headers } = await api.patch("/crate?label=eq.first", { body: '{"n":9}' });
        expect(headers["set-cookie"]).toMatch(
          /^relapi_write_position=[0-9A-F]+\/[0-9A-F]+; Path=\/; Max-Age=15; HttpOnly; SameSite=Lax$/,
        );
        const cookie = `a=b; ${headers["set-cookie"]?.split(";")[0]}`;
        const read = async (more: Readonly<Record<string, string>>) =>
          ((await api.get("/crate?label=eq.first&select=n", { headers: more })).json() as { n: number }[])[0]?.n;
        expect(await read({ cookie })).toBe(9);
        for (const odd of [
          "x",
          "0/",
          "1/2/3",
          "0/3000148; drop table crate",
          "'",
          "123456789/0",
          "",
          "0x1/1",
          "-1/1",
          "∞",
        ])
          expect(await read({ "x-write-position": encodeURIComponent(odd) })).not.toBe(9);
        expect(await read({ "x-write-position": "FFFFFFFF/FFFFFFFF" })).toBe(9);
      }));

    test("R-RYW-3 nothing of it without the setting, or without the plugin", async () => {
      for (const options of [{}, { readYourWrites: "both", parts: [without("read-your-writes")] }] as const)
        await behind(options, async (api) => {
          const { headers } = await api.patch("/crate?label=eq.second", { body: '{"n":5}' });
          expect([headers["x-write-position"], headers["set-cookie"]]).toEqual([undefined, undefined]);
          expect((await api.get("/rpc/place", { headers: { "x-write-position": "FFFFFFFF/0" } })).json()).toBe(
            String(standbys[0].port),
          );
        });
    });
  });
});
