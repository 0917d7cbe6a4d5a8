/**
 * Small versions of the loads of `npm run bench:memory`: every request gets a response, and the server keeps working.
 * The benchmark measures the memory.
 */
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { capabilities, testDatabase, type TestDatabase } from "../support/database.ts";
import { MEMORY_SQL } from "../support/memory-data.ts";
import { LOADS, startLoaded, type LoadedServer } from "../support/memory-loads.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/test/bench/memory-server.js", import.meta.url));

const prepare = async (): Promise<TestDatabase> => {
  const database = await testDatabase();
  await database.query(`
    do $$ begin create role bench_anon; exception when duplicate_object or unique_violation then null; end $$;
    ${MEMORY_SQL}`);
  return database;
};

/** The database, which the first test prepares. */
let preparation: Promise<TestDatabase> | undefined;

/** Servers by their number of connections. The loads run one after the other and share them. */
const servers = new Map<number, LoadedServer>();
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
});
const serverFor = async (connections: number): Promise<LoadedServer> => {
  const { options } = await (preparation ??= prepare());
  const server = servers.get(connections) ?? (await startLoaded(PROGRAM, options.databaseUrl as string, connections));
  servers.set(connections, server);
  return server;
};

for (const load of LOADS) {
  if (load.suite === undefined) continue;
  const { scale, answers } = load.suite;
  test.skipIf(!capabilities.realServer || capabilities.version < 14)(
    `G-HTTP-15 a part of the requests is answered, and the server continues: ${load.name}`,
    async () => {
      const figures = await (await serverFor(load.connections)).measure(load, scale);
      expect(figures.memory, "the server's own figures, which it has if it did not end").toBeDefined();
      expect(figures.answers).toBe(answers);
    },
  );
}
