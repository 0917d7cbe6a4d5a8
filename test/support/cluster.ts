/** Real PostgreSQL servers from the programs on this machine: a primary, and standbys that follow it and can take its
 *  place. */
import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { atFileEnd } from "./file-end.ts";
import { freePort, postgresPrograms } from "./programs.ts";

const isRoot = process.getuid?.() === 0;

/** The server refuses to run as root. */
const runProgram = async (program: string, ...parameters: readonly string[]): Promise<void> => {
  const path = join(postgresPrograms ?? "", program);
  // pg_ctl leaves a server behind that would hold the pipes of its output
  const shell = `"$0" "$@" < /dev/null > /dev/null 2>&1`;
  const [command, ...all] = [...(isRoot ? ["runuser", "-u", "postgres", "--"] : []), "sh", "-c", shell, path];
  await promisify(execFile)(command as string, [...all, ...parameters]);
};

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-cluster-"));
  if (isRoot) {
    const [, , uid, gid] = execFileSync("getent", ["passwd", "postgres"]).toString().split(":");
    chownSync(folder, Number(uid), Number(gid));
  }
  return folder;
};

export interface Server {
  readonly port: number;
  /** `127.0.0.1:5433` */
  readonly place: string;
  /** Of the superuser, without a password. */
  readonly url: string;
  query<Row = Record<string, any>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** `access`: lines of pg_hba.conf, instead of what it has. */
  setAccess(access: string): Promise<void>;
  /** As a power cut does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
  promote(): Promise<void>;
}

const server = (folder: string, port: number): Server => {
  const data = join(folder, "data");
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = (): Promise<void> => runProgram("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "start");
  const kill = (): Promise<void> => runProgram("pg_ctl", "-D", data, "-m", "immediate", "stop");
  const query: Server["query"] = async <Row>(text: string, values: readonly unknown[] = []) => {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {}); // the server may be killed meanwhile
    await client.connect();
    try {
      const result: unknown = await (values.length === 0 ? client.query(text) : client.query(text, [...values]));
      return (Array.isArray(result) ? result.at(-1) : result).rows as Row[];
    } finally {
      await client.end();
    }
  };
  atFileEnd(async () => {
    await kill().catch(() => undefined); // a test may have killed it
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    port,
    place: `127.0.0.1:${port}`,
    url,
    query,
    setAccess: async (access) => {
      writeFileSync(join(data, "pg_hba.conf"), access);
      await runProgram("pg_ctl", "-D", data, "reload");
    },
    kill,
    start,
    restart: () => runProgram("pg_ctl", "-D", data, "-m", "fast", "-w", "-l", join(folder, "log"), "restart"),
    promote: () => runProgram("pg_ctl", "-D", data, "-w", "promote"),
  };
};

const settingsText = (folder: string, port: number, settings: readonly string[]): string =>
  ["", `port = ${port}`, `unix_socket_directories = '${folder}'`, ...settings, ""].join("\n");

export const startPrimary = async (settings: readonly string[] = []): Promise<Server> => {
  const folder = newFolder();
  const port = await freePort();
  await runProgram("initdb", "-D", join(folder, "data"), "-U", "postgres", "-A", "trust", "--no-sync");
  const own = ["listen_addresses = '127.0.0.1'", "fsync = off", "wal_level = logical", "max_wal_senders = 10"];
  appendFileSync(join(folder, "data", "postgresql.conf"), settingsText(folder, port, [...own, ...settings]));
  const primary = server(folder, port);
  await primary.start();
  return primary;
};

/** A hot standby; `name` is what `synchronous_standby_names` knows it by. */
export const startStandby = async (of: Server, name: string, settings: readonly string[] = []): Promise<Server> => {
  const folder = newFolder();
  const port = await freePort();
  const from = `host=127.0.0.1 port=${of.port} user=postgres application_name=${name}`;
  await runProgram(
    "pg_basebackup",
    "-d",
    from,
    "-D",
    join(folder, "data"),
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
    "--no-sync",
  );
  appendFileSync(join(folder, "data", "postgresql.conf"), settingsText(folder, port, settings));
  const standby = server(folder, port);
  await standby.start();
  return standby;
};
