/** Loads the rows of the relations query: relations with their columns, keys and privileges. */
import {
  forEachSliced,
  inlineInteger,
  sql,
  type IntrospectContext,
  type Relation,
  type RelationKind,
} from "../../../core/index.ts";
import { IS_LOADED, compileRelationSets, type AdditionalObjects } from "./chosen-relations.ts";

/** The bits of `pg_relation_is_updatable`. */
export const UPDATE = 4;
export const INSERT = 8;
export const DELETE = 16;

export type ColumnRow = readonly [
  position: number,
  name: string,
  type: number,
  modifier: number,
  sqlType: string,
  notNull: boolean,
  default_: string | null,
  identity: "" | "a" | "d",
  isGenerated: boolean,
  acl: readonly string[] | null,
  isUpdatable: boolean,
];

type KeyRow = readonly [
  kind: "p" | "u" | "f",
  name: string,
  columns: readonly number[],
  target: number,
  targetColumns: readonly number[] | null,
];

/** The columns as attribute numbers. */
export type ConflictTargetRow = readonly [
  columns: readonly number[],
  keys: readonly string[],
  predicate: string | null,
];

export interface RelationRow {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly kind: RelationKind;
  readonly isPartition: boolean;
  readonly rowType: number;
  /** The row types of the parent tables, by inheritance and partitioning, nearest first. */
  readonly ancestorTypes: readonly number[] | null;
  readonly rowSqlName: string;
  readonly owner: string;
  readonly acl: readonly string[];
  readonly hasRowSecurity: boolean;
  /** Null for views. */
  readonly provenAccess: "read" | "write" | null;
  readonly mayHideNulls: boolean;
  readonly rules: Relation["rules"] | null;
  readonly rejectsConflict: boolean;
  readonly writable: number;
  /** True if INSTEAD OF triggers write the view. */
  readonly hasTrigger: boolean;
  /** The comment of the relation under 0, and of columns under their attribute numbers. */
  readonly comments: Readonly<Record<number, string>> | null;
  /** All relations with equal columns share one list. */
  readonly columns: readonly ColumnRow[] | null;
  readonly keys: readonly KeyRow[] | null;
  readonly conflictTargets: readonly ConflictTargetRow[] | null;
  /** The text of the view's rule, for views that may be traced. */
  readonly action: string | null;
}

/** The expression for `Relation.provenAccess`. */
const PROVEN_ACCESS = sql`case
    when relation.relkind not in ('r', 'p') or relation.relrowsecurity or relation.oid in (select remote_relations.oid from remote_relations) then null
    when relation.oid in (select code_relations.oid from code_relations) then 'read'
    else 'write'
  end`;

/** The expression for `Relation.mayHideNulls`. */
const MAY_HIDE_NULLS = sql`(relation.relkind = 'r' and relation.relhassubclass or relation.oid in (select remote_relations.oid from remote_relations))`;

/** The expression for `Relation.rules`. */
const RULES = sql`(
    select pg_catalog.json_object_agg(events.event, events.effect order by events.event)
    from (
      select case rule_effects.event when '2' then 'update' when '3' then 'insert' else 'delete' end as event,
        pg_catalog.max(rule_effects.effect) as effect
      from rule_effects
      where rule_effects.oid = relation.oid
      group by rule_effects.event
    ) events
  )`;

/** The expression for `Relation.rejectsConflict`. */
const REJECTS_CONFLICT = sql`relation.oid in (select conflict_refusals.oid from conflict_refusals)`;

type RawRelationRow = Omit<RelationRow, "columns"> & { readonly columns: string | null };

