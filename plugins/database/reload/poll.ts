/** Checks every few seconds whether the schema has changed, and then reloads it. The checks find changes for which no
 *  notification is sent or arrives. */
import { definePlugin, sql, type Model, type Sql } from "../../../core/index.ts";
import { untilAborted } from "../../shared/abort.ts";
import { liveQueriesService } from "../../live/api.ts";
import { reloadPollSettings } from "../settings.ts";

const NAME = "reload-poll";

/** Hashes the identity of each catalog row with the transaction that wrote it. Changes of data do not write these
 *  rows. */
const compileRowHash = (columns: Sql, from: Sql): Sql =>
  sql`select pg_catalog.sum(pg_catalog.hash_record_extended(row(${columns}, entry.xmin), 0)) from ${from}`;

const IS_USER_OBJECT = sql`entry.oid >= 16384`;
const IN_LASTING_SCHEMA = sql`in (select schema.oid from schema)`;

/** A hash of the catalog rows that users can change and that affect the model, change detection or row visibility.
 *  Relations are hashed by these columns only, because TRUNCATE and REFRESH write their rows too. Temporary objects are
 *  ignored, because they come and go. @rule R-SC-9 */
const VERSION_QUERY = sql`
with schema as materialized (
  select schema.oid, schema.nspname, schema.nspowner, schema.nspacl
  from pg_catalog.pg_namespace schema
  where schema.nspname !~ '^pg_(toast_)?temp_'
),
relation as materialized (
  select class.oid, class.relname, class.relnamespace, class.relkind, class.relowner, class.reltype,
    class.relrowsecurity, class.relforcerowsecurity, class.relispartition, class.relacl, class.reloptions,
    class.relpersistence, class.relreplident
  from pg_catalog.pg_class class
  where class.relkind in ('r', 'v', 'm', 'f', 'p', 'c')
    and class.relpersistence <> 't'
    and class.oid >= 16384
)
select pg_catalog.sum(part.hash)::text as version
from (
  select pg_catalog.sum(pg_catalog.hash_record_extended(schema, 0)) from schema
  union all
  select pg_catalog.sum(pg_catalog.hash_record_extended(relation, 0)) from relation
  union all
  ${compileRowHash(sql`entry.attrelid, entry.attnum`, sql`pg_catalog.pg_attribute entry join relation on relation.oid = entry.attrelid where entry.attnum > 0`)}
  union all
  ${compileRowHash(sql`entry.oid, 1`, sql`pg_catalog.pg_attrdef entry join relation on relation.oid = entry.adrelid`)}
  union all
  ${compileRowHash(sql`entry.oid, 2`, sql`pg_catalog.pg_constraint entry left join relation on relation.oid = entry.conrelid where entry.conrelid = 0 or relation.oid is not null`)}
  union all
  ${compileRowHash(sql`entry.oid, 3`, sql`pg_catalog.pg_rewrite entry join relation on relation.oid = entry.ev_class`)}
  union all
  ${compileRowHash(sql`entry.oid, 4`, sql`pg_catalog.pg_trigger entry join relation on relation.oid = entry.tgrelid where not entry.tgisinternal`)}
  union all
  ${compileRowHash(sql`entry.oid, 5`, sql`pg_catalog.pg_policy entry join relation on relation.oid = entry.polrelid`)}
  union all
  ${compileRowHash(sql`entry.oid, 6`, sql`pg_catalog.pg_proc entry where ${IS_USER_OBJECT} and entry.pronamespace ${IN_LASTING_SCHEMA}`)}
  union all
  ${compileRowHash(sql`entry.oid, 7`, sql`pg_catalog.pg_type entry where ${IS_USER_OBJECT} and entry.typnamespace ${IN_LASTING_SCHEMA} and entry.typtype in ('d', 'e', 'r')`)}
  union all
  ${compileRowHash(sql`entry.oid, 8`, sql`pg_catalog.pg_enum entry`)}
  union all
  ${compileRowHash(sql`entry.objoid, entry.classoid, entry.objsubid`, sql`pg_catalog.pg_description entry where entry.objoid >= 16384 or entry.classoid = 'pg_catalog.pg_namespace'::pg_catalog.regclass`)}
  union all
  ${compileRowHash(sql`entry.oid, 9`, sql`pg_catalog.pg_extension entry`)}
  union all
  ${compileRowHash(sql`entry.oid, 10`, sql`pg_catalog.pg_cast entry where ${IS_USER_OBJECT}`)}
  union all
  ${compileRowHash(sql`entry.oid, 11`, sql`pg_catalog.pg_operator entry where ${IS_USER_OBJECT}`)}
  union all
  ${compileRowHash(sql`entry.oid, 12`, sql`pg_catalog.pg_opclass entry where ${IS_USER_OBJECT}`)}
  union all
  ${compileRowHash(sql`entry.roleid, entry.member`, sql`pg_catalog.pg_auth_members entry`)}
  union all
  select pg_catalog.sum(pg_catalog.hash_record_extended(row(role.rolname, role.rolsuper, role.rolinherit, role.rolbypassrls), 0))
  from pg_catalog.pg_roles role
  union all
  select pg_catalog.sum(pg_catalog.hash_record_extended(row(setting.setdatabase, setting.setrole, setting.setconfig), 0))
  from pg_catalog.pg_db_role_setting setting
  where setting.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database()))
) part (hash)`;

