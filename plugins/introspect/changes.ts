/** What of the catalogs has changed since they were read: by the transactions that wrote their rows. Nothing of a relation
 *  that was read can change unless
 *  - one of its own rows is written: `versions` has them all, and texts where expressions print what others are called;
 *  - a relation that it names is written: its foreign keys lead there, or a column is of its row type (`rereadOf`);
 *  - it is a view, a foreign table or a partition: they are read each time, views with what they show;
 *  - something that is no relation is written, that its rows name: a schema, a role, a type; or the settings that texts are
 *    printed by are others, or the server is (`loadSurroundings`): then everything is read.
 *  Functions, types and roles of the model are read each time. @rule R-SC-14 */
import {
  eachInPieces,
  sql,
  value,
  type IntrospectContext,
  type Model,
  type Relation,
  type Sql,
} from "../../core/index.ts";
import {
  HIDES_NULLS,
  isLoaded,
  loadRelations,
  PLAIN,
  RULES,
  TAKES_NO_CONFLICT,
  withChosen,
  type RelationRow,
  type Wanted,
} from "./relations.ts";

/** What a load leaves to the next. All of it is immutable. */
export interface CatalogRead {
  readonly surroundings: string;
  readonly versions: ReadonlyMap<number, string>;
  /** By oid, as they were built. */
  readonly relations: ReadonlyMap<number, Relation>;
  readonly types: Model["types"];
}

/** The rows to build from, and what stays of an earlier load. */
export interface Rows {
  readonly rows: readonly RelationRow[];
  /** Oids in the order of the model; undefined: that of the rows. */
  readonly order?: readonly number[];
  readonly kept: ReadonlyMap<number, Relation>;
  readonly versions?: ReadonlyMap<number, string>;
  readonly surroundings?: string;
}

const hashed = (columns: Sql, from: Sql): Sql =>
  sql`select pg_catalog.sum(pg_catalog.hash_record_extended(row(${columns}), 0)) from ${from}`;

/** Array types and row types are as what they are of. */
const SURROUNDINGS = sql`
select pg_catalog.concat_ws(' ', pg_catalog.pg_postmaster_start_time(), pg_catalog.current_database(), session_user, (
  select pg_catalog.string_agg(part.hash::text, ' ' order by part.number) from (
    select 1, (${hashed(sql`entry.oid, entry.nspname`, sql`pg_catalog.pg_namespace entry where entry.nspname !~ '^pg_(toast_)?temp_'`)})
    union all
    select 2, (${hashed(sql`entry.oid, entry.rolname`, sql`pg_catalog.pg_roles entry`)})
    union all
    select 3, (${hashed(
      sql`entry.oid, entry.xmin`,
      sql`pg_catalog.pg_type entry where entry.typtype <> 'c' and entry.typcategory <> 'A'`,
    )})
    union all
    select 4, (${hashed(
      sql`entry.oid, entry.xmin`,
      sql`pg_catalog.pg_type entry join pg_catalog.pg_class row_relation on row_relation.oid = entry.typrelid and row_relation.relkind = 'c'`,
    )})
    union all
    select 5, (${hashed(
      sql`entry.oid, entry.xmin`,
      sql`pg_catalog.pg_proc entry where entry.oid >= 16384 and entry.pronamespace = 'pg_catalog'::pg_catalog.regnamespace`,
    )})
    union all
    select 6, (${hashed(
      sql`entry.oid, entry.xmin`,
      sql`pg_catalog.pg_operator entry where entry.oid >= 16384 and entry.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace`,
    )})
    union all
    select 7, (${hashed(
      sql`entry.name, entry.setting`,
      sql`pg_catalog.pg_settings entry where entry.context in ('user', 'superuser') and entry.name <> 'application_name'`,
    )})
  ) part (number, hash)
)) as surroundings`;

/** Equal only where nothing has changed that relations name. */
const loadSurroundings = async (context: IntrospectContext): Promise<string> => {
  const [row] = await context.query<{ readonly surroundings: string }>(SURROUNDINGS);
  return row?.surroundings ?? "";
};

interface VersionRow {
  readonly oid: number;
  readonly version: string;
}

/** Of all that are loaded, in the order that they are loaded in. An expression that names anything beside the columns of
 *  its own table counts with its text, since that follows names. */
