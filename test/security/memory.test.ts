/** A small share of `npm run bench:memory`: what is asked keeps little, and holds little while it is answered. */
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { MEMORY_SQL } from "../support/memory-data.ts";
import { cellsOf, excesses, limitsFor, LOADS, measure, type Limits } from "../support/memory-loads.ts";
import { capabilities } from "../support/database.ts";
import { urlOf, withClient } from "../support/server-template.ts";

const LIMITS: Limits = { heapMegabytes: 90, peakMegabytes: 600, backendMegabytes: 40 };
const PROGRAM = fileURLToPath(new URL("../../dist/test/bench/memory-server.js", import.meta.url));

const server = process.env["TEST_DATABASE_URL"] ?? "";
const name = `relapi_memory_${process.pid}`;

/** Made by the first test. */
let url: Promise<string> | undefined;
const databaseUrl = (): Promise<string> =>
  (url ??= (async () => {
    await withClient(server, async (client) => {
      await client.query(
        "do $$ begin create role bench_anon; exception when duplicate_object or unique_violation then null; end $$",
      );
      await client.query(`create database ${name}`);
    });
    const own = urlOf(server, { database: name });
    await withClient(own, (client) => client.query(MEMORY_SQL));
    return own;
  })());

afterAll(async () => {
  if (url !== undefined)
    await withClient(server, (client) => client.query(`drop database if exists ${name} with (force)`));
});

for (const load of LOADS) {
  if (load.small === undefined) continue;
  const { small } = load;
  test.skipIf(!capabilities.realServer || capabilities.version < 14)(
    `G-HTTP-15 memory stays bounded: ${load.name}`,
    { timeout: 120_000 },
    async () => {
      const limits = limitsFor(load, LIMITS);
      const figures = await measure(load, PROGRAM, await databaseUrl(), small, 8);
      console.log(cellsOf(figures, limits).join(" | "));
      expect(excesses(figures, limits)).toEqual([]);
    },
  );
}