interface VersionRow {
  readonly version: string | null;
}

type Version = Promise<string | undefined>;

const getVersion = (model: Model): Version | undefined => model.pluginFacts[NAME] as Version | undefined;

/** The largest shares of time for checks, and for reloads if the schema changes constantly. */
const MAX_CHECK_SHARE = 1 / 30;
const MAX_RELOAD_SHARE = 1 / 5;
/** The time before a check in which a request must arrive, so that the check runs. */
const RECENT_USE_MS = 500;
/** The longest time that a request after a pause waits for the check, and for a reload. */
const PATIENCE_MS = 2000;

/** Checks every few seconds whether the schema has changed, and then reloads the model. @rule R-SC-9 */
export const reloadPoll = definePlugin({
  name: "reload-poll",
  settings: reloadPollSettings,
  requires: ["catalog-introspection"],
  apply: (hooks, context) => {
    const intervalMs = context.options.dbSchemaPollInterval * 1000;
    // Only the api itself can change an embedded database.
    if (intervalMs === 0 || context.options.database !== undefined) return;
    let loadedVersion: Version | undefined;
    let requestedVersion: string | undefined;
    let requestedAtMs = 0;
    let isClosed = false;
    let timer: NodeJS.Timeout | undefined;
    /** True if requests arrived recently. An unused server does not query its database. */
    let isUsed = false;

    hooks.introspect.tap(NAME, (model, { queryLater }) => {
      // If the query fails, the first check reloads the schema.
      const version = queryLater<VersionRow>(VERSION_QUERY).then(
        ([row]) => row?.version ?? undefined,
        () => undefined,
      );
      return { ...model, pluginFacts: { ...model.pluginFacts, [NAME]: version } };
    });

    /** Resolves when the model is up to date. */
    const checkVersion = async (): Promise<void> => {
      const startedAtMs = performance.now();
      const [row] = await context.query<VersionRow>(VERSION_QUERY).catch(() => []); // requests report a lost connection
      const currentVersion = row?.version ?? undefined;
      if (isClosed) return;
      schedule((performance.now() - startedAtMs) / MAX_CHECK_SHARE);
      // The loader itself retries a failed load.
      if (
        currentVersion === undefined ||
        currentVersion === requestedVersion ||
        currentVersion === (await loadedVersion)
      )
        return;
      requestedVersion = currentVersion;
      requestedAtMs = performance.now();
      await context.reload().catch(() => undefined); // the error was logged
    };

    const recordUse = async (): Promise<void> => {
      isUsed = true;
      context.setGate(undefined);
    };

    let firstCheck: Promise<void> | undefined;
    /** Checks the schema before the first request after a pause. Requests that arrive in the meantime wait too. */
    const checkFirst = (): Promise<void> =>
      (firstCheck ??= untilAborted(checkVersion(), AbortSignal.timeout(PATIENCE_MS)).then(() => {
        firstCheck = undefined;
        context.setGate(undefined);
      }));

    const checkIfUsed = (): void => {
      const isLive = context.use(liveQueriesService)?.isIdle === false;
      if (isUsed || isLive) return void checkVersion();
      context.setGate(checkFirst);
      scheduleAfter(intervalMs, checkIfUsed); // live queries may start
    };

    const scheduleAfter = (ms: number, next: () => void): void => {
      clearTimeout(timer);
      timer = setTimeout(next, ms);
      timer.unref();
    };

    const schedule = (atLeastMs: number): void =>
      scheduleAfter(Math.max(intervalMs, atLeastMs) - RECENT_USE_MS, () => {
        isUsed = false;
        context.setGate(recordUse);
        scheduleAfter(RECENT_USE_MS, checkIfUsed);
      });

    context.onModel((model) => {
      const isFirst = loadedVersion === undefined;
      loadedVersion = getVersion(model);
      if (requestedVersion !== undefined) schedule((performance.now() - requestedAtMs) / MAX_RELOAD_SHARE);
      else if (isFirst) schedule(0);
      requestedVersion = undefined;
    });
    context.onClose(() => {
      isClosed = true;
      clearTimeout(timer);
    });
  },
});
