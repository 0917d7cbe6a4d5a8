/** Finds the base tables of relations: the tables behind views, the partitions of a table, and the tables that row
 *  policies read. The catalog is queried once per model. */
import { findRelation, type Model, type PluginContext } from "../../../core/index.ts";
import { sql } from "../../../core/sql/fragment.ts";

interface BaseTables {
  /** Finds the tables behind the relations. `isIncomplete` says that other relations may be read. */
  findTables(relations: ReadonlySet<string>, isIncomplete?: boolean): QueryTables;
}

export interface QueryTables {
  /** The tables whose changes can affect reads of these relations. */
  readonly tables: ReadonlySet<string>;
  /** True if reads also depend on something that no change source reports. */
  readonly isOpenEnded: boolean;
  /** The tables that are read only under their own names: not through a view, a parent table or a policy. */
  readonly directTables: ReadonlyMap<string, TableProperties>;
  /** A key that is equal for the same tables. */
  readonly key: string;
}

export interface TableProperties {
  /** The columns whose old values the WAL contains for a changed row. Undefined if the WAL contains all columns. */
  readonly identity: ReadonlySet<string> | undefined;
  /** The columns in which different texts may be equal. */
  readonly looselyEqualColumns: ReadonlySet<string>;
  /** A column that a complete old row always contains, and an old row with only the key never does. Undefined if the
   *  identity is not the whole row. */
  readonly requiredNonKeyColumn: string | undefined;
}

interface CatalogRow {
  readonly name: string;
  readonly schema: string;
  readonly relation: string;
  readonly kind: string;
  readonly isOpenEnded: boolean;
  readonly identity: readonly string[] | null;
  readonly looselyEqualColumns: readonly string[] | null;
  readonly referencedRelations: readonly string[] | null;
}

/** Selects relations with their properties. `referencedRelations` lists the relations in the definition of a view or in
 *  the policies of a table, and the children of a table. Foreign and unlogged tables are open-ended, because their
 *  changes are not in the WAL. Materialized views are open-ended, because a refresh changes no rows. Definitions that
 *  call user-defined functions, which may read anything, or that depend on time or randomness, are open-ended too. */
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
  n.nspname as schema,
  c.relname as relation,
  c.relkind as kind,
  case when c.relreplident <> 'f' then coalesce((
    select pg_catalog.array_agg(a.attname::text)
    from pg_catalog.pg_index i
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = any ((i.indkey::int2[])[0:i.indnkeyatts - 1])
    where i.indrelid = c.oid and i.indisvalid and i.indimmediate and i.indpred is null
      and (c.relreplident = 'd' and i.indisprimary or c.relreplident = 'i' and i.indisreplident)
  ), '{}') end as identity,
  (select pg_catalog.array_agg(a.attname::text)
   from pg_catalog.pg_attribute a join pg_catalog.pg_collation l on l.oid = a.attcollation
   where a.attrelid = c.oid and not l.collisdeterministic) as "looselyEqualColumns",
  c.relkind in ('f', 'm') or c.relpersistence = 'u' or coalesce(f.is_open, false) or k.relation is not null as "isOpenEnded",
  (select pg_catalog.array_agg(tn.nspname || '.' || t.relname)
   from edge e join pg_catalog.pg_class t on t.oid = e.target join pg_catalog.pg_namespace tn on tn.oid = t.relnamespace
   where e.relation = c.oid) as "referencedRelations"
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
left join called f on f.relation = c.oid
left join clock k on k.relation = c.oid
where c.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
  and c.relpersistence <> 't'`;

const findRequiredNonKeyColumn = (model: Model, { schema, relation: table }: CatalogRow): string | undefined => {
  const relation = findRelation(model, { schema, name: table });
  return relation?.columns.find(
    ({ name, notNull, isGenerated }) => notNull && !isGenerated && !relation.primaryKey.includes(name),
  )?.name;
};

/** Loads the base tables of a model. @throws RelApiError if the catalog query fails */
export const loadBaseTables = async (context: PluginContext, model: Model): Promise<BaseTables> => {
  const rows = new Map((await context.query<CatalogRow>(CATALOG)).map((row) => [row.name, row]));
  const findTables: BaseTables["findTables"] = (relations, isIncomplete = false) => {
    const tables = new Set<string>();
    const seenTables = new Set<string>();
    const reachedNames = new Set<string>();
    let isOpenEnded = isIncomplete;
    const visit = (name: string): void => {
      if (seenTables.has(name)) return;
      seenTables.add(name);
      const row = rows.get(name);
      // A name without a row is a catalog relation or a function.
      if (row === undefined || row.isOpenEnded) isOpenEnded = true;
      if (row?.kind === "r" || row?.kind === "p") tables.add(name);
      for (const relationName of row?.referencedRelations ?? []) {
        reachedNames.add(relationName);
        visit(relationName);
      }
    };
    for (const name of relations) visit(name);
    const propertiesByName = new Map<string, TableProperties>();
    for (const name of tables) {
      const row = rows.get(name);
      if (row === undefined || reachedNames.has(name)) continue;
      const identity = row.identity === null ? undefined : new Set(row.identity);
      propertiesByName.set(name, {
        identity,
        looselyEqualColumns: new Set(row.looselyEqualColumns),
        requiredNonKeyColumn: row.identity === null ? findRequiredNonKeyColumn(model, row) : undefined,
      });
    }
    return {
      tables,
      isOpenEnded,
      directTables: propertiesByName,
      key: JSON.stringify([isOpenEnded, [...tables].sort(), [...propertiesByName.keys()].sort()]),
    };
  };
  return { findTables };
};

/** Creates a function that returns the base tables of a model, and loads them once. */
export const createBaseTablesLoader = (context: PluginContext): ((model: Model) => Promise<BaseTables>) => {
  let last: { readonly model: Model; readonly tables: Promise<BaseTables> } | undefined;
  return (model) => {
    if (last?.model === model) return last.tables;
    const loading = { model, tables: loadBaseTables(context, model) };
    last = loading;
    // A failed load is removed, so that the next call tries again.
    loading.tables.catch(() => {
      if (last === loading) last = undefined;
    });
    return loading.tables;
  };
};