/** Loads the chosen relations. @rule R-SC-1 R-SC-2 R-OPT-3 R-OPT-4 */
export const loadRelations = async (
  context: IntrospectContext,
  additional: AdditionalObjects,
): Promise<readonly RelationRow[]> => {
  const rawRows = await context.query<RawRelationRow>(sql`
${compileRelationSets(context, additional)},
lineage (oid, parent, distance) as (
  select inheritance.inhrelid, inheritance.inhparent, 1
  from pg_catalog.pg_inherits inheritance
  where inheritance.inhrelid in (select chosen.oid from chosen)
  union
  select lineage.oid, inheritance.inhparent, lineage.distance + 1
  from lineage
  join pg_catalog.pg_inherits inheritance on inheritance.inhrelid = lineage.parent
),
ancestors (oid, types) as materialized (
  select lineage.oid, pg_catalog.json_agg(parent.reltype::int8 order by lineage.distance)
  from lineage
  join pg_catalog.pg_class parent on parent.oid = lineage.parent and parent.relkind in ('r', 'f', 'p')
  group by lineage.oid
),
partially_unique (oid) as materialized (
  select distinct index.indrelid
  from pg_catalog.pg_index index
  where index.indisunique
    and (index.indpred is not null or index.indexprs is not null)
)
select relation.oid,
  relation.nspname::text as schema,
  relation.relname::text as name,
  case relation.relkind
    when 'r' then 'table'
    when 'p' then 'partitioned'
    when 'v' then 'view'
    when 'm' then 'materialized'
    else 'foreign'
  end as kind,
  relation.relispartition as "isPartition",
  relation.reltype as "rowType",
  ancestors.types as "ancestorTypes",
  pg_catalog.format_type(relation.reltype, -1) as "rowSqlName",
  pg_catalog.pg_get_userbyid(relation.relowner)::text as owner,
  pg_catalog.to_json(coalesce(relation.relacl, pg_catalog.acldefault('r', relation.relowner))::text[]) as acl,
  relation.relrowsecurity as "hasRowSecurity",
  ${PROVEN_ACCESS} as "provenAccess",
  ${MAY_HIDE_NULLS} as "mayHideNulls",
  ${RULES} as rules,
  ${REJECTS_CONFLICT} as "rejectsConflict",
  bits.writable,
  bits.has_trigger as "hasTrigger",
  (
    select pg_catalog.json_object_agg(comment.objsubid, comment.description)
    from pg_catalog.pg_description comment
    where comment.objoid = relation.oid
      and comment.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
  ) as comments,
  (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      attribute.attnum,
      attribute.attname,
      attribute.atttypid::int8,
      attribute.atttypmod,
      pg_catalog.format_type(attribute.atttypid, attribute.atttypmod),
      attribute.attnotnull,
      case
        when attribute.attgenerated <> '' then null
        when attribute.attidentity = 'd' then (
          select 'nextval(' || pg_catalog.quote_literal(dependency.objid::pg_catalog.regclass::text) || ')'
          from pg_catalog.pg_depend dependency
          where dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
            and dependency.refobjid = relation.oid
            and dependency.refobjsubid = attribute.attnum
            and dependency.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
            and dependency.deptype = 'i'
          limit 1
        )
        -- without the relation as argument, PostgreSQL need not open it, and no default names a column
        when attribute.atthasdef then (
          select pg_catalog.pg_get_expr(own_default.adbin, 0)
          from pg_catalog.pg_attrdef own_default
          where own_default.adrelid = relation.oid
            and own_default.adnum = attribute.attnum
        )
      end,
      attribute.attidentity,
      attribute.attgenerated <> '',
      attribute.attacl::text[],
      case relation.relkind
        when 'r' then true
        when 'p' then true
        when 'm' then false
        when 'f' then bits.writable <> 0
        else bits.has_trigger
          or bits.writable <> 0 and pg_catalog.pg_column_is_updatable(relation.oid, attribute.attnum, false)
      end
    ) order by attribute.attnum)::text
    from pg_catalog.pg_attribute attribute
    where attribute.attrelid = relation.oid
      and attribute.attnum > 0
      and not attribute.attisdropped
  ) as columns,
  (
    select pg_catalog.json_agg(pg_catalog.json_build_array(
      key.contype, key.conname, key.conkey, key.confrelid::int8, key.confkey
    ) order by key.contype, key.conname)
    from pg_catalog.pg_constraint key
    where key.conrelid = relation.oid
      and (key.contype in ('p', 'u') or key.contype = 'f' and key.conparentid = 0)
  ) as keys,
  case when relation.oid in (select partially_unique.oid from partially_unique) then (
    -- the definitions are expensive, so they are read after the plain indexes are excluded
    select pg_catalog.json_agg(
      pg_catalog.json_build_array(
        target.columns,
        (
          select pg_catalog.json_agg(pg_catalog.pg_get_indexdef(target.oid, key.position, false) order by key.position)
          from pg_catalog.generate_series(1, target.indnkeyatts) key (position)
        ),
        pg_catalog.pg_get_expr(target.indpred, target.indrelid)
      ) order by target.oid
    )
    from (
      select index.indexrelid as oid, index.indrelid, index.indnkeyatts, index.indpred, fitting.columns,
        pg_catalog.count(*) over (partition by fitting.columns::text) as choices,
        pg_catalog.bool_or(index.indpred is null and index.indexprs is null) over (partition by fitting.columns::text) as has_plain
      from pg_catalog.pg_index index
      cross join lateral (
        select pg_catalog.array_agg(distinct used.attnum order by used.attnum) as columns
        from (
          select key.attnum::int4 as attnum
          from pg_catalog.unnest(index.indkey::int2[]) with ordinality key (attnum, position)
          where key.attnum > 0
            and key.position <= index.indnkeyatts
          union
          select name.parts[1]::int4
          from pg_catalog.regexp_matches(index.indexprs::text, ':varattno ([0-9]+)', 'g') name (parts)
        ) used
      ) fitting
      where index.indrelid = relation.oid
        and index.indisunique
        and index.indimmediate
        and index.indisvalid
    ) target
    where target.choices = 1
      and not target.has_plain
  ) end as "conflictTargets",
  case when relation.relkind in ('v', 'm') and (
    relation.relnamespace in (select searched.oid from searched) or relation.oid in (select own.oid from own)
  ) then (
    select rule.ev_action::text
    from pg_catalog.pg_rewrite rule
    where rule.ev_class = relation.oid
      and rule.ev_type = '1'
  ) end as action
from (
  -- sorted first, so that each row is sent and read as soon as its other columns are computed
  select relation.oid, relation.relname, relation.relnamespace, relation.relkind, relation.relispartition, relation.reltype,
    relation.relowner, relation.relacl, relation.relrowsecurity, relation.relhassubclass, schema.nspname
  from chosen
  join pg_catalog.pg_class relation on relation.oid = chosen.oid
  join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
  where ${IS_LOADED}
  order by schema.nspname, relation.relname
  offset 0
) relation
left join ancestors on ancestors.oid = relation.oid
cross join lateral (
  select case
      when relation.relkind in ('r', 'p') then ${inlineInteger(UPDATE | INSERT | DELETE)}
      when relation.relkind = 'm' then 0
      else pg_catalog.pg_relation_is_updatable(relation.oid, true)
    end as writable,
    -- bits of tgtype: 64 INSTEAD OF, 4 INSERT, 16 UPDATE
    relation.relkind = 'v' and exists (
      select
      from pg_catalog.pg_trigger trigger
      where trigger.tgrelid = relation.oid
        and trigger.tgtype & 64 <> 0
        and trigger.tgtype & 20 <> 0
    ) as has_trigger
  offset 0
) bits
order by relation.nspname, relation.relname`);
  const lists = new Map<string, RelationRow["columns"]>();
  const rows: RelationRow[] = [];
  await forEachSliced(rawRows, (row) => {
    const text = row.columns ?? "null";
    let columns = lists.get(text);
    if (columns === undefined) lists.set(text, (columns = JSON.parse(text) as RelationRow["columns"]));
    rows.push({ ...row, columns });
  });
  return rows;
};
