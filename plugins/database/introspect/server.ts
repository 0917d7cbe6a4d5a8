/** Loads facts about the server and its schemas: version, login role, schemas, extensions, casts of domains, media type
 *  aggregates. */
import {
  sql,
  bindValue,
  type IntrospectContext,
  type MediaHandler,
  type QualifiedName,
  type Representation,
} from "../../../core/index.ts";
import type { AdditionalObjects } from "./chosen-relations.ts";

interface ServerRow {
  readonly serverVersion: number;
  readonly loginRole: string;
  readonly loginPath: string | null;
  readonly hasOwnSchemas: boolean;
  readonly schemas: readonly SchemaRow[] | null;
  readonly extensions: readonly (readonly [name: string, schema: string])[] | null;
  readonly casts: readonly CastRow[] | null;
  readonly aggregates: readonly AggregateRow[] | null;
  readonly shadowedNames: readonly string[] | null;
}

interface SchemaRow {
  readonly name: string;
  readonly owner: string;
  readonly acl: readonly string[];
  readonly comment: string | null;
}

interface CastRow {
  readonly domain: number;
  readonly role: keyof Representation;
  readonly schema: string;
  readonly name: string;
}

interface AggregateRow {
  readonly mediaType: string;
  readonly schema: string;
  readonly name: string;
  readonly relationSchema: string | null;
  readonly relationName: string | null;
  readonly isBytea: boolean;
}

interface ServerCatalog {
  readonly serverVersion: number;
  readonly loginRole: string;
  readonly loginPath: readonly string[];
  readonly schemas: readonly SchemaRow[];
  readonly extensions: ReadonlyMap<string, string>;
  readonly representations: ReadonlyMap<number, Representation>;
  readonly mediaHandlers: readonly MediaHandler[];
  readonly shadowedNames: ReadonlySet<string>;
}

/** Selects the names of built-in operators and functions that a user-defined object may shadow in a proven statement.
 *  User-defined objects have oids from 16384 on. Proven statements use built-in types, enums, rows and arrays of these.
 *  For a value without a type, PostgreSQL prefers an operator that takes the left type on both sides. Only without such
 *  an operator does it choose one whose right side has another type. @rule R-TX-10 */
const SHADOWED_NAMES = sql`
with plain as materialized (
  select type.oid, 'c' in (type.typtype, element.typtype) as is_row
  from pg_catalog.pg_type type
  left join pg_catalog.pg_type element on element.oid = type.typelem
  where type.oid < 16384
    or type.typtype in ('e', 'c')
    or element.typtype in ('e', 'c')
)
select pg_catalog.json_agg(distinct shadowing.name)
from (
  select operator.oprname::text
  from pg_catalog.pg_operator operator
  join plain on plain.oid = operator.oprleft and plain.is_row is not true
  where operator.oid >= 16384
    and (
      operator.oprright in (select plain.oid from plain)
      or not exists (
        select
        from pg_catalog.pg_operator other
        where other.oid < 16384
          and other.oprname = operator.oprname
          and other.oprleft = operator.oprleft
          and other.oprright = operator.oprleft
      )
    )
  union all
  select routine.proname::text
  from pg_catalog.pg_proc routine
  join pg_catalog.pg_proc other on other.proname = routine.proname
  left join plain on plain.oid = routine.proargtypes[0]
  where routine.oid >= 16384
    and other.oid < 16384
    and (routine.provariadic <> 0 or other.pronargs between routine.pronargs - routine.pronargdefaults and routine.pronargs)
    and (
      plain.is_row is not true
      -- core passes whole rows only to these functions; most functions of rows are computed fields
      or routine.proname in ('array_agg', 'array_to_json', 'cardinality', 'json_agg', 'row_to_json', 'to_json')
    )
    and (plain.oid is not null or routine.pronargs = 0)
  union all
  select '::'
  from pg_catalog.pg_cast entry
  where entry.oid >= 16384
    and entry.castmethod = 'f'
    and entry.castsource in (select plain.oid from plain)
    and entry.casttarget in (select plain.oid from plain)
  union all
  select '='
  from pg_catalog.pg_opclass class
  join pg_catalog.pg_am method on method.oid = class.opcmethod
  join plain on plain.oid = class.opcintype
  where class.oid >= 16384
    and class.opcdefault
    and method.amname in ('btree', 'hash')
) shadowing (name)`;

/** Returns the schemas of a path in PostgreSQL's notation: `"$user", public`. */
const parseSearchPath = (path: string): readonly string[] =>
  [...path.matchAll(/"((?:[^"]|"")*)"|([^\s,"]+)/g)]
    .map(([, quotedName, bare = ""]) => quotedName?.replaceAll('""', '"') ?? bare.toLowerCase())
    .filter((name) => name !== "");

