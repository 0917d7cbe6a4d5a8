/** Installs event triggers in the database, removes them, and reports their state. */
import { quoteIdentifier, quoteLiteral, sql, type Sql } from "../../../core/index.ts";
import type { EventCounts, EventInstallation, TriggerStatus } from "../api.ts";
import type { EventTrigger } from "./event-trigger.ts";
import { hasEventSchema, installEventSchema, runInstallation, type QueueDatabase } from "../queue/install.ts";
import { buildTableTriggers, type TableTrigger } from "./schema.ts";

interface InstalledTrigger {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
  readonly fingerprint: string | null;
  readonly event: string;
}

/** Selects the installed triggers. PostgreSQL stores the arguments of a trigger as bytes, each followed by NUL. The
 *  first argument is the name of the event trigger. */
const INSTALLED_TRIGGERS = sql`
select n.nspname as schema, c.relname as table, t.tgname as name,
  pg_catalog.obj_description(t.oid, 'pg_trigger') as fingerprint,
  pg_catalog.convert_from(
    pg_catalog.substr(t.tgargs, 1, position('\\x00'::bytea in t.tgargs) - 1),
    pg_catalog.getdatabaseencoding()
  ) as event
from pg_catalog.pg_trigger t
join pg_catalog.pg_class c on c.oid = t.tgrelid
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_proc p on p.oid = t.tgfoid
join pg_catalog.pg_namespace pn on pn.oid = p.pronamespace
where pn.nspname = 'relapi' and p.proname in ('record_event', 'record_statement') and t.tgparentid = 0
order by 1, 2, 3`;

const isSame = (tableTrigger: TableTrigger, installedTrigger: InstalledTrigger): boolean =>
  tableTrigger.schema === installedTrigger.schema &&
  tableTrigger.table === installedTrigger.table &&
  tableTrigger.name === installedTrigger.name;

const compileTrigger = ({ name, schema, table, definition, fingerprint }: TableTrigger): readonly Sql[] => [
  definition,
  sql`comment on trigger ${quoteIdentifier(name)} on ${quoteIdentifier(schema, table)} is ${quoteLiteral(fingerprint)}`,
];

/** Installs the schema of events and the triggers that are missing or have changed. Removes the other operations of the
 *  same event triggers. Changes nothing if all is installed. Returns what it has changed.
 *  @throws RelApiError `preset` if the database rejects @rule X-EVT-3 X-EVT-4 */
export const installTriggers = async (
  database: QueueDatabase,
  triggers: readonly EventTrigger[],
): Promise<EventInstallation> => {
  const tableTriggers = buildTableTriggers(triggers);
  const names = new Set(triggers.map(({ name }) => name));
  const hasInstalledSchema = await installEventSchema(database);
  const installedTriggers = await database.query<InstalledTrigger>(INSTALLED_TRIGGERS);
  const missingTriggers = tableTriggers.filter(
    (tableTrigger) =>
      !installedTriggers.some(
        (installedTrigger) =>
          isSame(tableTrigger, installedTrigger) && tableTrigger.fingerprint === installedTrigger.fingerprint,
      ),
  );
  const obsolete = installedTriggers.filter(
    (installedTrigger) =>
      names.has(installedTrigger.event) &&
      !tableTriggers.some((tableTrigger) => isSame(tableTrigger, installedTrigger)),
  );
  const changes = [...obsolete.map(compileDrop), ...missingTriggers.flatMap(compileTrigger)];
  if (changes.length > 0) await runInstallation(database, changes);
  return { hasInstalledSchema, triggerCount: missingTriggers.length + obsolete.length };
};

const compileDrop = ({ name, schema, table }: InstalledTrigger): Sql =>
  sql`drop trigger if exists ${quoteIdentifier(name)} on ${quoteIdentifier(schema, table)}`;

/** Removes the event triggers of these names, or all of them, from their tables. Events stay. Returns the number of
 *  triggers. @rule X-EVT-3 */
export const removeTriggers = async (database: QueueDatabase, names?: ReadonlySet<string>): Promise<number> => {
  const triggers = await database.query<InstalledTrigger>(INSTALLED_TRIGGERS);
  const removedTriggers = triggers.filter(({ event }) => names?.has(event) ?? true);
  if (removedTriggers.length > 0) await runInstallation(database, removedTriggers.map(compileDrop));
  return removedTriggers.length;
};

/** Compares the triggers with those of the database. */
export const loadTriggerStatus = async (
  database: QueueDatabase,
  triggers: readonly EventTrigger[],
): Promise<readonly TriggerStatus[]> => {
  const tableTriggers = buildTableTriggers(triggers);
  const installedTriggers = await database.query<InstalledTrigger>(INSTALLED_TRIGGERS);
  const hasSchema = await hasEventSchema(database);
  const states = new Map<string, TriggerStatus>();
  for (const tableTrigger of tableTriggers) {
    const matchingTrigger = installedTriggers.find((installedTrigger) => isSame(tableTrigger, installedTrigger));
    const state =
      matchingTrigger === undefined
        ? "missing"
        : hasSchema && matchingTrigger.fingerprint === tableTrigger.fingerprint
          ? "installed"
          : "changed";
    // An operation that is not installed determines the state of the event trigger.
    if (states.get(tableTrigger.event)?.state === "installed" || !states.has(tableTrigger.event))
      states.set(tableTrigger.event, {
        trigger: tableTrigger.event,
        table: `${tableTrigger.schema}.${tableTrigger.table}`,
        state,
      });
  }
  const unknown = installedTriggers
    .filter((installedTrigger) => !tableTriggers.some((tableTrigger) => isSame(tableTrigger, installedTrigger)))
    .map(({ event, schema, table }): TriggerStatus => ({
      trigger: event,
      table: `${schema}.${table}`,
      state: "unknown",
    }));
  return [...states.values(), ...unknown];
};

/** Counts events by trigger. The list is empty before the installation. */
export const loadEventCounts = async ({ query }: QueueDatabase): Promise<readonly EventCounts[]> => {
  const [table] = await query<{ readonly oid: string | null }>(
    sql`select pg_catalog.to_regclass('relapi.event')::text as oid`,
  );
  if ((table?.oid ?? null) === null) return [];
  return query<EventCounts>(sql`
    select trigger_name as trigger,
      (count(*) filter (where status = 'pending'))::int as pending,
      (count(*) filter (where status = 'delivered'))::int as delivered,
      (count(*) filter (where status = 'dead'))::int as dead
    from relapi.event
    group by 1
    order by 1`);
};
