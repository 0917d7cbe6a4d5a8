/** Plugins whose optional package is not installed. They run in a folder with the package and its dependencies only. */
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RelApiOptions } from "../../core/index.ts";
import { capabilities, openDatabase } from "../support/database.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const SCRIPT = `
import { createServer } from "node:http";
import { compose, relApi } from "relapi";
import { plus } from "relapi/presets";
import { metrics, structuredLog } from "relapi/plugins/operations";
import { natsBus, redisBus, bus } from "relapi/plugins/cluster";
import { schedules } from "relapi/plugins/services";

const parts = { metrics, "structured-log": structuredLog, bus, "redis-bus": redisBus, "nats-bus": natsBus, schedules: schedules({ "0 0 31 2 *": () => 0 }) };
const ignore = () => undefined;

const run = async ({ options, path, has }) => {
  const output = [];
  const note = (line, fields) => output.push(line, JSON.stringify(fields ?? null), fields?.cause?.message ?? "");
  const logger = { error: note, warn: note, info: ignore, debug: ignore, access: ignore };
  try {
    const preset = plus({ ...options, ...(has.includes("structured-log") ? {} : { logger }) });
    const api = relApi(compose(preset, ...has.map((name) => parts[name])));
    await api.ready;
    if (path !== undefined) {
      const server = createServer(api);
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const answer = await fetch("http://127.0.0.1:" + server.address().port + path, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      });
      output.push(await answer.text());
      server.closeAllConnections();
      server.close();
    }
    await api.close();
  } catch (error) {
    output.push(error.message);
  }
  return output.join("\\n");
};

const outputs = [];
for (const setup of JSON.parse(process.argv[2])) outputs.push(await run(setup));
console.log(JSON.stringify(outputs));
`;

describe.runIf(capabilities.realServer)("a missing optional package", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-optional-"));
  const home = join(folder, "node_modules", "relapi");
  mkdirSync(home, { recursive: true });
  cpSync(join(root, "dist"), join(home, "dist"), {
    recursive: true,
    filter: (path) => !/dist\/test|\.image$/.test(path),
  });
  cpSync(join(root, "package.json"), join(home, "package.json"));
  for (const name of [...Object.keys(manifest.dependencies), "graphql"]) {
    mkdirSync(join(folder, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "run.mjs"), SCRIPT);
  afterAll(() => rmSync(folder, { recursive: true }));
  const { options } = await openDatabase();

  interface Setup {
    readonly plugin: string;
    readonly spec: string;
    readonly options?: RelApiOptions;
    /** The plugins beside those of the preset. */
    readonly has?: readonly string[];
    /** The path of a request. */
    readonly path?: string;
  }
  const hook = { webhook: "http://127.0.0.1:1/" };
  const trigger = { ...hook, name: "a", definition: { insert: { columns: "*" } } };
  const remote = { name: "shop", definition: { url: "http://127.0.0.1:1/graphql" } };

  const setups: readonly Setup[] = [
    {
      plugin: "remote-schema-fields",
      spec: "@graphql-tools/wrap@11",
      options: { metadata: buildMetadataDocument([table("album")], { remote_schemas: [remote] }) },
    },
    { plugin: "job-queue", spec: "graphile-worker@0.16", has: ["schedules"] },
    { plugin: "mcp", spec: "@modelcontextprotocol/sdk", path: "/mcp", options: { anonRole: "music_reader" } },
    {
      plugin: "redis-bus",
      spec: "@redis/client",
      has: ["bus", "redis-bus"],
      options: { busUrl: "redis://127.0.0.1:1" },
    },
    {
      plugin: "nats-bus",
      spec: "@nats-io/transport-node",
      has: ["bus", "nats-bus"],
      options: { busUrl: "nats://127.0.0.1:1" },
    },
    { plugin: "tracing", spec: "@opentelemetry/api", options: { tracing: true } },
    { plugin: "structured-log", spec: "pino-pretty", has: ["structured-log"], options: { logFormat: "pretty" } },
    { plugin: "metrics", spec: "prom-client", has: ["metrics"] },
  ];
  /** The output of each setup. One process runs all of them, because each process loads the package again. */
  let outputs: readonly string[];
  beforeAll(async () => {
    const list = setups.map(({ options: overrides, has = [], path }) => ({
      options: { ...options, dbSchemas: ["public"], ...overrides },
      has,
      path,
    }));
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "run.mjs"), JSON.stringify(list)]);
    outputs = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? ""); // a log line may come before it
  });

  test.each(setups.map(({ plugin, spec }, at) => [plugin, spec, at] as const))(
    "C-PKG-3a the plugin %s names the package %s",
    (plugin, spec, at) => {
      const name = spec.split(/(?<=.)@/)[0];
      const sentence = `the plugin ${plugin} needs the package ${name}, which is not installed: npm install ${spec}`;
      expect(outputs[at]).toContain(sentence);
    },
  );

  test.each([
    ["an event trigger", [table("album", { event_triggers: [trigger] })], {}, 1],
    ["a cron trigger", [], { cron_triggers: [{ ...hook, name: "a", schedule: "0 0 31 2 *" }] }, 1],
    ["neither", [table("album")], {}, 0],
  ])("C-CHK-1b relapi check with %s", async (_, tables, extraKeys, code) => {
    const metadata = join(folder, "metadata.json");
    writeFileSync(metadata, JSON.stringify(buildMetadataDocument(tables, extraKeys)));
    const env = {
      PATH: process.env["PATH"],
      DATABASE_URL: options.databaseUrl,
      DB_SCHEMAS: "public",
      ANON_ROLE: "music_reader",
      PRESET: "plus",
      METADATA: metadata,
      PORT: "0",
    };
    const words = [join(home, "dist", "presets", "standalone.js"), "check"];
    const checkResult = spawnSync(process.execPath, words, { env, encoding: "utf8" });
    const sentence =
      "error: the plugin job-queue needs the package graphile-worker, which is not installed: npm install graphile-worker@0.16\n";
    expect([checkResult.status, checkResult.stderr.includes(sentence)]).toEqual([code, code === 1]);
  });
});
