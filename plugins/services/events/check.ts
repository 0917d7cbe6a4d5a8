/** Checks event triggers against the tables of the database. */
import { sql, bindValue, type IntrospectContext } from "../../../core/index.ts";
import { OPERATIONS, type EventTrigger } from "./event-trigger.ts";

interface TableRow {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly keyColumns: readonly string[];
  readonly isInherited: boolean;
  readonly hasTriggers: boolean;
}

/** The triggers that fit the database. */
interface CheckedTriggers {
  readonly triggers: readonly EventTrigger[];
  /** True if a table of these triggers has no trigger yet. */
  readonly areMissing: boolean;
}

/** Loads the tables that can have triggers for rows. */
const loadTables = (
  { query }: Pick<IntrospectContext, "query">,
  triggers: readonly EventTrigger[],
): Promise<readonly TableRow[]> => {
  const names = JSON.stringify(triggers.map(({ table }) => table));
  return query<TableRow>(sql`
    select n.nspname as schema, c.relname as name,
      array(
        select a.attname::text from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) as columns,
      array(
        select a.attname::text from pg_catalog.pg_index i
        join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
        where i.indrelid = c.oid and i.indisprimary
        order by a.attnum
      ) as "keyColumns",
      c.relkind = 'p' or exists (
        select from pg_catalog.pg_inherits i where c.oid in (i.inhrelid, i.inhparent)
      ) as "isInherited",
      exists (
        select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
      ) as "hasTriggers"
    from pg_catalog.json_to_recordset(${bindValue(names, "json")}) wanted (schema text, name text)
    join pg_catalog.pg_namespace n on n.nspname = wanted.schema
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.name and c.relkind in ('r', 'p')
    group by n.nspname, c.relname, c.oid, c.relkind`);
};

/** Returns the triggers that fit the database. Calls `report` with each of the others. @rule X-EVT-2 X-EVT-5 */
export const checkTriggers = async (
  triggers: readonly EventTrigger[],
  introspection: Pick<IntrospectContext, "query">,
  report: (trigger: EventTrigger, reason: string) => void,
): Promise<CheckedTriggers> => {
  if (triggers.length === 0) return { triggers, areMissing: false };
  const tables = await loadTables(introspection, triggers);
  const knownTriggers = new Map<string, EventTrigger>();
  let areMissing = false;
  for (const trigger of triggers) {
    const { schema, name } = trigger.table;
    const table = tables.find((row) => row.schema === schema && row.name === name);
    const problem = knownTriggers.has(trigger.name)
      ? "another event trigger has this name"
      : table === undefined
        ? `there is no table "${schema}"."${name}"`
        : findProblem(trigger, table);
    if (problem !== undefined || table === undefined) report(trigger, problem ?? "");
    else {
      const { isInherited, keyColumns, hasTriggers } = table;
      areMissing ||= !hasTriggers && Object.keys(trigger.operations).length > 0;
      knownTriggers.set(trigger.name, { ...trigger, isInherited, ...(trigger.isOrdered ? { keyColumns } : {}) });
    }
  }
  return { triggers: [...knownTriggers.values()], areMissing };
};

const findProblem = (
  { operations, isOrdered }: EventTrigger,
  { columns, keyColumns }: TableRow,
): string | undefined => {
  for (const operation of OPERATIONS)
    for (const column of [...(operations[operation]?.listenedColumns ?? []), ...(operations[operation]?.payload ?? [])])
      if (!columns.includes(column)) return `${operation}: the table has no column "${column}"`;
  return isOrdered && keyColumns.length === 0 ? "ordered: the table has no primary key" : undefined;
};
