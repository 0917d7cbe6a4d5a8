/** Scenes that several faults share. */
import { startPrimary, type Server } from "../../support/postgres-server.ts";
import { atFileEnd } from "../../support/file-end.ts";
import { until } from "../../support/until.ts";
import { startStandalone, type Environment, type Standalone } from "../standalone.ts";
import { startSubscribers } from "../subscribers.ts";
import type { Scene } from "./fault.ts";

export const ROLE = "shelf_anon";

/** Starts a cluster with the relation that the load reads and writes. */
export const startShelf = async (settings: readonly string[] = []): Promise<Server> => {
  const server = await startPrimary(settings);
  await server.query(
    `create role ${ROLE} nologin;
     create table shelf (id bigint generated always as identity primary key, n int);
     insert into shelf (n) select -i from generate_series(1, 100) i;
     grant select, insert on shelf to ${ROLE}`,
  );
  return server;
};

export const buildEnvironment = (url: string): Environment => ({
  DATABASE_URL: url,
  ANON_ROLE: ROLE,
  DB_POOL: "5",
  LOG_LEVEL: "error",
  SHUTDOWN_DELAY: "1",
});

export interface OneServer extends Scene {
  readonly database: Server;
  readonly server: Standalone;
}

/** Starts one process with one database. `url` replaces the direct connection string. */
export const oneServer = async (
  extraEnvironment: Environment = {},
  database?: Server,
  url?: string,
  logFile?: string,
): Promise<OneServer> => {
  const shelfDatabase = database ?? (await startShelf());
  const server = await startStandalone(
    { ...buildEnvironment(url ?? shelfDatabase.url), ...extraEnvironment },
    { logFile },
  );
  return { url: server.url, database: shelfDatabase, server, servers: [server] };
};

export interface Followers {
  /** Describes the subscribers that have not seen the newest row. @returns undefined if all have seen it */
  caughtUp(database: Pick<Server, "query">): Promise<string | undefined>;
}

const CAUGHT_UP_MS = 10_000;

/** Live queries of the newest row, five for each address. They reconnect when disconnected. */
export const follow = async (urls: readonly string[]): Promise<Followers> => {
  const query = "subscription { shelf(limit: 1, order_by: {id: desc}) { n } }";
  const all = urls.map((url) => startSubscribers(url, 5, query, true));
  atFileEnd(async () => {
    for (const subscribers of all) subscribers.stop();
  });
  const last = (): readonly (string | undefined)[] => all.flatMap((subscribers) => subscribers.last());
  await until(() => !last().includes(undefined), "all live queries have a first result");
  return {
    caughtUp: async (database) => {
      const [row] = await database.query("select n from shelf order by id desc limit 1");
      const expected = JSON.stringify({ data: { shelf: [row] } });
      const behindCount = (): number => last().filter((text) => text !== expected).length;
      const startedAtMs = performance.now();
      await until(() => behindCount() === 0 || performance.now() - startedAtMs > CAUGHT_UP_MS, "live queries catch up");
      return behindCount() === 0 ? undefined : `${behindCount()} of ${last().length} live queries are behind`;
    },
  };
};

/** Terminates the database sessions of relapi, but not those of psql and other programs. */
export const endSessions = (database: Pick<Server, "query">): Promise<unknown> =>
  database
    .query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'relapi%'")
    .catch(() => undefined); // the database may be unavailable
