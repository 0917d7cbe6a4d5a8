/** Chooses the relations that the relations query loads, and finds relations whose writes run user-defined code. */
import {
  quoteIdentifier,
  sql,
  bindValue,
  type IntrospectContext,
  type QualifiedName,
  type Sql,
} from "../../../core/index.ts";

/** The objects to load although their schema is not exposed. */
export interface AdditionalObjects {
  readonly relations: readonly QualifiedName[];
  readonly routines: readonly QualifiedName[];
  /** The schemas whose relations are all loaded. */
  readonly schemas: readonly string[];
}

/** Binds names as a parameter of JSON: `[[schema, name], …]`. */
export const bindNames = (names: readonly QualifiedName[]) =>
  bindValue(JSON.stringify(names.map(({ schema, name }) => [schema, name])), "json");

/** Writes `"exposed" as materialized (…)` with the oids of the schemas of these names. */
export const compileSchemaSet = (cte: string, names: Iterable<string>) => sql`${quoteIdentifier(cte)} as materialized (
  select schema.oid
  from pg_catalog.pg_namespace schema
  where schema.nspname in (select pg_catalog.json_array_elements_text(${bindValue(JSON.stringify([...names]), "json")}))
)`;

/** Selects `code_relations`, whose writes run user-defined code, and `remote_relations`, which have rows on another
 *  server. Both sets include the parents of such relations, and `code_relations` also the tables whose keys cascade to
 *  them. C functions do not count, because only a superuser can create them. @rule R-TX-10 */
const CODE_SETS = sql`code (class, oid) as materialized (
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
code_callers as materialized (
  select dependency.classid as class, dependency.objid as oid
  from code
  join pg_catalog.pg_depend dependency on dependency.refclassid = code.class and dependency.refobjid = code.oid
),
code_relations (oid) as (
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
    from code_callers
    join pg_catalog.pg_attrdef own_default on own_default.oid = code_callers.oid
    where code_callers.class = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
    union all
    select own_check.conrelid
    from code_callers
    join pg_catalog.pg_constraint own_check on own_check.oid = code_callers.oid
    where code_callers.class = 'pg_catalog.pg_constraint'::pg_catalog.regclass
    union all
    select coalesce(index.indrelid, code_callers.oid)
    from code_callers
    left join pg_catalog.pg_index index on index.indexrelid = code_callers.oid
    where code_callers.class = 'pg_catalog.pg_class'::pg_catalog.regclass
    union all
    select relation.oid
    from pg_catalog.pg_class relation
    where relation.relkind = 'f'
  ) own (oid)
  union
  select propagation.source
  from code_relations
  join (
    select inheritance.inhparent, inheritance.inhrelid
    from pg_catalog.pg_inherits inheritance
    union all
    select key.confrelid, key.conrelid
    from pg_catalog.pg_constraint key
    where key.contype = 'f'
      and (key.confdeltype in ('c', 'n', 'd') or key.confupdtype in ('c', 'n', 'd'))
  ) propagation (source, target) on propagation.target = code_relations.oid
),
remote_relations (oid) as (
  select relation.oid
  from pg_catalog.pg_class relation
  where relation.relkind = 'f'
  union
  select inheritance.inhparent
  from remote_relations
  join pg_catalog.pg_inherits inheritance on inheritance.inhrelid = remote_relations.oid
)`;

/** Selects `rule_effects`: relations whose writes use a rule of their own, or of the table that a view shows. `event`
 *  is `ev_type`, and `effect` a value of `Relation.rules`. `conflict_refusals` are relations whose inserts accept no
 *  `on conflict` with the key. @rule R-OPT-4 R-PUT-6 R-WRT-7 */
