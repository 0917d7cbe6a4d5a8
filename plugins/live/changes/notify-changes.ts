/** Detects changes by `NOTIFY`, on tables with the triggers that `relapi live-triggers` prints. It serves databases
 *  without access to logical replication. */
import { getErrorMessage, definePlugin, type Model, type PluginContext } from "../../../core/index.ts";
import { quoteIdentifier, joinSql, quoteLiteral, sql, compileSql } from "../../../core/sql/fragment.ts";
import { dbChannel } from "../../shared/settings.ts";
import { loadBaseTables } from "../engine/base-tables.ts";
import { liveQueriesService, watchChangesHook, type ReportChange, type Interest, type Unwatch } from "../api.ts";

const NAME = "notify-changes";
const CHANNEL = "relapi_changes";
const TRIGGER = "relapi_notify_change";

/** Detects changes by triggers and `NOTIFY`. */
export const notifyChanges = definePlugin({
  name: NAME,
  requires: ["live-queries"],
  before: ["poll-changes"],
  apply: (hooks, context) => {
    const source = createNotifications(context);
    hooks.introspect.tap(NAME, (model, { queryLater }) => {
      const tables = queryLater<TableRow>(TABLES);
      tables.catch(() => undefined); // `load` logs the error
      return { ...model, pluginFacts: { ...model.pluginFacts, [NAME]: tables } };
    });
    context.use(watchChangesHook).tap(NAME, source.watch);
    context.onModel(source.load);
  },
});

interface TableRow {
  readonly name: string;
  readonly isTriggered: boolean;
  readonly ancestors: readonly string[] | null;
}

/** Selects tables with the enabled trigger, and partitions. A hot standby has the triggers and no notifications. A
 *  statement on one of the `ancestors` may change the table, but only the trigger of the table that the statement names
 *  fires. */
const TABLES = sql`
with recursive above (relation, ancestor) as (
  select inhrelid, inhparent from pg_catalog.pg_inherits
  union
  select a.relation, i.inhparent from above a join pg_catalog.pg_inherits i on i.inhrelid = a.ancestor
), triggered as (
  select tgrelid as relation from pg_catalog.pg_trigger
  where tgname = ${quoteLiteral(TRIGGER)} and tgenabled in ('O', 'A') and not pg_catalog.pg_is_in_recovery()
)
select n.nspname || '.' || c.relname as name,
  c.oid in (select relation from triggered) as "isTriggered",
  (select pg_catalog.array_agg(pn.nspname || '.' || p.relname)
   from above a join pg_catalog.pg_class p on p.oid = a.ancestor join pg_catalog.pg_namespace pn on pn.oid = p.relnamespace
   where a.relation = c.oid) as ancestors
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.oid in (select relation from triggered union select relation from above)`;

const getTriggerTables = (model: Model): Promise<readonly TableRow[]> =>
  model.pluginFacts[NAME] as Promise<readonly TableRow[]>;

interface Notifications {
  watch(interest: Interest, onChange: ReportChange): Unwatch | undefined;
  load(model: Model): void;
}

