/** Loads types: the built-in types, and other types that columns, parameters and results use. */
import {
  forEachSliced,
  sql,
  bindValue,
  type IntrospectContext,
  type PgType,
  type TypeKind,
} from "../../../core/index.ts";
import { loadUserTypes } from "./user-types.ts";

interface TypeRow {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly sqlName: string;
  readonly kind: TypeKind;
  readonly category: string;
  readonly element: number | null;
  readonly base: number | null;
  /** The modifier of a domain's base type, or -1. */
  readonly baseModifier: number;
  readonly notNull: boolean;
  readonly default: string | null;
  readonly labels: readonly string[] | null;
  readonly attributes: readonly (readonly [name: string, type: number])[] | null;
  readonly relationSchema: string | null;
  readonly relationName: string | null;
  readonly comment: string | null;
}

/** The properties of a column or parameter that come from its domain, combined over all levels of domains. */
export interface DomainTraits {
  readonly notNull: boolean;
  readonly default: string | undefined;
  readonly maxLength: number | undefined;
}

interface LoadedTypes {
  readonly types: ReadonlyMap<number, PgType>;
  getDomainTraits(oid: number): DomainTraits;
}

/** Extension types that operators name even if no column has them (`lquery`). */
const EXTENSION_TYPES = "citext geography geometry hstore lquery ltree ltxtquery raster vector".split(" ");

/** The row types of relations that are already loaded. */
interface KnownRows {
  readonly oids: Iterable<number>;
  /** Called while the database loads the other types. */
  buildRowTypes(): Promise<readonly PgType[]>;
}

/** The columns of the queries for types. */
const TYPE_COLUMNS = sql`type.oid,
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
  comment.description as comment`;
/** The join that finds the comment of a type. */
const COMMENT_JOIN = sql`left join pg_catalog.pg_description comment
  on comment.objoid = type.oid and comment.classoid = 'pg_catalog.pg_type'::pg_catalog.regclass and comment.objsubid = 0`;

/** Loads the types of `pg_catalog` and of extensions, which refer only to each other. The query does not depend on
 *  other results, so it runs early. Most databases use few other types. */
export const loadCommonTypes = (context: IntrospectContext): Promise<readonly TypeRow[]> =>
  context.query<TypeRow>(sql`
select ${TYPE_COLUMNS}, null as "default", null as labels, null as attributes, null as "relationSchema", null as "relationName"
from pg_catalog.pg_type type
join pg_catalog.pg_namespace schema on schema.oid = type.typnamespace
${COMMENT_JOIN}
where schema.nspname = 'pg_catalog'
    and type.typtype in ('b', 'r', 'm', 'p')
    and (select element.typtype from pg_catalog.pg_type element where element.oid = type.typelem) is distinct from 'c'
  or type.oid in (
    select pg_catalog.unnest(array[named.oid, named.typarray])
    from pg_catalog.pg_type named
    join pg_catalog.pg_depend dependency on dependency.objid = named.oid
    where named.typname in (select pg_catalog.json_array_elements_text(${bindValue(JSON.stringify(EXTENSION_TYPES), "json")}))
      and dependency.classid = 'pg_catalog.pg_type'::pg_catalog.regclass
      and dependency.deptype = 'e'
  )`);

/** Loads the types that can be reached from `seeds` and the common types. `rows` are added unchanged, because their
 *  attributes are known columns. @rule R-SC-1 G-TYP-20 G-TYP-26 */
export const loadTypes = async (
  context: IntrospectContext,
  commonRows: readonly TypeRow[],
  seeds: Iterable<number>,
  rows: KnownRows,
): Promise<LoadedTypes> => {
  const byOid = new Map<number, TypeRow>();
  const userTypeOids = new Set<number>();
  for (const row of commonRows) {
    if (DETAILED_KINDS.has(row.kind)) userTypeOids.add(row.oid);
    else byOid.set(row.oid, row);
  }
  const knownOids = new Set(byOid.keys());
  await forEachSliced(rows.oids, (oid) => knownOids.add(oid));
  await forEachSliced(seeds, (oid) => {
    if (!knownOids.has(oid)) userTypeOids.add(oid);
  });
  for (const { element, base } of byOid.values())
    for (const oid of [element, base]) if (oid !== null && !knownOids.has(oid)) userTypeOids.add(oid);
  const userTypes =
    userTypeOids.size === 0
      ? []
      : loadUserTypes<TypeRow>(context, [TYPE_COLUMNS, COMMENT_JOIN], userTypeOids, knownOids);
  const [userTypeRows, rowTypes] = await Promise.all([userTypes, rows.buildRowTypes()]);
  for (const row of userTypeRows) byOid.set(row.oid, row);
  const types = new Map<number, PgType>();
  await forEachSliced(rowTypes, (type) => types.set(type.oid, type));
  await forEachSliced(byOid.values(), (row) => types.set(row.oid, buildType(row)));
  return { types, getDomainTraits: (oid) => combineDomainTraits(byOid, oid) };
};

/** The kinds of types for which the query for common types returns too few facts. */
const DETAILED_KINDS: ReadonlySet<TypeKind> = new Set(["composite", "domain", "enum"]);

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

const combineDomainTraits = (types: ReadonlyMap<number, TypeRow>, oid: number): DomainTraits => {
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
  return { notNull, default: text, maxLength: type && findCharacterLength(type, modifier) };
};

/** Returns the length limit of a text or bit string, as the information schema defines it. The modifier of text
 *  includes the header of four bytes. */
export const findCharacterLength = (type: Pick<PgType, "schema" | "name">, modifier: number): number | undefined => {
  if (type.schema !== "pg_catalog" || modifier < 0) return undefined;
  if (type.name === "varchar" || type.name === "bpchar") return modifier - 4;
  return type.name === "bit" || type.name === "varbit" ? modifier : undefined;
};