/** Loads the facts about the server and its schemas. @rule R-REP-1 R-MED-4 R-OAS-3 */
export const loadServer = async (context: IntrospectContext, additional: AdditionalObjects): Promise<ServerCatalog> => {
  const exposedSchemas = bindValue(JSON.stringify(context.schemas), "json");
  const additionalSchemas = [...additional.relations, ...additional.routines].map(({ schema }) => schema);
  const namedSchemas = bindValue(
    JSON.stringify([...new Set([...context.schemas, ...context.extraSearchPath, ...additionalSchemas])]),
    "json",
  );
  const [row] = await context.query<ServerRow>(sql`
select pg_catalog.current_setting('server_version_num')::int4 as "serverVersion",
  session_user::text as "loginRole",
  (select setting.reset_val from pg_catalog.pg_settings setting where setting.name = 'search_path') as "loginPath",
  exists (select from pg_catalog.pg_namespace schema join pg_catalog.pg_roles owner on owner.rolname = schema.nspname) as "hasOwnSchemas",
  (
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', schema.nspname,
      'owner', pg_catalog.pg_get_userbyid(schema.nspowner),
      'acl', coalesce(schema.nspacl, pg_catalog.acldefault('n', schema.nspowner))::text[],
      'comment', pg_catalog.obj_description(schema.oid, 'pg_namespace')
    ))
    from pg_catalog.pg_namespace schema
    where schema.nspname in (select pg_catalog.json_array_elements_text(${namedSchemas}))
  ) as schemas,
  (
    select pg_catalog.json_agg(pg_catalog.json_build_array(extension.extname, schema.nspname) order by extension.extname)
    from pg_catalog.pg_extension extension
    join pg_catalog.pg_namespace schema on schema.oid = extension.extnamespace
  ) as extensions,
  (
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'domain', domain.oid::int8,
      'role', case
        when entry.casttarget = domain.oid and entry.castsource = 'pg_catalog.json'::pg_catalog.regtype then 'fromJson'
        when entry.casttarget = domain.oid then 'fromText'
        else 'toJson'
      end,
      'schema', schema.nspname,
      'name', routine.proname
    ))
    from pg_catalog.pg_cast entry
    join pg_catalog.pg_type domain on domain.typtype = 'd' and domain.oid in (entry.castsource, entry.casttarget)
    join pg_catalog.pg_proc routine on routine.oid = entry.castfunc
    join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
    where entry.castcontext = 'i'
      and entry.castmethod = 'f'
      and (
        entry.castsource = domain.oid and entry.casttarget = 'pg_catalog.json'::pg_catalog.regtype
        or entry.casttarget = domain.oid
          and entry.castsource in ('pg_catalog.json'::pg_catalog.regtype, 'pg_catalog.text'::pg_catalog.regtype)
      )
      and pg_catalog.has_function_privilege(routine.oid, 'EXECUTE')
  ) as casts,
  (
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'mediaType', domain.typname,
      'schema', schema.nspname,
      'name', routine.proname,
      'relationSchema', row_schema.nspname,
      'relationName', row_relation.relname,
      'isBytea', base.oid = 'pg_catalog.bytea'::pg_catalog.regtype
    ) order by schema.nspname, routine.proname)
    from pg_catalog.pg_proc routine
    join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
    join pg_catalog.pg_type domain on domain.oid = routine.prorettype and domain.typtype = 'd'
    join pg_catalog.pg_type base on base.oid = domain.typbasetype
    join pg_catalog.pg_type argument on argument.oid = routine.proargtypes[0]
    left join pg_catalog.pg_class row_relation on row_relation.oid = argument.typrelid and row_relation.relkind <> 'c'
    left join pg_catalog.pg_namespace row_schema on row_schema.oid = row_relation.relnamespace
    where routine.prokind = 'a'
      and routine.pronargs = 1
      and schema.nspname in (select pg_catalog.json_array_elements_text(${exposedSchemas}))
      and (domain.typname = '*/*' or domain.typname ~ '^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+$')
      and (row_relation.oid is not null or argument.oid = 'pg_catalog.anyelement'::pg_catalog.regtype)
  ) as aggregates,
  (${SHADOWED_NAMES}) as "shadowedNames"`);
  if (row === undefined) throw new Error("the server did not report its version");
  return {
    serverVersion: row.serverVersion,
    loginRole: row.loginRole,
    loginPath: parseSearchPath(row.loginPath ?? "").filter((name) => name !== "$user" || row.hasOwnSchemas),
    schemas: row.schemas ?? [],
    extensions: new Map(row.extensions ?? []),
    representations: buildRepresentations(row.casts ?? []),
    shadowedNames: new Set(row.shadowedNames ?? []),
    mediaHandlers: (row.aggregates ?? []).map(buildMediaHandler),
  };
};

const buildRepresentations = (casts: readonly CastRow[]): ReadonlyMap<number, Representation> => {
  const representations = new Map<number, Representation>();
  for (const { domain, role, schema, name } of casts) {
    const routine: QualifiedName = { schema, name };
    representations.set(domain, { ...representations.get(domain), [role]: routine });
  }
  return representations;
};

const buildMediaHandler = (row: AggregateRow): MediaHandler => ({
  mediaType: row.mediaType,
  aggregate: { schema: row.schema, name: row.name },
  ...(row.relationSchema !== null &&
    row.relationName !== null && { relation: { schema: row.relationSchema, name: row.relationName } }),
  isBytea: row.isBytea,
});
