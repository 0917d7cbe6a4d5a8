/** A PostgreSQL of its own, started from the programs on this machine. */
import { execFileSync } from "node:child_process";
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, postgresPrograms } from "./programs.ts";

export interface OwnServer {
  /** Of the superuser, without a password. */
  readonly url: string;
  urlOf(database: string): string;
  /** What it writes. */
  readonly logFile: string;
  /** As after a crash, with a pause in which it is away. */
  restart(pauseMs: number): Promise<void>;
  stop(): Promise<void>;
}

const programs = (): string => {
  if (postgresPrograms === undefined)
    throw new Error("no PostgreSQL here: set TEST_DATABASE_URL to a superuser's connection string");
  return postgresPrograms;
};

export const withDatabase = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
};

/** `password`: of the user postgres; absent: everybody is trusted. */
export const startOwnServer = async ({
  settings = [],
  password,
}: {
  readonly settings?: readonly string[];
  readonly password?: string;
}): Promise<OwnServer> => {
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
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password ?? "");
  const access = password === undefined ? ["-A", "trust"] : ["-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  run("initdb", "-D", data, "-U", "postgres", ...access);
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
    logFile: join(folder, "log"),
    restart: async (pauseMs) => {
      run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      run("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "start");
    },
    stop: async () => {
      run("pg_ctl", "-D", data, "-m", "immediate", "stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
