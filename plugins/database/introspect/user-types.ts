/** Loads user-defined types: domains, enums, composites, ranges, and the types to which they refer. */
import { sql, bindValue, type IntrospectContext, type Sql } from "../../../core/index.ts";

/** Loads all types that can be reached from `roots`, except those in `knownOids`. The query selects `columns` of every
 *  type, with the joins that they need. */
export const loadUserTypes = <Row>(
  context: IntrospectContext,
  [columns, joins]: readonly [Sql, Sql],
  roots: Iterable<number>,
  knownOids: Iterable<number>,
): Promise<readonly Row[]> =>
  context.query<Row>(sql`
with recursive known as materialized (
  select item.text::pg_catalog.oid as oid
  from pg_catalog.json_array_elements_text(${bindValue(JSON.stringify([...knownOids]), "json")}) item (text)
),
-- each type is found by its key, because there are far fewer of them than rows in the catalogs
reached (oid) as (
  select item.text::pg_catalog.oid
  from pg_catalog.json_array_elements_text(${bindValue(JSON.stringify([...roots]), "json")}) item (text)
  union
  select step.oid
  from reached
  cross join lateral (
    select type.typelem, type.typbasetype, type.typrelid from pg_catalog.pg_type type where type.oid = reached.oid offset 0
  ) type
  cross join lateral (
    select type.typelem
    union all
    select type.typbasetype
    union all
    select attribute.atttypid
    from pg_catalog.pg_attribute attribute
    where attribute.attrelid = type.typrelid
      and attribute.attnum > 0
      and not attribute.attisdropped
    union all
    select range.rngsubtype
    from pg_catalog.pg_range range
    where range.rngtypid = reached.oid
    union all
    select range.rngtypid
    from pg_catalog.pg_range range
    where range.rngmultitypid = reached.oid
  ) step (oid)
  where step.oid <> 0
    and step.oid not in (select known.oid from known)
)
select ${columns},
  case when type.typtype = 'd' then pg_catalog.pg_get_expr(type.typdefaultbin, 0) end as "default",
  case when type.typtype = 'e' then (
    select pg_catalog.json_agg(label.enumlabel order by label.enumsortorder)
    from pg_catalog.pg_enum label
    where label.enumtypid = type.oid
  ) end as labels,
  case when type.typtype = 'c' then (
    select pg_catalog.json_agg(pg_catalog.json_build_array(attribute.attname, attribute.atttypid::int8) order by attribute.attnum)
    from pg_catalog.pg_attribute attribute
    where attribute.attrelid = type.typrelid
      and attribute.attnum > 0
      and not attribute.attisdropped
  ) end as attributes,
  relation.nspname::text as "relationSchema",
  relation.relname::text as "relationName"
from reached
cross join lateral (select * from pg_catalog.pg_type type where type.oid = reached.oid offset 0) type
join pg_catalog.pg_namespace schema on schema.oid = type.typnamespace
${joins}
left join lateral (
  select row_relation.relname, row_schema.nspname
  from pg_catalog.pg_class row_relation
  join pg_catalog.pg_namespace row_schema on row_schema.oid = row_relation.relnamespace
  where type.typrelid <> 0
    and row_relation.oid = type.typrelid
    and row_relation.relkind <> 'c'
  offset 0
) relation on true`);
