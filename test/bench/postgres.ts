/** A PostgreSQL for benchmarks: TEST_DATABASE_URL, or one started from the programs on this machine and stopped
 *  afterwards. */
import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

export interface BenchServer {
  readonly url: string;
  urlOf(database: string): string;
  stop(): Promise<void>;
}

/** A connection to an empty database of that name; the role `bench_anon` is there. */
export const openFreshDatabase = async (
  server: BenchServer,
  name: string,
): Promise<{ readonly url: string; readonly client: pg.Client }> => {
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query("do $$ begin create role bench_anon; exception when duplicate_object then null; end $$");
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = server.urlOf(name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { url, client };
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

const programs = (): string => {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions
    .map((version) => join(root, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
  if (found === undefined)
    throw new Error("no PostgreSQL here: set TEST_DATABASE_URL to a superuser's connection string");
  return found;
};

const withDatabase = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
};

export const startServer = async (settings: readonly string[] = []): Promise<BenchServer> => {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined)
    return { url: given, urlOf: (database) => withDatabase(given, database), stop: async () => {} };
  const bin = programs();
  const folder = mkdtempSync(join(tmpdir(), "relapi-bench-"));
  const isRoot = process.getuid?.() === 0;
  // the server refuses to run as root
  const run = (program: string, ...parameters: string[]): void => {
    const command = isRoot ? "runuser" : join(bin, program);
    execFileSync(command, isRoot ? ["-u", "postgres", "--", join(bin, program), ...parameters] : parameters, {
      stdio: "ignore",
    });
  };
  if (isRoot) {
    const [, , uid, gid] = execFileSync("getent", ["passwd", "postgres"]).toString().split(":");
    chownSync(folder, Number(uid), Number(gid));
  }
  const port = await freePort();
  const data = join(folder, "data");
  run("initdb", "-D", data, "-U", "postgres", "-A", "trust");
  appendFileSync(
    join(data, "postgresql.conf"),
    [
      `port = ${port}`,
      `unix_socket_directories = '${folder}'`,
      "listen_addresses = '127.0.0.1'",
      "fsync = off",
      "wal_level = logical",
      "max_connections = 200",
      ...settings,
      "",
    ].join("\n"),
  );
  run("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "start");
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return {
    url,
    urlOf: (database) => withDatabase(url, database),
    stop: async () => {
      run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
