/** The server that a page of `docs/` starts, on the page's database. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { RelApiOptions } from "../../../core/index.ts";
import { embedded } from "../../../plugins/database/index.ts";
import { buildDemoNotice } from "../../../presets/server/checks.ts";
import { readEnvironment } from "../../../presets/server/environment.ts";
import { serve } from "../../../presets/server/serve.ts";
import { openDatabase } from "../database.ts";
import { atFileEnd } from "../file-end.ts";
import { sendRequest, type Answer } from "../http.ts";
import { parseBlocks, readPage, readSettings, type Block, type Request } from "./pages.ts";

export const NEEDS_POSTGIS = ["features/geo.md"];

export interface PageServer {
  readonly url: string;
  send(request: Request): Promise<Answer>;
  /** Resets the ids after a request that may have written. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const agent = new Agent({ keepAlive: true });

/** Identity columns continue counting after a rollback. */
const RESET = `do $$
declare target record;
begin
  for target in
    select format('%I.%I', table_schema, table_name) as relation, column_name as name
    from information_schema.columns
    where is_identity = 'YES'
  loop
    execute format('select setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 0) + 1, false) from %s',
      target.relation, target.name, target.name, target.relation);
  end loop;
end $$`;

/** Opens an embedded database: the demo, or an empty one in which a script is run. */
export const openEmbedded = async (loadScript?: string) => {
  const image = loadScript === undefined ? "demo" : "empty";
  const database = embedded({ image, loadScript, statementTimeout: 0 });
  await database.ready;
  const pool = new pg.Pool({ user: "postgres", database: "postgres", stream: () => database.stream(), max: 1 });
  atFileEnd(async () => {
    await pool.end();
    await database.close();
  });
  return {
    query: async (text: string): Promise<void> => void (await pool.query(text)),
    options: { database: { stream: database.stream, ready: database.ready } },
  };
};

let demo: ReturnType<typeof openEmbedded> | undefined;

/** The demo database of a test file. Its pages share it, because their transactions are rolled back. */
const openDemo = (): ReturnType<typeof openEmbedded> => {
  if (demo === undefined) {
    demo = openEmbedded();
    // This closes with the file, so the next file of this process opens another.
    atFileEnd(async () => void (demo = undefined));
  }
  return demo;
};

/** The page's database: the demo, or one with the SQL of the page. */
const openPageDatabase = async (page: string, blocks: readonly Block[], isDemo: boolean) => {
  if (isDemo) {
    const { query, options } = await openDemo();
    return { query, options: { anonRole: "anon", ...options } };
  }
  const script = blocks.flatMap(({ language, text }) => (language === "sql" ? [text] : [])).join("\n");
  if (!NEEDS_POSTGIS.includes(page)) return openEmbedded(script);
  const { query, options } = await openDatabase();
  await query(`set search_path to public, gis; ${script}`);
  return { query, options: { dbExtraSearchPath: ["public", "gis"], ...options } };
};

/** The server that the page starts. Files that the page shows (`# metadata.yaml` in the first line) exist. */
export const startPageServer = async (page: string, overrides: RelApiOptions = {}): Promise<PageServer> => {
  const blocks = parseBlocks(readPage(page));
  const folder = mkdtempSync(join(tmpdir(), "relapi-docs-"));
  atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
  for (const { text } of blocks) {
    const [, name] = /^# ([\w.-]+\.(?:yaml|json))$/m.exec(text.split("\n")[0] ?? "") ?? [];
    if (name !== undefined) writeFileSync(join(folder, name), text);
  }
  const { DATABASE_URL: databaseUrl, ...settings } = readSettings(blocks);
  const { query, options } = await openPageDatabase(page, blocks, databaseUrl === undefined);
  const environment = readEnvironment(
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, value.replace(/^\.\//, `${folder}/`)])),
  );
  if (databaseUrl === undefined) buildDemoNotice(environment, settings, []); // throws if the command does not start the demo
  const server = await serve({
    options: { dbTxEnd: "rollback", ...options, ...environment.options, logLevel: "silent", ...overrides },
    server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1 },
  });
  let stopPromise: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopPromise ??= server.stop());
  atFileEnd(stop);
  await server.api.ready;
  const port = Number(new URL(server.address).port);
  return {
    url: server.address,
    send: ({ method, path, parts }) => sendRequest({ port, agent }, method, path, parts),
    reset: async () => void (await query(RESET)),
    stop,
  };
};
