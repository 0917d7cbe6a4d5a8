/** Checks event triggers against the tables of the database. */
import { sql, value, type IntrospectContext } from "../../../core/index.ts";
import { OPERATIONS, type EventTrigger } from "./event-trigger.ts";

interface TableRow {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
}

/** Tables that can have triggers for rows. */
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
      ) as columns
    from pg_catalog.json_to_recordset(${value(names, "json")}) wanted (schema text, name text)
    join pg_catalog.pg_namespace n on n.nspname = wanted.schema
    join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = wanted.name and c.relkind in ('r', 'p')
    group by n.nspname, c.relname, c.oid`);
};

/** Returns the triggers that fit the database. Calls `report` with each other one. @rule X-EVT-2 X-EVT-5 */
export const checkTriggers = async (
  triggers: readonly EventTrigger[],
  introspection: Pick<IntrospectContext, "query">,
  report: (trigger: EventTrigger, reason: string) => void,
): Promise<readonly EventTrigger[]> => {
  if (triggers.length === 0) return triggers;
  const tables = await loadTables(introspection, triggers);
  const known = new Map<string, EventTrigger>();
  for (const trigger of triggers) {
    const problem = findProblem(trigger, tables, known);
    if (problem === undefined) known.set(trigger.name, trigger);
    else report(trigger, problem);
  }
  return [...known.values()];
};

const findProblem = (
  { name, table, operations }: EventTrigger,
  tables: readonly TableRow[],
  known: ReadonlyMap<string, EventTrigger>,
): string | undefined => {
  if (known.has(name)) return "another event trigger has this name";
  const found = tables.find((one) => one.schema === table.schema && one.name === table.name);
  if (found === undefined) return `there is no table "${table.schema}"."${table.name}"`;
  for (const operation of OPERATIONS)
    for (const column of [...(operations[operation]?.listened ?? []), ...(operations[operation]?.payload ?? [])])
      if (!found.columns.includes(column)) return `${operation}: the table has no column "${column}"`;
  return undefined;
};