const createNotifications = (context: PluginContext): Notifications => {
  const interests = new Map<ReportChange, Interest>();
  /** The tables for which every change is reported. */
  let reportedTables: ReadonlySet<string> = new Set();
  /** The partitions of each table that a statement may name. */
  let descendants: ReadonlyMap<string, readonly string[]> = new Map();
  let stop: (() => void) | undefined;
  let hasListenFailed = false;

  const rewatch = (): void => context.use(liveQueriesService)?.rewatch();

  const load = async (model: Model): Promise<void> => {
    const rows = await getTriggerTables(model);
    if (context.model() !== model) return;
    const previousCount = reportedTables.size;
    const triggeredTables = new Set(rows.filter(({ isTriggered }) => isTriggered).map(({ name }) => name));
    const hasTriggers = ({ name, ancestors }: TableRow): boolean =>
      [name, ...(ancestors ?? [])].every((tableName) => triggeredTables.has(tableName));
    reportedTables = new Set(rows.filter(hasTriggers).map(({ name }) => name));
    const descendantsByTable = new Map<string, string[]>();
    for (const { name, ancestors } of rows)
      for (const ancestor of ancestors ?? [])
        descendantsByTable.set(ancestor, [...(descendantsByTable.get(ancestor) ?? []), name]);
    descendants = descendantsByTable;
    // A live query that was rejected before may be accepted with the new triggers.
    if (previousCount > 0 || reportedTables.size > 0) rewatch();
  };

  const onNotification = (relation: string): void => {
    const changedTables = [relation, ...(descendants.get(relation) ?? [])];
    for (const [onChange, { relations }] of interests)
      if (changedTables.some((name) => relations.has(name))) onChange();
  };

  const onMissed = (): void => {
    if (hasListenFailed) {
      hasListenFailed = false;
      return rewatch();
    }
    for (const onChange of interests.keys()) onChange();
  };

  /** Lets other change sources watch until notifications arrive. */
  const onListenFailure = (): void => {
    hasListenFailed = true;
    rewatch();
  };

  return {
    load: (model) => {
      load(model).catch((error: unknown) =>
        context.logger.warn("failed to look up the triggers for live queries", { reason: getErrorMessage(error) }),
      );
    },
    watch: (interest, onChange) => {
      if (
        hasListenFailed ||
        interest.isOpenEnded ||
        interest.relations.size === 0 ||
        ![...interest.relations].every((name) => reportedTables.has(name))
      )
        return undefined;
      interests.set(onChange, interest);
      stop ??= context.listen(CHANNEL, onNotification, onMissed, onListenFailure);
      return () => {
        interests.delete(onChange);
        if (interests.size > 0 || hasListenFailed) return;
        stop?.();
        stop = undefined;
      };
    },
  };
};

/** Passes the SQL that installs the triggers on every table behind the exposed schemas to `take`, once the model is
 *  loaded. */
export const liveTriggers = (take: (text: string) => void) =>
  definePlugin({
    name: "live-triggers",
    settings: [dbChannel],
    apply: (_hooks, context) => {
      context.onModel((model) => {
        loadTriggerSql(context, model)
          .then(take)
          .catch((error: unknown) =>
            context.logger.error("failed to generate the SQL of the live triggers", { reason: getErrorMessage(error) }),
          ); // a failure has to be logged here, because `onModel` does not await the promise
      });
    },
  });

/** Returns the SQL that installs the triggers on every table behind the exposed schemas. @throws RelApiError of the
 *  database */
export const loadTriggerSql = async (context: PluginContext, model: Model): Promise<string> => {
  const baseTables = await loadBaseTables(context, model);
  const exposedRelations = new Set(
    [...model.relations.values()].map((relation) => `${relation.schema}.${relation.name}`),
  );
  const names = await context.query<{ schema: string; name: string }>(
    sql`select n.nspname as schema, c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and n.nspname <> 'pg_catalog' and n.nspname <> 'information_schema' order by 1, 2`,
  );
  const { tables } = baseTables.findTables(exposedRelations);
  const routine = quoteIdentifier(model.schemas[0] ?? "public", TRIGGER);
  const statements = [
    sql`create or replace function ${routine}() returns trigger language plpgsql as $body$ begin perform pg_catalog.pg_notify(${quoteLiteral(CHANNEL)}, tg_table_schema || '.' || tg_table_name); return null; end $body$`,
    ...names
      .filter(({ schema, name }) => tables.has(`${schema}.${name}`))
      .map(
        ({ schema, name }) =>
          sql`create or replace trigger ${quoteIdentifier(TRIGGER)} after insert or update or delete or truncate on ${quoteIdentifier(schema, name)} for each statement execute function ${routine}()`,
      ),
    // The notification makes running servers reload, and so find the triggers.
    sql`notify ${quoteIdentifier(context.options.dbChannel)}`,
  ];
  return `${compileSql(joinSql(statements, ";\n")).text};\n`;
};
