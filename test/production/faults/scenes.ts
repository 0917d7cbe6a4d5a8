/** What several faults arrange alike. */
import { startPrimary, type Server } from "../../support/cluster.ts";
import { startStandalone, type Environment, type Standalone } from "../standalone.ts";
import type { Scene } from "./fault.ts";

export const ROLE = "shelf_anon";

/** A cluster with the relation that the load reads and writes. */
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

export const environmentOf = (url: string): Environment => ({
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

/** One process before one database. `url`: another way to the database than the straight one. */
export const oneServer = async (
  more: Environment = {},
  database?: Server,
  url?: string,
  logFile?: string,
): Promise<OneServer> => {
  const found = database ?? (await startShelf());
  const server = await startStandalone({ ...environmentOf(url ?? found.url), ...more }, { logFile });
  return { url: server.url, database: found, server, servers: [server] };
};

/** Sessions of relapi; those of psql and the like stay. */
export const endSessions = (database: Pick<Server, "query">): Promise<unknown> =>
  database
    .query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'relapi'")
    .catch(() => undefined); // it may be away
