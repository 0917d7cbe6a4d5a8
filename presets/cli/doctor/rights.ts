/** Finds views, functions, grants and sequences that give roles more or fewer rights than intended. */
import { sql, bindValue, type PluginContext } from "../../../core/index.ts";
import { compileSchemaList } from "../../server/checks.ts";
import { queryCatalog, quoteName, type Finding } from "./finding.ts";

interface ViewRow {
  readonly view: string;
  readonly owner: string;
  readonly tables: string;
  readonly isMaterialized: boolean;
  readonly readers: string;
}

/** Finds views that read with the rights of their owner. Policies do not apply to the owner of a table, unless forced,
 *  and to roles that bypass them. @rule C-DOK-3 */
export const findOwnersViews = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<ViewRow>(
    context,
    sql`
    select pg_catalog.format('%I.%I', schema.nspname, view.relname) as view, owner.rolname as owner,
      view.relkind = 'm' as "isMaterialized",
      pg_catalog.string_agg(distinct pg_catalog.format('%I.%I', base_schema.nspname, base.relname), ', ') as tables,
      coalesce((select pg_catalog.string_agg(distinct case granted.grantee when 0 then 'public'
            else pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(granted.grantee)) end, ', ')
          from pg_catalog.aclexplode(view.relacl) granted
          where granted.privilege_type = 'SELECT' and granted.grantee <> view.relowner), '') as readers
    from pg_catalog.pg_class view
    join pg_catalog.pg_namespace schema on schema.oid = view.relnamespace
    join pg_catalog.pg_roles owner on owner.oid = view.relowner
    join pg_catalog.pg_rewrite rule on rule.ev_class = view.oid
    join pg_catalog.pg_depend dependency on dependency.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      and dependency.objid = rule.oid and dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    join pg_catalog.pg_class base on base.oid = dependency.refobjid and base.oid <> view.oid
    join pg_catalog.pg_namespace base_schema on base_schema.oid = base.relnamespace
    where view.relkind in ('v', 'm') and schema.nspname in ${compileSchemaList(context)} and base.relrowsecurity
      and not (view.relkind = 'v'
        and coalesce(view.reloptions::text[] && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false))
      and (owner.rolsuper or owner.rolbypassrls or (base.relowner = view.relowner and not base.relforcerowsecurity))
    group by view.oid, schema.nspname, owner.rolname order by 1`,
  );
  return rows.flatMap(({ view, owner, tables, isMaterialized, readers }): readonly Finding[] => {
    if (isMaterialized && readers === "") return [];
    return [
      {
        level: "danger",
        finding: `${view} reads ${tables} as "${owner}", past the row policies`,
        reason: isMaterialized
          ? "it contains the rows that its owner sees, and every role that may read it sees them"
          : "a view reads with its owner's rights unless it has security_invoker, with which callers need rights on the tables",
        fix: isMaterialized
          ? `revoke select on ${view} from ${readers}`
          : `alter view ${view} set (security_invoker = true)`,
      },
    ];
  });
};

interface FunctionRow {
  readonly routine: string;
  readonly schema: string;
  readonly isDefiner: boolean;
  readonly isPublic: boolean;
  readonly hasPath: boolean;
}

/** Finds functions that every role may execute, or that run as their owner with the caller's search path. @rule C-DOK-4
 *  C-DOK-5 */
export const findOpenFunctions = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<FunctionRow>(
    context,
    sql`
    select pg_catalog.format('%I.%I(%s)', schema.nspname, routine.proname,
        pg_catalog.pg_get_function_identity_arguments(routine.oid)) as routine,
      schema.nspname as schema, routine.prosecdef as "isDefiner",
      exists (
        select from pg_catalog.aclexplode(coalesce(routine.proacl, pg_catalog.acldefault('f', routine.proowner))) granted
        where granted.grantee = 0 and granted.privilege_type = 'EXECUTE')
      and routine.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
        as "isPublic",
      exists (select from pg_catalog.unnest(routine.proconfig) given (setting) where setting like 'search\\_path=%') as "hasPath"
    from pg_catalog.pg_proc routine
    join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
    where schema.nspname in ${compileSchemaList(context)} and routine.prokind = 'f'
      and not exists (
        select from pg_catalog.pg_depend
        where classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and objid = routine.oid and deptype = 'e')
    order by routine.prosecdef desc, 1`,
  );
  const { dbExtraSearchPath } = context.options;
  return rows.flatMap(({ routine, schema, isDefiner, isPublic, hasPath }): readonly Finding[] => [
    ...(isPublic
      ? [
          {
            level: isDefiner ? ("danger" as const) : ("note" as const),
            finding: `${routine} may be called by every role${isDefiner ? ", and runs as its owner" : ""}`,
            reason:
              "PostgreSQL grants new functions to public: revoke that, and grant them to the roles that call them",
            fix: `revoke execute on function ${routine} from public`,
          },
        ]
      : []),
    ...(isDefiner && !hasPath
      ? [
          {
            level: "danger" as const,
            finding: `${routine} runs as its owner with the caller's search path`,
            reason: "a role that may create objects, also temporary ones, can replace the objects that its code names",
            fix: `alter function ${routine} set search_path = ${[...new Set([schema, ...dbExtraSearchPath])].map(quoteName).join(", ")}, pg_temp`,
          },
        ]
      : []),
  ]);
};