const RULE_SETS = sql`own_rules (oid, event, effect) as materialized (
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
view_tables (view, oid, is_all) as materialized (
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
instead_triggers (oid, event) as materialized (
  select trigger.tgrelid, event.type
  from pg_catalog.pg_trigger trigger
  join (values (16, '2'), (4, '3'), (8, '4')) event (bit, type) on trigger.tgtype & event.bit <> 0
  where trigger.tgtype & 64 <> 0
),
rule_effects (oid, event, effect) as (
  select * from own_rules
  union
  select view_tables.view, rule_effects.event, case when rule_effects.effect = 'nothing' and not view_tables.is_all then 'separate' else rule_effects.effect end
  from rule_effects
  join view_tables on view_tables.oid = rule_effects.oid
  where not exists (
      select from own_rules where own_rules.oid = view_tables.view and own_rules.event = rule_effects.event
    )
    and not exists (
      select from instead_triggers where instead_triggers.oid = view_tables.view and instead_triggers.event = rule_effects.event::text
    )
),
conflict_refusals (oid) as (
  select * from (
    select own_rules.oid from own_rules where own_rules.event in ('2', '3')
    union all
    select instead_triggers.oid from instead_triggers where instead_triggers.event in ('2', '3')
    union all
    select key.conrelid from pg_catalog.pg_constraint key where key.contype = 'p' and key.condeferrable
  ) own (oid)
  union
  select view_tables.view
  from conflict_refusals
  join view_tables on view_tables.oid = conflict_refusals.oid
)`;

/** Writes `with …` with two sets of relations. `own` has the relations of the exposed and the additional schemas.
 *  `chosen` adds relations of hidden schemas that a view reads, or that a routine names by row type. It also adds
 *  relations that a foreign key connects with an exposed relation. Partitions are included only if a view reads them.
 *  @rule R-PATH-4 R-REL-2 R-REL-4 */
export const compileRelationSets = (context: IntrospectContext, additional: AdditionalObjects): Sql => {
  const searchedSchemas = new Set([...context.schemas, ...context.extraSearchPath]);
  return sql`with recursive ${CODE_SETS},
${RULE_SETS},
${compileSchemaSet("exposed", context.schemas)},
${compileSchemaSet("loaded", [...context.schemas, ...additional.schemas])},
${compileSchemaSet("searched", searchedSchemas)},
own as materialized (
  select relation.oid
  from pg_catalog.pg_class relation
  where relation.relkind in ('r', 'v', 'm', 'f', 'p')
    and not relation.relispartition
    and relation.relnamespace in (select loaded.oid from loaded)
  union
  select relation.oid
  from pg_catalog.json_array_elements(${bindNames(additional.relations)}) name (parts)
  join pg_catalog.pg_namespace schema on schema.nspname = name.parts ->> 0
  join pg_catalog.pg_class relation on relation.relname = name.parts ->> 1 and relation.relnamespace = schema.oid
  where relation.relkind in ('r', 'v', 'm', 'f', 'p')
),
view_sources (oid) as (
  select own.oid
  from own
  union
  select dependency.refobjid
  from view_sources
  join pg_catalog.pg_class view on view.oid = view_sources.oid
  join pg_catalog.pg_rewrite rule on rule.ev_class = view.oid
  join pg_catalog.pg_depend dependency on dependency.objid = rule.oid
  where view.relkind in ('v', 'm')
    and (view.relnamespace in (select searched.oid from searched) or view.oid in (select own.oid from own))
    and dependency.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    and dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
),
chosen (oid) as (
  select view_sources.oid
  from view_sources
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
        from pg_catalog.json_array_elements(${bindNames(additional.routines)}) name (parts)
        join pg_catalog.pg_namespace schema on schema.nspname = name.parts ->> 0
      )
    )
)`;
};

/** The condition for the chosen relations that are loaded, which excludes system schemas. */
export const IS_LOADED = sql`relation.relkind in ('r', 'v', 'm', 'f', 'p')
  and (relation.oid in (select own.oid from own) or schema.nspname <> 'information_schema' and schema.nspname !~ '^pg_')`;
