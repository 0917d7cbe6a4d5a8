/** Replicas that are unavailable, slow or behind. */
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, startStandby, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { startProxy, type Proxy } from "../support/proxy.ts";
import { without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import type { StartOptions, TestApi } from "../support/api.ts";
import { openSocket, type TestSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { createShop, keepAsking, createLog, startShop, untilAllAsked, type Line } from "./failures.ts";

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

  const start = async (
    places: readonly string[],
    databaseReplicaMaxLag = 1,
  ): Promise<{ readonly api: TestApi; readonly lines: Line[] }> => {
    const log = createLog();
    const options = { databaseReplicaUrls: places.map(urlAt), databaseReplicaMaxLag, logger: log.logger };
    return { api: await startShop(primary.url, options), lines: log.lines };
  };

  /** The servers that run reads. */
  const fetchPorts = async (api: TestApi): Promise<ReadonlySet<number>> => {
    const ports = new Set<number>();
    for (let i = 0; i < 8; i++) {
      const answer = await api.get("/rpc/place");
      expect(answer.status).toBe(200);
      ports.add(Number(answer.json()));
    }
    return ports;
  };
  const listPorts = (...servers: readonly Server[]): Set<number> => new Set(servers.map(({ port }) => port));

  /** Waits until these servers respond. On a busy machine a replica may be slow and left out for a moment. */
  const untilAnsweredBy = (api: TestApi, ...servers: readonly Server[]): Promise<void> =>
    until(
      async () => {
        const ports = await fetchPorts(api);
        return ports.size === servers.length && servers.every(({ port }) => ports.has(port));
      },
      `reads are answered by ${servers.map(({ port }) => port).join(" and ")}`,
    );

  const formatLine = ({ message, fields }: Line): string => `${message} ${JSON.stringify(fields)}`;
  /** Returns whether a replica was left out for a reason other than being slow or behind, which happens on a busy
   *  machine. */
  const isFault = (line: Line): boolean =>
    line.level !== "info" && !/longer than|timeout|behind/.test(formatLine(line));
  /** Expects log lines in pairs: a replica is left out, then used again. */
  const expectPairs = (lines: readonly Line[], replica: number): void => {
    const levels = lines.filter((line) => formatLine(line).includes(`"replica":${replica}`)).map(({ level }) => level);
    expect(levels).toEqual(levels.map((_, i) => (i % 2 === 0 ? "warn" : "info")));
  };

  test("R-HST-8 reads go to the replicas in turn, and writes to the primary", async () => {
    const { api, lines } = await start(standbys.map(({ place }) => place));
    await untilAnsweredBy(api, ...standbys);
    expect((await api.post("/crate", { body: '{"label":"in turn"}' })).status).toBe(201);
    expect(lines.filter(isFault)).toEqual([]);
    await api.close();
  });

  test("R-HST-8 R-HST-8a a replica that is unavailable at the start delays no request", async () => {
    network.swallow();
    const { api, lines } = await start(["127.0.0.1:1", network.place]);
    expect(await fetchPorts(api)).toEqual(listPorts(primary));
    const warnings = (): readonly Line[] => lines.filter(({ level }) => level !== "info");
    await until(() => warnings().length === 2, "both replicas are left out");
    expect(warnings().map(formatLine).join("\n")).toMatch(/left out of reads.*replica":1.*ECONNREFUSED/);
    network.heal();
    await untilAnsweredBy(api, standbys[1]);
    expect(lines.some(({ message }) => message.includes("serves reads again"))).toBe(true);
    await api.close();
  });

  test("R-HST-8 a replica that fails is left out and used again after its recovery, and no read fails", async () => {
    const { api, lines } = await start(standbys.map(({ place }) => place));
    await untilAnsweredBy(api, ...standbys);
    const reads = [1, 2, 3].map((id) => keepAsking(() => api.get(`/crate?id=eq.${id}`)));
    await untilAllAsked(reads);
    await standbys[0].kill();
    await untilAnsweredBy(api, standbys[1]);
    await standbys[0].start();
    await untilAnsweredBy(api, ...standbys);
    for (const requestCounts of await Promise.all(reads.map((client) => client.stop())))
      expect(requestCounts.failedCount).toBe(0);
    for (const replica of [1, 2]) expectPairs(lines, replica);
    expect(
      lines
        .filter(({ level }) => level === "warn")
        .map(formatLine)
        .join(),
    ).toContain('"replica":1');
    await api.close();
  });

  test("R-HST-8 a slow replica is left out until it is fast again", async () => {
    const { api } = await start([network.place]);
    await untilAnsweredBy(api, standbys[1]);
    network.delay(700);
    await untilAnsweredBy(api, primary);
    network.delay(0);
    await untilAnsweredBy(api, standbys[1]);
    await api.close();
  });

  test("R-HST-8 R-HST-8a reads that hang on an unreachable replica are answered by the primary", async () => {
    const { api } = await start([network.place]);
    await untilAnsweredBy(api, standbys[1]);
    network.swallow();
    const inside = await Promise.all([api.get("/rpc/place"), api.get("/rpc/place"), api.get("/crate?id=eq.1")]);
    expect(inside.map(({ status }) => status)).toEqual([200, 200, 200]);
    await untilAnsweredBy(api, primary);
    network.heal();
    await untilAnsweredBy(api, standbys[1]);
    await api.close();
  });

  test("R-HST-8 a replica that lags is left out until it has caught up", async () => {
    const { api, lines } = await start([standbys[0].place]);
    const patient = (await start([standbys[0].place], 3600)).api;
    await untilAnsweredBy(api, standbys[0]);
    // Without changes to replay, the replica never lags; the polls, 0.2 s apart, last longer than the allowed lag.
    const questions = new Set<string>();
    await until(async () => {
      const rows = await standbys[0].query<{ at: string }>(
        "select query_start::text as at from pg_stat_activity where query like '%pg_last_wal_replay_lsn%' and pid <> pg_backend_pid()",
      );
      for (const { at } of rows) questions.add(at);
      return questions.size > 20; // two connections send them
    }, "the lag of the replica is polled repeatedly");
    await untilAnsweredBy(api, standbys[0]);
    await standbys[0].query("select pg_wal_replay_pause()");
    await primary.query("insert into crate (label) values ('behind')");
    await untilAnsweredBy(api, primary);
    expect(lines.map(formatLine).join()).toContain("more than 1 second behind");
    await untilAnsweredBy(patient, standbys[0]);
    await standbys[0].query("select pg_wal_replay_resume()");
    await untilAnsweredBy(api, standbys[0]);
    await Promise.all([api.close(), patient.close()]);
  });

  describe("reading one's own writes", () => {
    /** A replica that stands still, and an API that may use it nevertheless. */
    const withStalledReplica = async (options: StartOptions, run: (api: TestApi) => Promise<void>): Promise<void> => {
      const api = await startShop(primary.url, {
        databaseReplicaUrls: [urlAt(standbys[0].place)],
        databaseReplicaMaxLag: 3600,
        ...options,
      });
      await standbys[0].query("select pg_wal_replay_pause()");
      try {
        await run(api);
      } finally {
        await standbys[0].query("select pg_wal_replay_resume()");
        await api.close();
      }
    };
    /** The number of rows that each surface finds. */
    const fetchCounts = async (
      api: TestApi,
      label: string,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<readonly number[]> => {
      const rest = (await api.get(`/crate?label=eq.${label}`, { headers })).json() as unknown[];
      const { data } = (
        await api.post("/v1/graphql", {
          headers,
          body: JSON.stringify({ query: `{ crate(where: { label: { _eq: "${label}" } }) { id } }` }),
        })
      ).json() as { data: { crate: unknown[] } };
      return [rest.length, data.crate.length];
    };
    /** Waits until the replica responds. The primary serves the reads that a slow replica does not. */
    const untilReplicaAnswers = (isOfReplica: () => Promise<boolean>): Promise<void> =>
      until(isOfReplica, "the answer of the replica");

    test("R-RYW-1 reads with the header of a write use the primary until the replica has caught up, on both surfaces", () =>
      withStalledReplica({ readYourWrites: "header" }, async (api) => {
        const writeAnswer = await api.post("/crate", {
          body: '{"label":"own-1"}',
          headers: { origin: "http://shop.example" },
        });
        const position = writeAnswer.headers["x-write-position"] ?? "";
        expect(position).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
        expect(writeAnswer.headers["set-cookie"]).toBeUndefined();
        expect(writeAnswer.headers["access-control-expose-headers"]).toContain("X-Write-Position");
        const headers = { "x-write-position": position };
        await untilReplicaAnswers(async () => (await fetchCounts(api, "own-1")).join() === "0,0");
        expect(await fetchCounts(api, "own-1", headers)).toEqual([1, 1]);
        expect((await api.get("/rpc/place", { headers })).json()).toBe(String(primary.port));
        const mutation = await api.post("/v1/graphql", {
          body: '{"query":"mutation { insert_crate_one(object: { label: \\"own-2\\" }) { id } }"}',
        });
        const laterHeaders = { "x-write-position": mutation.headers["x-write-position"] ?? "" };
        expect(await fetchCounts(api, "own-2", headers)).toEqual([1, 1]);
        expect(await fetchCounts(api, "own-2", laterHeaders)).toEqual([1, 1]);
        expect((await api.get("/crate?limit=1")).headers["x-write-position"]).toBeUndefined();
        await standbys[0].query("select pg_wal_replay_resume()");
        await untilReplicaAnswers(
          async () => (await api.get("/rpc/place", { headers: laterHeaders })).json() === String(standbys[0].port),
        );
      }));

    test("R-RYW-1 R-RYW-2 R-RYW-1a a cookie does the same as the header, and an invalid position is ignored", () =>
      withStalledReplica({ readYourWrites: "both" }, async (api) => {
        const { headers } = await api.patch("/crate?label=eq.first", { body: '{"n":9}' });
        expect(headers["set-cookie"]).toMatch(
          /^relapi_write_position=[0-9A-F]+\/[0-9A-F]+; Path=\/; Max-Age=3605; HttpOnly; SameSite=Lax$/,
        );
        const cookie = `a=b; ${headers["set-cookie"]?.split(";")[0]}`;
        const read = async (extraHeaders: Readonly<Record<string, string>>) =>
          ((await api.get("/crate?label=eq.first&select=n", { headers: extraHeaders })).json() as { n: number }[])[0]
            ?.n;
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
          await untilReplicaAnswers(async () => (await read({ "x-write-position": encodeURIComponent(odd) })) !== 9);
        expect(await read({ "x-write-position": "FFFFFFFF/FFFFFFFF" })).toBe(9);
      }));

    test("R-RYW-1b the operations of a WebSocket read the writes of its earlier operations", () =>
      withStalledReplica({ readYourWrites: "cookie" }, async (api) => {
        const ask = async (socket: TestSocket, query: string): Promise<unknown> => {
          socket.send({ id: "1", type: "subscribe", payload: { query } });
          const { payload } = await socket.next();
          expect((await socket.next()).type).toBe("complete");
          return payload.data;
        };
        const [writerSocket, otherSocket] = [await openSocket(api), await openSocket(api)];
        await writerSocket.init({});
        await otherSocket.init({});
        await ask(writerSocket, 'mutation { insert_crate_one(object: { label: "socket-1" }) { label } }');
        const read = '{ crate(where: { label: { _eq: "socket-1" } }) { label } }';
        await untilReplicaAnswers(async () => JSON.stringify(await ask(otherSocket, read)) === '{"crate":[]}');
        expect(await ask(writerSocket, read)).toEqual({ crate: [{ label: "socket-1" }] });
        await writerSocket.close();
        await otherSocket.close();
      }));

    test("R-RYW-1 P-BAT-5 reads after a batch use the primary", () =>
      withStalledReplica({ readYourWrites: "header", preset: plus }, async (api) => {
        const writeAnswer = await api.post("/api/batch", {
          body: '[{"method":"POST","path":"/crate","body":{"label":"batch-1"}}]',
          headers: { "content-type": "application/json" },
        });
        expect(writeAnswer.status, writeAnswer.text).toBe(200);
        await untilReplicaAnswers(async () => (await fetchCounts(api, "batch-1")).join() === "0,0");
        const headers = { "x-write-position": writeAnswer.headers["x-write-position"] ?? "" };
        expect(await fetchCounts(api, "batch-1", headers)).toEqual([1, 1]);
      }));

    test("R-RYW-3 without the setting or the plugin, writes have no position", async () => {
      for (const options of [{}, { readYourWrites: "both", parts: [without("read-your-writes")] }] as const)
        await withStalledReplica(options, async (api) => {
          const { headers } = await api.patch("/crate?label=eq.second", { body: '{"n":5}' });
          expect([headers["x-write-position"], headers["set-cookie"]]).toEqual([undefined, undefined]);
          await untilReplicaAnswers(async () => {
            const answer = await api.get("/rpc/place", { headers: { "x-write-position": "FFFFFFFF/0" } });
            return answer.json() === String(standbys[0].port);
          });
        });
    });
  });
});
