/** Loads the rows of the relations query: relations with their columns, keys and privileges. */
import {
  eachInPieces,
  ident,
  integer,
  sql,
  value,
  type IntrospectContext,
  type QualifiedName,
  type Relation,
  type RelationKind,
  type Sql,
} from "../../../core/index.ts";

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

export type KeyRow = readonly [
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
  readonly plain: "read" | "write" | null;
  readonly mayHideNulls: boolean;
  readonly rules: Relation["rules"] | null;
  readonly takesNoConflict: boolean;
  readonly writable: number;
  /** The view is written by INSTEAD OF triggers. */
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

/** The objects to load although their schema is not exposed. */
export interface Wanted {
  readonly relations: readonly QualifiedName[];
  readonly routines: readonly QualifiedName[];
  /** The schemas whose relations are all loaded. */
  readonly schemas: readonly string[];
}

/** Returns `[[schema, name], …]` as a parameter. */
export const pairs = (names: readonly QualifiedName[]) =>
  value(JSON.stringify(names.map(({ schema, name }) => [schema, name])), "json");

/** Writes `"exposed" as materialized (…)` with the oids of the schemas of these names. */
export const schemasNamed = (cte: string, names: Iterable<string>) => sql`${ident(cte)} as materialized (
  select schema.oid
  from pg_catalog.pg_namespace schema
  where schema.nspname in (select pg_catalog.json_array_elements_text(${value(JSON.stringify([...names]), "json")}))
)`;

/** `coded` are relations whose writes run user code. C functions do not count, because only a superuser can create
 *  them. `remote` are relations with rows on another server. Both include parents of such relations, and tables whose
 *  keys cascade to them. @rule R-TX-10 */
const CODE = sql`code (class, oid) as materialized (
  select 'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid, routine.oid
  from pg_catalog.pg_proc routine
  join pg_catalog.pg_language language on language.oid = routine.prolang
  where routine.oid >= 16384
    and language.lanname not in ('internal', 'c')
  union all
  select 'pg_catalog.pg_operator'::pg_catalog.regclass, operator.oid
  from pg_catalog.pg_operator operator
  where operator.oid >= 16384
  union all
  select 'pg_catalog.pg_type'::pg_catalog.regclass, type.oid
  from pg_catalog.pg_type type
  where type.oid >= 16384
    and type.typtype = 'd'
),
calling as materialized (
  select dependency.classid as class, dependency.objid as oid
  from code
  join pg_catalog.pg_depend dependency on dependency.refclassid = code.class and dependency.refobjid = code.oid
),
coded (oid) as (
  select * from (
    select trigger.tgrelid
    from pg_catalog.pg_trigger trigger
    where not trigger.tgisinternal
    union all
    select rule.ev_class
    from pg_catalog.pg_rewrite rule
    where rule.ev_type <> '1'
    union all
    select own_default.adrelid
    from calling
    join pg_catalog.pg_attrdef own_default on own_default.oid = calling.oid
    where calling.class = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
    union all
    select own_check.conrelid
    from calling
    join pg_catalog.pg_constraint own_check on own_check.oid = calling.oid
    where calling.class = 'pg_catalog.pg_constraint'::pg_catalog.regclass
    union all
    select coalesce(index.indrelid, calling.oid)
    from calling
    left join pg_catalog.pg_index index on index.indexrelid = calling.oid
    where calling.class = 'pg_catalog.pg_class'::pg_catalog.regclass
    union all
    select relation.oid
    from pg_catalog.pg_class relation
    where relation.relkind = 'f'
  ) own (oid)
  union
  select led.source
  from coded
  join (
    select inheritance.inhparent, inheritance.inhrelid
    from pg_catalog.pg_inherits inheritance
    union all
    select key.confrelid, key.conrelid
    from pg_catalog.pg_constraint key
    where key.contype = 'f'
      and (key.confdeltype in ('c', 'n', 'd') or key.confupdtype in ('c', 'n', 'd'))
  ) led (source, target) on led.target = coded.oid
),
remote (oid) as (
  select relation.oid
  from pg_catalog.pg_class relation
  where relation.relkind = 'f'
  union
  select inheritance.inhparent
  from remote
  join pg_catalog.pg_inherits inheritance on inheritance.inhrelid = remote.oid
)`;

/** `ruled` are relations whose writes use a rule of their own, or of the table that a view shows. `event` is `ev_type`,
 *  `effect` a value of `Relation.rules`. `inconclusive` are relations whose inserts accept no `on conflict` with the
 *  key. @rule R-OPT-4 R-PUT-6 R-WRT-7 */
const RULED = sql`own_rules (oid, event, effect) as materialized (
  select rule.ev_class, rule.ev_type,
    case
      when pg_catalog.bool_and(
        rule.is_instead
        and rule.ev_qual::text = '<>'
        and pg_catalog.pg_get_ruledef(rule.oid) ~ ' DO INSTEAD +NOTHING;$'
      ) then 'nothing'
      when pg_catalog.count(*) = 1 and pg_catalog.bool_and(
        rule.is_instead
        and rule.ev_qual::text = '<>'
        and rule.ev_action::text like '%:returningList (%'
        and pg_catalog.pg_get_ruledef(rule.oid) !~ ' DO INSTEAD +[(]'
      ) then 'returning'
      else 'separate'
    end
  from pg_catalog.pg_rewrite rule
  where rule.ev_type <> '1'
    and rule.ev_class >= 16384
  group by rule.ev_class, rule.ev_type
),
shown (view, oid, is_all) as materialized (
  select distinct rule.ev_class, dependency.refobjid, not exists (
      select
      from pg_catalog.pg_depend other
      where other.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
        and other.objid = rule.oid
        and other.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        and other.refobjid not in (rule.ev_class, dependency.refobjid)
    )
  from pg_catalog.pg_rewrite rule
  join pg_catalog.pg_class view on view.oid = rule.ev_class and view.relkind = 'v'
  join pg_catalog.pg_depend dependency on dependency.objid = rule.oid
    and dependency.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    and dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    and dependency.refobjid <> rule.ev_class
  where rule.ev_type = '1'
    and rule.ev_class >= 16384
),
-- bits of tgtype: 64 INSTEAD OF, 4 INSERT, 8 DELETE, 16 UPDATE
replaced (oid, event) as materialized (
  select trigger.tgrelid, event.type
  from pg_catalog.pg_trigger trigger
  join (values (16, '2'), (4, '3'), (8, '4')) event (bit, type) on trigger.tgtype & event.bit <> 0
  where trigger.tgtype & 64 <> 0
),
ruled (oid, event, effect) as (
  select * from own_rules
  union
  select shown.view, ruled.event, case when ruled.effect = 'nothing' and not shown.is_all then 'separate' else ruled.effect end
  from ruled
  join shown on shown.oid = ruled.oid
  where not exists (
      select from own_rules where own_rules.oid = shown.view and own_rules.event = ruled.event
    )
    and not exists (
      select from replaced where replaced.oid = shown.view and replaced.event = ruled.event::text
    )
),
inconclusive (oid) as (
  select * from (
    select own_rules.oid from own_rules where own_rules.event in ('2', '3')
    union all
    select replaced.oid from replaced where replaced.event in ('2', '3')
    union all
    select key.conrelid from pg_catalog.pg_constraint key where key.contype = 'p' and key.condeferrable
  ) own (oid)
  union
  select shown.view
  from inconclusive
  join shown on shown.oid = inconclusive.oid
)`;

/** Writes `with …` with two sets of relations. `own` are the relations of the exposed and the wanted schemas. `chosen`
 *  adds relations of hidden schemas that a view reads, or that a routine names by row type. It also adds those that a
 *  foreign key connects with an exposed relation. Partitions are included only if a view reads them. @rule R-PATH-4
 *  R-REL-2 R-REL-4 */
const withChosen = (context: IntrospectContext, wanted: Wanted): Sql => {
  const searched = new Set([...context.schemas, ...context.extraSearchPath]);
  return sql`with recursive ${CODE},
${RULED},
${schemasNamed("exposed", context.schemas)},
${schemasNamed("loaded", [...context.schemas, ...wanted.schemas])},
${schemasNamed("searched", searched)},
own as materialized (
  select relation.oid
  from pg_catalog.pg_class relation
  where relation.relkind in ('r', 'v', 'm', 'f', 'p')
    and not relation.relispartition
    and relation.relnamespace in (select loaded.oid from loaded)
  union
  select relation.oid
  from pg_catalog.json_array_elements(${pairs(wanted.relations)}) name (parts)
  join pg_catalog.pg_namespace schema on schema.nspname = name.parts ->> 0
  join pg_catalog.pg_class relation on relation.relname = name.parts ->> 1 and relation.relnamespace = schema.oid
  where relation.relkind in ('r', 'v', 'm', 'f', 'p')
),
seen (oid) as (
  select own.oid
  from own
  union
  select dependency.refobjid
  from seen
  join pg_catalog.pg_class view on view.oid = seen.oid
  join pg_catalog.pg_rewrite rule on rule.ev_class = view.oid
  join pg_catalog.pg_depend dependency on dependency.objid = rule.oid
  where view.relkind in ('v', 'm')
    and (view.relnamespace in (select searched.oid from searched) or view.oid in (select own.oid from own))
    and dependency.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    and dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
chosen (oid) as (
  select seen.oid
  from seen
  union
  select key.confrelid
  from own
  join pg_catalog.pg_constraint key on key.conrelid = own.oid
  where key.contype = 'f'
    and key.conparentid = 0
  union
  select key.conrelid
  from pg_catalog.pg_constraint key
  where key.contype = 'f'
    and key.conparentid = 0
    and key.confrelid in (select own.oid from own)
  union
  select coalesce(nullif(type.typrelid, 0), base.typrelid)
  from pg_catalog.pg_proc routine
  cross join lateral pg_catalog.unnest(routine.proargtypes::pg_catalog.oid[] || routine.prorettype) used (type)
  join pg_catalog.pg_type type on type.oid = used.type
  left join pg_catalog.pg_type base on base.oid = type.typbasetype
  where (type.typtype = 'c' or base.typtype = 'c')
    and routine.prokind = 'f'
    and (
      routine.pronamespace in (select exposed.oid from exposed)
      or (routine.proname::text, routine.pronamespace) in (
        select name.parts ->> 1, schema.oid
        from pg_catalog.json_array_elements(${pairs(wanted.routines)}) name (parts)
        join pg_catalog.pg_namespace schema on schema.nspname = name.parts ->> 0
      )
    )
)`;
};

/** The condition for the chosen relations that are loaded. */
const isLoaded = sql`relation.relkind in ('r', 'v', 'm', 'f', 'p')
  and (relation.oid in (select own.oid from own) or schema.nspname <> 'information_schema' and schema.nspname !~ '^pg_')`;

/** The expression for `Relation.plain`. */
const PLAIN = sql`case
    when relation.relkind not in ('r', 'p') or relation.relrowsecurity or relation.oid in (select remote.oid from remote) then null
    when relation.oid in (select coded.oid from coded) then 'read'
    else 'write'
  end`;

/** The expression for `Relation.mayHideNulls`. */
const HIDES_NULLS = sql`(relation.relkind = 'r' and relation.relhassubclass or relation.oid in (select remote.oid from remote))`;

/** The expression for `Relation.rules`. */
const RULES = sql`(
    select pg_catalog.json_object_agg(events.event, events.effect order by events.event)
    from (
      select case ruled.event when '2' then 'update' when '3' then 'insert' else 'delete' end as event,
        pg_catalog.max(ruled.effect) as effect
      from ruled
      where ruled.oid = relation.oid
      group by ruled.event
    ) events
  )`;

/** The expression for `Relation.takesNoConflict`. */
const TAKES_NO_CONFLICT = sql`relation.oid in (select inconclusive.oid from inconclusive)`;

type RowAsSent = Omit<RelationRow, "columns"> & { readonly columns: string | null };

/** Loads the chosen relations. @rule R-SC-1 R-SC-2 R-OPT-3 R-OPT-4 */
export const loadRelations = async (context: IntrospectContext, wanted: Wanted): Promise<readonly RelationRow[]> => {
  const sent = await context.query<RowAsSent>(sql`
${withChosen(context, wanted)},
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
  ${PLAIN} as plain,
  ${HIDES_NULLS} as "mayHideNulls",
  ${RULES} as rules,
  ${TAKES_NO_CONFLICT} as "takesNoConflict",
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
        -- no column's default names a column: without the relation PostgreSQL need not open it
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
  (
    select pg_catalog.json_agg(target.parts order by target.oid)
    from (
      select index.indexrelid as oid,
        pg_catalog.json_build_array(
          fitting.columns,
          (
            select pg_catalog.json_agg(pg_catalog.pg_get_indexdef(index.indexrelid, key.position, false) order by key.position)
            from pg_catalog.generate_series(1, index.indnkeyatts) key (position)
          ),
          pg_catalog.pg_get_expr(index.indpred, index.indrelid)
        ) as parts,
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
  ) as "conflictTargets",
  case when relation.relkind in ('v', 'm') and (
    relation.relnamespace in (select searched.oid from searched) or relation.oid in (select own.oid from own)
  ) then (
    select rule.ev_action::text
    from pg_catalog.pg_rewrite rule
    where rule.ev_class = relation.oid
      and rule.ev_type = '1'
  ) end as action
from (
  -- in order before the rest is computed: so each row is sent as soon as it is there, and read here meanwhile
  select relation.oid, relation.relname, relation.relnamespace, relation.relkind, relation.relispartition, relation.reltype,
    relation.relowner, relation.relacl, relation.relrowsecurity, relation.relhassubclass, schema.nspname
  from chosen
  join pg_catalog.pg_class relation on relation.oid = chosen.oid
  join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
  where ${isLoaded}
  order by schema.nspname, relation.relname
  offset 0
) relation
left join ancestors on ancestors.oid = relation.oid
cross join lateral (
  select case
      when relation.relkind in ('r', 'p') then ${integer(UPDATE | INSERT | DELETE)}
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
  await eachInPieces(sent, (row) => {
    const text = row.columns ?? "null";
    let columns = lists.get(text);
    if (columns === undefined) lists.set(text, (columns = JSON.parse(text) as RelationRow["columns"]));
    rows.push({ ...row, columns });
  });
  return rows;
};
