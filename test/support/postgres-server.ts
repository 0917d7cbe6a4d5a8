/** Real PostgreSQL servers: a primary, and standbys that follow it and can be promoted. */
import { execFile, execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { atFileEnd } from "./file-end.ts";
import { freePort } from "./ports.ts";
import { moveUnlessThere, postgresPrograms, serverFolder, serverUser } from "./postgres-programs.ts";
import { until } from "./until.ts";

/** Returns the path of a PostgreSQL program. @throws Error if there are no PostgreSQL programs */
const getProgramPath = (program: string): string => {
  if (postgresPrograms !== undefined) return join(postgresPrograms, program);
  throw new Error(
    "There are no PostgreSQL programs for this platform. Set TEST_DATABASE_URL to a superuser's connection string.",
  );
};

/** Runs a PostgreSQL program to its end. @throws Error with what the program printed */
const runProgram = async (program: string, ...parameters: readonly string[]): Promise<void> => {
  // The command `pg_ctl` leaves a server process behind, which would keep inherited output pipes open.
  const shell = `"$0" "$@" < /dev/null > "$OUTPUT" 2>&1 || { cat "$OUTPUT" >&2; exit 1; }`;
  const folder = serverFolder("output");
  try {
    await promisify(execFile)("sh", ["-c", shell, getProgramPath(program), ...parameters], {
      ...serverUser,
      cwd: "/",
      env: {
        PATH: process.env["PATH"],
        LC_ALL: "C",
        OUTPUT: join(folder, "output"),
        // New sessions allocate memory in large pages, which saves a third of the server's cost of starting an API.
        GLIBC_TUNABLES: "glibc.malloc.hugetlb=1",
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

export interface Server {
  readonly port: number;
  /** The address, such as `127.0.0.1:5433`. */
  readonly place: string;
  /** The superuser's connection string, which has no password. */
  readonly url: string;
  buildUrl(database: string): string;
  /** The file that the server logs to. */
  readonly logFile: string;
  readonly dataFolder: string;
  query<Row = Record<string, any>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Opens a connection that the test closes. */
  connect(): Promise<pg.Client>;
  /** Reloads the server's configuration files. Later connections use the new configuration. */
  reload(): Promise<void>;
  /** Replaces pg_hba.conf by these lines. */
  setAccess(access: string): Promise<void>;
  /** Stops the server abruptly, as a power cut does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  restart(): Promise<void>;
  promote(): Promise<void>;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
}

export const withDatabase = (url: string, database: string): string => {
  const target = new URL(url);
  target.pathname = `/${database}`;
  return target.href;
};

const server = (folder: string, port: number): Server => {
  const dataFolder = join(folder, "data");
  const logFile = join(folder, "log");
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const start = (): Promise<void> => runProgram("pg_ctl", "-D", dataFolder, "-w", "-t", "120", "-l", logFile, "start");
  const kill = (): Promise<void> => runProgram("pg_ctl", "-D", dataFolder, "-m", "immediate", "stop");
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
  let reloads = 0;
  const reload = async (): Promise<void> => {
    reloads++;
    // The postmaster reads all files before it accepts the next connection.
    const mark = `${port}-${reloads}`; // a copy of the server has the mark of the first
    appendFileSync(join(dataFolder, "postgresql.conf"), `test.reloads = '${mark}'\n`);
    await runProgram("pg_ctl", "-D", dataFolder, "reload");
    const readMark = async (): Promise<string> =>
      (await query<{ mark: string }>("select current_setting('test.reloads', true) as mark"))[0]?.mark ?? "";
    await until(async () => (await readMark()) === mark, "the server has read its files again");
  };
  const stop = async (): Promise<void> => {
    await kill().catch(() => undefined); // a test may have killed it
    rmSync(folder, { recursive: true, force: true });
  };
  atFileEnd(stop);
  return {
    port,
    place: `127.0.0.1:${port}`,
    url,
    buildUrl: (database) => withDatabase(url, database),
    logFile,
    dataFolder,
    query,
    connect: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    },
    reload,
    setAccess: async (access) => {
      writeFileSync(join(dataFolder, "pg_hba.conf"), access);
      await reload();
    },
    kill,
    start,
    restart: () => runProgram("pg_ctl", "-D", dataFolder, "-m", "fast", "-w", "-t", "120", "-l", logFile, "restart"),
    promote: () => runProgram("pg_ctl", "-D", dataFolder, "-w", "-t", "120", "promote"),
    stop,
  };
};

const settingsText = (folder: string, port: number, settings: readonly string[]): string =>
  ["", `port = ${port}`, `unix_socket_directories = '${folder}'`, ...settings, ""].join("\n");

const PRIMARY_SETTINGS = [
  "listen_addresses = '127.0.0.1'",
  "fsync = off",
  "synchronous_commit = off",
  "full_page_writes = off",
  "autovacuum = off", // test plans must not depend on when a table was analyzed
  "wal_level = logical",
  "wal_writer_delay = '10ms'", // changes without a waiting client reach replication after this delay
  "wal_keep_size = '64MB'", // keeps the log for standbys that begin to follow
  "max_connections = 200",
  "max_wal_senders = 40",
  "max_replication_slots = 40",
  "timezone = 'UTC'",
];

const initialize = (data: string, ...access: readonly string[]): Promise<void> =>
  runProgram("initdb", "-D", data, "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8", ...access);

/**
 * A data folder that trusts all connections. Copying it takes a tenth of the time of `initdb`. It stays in the
 * temporary folder for later runs and is renamed in one step.
 */
const dataTemplate = async (): Promise<string> => {
  const version = execFileSync(getProgramPath("postgres"), ["--version"], { ...serverUser, cwd: "/" });
  const name = String(version).replaceAll(/[^a-z0-9.]+/gi, "-");
  const template = join(tmpdir(), `relapi-data-${name}${process.getuid?.() ?? ""}`);
  if (existsSync(template)) return template;
  const folder = serverFolder("data");
  await initialize(join(folder, "data"), "-A", "trust");
  moveUnlessThere(folder, template);
  return template;
};

/**
 * Starts a server that is stopped when the test file ends. `password` belongs to the user postgres; without it, the
 * server trusts all connections.
 */
export const startPrimary = async (settings: readonly string[] = [], password?: string): Promise<Server> => {
  const folder = serverFolder("postgres");
  const port = await freePort();
  const data = join(folder, "data");
  if (password === undefined) {
    const template = join(await dataTemplate(), "data");
    await promisify(execFile)("cp", ["-pR", template, data], { ...serverUser, cwd: "/" });
  } else {
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, password);
    await initialize(data, "-A", "scram-sha-256", `--pwfile=${passwordFile}`);
    rmSync(passwordFile);
  }
  appendFileSync(join(data, "postgresql.conf"), settingsText(folder, port, [...PRIMARY_SETTINGS, ...settings]));
  const primary = server(folder, port);
  await primary.start();
  return primary;
};

/** Files of a running server that its copy must not have. */
const isOfRunningServer = (path: string): boolean =>
  /\/(?:postmaster\.(?:pid|opts)|pg_wal\/.+|pg_replslot\/.+)$/.test(path);

/** A hot standby. `synchronous_standby_names` refers to it by `name`. */
export const startStandby = async (
  primary: Server,
  name: string,
  settings: readonly string[] = [],
): Promise<Server> => {
  const folder = serverFolder("postgres");
  const data = join(folder, "data");
  const port = await freePort();
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    cpSync(primary.dataFolder, data, { recursive: true, filter: (path) => !isOfRunningServer(path) });
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
    writeFileSync(join(data, "backup_label"), rows[0]!.labelfile); // a function in the select list returns one row
  } finally {
    await client.end();
  }
  mkdirSync(join(data, "pg_wal"), { recursive: true });
  writeFileSync(join(data, "standby.signal"), "");
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`;
  appendFileSync(
    join(data, "postgresql.conf"),
    settingsText(folder, port, [`primary_conninfo = '${from}'`, ...settings]),
  );
  if (serverUser !== undefined)
    await promisify(execFile)("chown", ["-R", `${serverUser.uid}:${serverUser.gid}`, folder]);
  const standby = server(folder, port);
  await standby.start();
  return standby;
};
