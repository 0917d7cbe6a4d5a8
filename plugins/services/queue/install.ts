/** Installs the tables of events and of the queue in the database. */
import { joinSql, quoteLiteral, RelApiError, sql, type PluginContext, type Sql } from "../../../core/index.ts";
import { reloadOthersService } from "../../database/api.ts";
import { databaseEmbedded, installationRejected } from "./errors.ts";
import { installQueue } from "./queue.ts";
import { buildFingerprint, EVENT_SCHEMA } from "./schema.ts";

/** Selects the comment of the trigger function, which is installed last. */
const INSTALLED_SCHEMA = sql`
select pg_catalog.obj_description(p.oid, 'pg_proc') as fingerprint
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'relapi' and p.proname = 'record_event'`;

const SCHEMA_FINGERPRINT = buildFingerprint(EVENT_SCHEMA);

/** Makes processes that start at the same time install one after another. */
const LOCK = sql`select pg_catalog.pg_advisory_xact_lock(${quoteLiteral("7310305118327")}::int8)`;

/** Limits the wait for locks. `create trigger` waits for the running transactions of its table, and later transactions
 *  wait for it. */
const LOCK_LIMIT = sql`set local lock_timeout = '5s'`;

export type QueueDatabase = Pick<PluginContext, "query" | "script" | "logger" | "findDatabaseUrl" | "use">;

/** Returns whether the tables and functions of this version are installed. */
export const hasEventSchema = async ({ query }: Pick<QueueDatabase, "query">): Promise<boolean> => {
  const [row] = await query<{ readonly fingerprint: string | null }>(INSTALLED_SCHEMA);
  return row?.fingerprint === SCHEMA_FINGERPRINT;
};

/** Runs statements of the installation. @throws RelApiError `preset` if the role lacks the rights */
export const runInstallation = async ({ script }: QueueDatabase, statements: readonly Sql[]): Promise<void> => {
  try {
    await script(joinSql([LOCK_LIMIT, LOCK, ...statements], ";\n"), { access: "read write" });
  } catch (error) {
    throw convertError(error);
  }
};

/** The SQLSTATEs for insufficient rights, and for a read-only transaction. */
const REJECTED_STATES: ReadonlySet<unknown> = new Set(["42501", "25006"]);

const convertError = (error: unknown): unknown =>
  // Errors of the driver and of core have the SQLSTATE as code.
  REJECTED_STATES.has((error as { readonly code?: unknown }).code)
    ? installationRejected((error as Error).message)
    : error;

/** The SQLSTATEs for two processes that create the same schema, table or function at the same time. */
const COLLISIONS: ReadonlySet<unknown> = new Set(["23505", "42P06", "42P07", "42723"]);

const MAX_COLLISIONS = 5;

/** Installs the queue. Its migrations take no lock, so they run again after a collision with another process. */
const installQueueSafely = async (url: string, { logger }: Pick<QueueDatabase, "logger">): Promise<void> => {
  for (let collisions = 0; ; collisions++) {
    try {
      return await installQueue(url, logger);
    } catch (error) {
      const { code } = error as { readonly code?: unknown }; // errors of the driver have the SQLSTATE as code
      if (collisions === MAX_COLLISIONS || !COLLISIONS.has(code)) throw error;
    }
  }
};

/** Installs tables and functions that are missing or of another version, and then makes other processes reload.
 *  Changes nothing and returns false if this version is installed. @throws RelApiError `preset` if the database rejects
 *  @rule X-EVT-3
 *  X-EVT-4 X-SCH-4 */
export const installEventSchema = async (database: QueueDatabase): Promise<boolean> => {
  if (await hasEventSchema(database)) return false;
  const url = await database.findDatabaseUrl();
  if (url === undefined) throw databaseEmbedded();
  try {
    await installQueueSafely(url, database);
  } catch (error) {
    if (error instanceof RelApiError) throw error;
    throw convertError(error);
  }
  await runInstallation(database, [
    EVENT_SCHEMA,
    sql`comment on function relapi.record_event() is ${quoteLiteral(SCHEMA_FINGERPRINT)}`,
  ]);
  // Processes that started before the installation see the tables only after a reload.
  database.use(reloadOthersService)?.requestReload();
  return true;
};
