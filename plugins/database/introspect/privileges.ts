/** Reads access control lists as the catalog prints them, and roles with the roles that they inherit. */
import { sql, type AclItem, type IntrospectContext, type Role } from "../../../core/index.ts";

/** The predefined roles that may read or write every relation, which ACLs do not show. */
const PREDEFINED_ACL = {
  relation: [
    { grantee: "pg_read_all_data", privileges: "r" },
    { grantee: "pg_write_all_data", privileges: "awd" },
  ],
  schema: [
    { grantee: "pg_read_all_data", privileges: "U" },
    { grantee: "pg_write_all_data", privileges: "U" },
  ],
  column: [],
  routine: [],
} as const satisfies Record<string, readonly AclItem[]>;

// `sea_clerk=ar*/postgres`, `=X/postgres`, `"odd ""role"""=r/postgres`
const ACL_ITEM = /^("(?:[^"]|"")*"|[^"=]*)=([^/]*)\//;

/** Creates a reader of `aclitem[]` as text. The reader drops grant options. Equal lists share one array, because most
 *  of a thousand relations have equal lists. The lists of relations and schemas also contain the predefined roles with
 *  rights on all of them. */
export const createAclReader = (): ((
  items: readonly string[] | null,
  kind: keyof typeof PREDEFINED_ACL,
) => readonly AclItem[]) => {
  const parsedAcls = new Map<string, readonly AclItem[]>();
  return (items, kind) => {
    const key = `${kind}\n${(items ?? []).join("\n")}`;
    let acl = parsedAcls.get(key);
    if (acl === undefined) {
      acl = [...(items ?? []).flatMap(parseAclItem), ...PREDEFINED_ACL[kind]];
      parsedAcls.set(key, acl);
    }
    return acl;
  };
};

const parseAclItem = (text: string): readonly AclItem[] => {
  const [, grantee = "", privileges = ""] = ACL_ITEM.exec(text) ?? [];
  const name = grantee.startsWith('"') ? grantee.slice(1, -1).replaceAll('""', '"') : grantee;
  return [{ grantee: name, privileges: privileges.replaceAll("*", "") }];
};

interface RoleRow {
  readonly name: string;
  readonly isSuperuser: boolean;
  readonly isAssumable: boolean;
  /** The roles whose rights a direct membership gives to this role. */
  readonly inherits: readonly string[] | null;
  readonly settings: readonly (readonly [name: string, value: string])[] | null;
}

const ISOLATION = "default_transaction_isolation";

/** Loads all roles. `settings` are the values of `ALTER ROLE … SET` that the login role may apply when it assumes the
 *  role. @rule R-OPT-3 R-TX-3 R-TX-6 */
export const loadRoles = async (
  context: IntrospectContext,
  serverVersion: number,
): Promise<ReadonlyMap<string, Role>> => {
  // Newer functions and options cannot be parsed by older servers.
  const maySet =
    serverVersion >= 150000 ? sql`pg_catalog.has_parameter_privilege(session_user, parameter.name, 'SET')` : sql`false`;
  const assumes = serverVersion >= 160000 ? sql`'SET'` : sql`'MEMBER'`;
  const inherits = serverVersion >= 160000 ? sql`membership.inherit_option` : sql`member.rolinherit`;
  const ownerInherits = serverVersion >= 160000 ? sql`true` : sql`member.rolinherit`;
  const rows = await context.query<RoleRow>(sql`
with parameters as materialized (
  select pg_catalog.lower(parameter.name) as name,
    parameter.context = 'user' or ${maySet} as may_set
  from pg_catalog.pg_settings parameter
),
inherited as materialized (
  select membership.member, granted.rolname
  from pg_catalog.pg_auth_members membership
  join pg_catalog.pg_roles member on member.oid = membership.member
  join pg_catalog.pg_roles granted on granted.oid = membership.roleid
  where ${inherits}
  union
  select member.oid, 'pg_database_owner'
  from pg_catalog.pg_database database
  join pg_catalog.pg_roles member on member.oid = database.datdba
  where database.datname = pg_catalog.current_database()
    and ${ownerInherits}
),
lists as (
  select member, pg_catalog.json_agg(rolname order by rolname) as names
  from inherited
  group by member
)
select role.rolname::text as name,
  role.rolsuper as "isSuperuser",
  pg_catalog.pg_has_role(session_user, role.oid, ${assumes}) as "isAssumable",
  lists.names as inherits,
  (
    select pg_catalog.json_agg(pg_catalog.json_build_array(entry.name, entry.value) order by entry.position)
    from (
      select pg_catalog.split_part(item.text, '=', 1) as name,
        pg_catalog.substr(item.text, pg_catalog.strpos(item.text, '=') + 1) as value,
        item.position
      from pg_catalog.unnest(role.rolconfig) with ordinality item (text, position)
    ) entry
    left join parameters on parameters.name = pg_catalog.lower(entry.name)
    where coalesce(parameters.may_set, pg_catalog.strpos(entry.name, '.') > 0)
  ) as settings
from pg_catalog.pg_roles role
left join lists on lists.member = role.oid
order by role.rolname`);
  return buildRoles(rows);
};

/** Resolves inheritance: a role has the rights of all roles that it inherits, directly or indirectly. */
const buildRoles = (rows: readonly RoleRow[]): ReadonlyMap<string, Role> => {
  const direct = new Map(rows.map((row) => [row.name, row.inherits ?? []]));
  const collectInherited = (name: string): readonly string[] => {
    const reachedRoles = new Set([name]);
    for (const role of reachedRoles) for (const grantedRole of direct.get(role) ?? []) reachedRoles.add(grantedRole);
    return [...reachedRoles];
  };
  return new Map(
    rows.map((row) => {
      const settings = row.isAssumable ? (row.settings ?? []) : [];
      const role: Role = {
        name: row.name,
        isSuperuser: row.isSuperuser,
        inherits: collectInherited(row.name),
        isAssumable: row.isAssumable,
        settings: settings.filter(([name]) => name !== ISOLATION),
        isolation: settings.find(([name]) => name === ISOLATION)?.[1].toLowerCase(),
      };
      return [row.name, role];
    }),
  );
};
