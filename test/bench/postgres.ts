/** A PostgreSQL for benchmarks: TEST_DATABASE_URL, or a server that is started from the programs on this machine and
 *  stopped afterwards. */
import pg from "pg";
import { startPrimary, withDatabase, type Server } from "../support/postgres-server.ts";

export type BenchServer = Pick<Server, "url" | "buildUrl" | "stop">;

/** Connects to an empty database of that name, in a cluster with the role `bench_anon`. */
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
  const url = server.buildUrl(name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { url, client };
};

export const startServer = async (settings: readonly string[] = []): Promise<BenchServer> => {
  const existingUrl = process.env["TEST_DATABASE_URL"];
  if (existingUrl !== undefined)
    return { url: existingUrl, buildUrl: (database) => withDatabase(existingUrl, database), stop: async () => {} };
  return startPrimary(settings);
};
