/**
 * The template database on a server: created once per run, copied for each test file, dropped with its copies at the
 * end.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { loadCapabilities, type Capabilities } from "./capabilities.ts";
import { databaseScripts, geoScript, rolesScript, type FixtureScript } from "./fixtures.ts";
import type { DatabasePlan } from "./global-setup.ts";

/** The connection string of another database, or another login, of the same server. */
export const changeUrl = (
  url: string,
  change: { readonly database?: string; readonly user?: string; readonly password?: string },
): string => {
  const next = new URL(url);
  if (change.database !== undefined) next.pathname = `/${encodeURIComponent(change.database)}`;
  if (change.user !== undefined) next.username = encodeURIComponent(change.user);
  if (change.password !== undefined) next.password = encodeURIComponent(change.password);
  return next.href;
};

export const withClient = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Runs an SQL script of the fixtures. @throws Error with the name of the script and PostgreSQL's message */
export const runScript = async (client: pg.Client, script: FixtureScript): Promise<void> => {
  try {
    await client.query(script.text);
  } catch (error) {
    throw new Error(`fixture script ${script.name}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
};

/** The lock for creating roles, which all runs on a server share. */
const ROLES_LOCK = 715_001;

export const prepareTemplate = async (
  url: string,
): Promise<{ plan: DatabasePlan; capabilities: Capabilities; remove: () => Promise<void> }> => {
  const prefix = `relapi_test_${randomBytes(4).toString("hex")}`;
  const template = `${prefix}_template`;

  const remove = () =>
    withClient(url, async (client) => {
      const { rows } = await client.query<{ datname: string }>(
        "select datname from pg_database where starts_with(datname, $1)",
        [prefix],
      );
      for (const { datname } of rows) await client.query(`drop database if exists "${datname}" with (force)`);
    });

  await withClient(url, async (client) => {
    await client.query("select pg_advisory_lock($1)", [ROLES_LOCK]);
    try {
      await runScript(client, rolesScript);
    } finally {
      await client.query("select pg_advisory_unlock($1)", [ROLES_LOCK]);
    }
    await client.query(`create database "${template}" template template0 encoding 'UTF8'`);
  });
  try {
    const capabilities = await withClient(changeUrl(url, { database: template }), async (client) => {
      for (const script of databaseScripts) await runScript(client, script);
      const { rows } = await client.query("select from pg_available_extensions where name = 'postgis'");
      if (rows.length > 0) await runScript(client, geoScript);
      return loadCapabilities(client, true);
    });
    // PostgreSQL 14 always copies files and has no option for it.
    const strategy = capabilities.version < 15 ? "" : "strategy file_copy";
    return { plan: { kind: "server", url, template, prefix, strategy }, capabilities, remove };
  } catch (error) {
    await remove();
    throw error;
  }
};