interface GrantRow {
  readonly relation: string;
  /** The role, or null for `public`. */
  readonly grantee: string | null;
  readonly privileges: string;
}

/** Finds writes that anonymous callers may make, and attributes of their role that bypass policies. @rule C-DOK-7 */
export const findAnonymousWrites = async (context: PluginContext): Promise<readonly Finding[]> => {
  const { anonRole } = context.options;
  if (anonRole === undefined) return [];
  const powers = await queryCatalog<{ readonly power: string }>(
    context,
    sql`
      select case when rolsuper then 'is a superuser' else 'bypasses row policies' end as power
      from pg_catalog.pg_roles where rolname = ${bindValue(anonRole)}::name and (rolsuper or rolbypassrls)`,
  );
  const rows = await queryCatalog<GrantRow>(
    context,
    sql`
      select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
        case when granted.grantee <> 0 then pg_catalog.pg_get_userbyid(granted.grantee) end as grantee,
        pg_catalog.string_agg(distinct pg_catalog.lower(granted.privilege_type), ', ') as privileges
      from pg_catalog.pg_class relation
      join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
      cross join lateral pg_catalog.aclexplode(relation.relacl) granted
      where schema.nspname in ${compileSchemaList(context)} and relation.relkind in ('r', 'p', 'v', 'f')
        and granted.privilege_type in ('INSERT', 'UPDATE', 'DELETE') and granted.grantee <> relation.relowner
        and not relation.relrowsecurity
        and (granted.grantee = 0 or exists (
          select from pg_catalog.pg_roles anonymous
          where anonymous.rolname = ${bindValue(anonRole)}::name and not anonymous.rolsuper
            and pg_catalog.pg_has_role(anonymous.oid, granted.grantee, 'usage')))
      group by 1, 2 order by 1, 2`,
  );
  return [
    ...powers.map(({ power }): Finding => ({
      level: "danger",
      finding: `ANON_ROLE "${anonRole}" ${power}`,
      reason: "callers without credentials can read and change everything that is exposed",
      fix: `alter role ${quoteName(anonRole)} nosuperuser nobypassrls`,
    })),
    ...rows.map(({ relation, grantee, privileges }): Finding => ({
      level: "danger",
      finding: `callers without credentials may ${privileges} on ${relation}${grantee === anonRole ? "" : `, by a grant to ${grantee ?? "public"}`}`,
      reason: "no row policy limits the rows: every client of the server may change all of them",
      fix: `revoke ${privileges} on ${relation} from ${grantee === null ? "public" : quoteName(grantee)}`,
    })),
  ];
};

interface SequenceRow {
  readonly relation: string;
  readonly column: string;
  readonly sequence: string;
  readonly role: string;
}

/**
 * Finds sequences of column defaults without rights. Identity columns need no right on their sequence. @rule C-DOK-8
 */
export const findInaccessibleSequences = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<SequenceRow>(
    context,
    sql`
      select distinct pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation, written.attname as column,
        pg_catalog.format('%I.%I', sequence_schema.nspname, sequence.relname) as sequence,
        pg_catalog.quote_ident(role.rolname) as role
      from pg_catalog.pg_attrdef given
      join pg_catalog.pg_class relation on relation.oid = given.adrelid
      join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
      join pg_catalog.pg_attribute written on written.attrelid = relation.oid and written.attnum = given.adnum
      join pg_catalog.pg_depend used on used.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
        and used.objid = given.oid and used.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      join pg_catalog.pg_class sequence on sequence.oid = used.refobjid and sequence.relkind = 'S'
      join pg_catalog.pg_namespace sequence_schema on sequence_schema.oid = sequence.relnamespace
      cross join lateral pg_catalog.aclexplode(relation.relacl) granted
      join pg_catalog.pg_roles role on role.oid = granted.grantee
      where schema.nspname in ${compileSchemaList(context)} and granted.privilege_type = 'INSERT'
        and not pg_catalog.has_sequence_privilege(role.oid, sequence.oid, 'USAGE')
        and not pg_catalog.has_sequence_privilege(role.oid, sequence.oid, 'UPDATE')
      order by 1, 2, 4`,
  );
  return rows.map(({ relation, column, sequence, role }) => ({
    level: "broken",
    finding: `${role} may insert into ${relation}, and may not use ${sequence}, which generates the default of "${column}"`,
    reason: "the database rejects each insert that omits the column",
    fix: `grant usage on sequence ${sequence} to ${role}`,
  }));
};
