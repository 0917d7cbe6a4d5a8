/**
 * The server of the memory benchmark in a separate process with a small heap: `node memory-server.js <database url>
 * <connections> [<bytes of a body>]`. BENCH_WITHOUT lists plugins to leave out. The process sends its port to its
 * parent and answers each message with the memory that it retains.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { compose, relApi, without } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { MEMORY_SECRET } from "../support/memory-data.ts";

const [, , databaseUrl, connections, maxBodyBytes] = process.argv;
if (databaseUrl === undefined)
  throw new Error("usage: memory-server.js <database url> <connections> [<bytes of a body>]");

const api = relApi(
  compose(
    fullCompat({
      databaseUrl,
      anonRole: "bench_anon",
      logLevel: "error",
      // A busy machine must not cause timeouts.
      anonStatementTimeout: 0,
      dbPoolAcquisitionTimeout: 600,
      requestTimeout: 600,
      dbPool: Number(connections ?? 4),
      jwtSecret: MEMORY_SECRET,
      ...(maxBodyBytes === undefined
        ? {}
        : { maxBodyBytes: Number(maxBodyBytes), maxVariablesBytes: Number(maxBodyBytes) }),
    }),
    ...(process.env["BENCH_WITHOUT"] ?? "")
      .split(",")
      .filter((name) => name !== "")
      .map(without),
  ),
);
await api.ready;
// The client reuses connections, and one that is closed while a request arrives gives no answer.
const server = createServer({ keepAliveTimeout: 0 }, api);
process.on("message", () => {
  (globalThis as { gc?: () => void }).gc?.();
  process.send?.({
    heapBytes: process.memoryUsage().heapUsed,
    externalBytes: process.memoryUsage().external,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  });
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
