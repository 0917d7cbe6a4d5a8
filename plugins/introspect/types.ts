/** Types: everything columns, parameters and results lead to, and the built-in ones. */
import { eachInPieces, sql, value, type IntrospectContext, type PgType, type TypeKind } from "../../core/index.ts";

interface TypeRow {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly sqlName: string;
  readonly kind: TypeKind;
  readonly category: string;
  readonly element: number | null;
  readonly base: number | null;
  /** Domains: modifier of the base type, -1 for none. */
  readonly baseModifier: number;
  readonly notNull: boolean;
  readonly default: string | null;
  readonly labels: readonly string[] | null;
  readonly attributes: readonly (readonly [name: string, type: number])[] | null;
  readonly relationSchema: string | null;
  readonly relationName: string | null;
  readonly comment: string | null;
}

/** What a column or parameter of a domain gets from the domain, all levels of domains taken together. */
export interface DomainTraits {
  readonly notNull: boolean;
  readonly default: string | undefined;
  readonly maxLength: number | undefined;
}

export interface LoadedTypes {
  readonly types: ReadonlyMap<number, PgType>;
  traitsOf(oid: number): DomainTraits;
}

/** Types of extensions that operators name though no column may have them (`lquery`). */
const EXTENSION_TYPES = [
  "citext",
  "geography",
  "geometry",
  "hstore",
  "lquery",
  "ltree",
  "ltxtquery",
  "raster",
  "vector",
];

/** Row types of relations that are loaded already. */
export interface KnownRows {
  readonly oids: Iterable<number>;
  /** Called while the database is asked for the others. */
  make(): Promise<readonly PgType[]>;
}

/** Loads the types reachable from `seeds` and those of `pg_catalog`. `rows` are added as they are, since their
 *  attributes are known columns. @rule R-SC-1 G-TYP-20 G-TYP-26 */
export const loadTypes = async (
  context: IntrospectContext,
  seeds: Iterable<number>,
  rows: KnownRows,
): Promise<LoadedTypes> => {
  const known = new Set<number>();
  await eachInPieces(rows.oids, (oid) => known.add(oid));
  const others = new Set<number>();
  await eachInPieces(seeds, (oid) => {
    if (!known.has(oid)) others.add(oid);
  });
  const wanted = [...others];
  const asked = context.query<TypeRow>(sql`
with recursive known as materialized (
  select item.text::pg_catalog.oid as oid
  from pg_catalog.json_array_elements_text(${value(JSON.stringify([...known]), "json")}) item (text)
),
roots as materialized (
  select item.text::pg_catalog.oid as oid
  from pg_catalog.json_array_elements_text(${value(JSON.stringify(wanted), "json")}) item (text)
  union
  select type.oid
  from pg_catalog.pg_type type
  join pg_catalog.pg_namespace schema on schema.oid = type.typnamespace
  left join pg_catalog.pg_type element on element.oid = type.typelem
  where schema.nspname = 'pg_catalog'
    and type.typtype in ('b', 'r', 'm', 'p')
    and element.typtype is distinct from 'c'
  union
  select pg_catalog.unnest(array[type.oid, type.typarray])
  from pg_catalog.pg_type type
  join pg_catalog.pg_depend dependency on dependency.objid = type.oid
  where type.typname in (select pg_catalog.json_array_elements_text(${value(JSON.stringify(EXTENSION_TYPES), "json")}))
    and dependency.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
    and dependency.deptype = 'e'
),
reached (oid) as (
  select roots.oid
  from roots
  union
  select step.oid
  from reached
  join pg_catalog.pg_type type on type.oid = reached.oid
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
    where range.rngtypid = type.oid
    union all
    select range.rngtypid
    from pg_catalog.pg_range range
    where range.rngmultitypid = type.oid
  ) step (oid)
  where step.oid <> 0
    and step.oid not in (select known.oid from known)
)
select type.oid,
  schema.nspname::text as schema,
  type.typname::text as name,
  pg_catalog.format_type(type.oid, -1) as "sqlName",
  case type.typtype
    when 'c' then 'composite'
    when 'd' then 'domain'
    when 'e' then 'enum'
    when 'r' then 'range'
    when 'm' then 'multirange'
    when 'p' then 'pseudo'
    else case when type.typsubscript = 'pg_catalog.array_subscript_handler'::pg_catalog.regproc then 'array' else 'base' end
  end as kind,
  type.typcategory::text as category,
  nullif(type.typelem, 0) as element,
  nullif(type.typbasetype, 0) as base,
  type.typtypmod as "baseModifier",
  type.typnotnull as "notNull",
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
  row_schema.nspname::text as "relationSchema",
  row_relation.relname::text as "relationName",
  pg_catalog.obj_description(type.oid, 'pg_type') as comment
from reached
join pg_catalog.pg_type type on type.oid = reached.oid
join pg_catalog.pg_namespace schema on schema.oid = type.typnamespace
left join pg_catalog.pg_class row_relation on row_relation.oid = type.typrelid and row_relation.relkind <> 'c'
left join pg_catalog.pg_namespace row_schema on row_schema.oid = row_relation.relnamespace`);
  const [loaded, made] = await Promise.all([asked, rows.make()]);
  const byOid = new Map<number, TypeRow>();
  const types = new Map<number, PgType>();
  await eachInPieces(made, (type) => types.set(type.oid, type));
  await eachInPieces(loaded, (row) => {
    byOid.set(row.oid, row);
    types.set(row.oid, buildType(row));
  });
  return { types, traitsOf: (oid) => domainTraits(byOid, oid) };
};

const buildType = (row: TypeRow): PgType => ({
  oid: row.oid,
  schema: row.schema,
  name: row.name,
  sqlName: row.sqlName,
  kind: row.kind,
  category: row.category,
  ...(row.kind === "array" && row.element !== null && { element: row.element }),
  ...(row.kind === "domain" && {
    base: row.base ?? undefined,
    notNull: row.notNull,
    default: row.default ?? undefined,
  }),
  ...(row.labels !== null && { labels: row.labels }),
  ...(row.kind === "composite" && { attributes: (row.attributes ?? []).map(([name, type]) => ({ name, type })) }),
  ...(row.relationSchema !== null &&
    row.relationName !== null && { relation: { schema: row.relationSchema, name: row.relationName } }),
  ...(row.comment !== null && { comment: row.comment }),
});

const domainTraits = (types: ReadonlyMap<number, TypeRow>, oid: number): DomainTraits => {
  let notNull = false;
  let text: string | undefined;
  let modifier = -1;
  let type = types.get(oid);
  for (let depth = 0; type?.kind === "domain" && depth < 32; depth++) {
    notNull ||= type.notNull;
    text ??= type.default ?? undefined;
    if (modifier < 0) modifier = type.baseModifier;
    type = type.base === null ? undefined : types.get(type.base);
  }
  return { notNull, default: text, maxLength: type && characterLength(type, modifier) };
};

/** Length limit of a text or bit string, as the information schema has it; the modifier of text counts the header of
 *  four bytes. */
export const characterLength = (type: Pick<PgType, "schema" | "name">, modifier: number): number | undefined => {
  if (type.schema !== "pg_catalog" || modifier < 0) return undefined;
  if (type.name === "varchar" || type.name === "bpchar") return modifier - 4;
  return type.name === "bit" || type.name === "varbit" ? modifier : undefined;
};