const loadVersions = (context: IntrospectContext, wanted: Wanted): Promise<readonly VersionRow[]> =>
  context.query<VersionRow>(sql`
${withChosen(context, wanted)},
naming as materialized (
  select distinct dependency.objid as oid
  from pg_catalog.pg_depend dependency
  join pg_catalog.pg_attrdef own_default on own_default.oid = dependency.objid
  where dependency.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
    and not (
      dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and dependency.refobjid = own_default.adrelid
    )
),
parts (oid, hash) as (
  select relation.oid, pg_catalog.hash_record_extended(row(
      relation.relname, relation.relnamespace, relation.relkind, relation.relispartition, relation.reltype,
      relation.relowner, relation.relacl::text, relation.relrowsecurity
    ), 0)
  from chosen
  join pg_catalog.pg_class relation on relation.oid = chosen.oid
  union all
  select entry.attrelid, pg_catalog.hash_record_extended(row(1, entry.attnum, entry.xmin), 0)
  from pg_catalog.pg_attribute entry
  where entry.attnum > 0
    and entry.attrelid in (select chosen.oid from chosen)
  union all
  select entry.adrelid, pg_catalog.hash_record_extended(row(2, entry.oid, entry.xmin, case
      when entry.oid in (select naming.oid from naming) then pg_catalog.pg_get_expr(entry.adbin, entry.adrelid)
    end), 0)
  from pg_catalog.pg_attrdef entry
  where entry.adrelid in (select chosen.oid from chosen)
  union all
  select entry.conrelid, pg_catalog.hash_record_extended(row(3, entry.oid, entry.xmin), 0)
  from pg_catalog.pg_constraint entry
  where entry.contype in ('p', 'u', 'f')
    and entry.conrelid in (select chosen.oid from chosen)
  union all
  select entry.objoid, pg_catalog.hash_record_extended(row(4, entry.objsubid, entry.xmin), 0)
  from pg_catalog.pg_description entry
  where entry.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
    and entry.objoid in (select chosen.oid from chosen)
  union all
  select entry.indrelid, pg_catalog.hash_record_extended(row(6, entry.indexrelid, entry.xmin), 0)
  from pg_catalog.pg_index entry
  where entry.indisunique
    and entry.indrelid in (select chosen.oid from chosen)
  union all
  select entry.refobjid, pg_catalog.hash_record_extended(row(5, entry.refobjsubid, entry.objid, sequence.relname, sequence.relnamespace), 0)
  from pg_catalog.pg_class sequence
  join pg_catalog.pg_depend entry on entry.objid = sequence.oid
  where sequence.relkind = 'S'
    and entry.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
    and entry.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    and entry.deptype = 'i'
    and entry.refobjid in (select chosen.oid from chosen)
),
versions as materialized (
  select parts.oid, pg_catalog.sum(parts.hash) as hash
  from parts
  group by parts.oid
)
select relation.oid, pg_catalog.concat_ws(' ', versions.hash, ${PLAIN}, ${HIDES_NULLS}, ${RULES}, ${TAKES_NO_CONFLICT}) as version
from chosen
join pg_catalog.pg_class relation on relation.oid = chosen.oid
join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
left join versions on versions.oid = relation.oid
where ${isLoaded}
order by schema.nspname, relation.relname`);

/** Oids to read again, as a part of the query for relations. `changed`: added and written ones, and those that are no
 *  longer loaded. */
const rereadOf = (changed: readonly number[]): Sql => {
  const given = sql`select item.text::pg_catalog.oid from pg_catalog.json_array_elements_text(${value(JSON.stringify(changed), "json")}) item (text)`;
  return sql`
    ${given}
    union all
    select key.conrelid
    from pg_catalog.pg_constraint key
    where key.contype = 'f'
      and key.confrelid in (${given})
    union all
    select dependency.objid
    from pg_catalog.pg_type row_type
    join pg_catalog.pg_depend dependency on dependency.refobjid in (row_type.oid, row_type.typarray)
    where row_type.typrelid in (${given})
      and dependency.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass
      and dependency.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
    union all
    select shown.oid
    from chosen
    join pg_catalog.pg_class view on view.oid = chosen.oid and (view.relkind in ('v', 'm', 'f') or view.relispartition)
    left join pg_catalog.pg_rewrite rule on rule.ev_class = view.oid
    left join pg_catalog.pg_depend dependency on dependency.objid = rule.oid
      and dependency.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      and dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    cross join lateral (values (view.oid), (dependency.refobjid)) shown (oid)
    where shown.oid is not null`;
};

const NOTHING_KEPT: ReadonlyMap<number, Relation> = new Map();

/** Reads the relations that have changed since `before`, or all. @rule R-SC-14 */
export const readRows = async (
  context: IntrospectContext,
  wanted: Wanted,
  before: CatalogRead | "none",
): Promise<Rows> => {
  const surroundings = await loadSurroundings(context);
  const found = await loadVersions(context, wanted);
  const known = before === "none" || before.surroundings !== surroundings ? undefined : before;
  const versions = new Map<number, string>();
  const changed: number[] = [];
  await eachInPieces(found, ({ oid, version }) => {
    versions.set(oid, version);
    if (known !== undefined && known.versions.get(oid) !== version) changed.push(oid);
  });
  if (known === undefined)
    return { rows: await loadRelations(context, wanted), kept: NOTHING_KEPT, versions, surroundings };
  await eachInPieces(known.versions.keys(), (oid) => {
    if (!versions.has(oid)) changed.push(oid);
  });
  const rows = await loadRelations(context, wanted, rereadOf(changed));
  const reread = new Set(rows.map(({ oid }) => oid));
  const kept = new Map<number, Relation>();
  await eachInPieces(versions.keys(), (oid) => {
    const relation = reread.has(oid) ? undefined : known.relations.get(oid);
    if (relation !== undefined) kept.set(oid, relation);
  });
  return { rows, order: [...versions.keys()], kept, versions, surroundings };
};
