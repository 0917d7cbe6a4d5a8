/**
 * Secrets other than those of the primary and of callers, in files that are replaced while the server runs: replicas,
 * buses, counters.
 */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, startStandby, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { createShop } from "./failures.ts";
import { startStandalone, type Standalone } from "./standalone.ts";
import { until } from "../support/until.ts";
import { natsConnections, redisConnections } from "./processes.ts";
import { folderFor, freePort, has, startProgram } from "./support.ts";

/** A file that is replaced atomically. */
const secretFile = (first: string): { readonly setting: string; put(text: string): void } => {
  const file = join(folderFor("secret"), "secret");
  const put = (text: string): void => {
    writeFileSync(`${file}.new`, `${text}\n`);
    renameSync(`${file}.new`, file);
  };
  put(first);
  return { setting: `@${file}`, put };
};

describe.skipIf(!hasPostgres)("C-SET-8 the secrets of other servers", () => {
  let primary: Server;

  beforeAll(async () => {
    primary = await startPrimary();
    await createShop(primary);
  });

  test("C-SET-8 new connections to replicas use the changed password", async () => {
    await primary.query(
      `create role reader login superuser password 'first';
       create function public.place() returns text language sql stable as $$ select current_setting('port') $$`,
    );
    const standbys = [await startStandby(primary, "s1"), await startStandby(primary, "s2")];
    for (const standby of standbys)
      await standby.setAccess("host all reader 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
    const urlsWith = (password: string): string =>
      standbys.map(({ url }) => url.replace("postgres@", `reader:${password}@`)).join(",");
    const file = secretFile(urlsWith("first"));
    const server = await startStandalone({
      DATABASE_URL: primary.url,
      DATABASE_REPLICA_URLS: file.setting,
      DB_SCHEMAS: "public",
      ANON_ROLE: "shop_anon",
    });
    const places = async (): Promise<readonly number[]> => {
      const ports = new Set<number>();
      for (let i = 0; i < 6; i++) {
        const response = await fetch(`${server.url}/api/rpc/place`);
        expect(response.status).toBe(200);
        ports.add(Number(await response.json()));
      }
      return [...ports].sort((a, b) => a - b);
    };
    const ofStandbys = standbys.map(({ port }) => port).sort((a, b) => a - b);
    const atStandbys = async (): Promise<boolean> => JSON.stringify(await places()) === JSON.stringify(ofStandbys);
    await until(atStandbys, "reads are answered by the replicas");

    await primary.query("alter role reader password 'second'");
    file.put(urlsWith("second"));
    const passwordAt = async ({ query }: Server): Promise<string> =>
      JSON.stringify(await query("select rolpassword from pg_authid where rolname = 'reader'"));
    const newPassword = await passwordAt(primary);
    await until(
      async () => (await Promise.all(standbys.map(passwordAt))).every((password) => password === newPassword),
      "the replicas have the new password",
    );
    for (const standby of standbys)
      await standby.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'reader'");
    await until(atStandbys, "reads are answered by the replicas again");
    expect((await server.ready())[1]).toBe("");

    // The hosts are fixed at the start.
    file.put(urlsWith("second").split(",")[0] ?? "");
    await until(async () => (await server.ready())[1] !== "", "/ready reports the file");
    expect(await server.ready()).toEqual([
      200,
      expect.stringMatching(
        /^secret files: DATABASE_REPLICA_URLS: .* contains 1 connection strings instead of 2 as at the start: restart the server to change their number; keeping the previous one\n$/,
      ),
    ]);
    // A replica that has fallen behind is left out for a moment.
    await until(atStandbys, "reads are answered by the replicas as before");
    expect(await server.stop()).toBe(0);
  });

  /** Two processes, and a check whether a reload of one reaches the other. */
  const startTwo = async (extraEnvironment: Readonly<Record<string, string>>): Promise<readonly Standalone[]> => {
    const environment = {
      DATABASE_URL: primary.url,
      DB_SCHEMAS: "public",
      ANON_ROLE: "shop_anon",
      DB_SCHEMA_POLL_INTERVAL: "0",
      DB_CHANNEL_ENABLED: "false",
      ...extraEnvironment,
    };
    return [await startStandalone(environment), await startStandalone(environment)];
  };
  let tables = 0;
  const reaches = async ([from, to]: readonly Standalone[]): Promise<void> => {
    const table = `table_${++tables}`;
    await primary.query(`create table ${table} (id int); grant select on ${table} to shop_anon`);
    process.kill(from?.pid ?? 0, "SIGUSR1");
    await until(async () => (await fetch(`${to?.url}/api/${table}`)).status === 200, "the other process has reloaded");
  };

  test.skipIf(!has("nats-server"))("C-SET-8 new connections to NATS use the changed password", async () => {
    const port = await freePort();
    const config = join(folderFor("nats"), "nats.conf");
    const monitor = await freePort();
    const configure = (password: string): void =>
      writeFileSync(
        config,
        `listen: 127.0.0.1:${port}\nhttp: 127.0.0.1:${monitor}\nauthorization { user: relapi, password: "${password}" }\n`,
        {
          mode: 0o644,
        },
      );
    configure("first");
    const nats = await startProgram("nats-server", ["-c", config], { port });
    const urlWith = (password: string): string => `nats://relapi:${password}@127.0.0.1:${port}`;
    const file = secretFile(urlWith("first"));
    const servers = await startTwo({ BUS_URL: file.setting });
    const listening = (): Promise<void> =>
      until(async () => (await natsConnections(monitor)) === 2, "both processes listen to NATS");
    await listening();
    await reaches(servers);
    configure("second");
    file.put(urlWith("second"));
    nats.process.kill("SIGHUP"); // clients with the old password are disconnected
    await until(
      () => servers.every((server) => server.output().includes("lost the bus")),
      "both processes lose the bus",
    );
    await listening();
    await reaches(servers);
  });

  test.skipIf(!has("redis-server"))(
    "C-SET-8 new connections to Redis use the changed password, for the bus and for rate limits",
    async () => {
      const port = await freePort();
      const start = (password: string) =>
        startProgram(
          "redis-server",
          ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", password],
          { port },
        );
      const redis = await start("first");
      const urlWith = (password: string): string => `redis://:${password}@127.0.0.1:${port}`;
      const file = secretFile(urlWith("first"));
      const servers = await startTwo({
        BUS_URL: file.setting,
        RATE_LIMITS: "shop_anon=600",
        RATE_LIMIT_BURST: "1000",
        LOG_LEVEL: "info",
      });
      const listening = (password: string): Promise<void> =>
        until(async () => (await redisConnections(port, password)) === 2, "both processes listen to Redis");
      await listening("first");
      await reaches(servers);
      expect((await fetch(`${servers[0]?.url}/api/crate`)).status).toBe(200);
      await redis.stop();
      await fetch(`${servers[0]?.url}/api/crate`);
      await start("second");
      file.put(urlWith("second"));
      await listening("second");
      await reaches(servers);
      const counts = async (): Promise<boolean> => {
        expect((await fetch(`${servers[0]?.url}/api/crate`)).status).toBe(200);
        return servers[0]?.output().includes("rate limits are counted in Redis again") === true;
      };
      await until(counts, "rate limits are counted in Redis");
    },
  );
});
