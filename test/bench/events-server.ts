/** A process that delivers events in a benchmark: `node events-server.js <database url> <webhook>`. A message of
 *  the process reports that it is ready. */
import { relApi } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";

const [, , databaseUrl, webhook] = process.argv;
if (databaseUrl === undefined || webhook === undefined)
  throw new Error("usage: events-server.js <database url> <webhook>");

const table = {
  table: { schema: "public", name: "delivery" },
  event_triggers: [{ name: "delivery", definition: { insert: { columns: "*" } }, webhook }],
};
const metadata = { version: 3, sources: [{ name: "default", kind: "postgres", tables: [table] }] };
const api = relApi(plus({ databaseUrl, metadata, webhookAllowedHosts: ["127.0.0.1"], logLevel: "warn" }));
await api.ready;
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
