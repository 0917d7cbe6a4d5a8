/**
 * The tested server in a separate process: `node live-server.js <database url> <replication|polling>`. The
 * process prints its port and answers each message with the resources that it has used so far.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { compose, relApi, without } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { readUsage } from "./live-used.ts";

const [, , databaseUrl, source] = process.argv;
if (databaseUrl === undefined) throw new Error("usage: live-server.js <database url> <replication|polling>");

const preset = fullCompat({ databaseUrl, anonRole: "bench_anon", logLevel: "warn" });
const api = relApi(source === "polling" ? compose(preset, without("replication-changes")) : preset);
await api.ready;
const server = createServer(api);
process.on("message", (message) => {
  if (message === "stop") return void api.close().then(() => process.exit(0));
  process.send?.(readUsage(message === "collect"));
});
process.on("disconnect", () => process.exit(0));
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
