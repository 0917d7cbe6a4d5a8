/**
 * The database of a test file: a copy of the template on a server, or an embedded one from the image. It is removed
 * when the file ends.
 */
import pg from "pg";
import { inject } from "vitest";
import type { RelApiOptions } from "../../core/index.ts";
import type { Capabilities } from "./capabilities.ts";
import { atFileEnd } from "./file-end.ts";
import type { DatabasePlan } from "./global-setup.ts";
import { embeddedExtensions, sessionSettings } from "./fixtures.ts";
import { changeUrl } from "./server-template.ts";
import { until } from "./until.ts";

export type { Capabilities } from "./capabilities.ts";

const requireProvided = <T>(value: T | undefined): T => {
  if (value !== undefined) return value;
  throw new Error("test/support/files.ts lists this file as one that opens no database");
};

/** Known when the file is collected, so that tests can be skipped depending on it. */
export const capabilities: Capabilities = requireProvided(inject("capabilities"));

/**
 * The database of a test. On the embedded database a transaction occupies the only backend and must end before the API
 * is used.
 */
export interface TestDatabase {
  /** Preset options that connect to this database. */
  readonly options: Pick<RelApiOptions, "databaseUrl" | "database">;
  /** The connection string for another login role, whose password is by default its name. Real server only. */
  urlAs(user: string, password?: string): string;
  /** Runs SQL as superuser. Without parameters, several statements are allowed; the rows are those of the last. */
  query<Row = Record<string, any>>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** Opens a separate connection for transactions, locks and LISTEN. The test closes it. */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
}

const queryThrough =
  (pool: pg.Pool): TestDatabase["query"] =>
  async <Row>(text: string, params?: readonly unknown[]): Promise<Row[]> => {
    const result: unknown = await pool.query(text, params === undefined ? undefined : [...params]);
    const last = Array.isArray(result) ? result[result.length - 1] : result; // pg returns a list for several statements
    return (last as { rows: Row[] }).rows;
  };

const connectWith =
  (config: pg.ClientConfig): TestDatabase["connect"] =>
  async () => {
    const client = new pg.Client(config);
    await client.connect();
    return client;
  };

/**
 * Drops a database. The server considers it in use until the sender of its replication slot has ended, which force does
 * not wait for.
 */
const dropDatabase = (maintenance: pg.Pool, name: string): Promise<void> =>
  until(async () => {
    try {
      await maintenance.query(`drop database if exists "${name}" with (force)`);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== "55006") throw error;
      await maintenance.query(
        "select pg_terminate_backend(active_pid) from pg_replication_slots where database = $1 and active",
        [name],
      );
      return false;
    }
  }, `no session uses the database ${name}`);

/** The connection on which all databases of this process are created and dropped. */
let maintenancePool: pg.Pool | undefined;

const openMaintenancePool = (url: string): pg.Pool => {
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  pool.on("error", () => {}); // a test that restarts the server ends its connection
  return pool;
};

type ServerPlan = Extract<DatabasePlan, { kind: "server" }>;

let copyCount = 0;

/** The name of a new copy of the template. */
const createCopy = async (plan: ServerPlan, maintenance: pg.Pool): Promise<string> => {
  copyCount += 1;
  const name = `${plan.prefix}_${process.pid}_${copyCount}`;
  await maintenance.query(`create database "${name}" template "${plan.template}" ${plan.strategy}`);
  await maintenance.query(sessionSettings(name));
  return name;
};

/** The next copy, created while a file runs, so that the next file of the process need not wait. */
let nextCopy: Promise<string> | undefined;

const openOnServer = async (plan: ServerPlan): Promise<TestDatabase> => {
  const maintenance = (maintenancePool ??= openMaintenancePool(plan.url));
  const name = await (nextCopy ?? createCopy(plan, maintenance));
  nextCopy = inject("isProcessShared") ? createCopy(plan, maintenance) : undefined;
  nextCopy?.catch(() => {}); // the next file awaits it and gets the error
  const url = changeUrl(plan.url, { database: name });
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on("error", () => {}); // tests that terminate backends terminate idle ones of this pool too
  return {
    options: { databaseUrl: url },
    urlAs: (user, password = user) => changeUrl(url, { user, password }),
    query: queryThrough(pool),
    connect: connectWith({ connectionString: url }),
    close: async () => {
      await pool.end();
      await dropDatabase(maintenance, name);
    },
  };
};

const openEmbedded = async (
  options: Parameters<typeof import("../../plugins/database/index.ts").embedded>[0],
): Promise<TestDatabase> => {
  const { embedded } = await import("../../plugins/database/index.ts"); // not loaded for a server
  const database = embedded({ statementTimeout: 0, ...options });
  await database.ready;
  const config = { user: "postgres", database: "postgres", stream: () => database.stream() };
  const pool = new pg.Pool({ ...config, max: 2 });
  return {
    // `close` is left out, because APIs of a file must not close its database.
    options: { database: { stream: () => database.stream(), ready: database.ready } },
    urlAs: () => {
      throw new Error("the embedded database has no login roles: skip by capabilities.realServer");
    },
    query: queryThrough(pool),
    connect: connectWith(config),
    close: async () => {
      await pool.end();
      await database.close();
    },
  };
};

const open = (): Promise<TestDatabase> => {
  const plan = requireProvided(inject("databasePlan"));
  return plan.kind === "server"
    ? openOnServer(plan)
    : openEmbedded({ image: plan.imagePath, extensions: embeddedExtensions });
};

const closeWithFile = (database: TestDatabase): TestDatabase => {
  let closePromise: Promise<void> | undefined;
  const close = (): Promise<void> => (closePromise ??= database.close());
  atFileEnd(close);
  return { ...database, close };
};

/** Opens another database, for a test that must not share the file's. It is closed at the latest with the file. */
export const openDatabase = async (): Promise<TestDatabase> => closeWithFile(await open());

/**
 * Opens an embedded database without the fixtures, even if there is a server. It is closed at the latest with the file.
 */
export const openEmptyEmbeddedDatabase = async (): Promise<TestDatabase> => closeWithFile(await openEmbedded({}));

let fileDatabase: Promise<TestDatabase> | undefined;

/** The database of this test file, opened at first use. */
export const testDatabase = (): Promise<TestDatabase> => {
  if (fileDatabase === undefined) {
    fileDatabase = openDatabase();
    // The next file of this process opens another.
    atFileEnd(async () => {
      fileDatabase = undefined;
    });
  }
  return fileDatabase;
};
