/** `relapi doctor`: what slows or endangers the database behind the API, a line each with the SQL that mends it. */
import { sql, value, type PluginContext, type Sql } from "../../core/index.ts";
import type { EnvironmentSettings } from "../environment.ts";
import { withApi } from "./open-api.ts";

interface PolicyRow {
  readonly relation: string;
  readonly policy: string;
  readonly expressions: readonly (string | null)[];
}

const schemasOf = (context: PluginContext): Sql =>
  sql`(select pg_catalog.json_array_elements_text(${value(JSON.stringify(context.options.dbSchemas), "json")}))`;

/** Functions that answer the same for all rows of a statement, and that PostgreSQL calls for each row all the same. */
const CALL = /\b(current_setting|auth\.\w+)\(/g;

/** Whether the call at `at` stands in the list of a subselect, `( SELECT current_setting(…) AS …)`: that is run once. */
const isInSubselect = (expression: string, at: number): boolean => {
  const before = expression.slice(0, at);
  const start = before.toLowerCase().lastIndexOf("select ");
  if (start === -1) return false;
  const between = before.slice(start);
  if (/\b(from|where)\b/i.test(between)) return false;
  let depth = 0;
  for (const letter of between) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (depth < 0) return false; // the subselect has ended
  }
  return true;
};

/** @rule C-DOK-1 */
export const callsPerRow = (expression: string): readonly string[] => [
  ...new Set(
    [...expression.matchAll(CALL)]
      .filter(({ index }) => !isInSubselect(expression, index))
      .map((match) => match[1] as string),
  ),
];

const policiesPerRow = async (context: PluginContext): Promise<readonly string[]> => {
  const rows = await context.query<PolicyRow>(sql`
    select pg_catalog.format('%I.%I', schemaname, tablename) as relation, policyname::text as policy,
      pg_catalog.json_build_array(qual, with_check) as expressions
    from pg_catalog.pg_policies where schemaname in ${schemasOf(context)} order by 1, 2`);
  return rows.flatMap(({ relation, policy, expressions }) =>
    callsPerRow(expressions.filter((each) => each !== null).join(" and ")).map(
      (call) => `slow: policy "${policy}" on ${relation} calls ${call}() for each row: write (select ${call}(…))`,
    ),
  );
};

interface IndexRow {
  readonly relation: string;
  readonly what: string;
  readonly columns: string;
}

/** An index counts if it starts with the columns, in whatever order, and has no condition. @rule C-DOK-2 */
const missingIndexes = async (context: PluginContext): Promise<readonly string[]> => {
  const rows = await context.query<IndexRow>(sql`
    with wanted as (
      select conrelid as relation, 'foreign key ' || conname as what, conkey as columns
      from pg_catalog.pg_constraint where contype = 'f' and conparentid = 0
      union all
      select policy.polrelid, 'policy ' || policy.polname, array[used.refobjsubid::int2]
      from pg_catalog.pg_policy policy
      join pg_catalog.pg_depend used on used.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass
        and used.objid = policy.oid and used.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        and used.refobjid = policy.polrelid and used.refobjsubid > 0
      where policy.polcmd <> 'a'
    )
    select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
      pg_catalog.string_agg(distinct wanted.what, ', ') as what,
      (select pg_catalog.string_agg(pg_catalog.quote_ident(attribute.attname), ', ' order by key.place)
        from pg_catalog.unnest(wanted.columns) with ordinality key (number, place)
        join pg_catalog.pg_attribute attribute on attribute.attrelid = wanted.relation and attribute.attnum = key.number
      ) as columns
    from wanted
    join pg_catalog.pg_class relation on relation.oid = wanted.relation
    join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
    where schema.nspname in ${schemasOf(context)} and not relation.relispartition
      and not exists (
        select from pg_catalog.pg_index index
        where index.indrelid = wanted.relation and index.indpred is null and index.indisvalid
          and (index.indkey::int2[])[0:pg_catalog.cardinality(wanted.columns) - 1] @> wanted.columns
      )
    group by 1, wanted.relation, wanted.columns
    order by 1, 2`);
  return rows.map(
    ({ relation, what, columns }) => `slow: ${what} has no index: create index on ${relation} (${columns})`,
  );
};

interface ViewRow {
  readonly view: string;
  readonly owner: string;
  readonly tables: string;
}

/** Policies do not hold for the owner of a table, unless forced, and for roles that bypass them. @rule C-DOK-3 */
const ownersViews = async (context: PluginContext): Promise<readonly string[]> => {
  const rows = await context.query<ViewRow>(sql`
    select pg_catalog.format('%I.%I', schema.nspname, view.relname) as view, owner.rolname::text as owner,
      pg_catalog.string_agg(distinct pg_catalog.format('%I.%I', base_schema.nspname, base.relname), ', ') as tables
    from pg_catalog.pg_class view
    join pg_catalog.pg_namespace schema on schema.oid = view.relnamespace
    join pg_catalog.pg_roles owner on owner.oid = view.relowner
    join pg_catalog.pg_rewrite rule on rule.ev_class = view.oid
    join pg_catalog.pg_depend dependency on dependency.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      and dependency.objid = rule.oid and dependency.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    join pg_catalog.pg_class base on base.oid = dependency.refobjid and base.oid <> view.oid
    join pg_catalog.pg_namespace base_schema on base_schema.oid = base.relnamespace
    where view.relkind = 'v' and schema.nspname in ${schemasOf(context)} and base.relrowsecurity
      and not coalesce(view.reloptions::text[] && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false)
      and (owner.rolsuper or owner.rolbypassrls or (base.relowner = view.relowner and not base.relforcerowsecurity))
    group by 1, 2 order by 1`);
  return rows.map(
    ({ view, owner, tables }) =>
      `danger: ${view} reads ${tables} as "${owner}", past the row policies: alter view ${view} set (security_invoker = true)`,
  );
};

interface FunctionRow {
  readonly routine: string;
  readonly isDefiner: boolean;
}

/** @rule C-DOK-4 */
const publicFunctions = async (context: PluginContext): Promise<readonly string[]> => {
  const rows = await context.query<FunctionRow>(sql`
    select pg_catalog.format('%I.%I(%s)', schema.nspname, routine.proname,
        pg_catalog.pg_get_function_identity_arguments(routine.oid)) as routine,
      routine.prosecdef as "isDefiner"
    from pg_catalog.pg_proc routine
    join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
    where schema.nspname in ${schemasOf(context)} and routine.prokind = 'f'
      and routine.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
      and exists (
        select from pg_catalog.aclexplode(coalesce(routine.proacl, pg_catalog.acldefault('f', routine.proowner))) granted
        where granted.grantee = 0 and granted.privilege_type = 'EXECUTE')
      and not exists (
        select from pg_catalog.pg_depend
        where classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and objid = routine.oid and deptype = 'e')
    order by 1`);
  return rows.map(
    ({ routine, isDefiner }) =>
      `danger: ${routine} may be called by everybody${isDefiner ? ", and runs as its owner" : ""}: revoke execute on function ${routine} from public`,
  );
};

export const diagnose = (settings: EnvironmentSettings): Promise<readonly string[]> =>
  withApi(settings, async ({ context }) => [
    ...(await ownersViews(context)),
    ...(await publicFunctions(context)),
    ...(await policiesPerRow(context)),
    ...(await missingIndexes(context)),
  ]);
