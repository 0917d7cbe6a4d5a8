/** The base tables of relations: the tables behind views, the partitions of a table, the tables that row policies read.
 *  Loaded once per model. */
import type { Model, PluginContext } from "../../core/index.ts";
import { sql } from "../../core/engine/sql/fragment.ts";

export interface BaseTables {
  /** Tables whose changes can affect reads of these relations. `isOpenEnded`: they also depend on something that no
   *  change source reports. */
  of(relations: Iterable<string>): {
    readonly tables: ReadonlySet<string>;
    readonly isOpenEnded: boolean;
    /** The WAL contains the primary keys of changed rows, including the old key if it changes. */
    readonly tellKeys: boolean;
  };
}

interface CatalogRow {
  readonly name: string;
  readonly kind: string;
  readonly isOpenEnded: boolean;
  readonly tellsKeys: boolean;
  readonly leads: readonly string[] | null;
}

/** `leads`: relations in the definition of a view or in the policies of a table, and children of a table. Open-ended
 *  are foreign and unlogged tables (their changes are not in the WAL), materialized views (a refresh changes no rows),
 *  and definitions that call user-defined functions, which may read anything, or that depend on time or randomness. */
const CATALOG = sql`
with definition as (
  select r.ev_class as relation, 'pg_catalog.pg_rewrite'::regclass as class, r.oid, r.ev_action::text as tree
  from pg_catalog.pg_rewrite r join pg_catalog.pg_class c on c.oid = r.ev_class and c.relkind in ('v', 'm')
  where r.ev_type = '1' and c.relnamespace <> 'pg_catalog'::regnamespace and c.relnamespace <> 'information_schema'::regnamespace
  union all
  select p.polrelid, 'pg_catalog.pg_policy'::regclass, p.oid, coalesce(p.polqual::text, '')
  from pg_catalog.pg_policy p
  where p.polcmd in ('r', '*')
), called as (
  select d.relation, bool_or(
      f.pronamespace <> 'pg_catalog'::regnamespace and f.provolatile <> 'i'
      or f.provolatile = 'v'
      or f.proname in ('now', 'transaction_timestamp', 'statement_timestamp', 'age')
    ) as is_open
  from definition d
  cross join lateral pg_catalog.regexp_matches(d.tree, ':(?:op)?funcid ([0-9]+)', 'g') as m
  join pg_catalog.pg_proc f on f.oid = m[1]::oid
  group by d.relation
), clock as (
  select distinct relation from definition where tree ~ 'SQLVALUEFUNCTION :op [0-8] '
), edge as (
  select d.relation, p.refobjid as target
  from definition d
  join pg_catalog.pg_depend p on p.classid = d.class and p.objid = d.oid and p.refclassid = 'pg_catalog.pg_class'::regclass and p.refobjid <> d.relation
  union
  select inhparent, inhrelid from pg_catalog.pg_inherits
)
select n.nspname || '.' || c.relname as name,
  c.relkind as kind,
  c.relreplident in ('d', 'f') as "tellsKeys",
  c.relkind in ('f', 'm') or c.relpersistence = 'u' or coalesce(f.is_open, false) or k.relation is not null as "isOpenEnded",
  (select pg_catalog.array_agg(tn.nspname || '.' || t.relname)
   from edge e join pg_catalog.pg_class t on t.oid = e.target join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
   where e.relation = c.oid) as leads
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join called f on f.relation = c.oid
left join clock k on k.relation = c.oid
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  and c.relpersistence <> 't'`;

/** @throws RelApiError of the query */
export const loadBases = async (context: PluginContext): Promise<BaseTables> => {
  const rows = new Map((await context.query<CatalogRow>(CATALOG)).map((row) => [row.name, row]));
  return {
    of: (relations) => {
      const tables = new Set<string>();
      const seen = new Set<string>();
      let isOpenEnded = false;
      const visit = (name: string): void => {
        if (seen.has(name)) return;
        seen.add(name);
        const row = rows.get(name);
        // not of this database's tables: a relation of the catalog, or a function's name
        if (row === undefined || row.isOpenEnded) isOpenEnded = true;
        if (row?.kind === "r" || row?.kind === "p") tables.add(name);
        for (const lead of row?.leads ?? []) visit(lead);
      };
      for (const name of relations) visit(name);
      return { tables, isOpenEnded, tellKeys: [...tables].every((name) => rows.get(name)?.tellsKeys === true) };
    },
  };
};

/** Those of the model in force. */
export const createBases = (context: PluginContext): ((model: Model) => Promise<BaseTables>) => {
  const byModel = new WeakMap<Model, Promise<BaseTables>>();
  return (model) => {
    let found = byModel.get(model);
    if (found === undefined) {
      found = loadBases(context);
      byModel.set(model, found);
      found.catch(() => byModel.delete(model)); // the next call tries again
    }
    return found;
  };
};
