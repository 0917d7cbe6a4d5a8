/**
 * `npm run bench:memory`: measures the memory that small requests make a server and its backends retain, and exits with
 * 1 if it exceeds the limits here. On Linux it also measures large bodies and responses by their size. A
 * PostgreSQL 14 or later is required: TEST_DATABASE_URL (superuser), or the server programs on this machine.
 * BENCH_LOADS=batch,roles selects loads whose name contains one of the words. BENCH_JSON=file writes the figures of the
 * sizes to the file. BENCH_WITHOUT=streamed-answers leaves a plugin out.
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { MEMORY_SQL } from "../support/memory-data.ts";
import { formatCells, excesses, HEADINGS, limitsFor, LOADS, measure, type Limits } from "../support/memory-loads.ts";
import {
  canMeasureSizes,
  measureSize,
  SIZE_HEADINGS,
  SIZE_SCENES,
  sizeCells,
  SIZES_SQL,
  type SizeFigures,
} from "./memory-sizes.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const LIMITS: Limits = { heapMegabytes: 300, peakMegabytes: 1000, backendMegabytes: 100 };
const SCALE = Number(process.env["BENCH_SCALE"] ?? 1);
const MAX_SECONDS = Number(process.env["BENCH_SECONDS"] ?? 300);
const WORDS = (process.env["BENCH_LOADS"] ?? "").split(",");

const JSON_FILE = process.env["BENCH_JSON"] ?? "";
const PROGRAM = fileURLToPath(new URL("./memory-server.js", import.meta.url));

const row = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

const server = await startServer();
try {
  const { url, client } = await openFreshDatabase(server, "relapi_memory");
  await client.query(MEMORY_SQL);
  await client.query(SIZES_SQL);
  await client.end();
  process.stdout.write(
    `limits: ${LIMITS.heapMegabytes} MB of heap and buffers after a collection, ${LIMITS.peakMegabytes} MB at the most, ${LIMITS.backendMegabytes} MB of one backend\n`,
  );
  row(HEADINGS);
  row(HEADINGS.map(() => "---"));
  for (const load of LOADS.filter(({ name }) => WORDS.some((word) => name.includes(word)))) {
    const limits = limitsFor(load, LIMITS);
    const figures = await measure(load, PROGRAM, url, SCALE, MAX_SECONDS);
    row(formatCells(figures, limits));
    if (excesses(figures, limits).length > 0) process.exitCode = 1;
  }
  const sizes: SizeFigures[] = [];
  for (const scene of SIZE_SCENES.filter(({ name }) => canMeasureSizes && WORDS.some((word) => name.includes(word)))) {
    if (sizes.length === 0) {
      process.stdout.write("\n");
      row(SIZE_HEADINGS);
      row(SIZE_HEADINGS.map(() => "---"));
    }
    const figures = await measureSize(scene, PROGRAM, url);
    sizes.push(figures);
    row(sizeCells(figures));
    if (figures.grownMegabytes > figures.limitMegabytes) process.exitCode = 1;
  }
  if (JSON_FILE !== "")
    writeFileSync(
      JSON_FILE,
      `${JSON.stringify({ sizes, at: new Date(), node: process.version, load: loadavg() }, null, 2)}\n`,
    );
} finally {
  await server.stop();
}
