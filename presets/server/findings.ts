/** Finds settings that name objects missing in the database, once the schema is loaded. */
import { nearestNames, sql, type Model, type PluginContext } from "../../core/index.ts";

const suggestion = (name: string, candidates: Iterable<string>): string => {
  const near = nearestNames(name, candidates).map((one) => `"${one}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};

const roleFindings = ({ roles, loginRole, loginRoles }: Model, anonRole: string | undefined): readonly string[] => {
  if (anonRole === undefined) return [];
  // metadata may define roles that are not database roles
  if ([...(loginRoles?.values() ?? [])].some((known) => known.has(anonRole))) return [];
  const role = roles.get(anonRole);
  if (role === undefined)
    return [`ANON_ROLE is "${anonRole}", a role that does not exist${suggestion(anonRole, roles.keys())}`];
  return role.isAssumable
    ? []
    : [`ANON_ROLE is "${anonRole}", which "${loginRole}" may not become: GRANT "${anonRole}" TO "${loginRole}"`];
};

interface FunctionRow {
  readonly schema: string;
  readonly name: string;
}

const functionFindings = async (context: PluginContext): Promise<readonly string[]> => {
  const { dbPreRequest, dbRootSpec, dbPreConfig, dbSchemas, dbExtraSearchPath } = context.options;
  const named = Object.entries({
    DB_PRE_REQUEST: dbPreRequest,
    DB_ROOT_SPEC: dbRootSpec,
    DB_PRE_CONFIG: dbPreConfig,
  }).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  if (named.length === 0) return [];
  const functions = await context.query<FunctionRow>(sql`
    select distinct schema.nspname::text as schema, routine.proname::text as name
    from pg_catalog.pg_proc routine
    join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
    where schema.nspname not in ('pg_catalog', 'information_schema')`);
  const names = functions.map(({ schema, name }) => `${schema}.${name}`);
  const path = [...dbSchemas, ...dbExtraSearchPath];
  return named.flatMap(([variable, given]) => {
    const isThere = given.includes(".")
      ? names.includes(given)
      : functions.some(({ schema, name }) => name === given && path.includes(schema));
    if (isThere) return [];
    const near = given.includes(".") ? names : functions.map(({ name }) => name);
    return [`${variable} is "${given}", a function that does not exist${suggestion(given, new Set(near))}`];
  });
};

/** The findings, one line each. @rule C-SET-3 */
export const settingFindings = async (context: PluginContext): Promise<readonly string[]> => [
  ...roleFindings(context.model(), context.options.anonRole),
  ...(await functionFindings(context)),
];
