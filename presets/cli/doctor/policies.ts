/** Finds row policies that slow every query, and tables where policies have no effect or hide all rows. */
import { sql, type PluginContext } from "../../../core/index.ts";
import { listCallsPerRow, addSubselects } from "./calls-per-row.ts";
import { compileSchemaList, loadRowSecurityFindings } from "../../server/checks.ts";
import { queryCatalog, quoteName, type Finding } from "./finding.ts";

interface PolicyRow {
  readonly relation: string;
  readonly policy: string;
  readonly using: string | null;
  readonly check: string | null;
}

/** Finds policies with calls that PostgreSQL makes for each row. @rule C-DOK-1 */
export const findCallsForEachRow = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<PolicyRow>(
    context,
    sql`
      select pg_catalog.format('%I.%I', schemaname, tablename) as relation, policyname as policy,
        qual as "using", with_check as "check"
      from pg_catalog.pg_policies where schemaname in ${compileSchemaList(context)} order by 1, 2`,
  );
  return rows.flatMap(({ relation, policy, using, check }): readonly Finding[] => {
    const calls = listCallsPerRow([using, check].filter((clause) => clause !== null).join(" and "));
    if (calls.length === 0) return [];
    const clauses = [
      ...(using === null ? [] : [`using (${addSubselects(using)})`]),
      ...(check === null ? [] : [`with check (${addSubselects(check)})`]),
    ];
    return [
      {
        level: "slow",
        finding: `policy "${policy}" on ${relation} calls ${calls.map((call) => `${call}()`).join(", ")} for each row`,
        reason:
          "it returns the same value for every row of a statement; in a subselect it is called once, and an index can be used",
        fix: `alter policy ${quoteName(policy)} on ${relation} ${clauses.join(" ")}`,
      },
    ];
  });
};

interface HistoryRow {
  readonly relation: string;
  readonly history: string;
  readonly isOn: boolean;
  readonly hasPolicies: boolean;
  /** Statements that create the table's policies on its history. */
  readonly policies: readonly string[] | null;
}

/** Finds tables of history that lack the policies of their table. @rule C-DOK-11 */
export const findOpenHistories = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await queryCatalog<HistoryRow>(
    context,
    sql`
      select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation, named.history,
        history.relrowsecurity as "isOn",
        exists (select from pg_catalog.pg_policy policy where policy.polrelid = history.oid) as "hasPolicies",
        (select pg_catalog.json_agg(pg_catalog.format('create policy %I on %s as %s for select to %s using (%s)',
            policyname, named.history, pg_catalog.lower(permissive),
            (select pg_catalog.string_agg(case role when 'public' then 'public' else pg_catalog.quote_ident(role) end, ', ')
              from pg_catalog.unnest(roles) role),
            qual) order by policyname)
          from pg_catalog.pg_policies
          where schemaname = schema.nspname and tablename = relation.relname and cmd in ('ALL', 'SELECT')
            and qual is not null) as policies
      from pg_catalog.pg_class relation
      join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
      join pg_catalog.pg_namespace history_schema on history_schema.nspname = schema.nspname || '_history'
      join pg_catalog.pg_class history on history.relnamespace = history_schema.oid and history.relname = relation.relname
      cross join lateral (select pg_catalog.format('%I.%I', history_schema.nspname, history.relname) as history) named
      where schema.nspname in ${compileSchemaList(context)} and relation.relkind in ('r', 'p') and relation.relrowsecurity
        and history_schema.nspname not in ${compileSchemaList(context)} and history.relkind in ('r', 'p')
        and 2 = (select count(*) from pg_catalog.pg_attribute
          where attrelid = history.oid and attname in ('valid_from', 'valid_to') and not attisdropped)
        and (not history.relrowsecurity
          or not exists (select from pg_catalog.pg_policy policy where policy.polrelid = history.oid))
        and exists (
          select from (select history.relacl union all
            select attacl from pg_catalog.pg_attribute where attrelid = history.oid) given (acl)
          cross join lateral pg_catalog.aclexplode(given.acl) granted
          where granted.privilege_type = 'SELECT' and granted.grantee <> history.relowner)
      order by 1`,
  );
  return rows.flatMap(({ relation, history, isOn, hasPolicies, policies }): readonly Finding[] => {
    const enable = isOn ? [] : [`alter table ${history} enable row level security`];
    const fix = [...enable, ...(hasPolicies ? [] : (policies ?? []))].join("; ");
    if (!isOn)
      return [
        {
          level: "danger",
          finding: `${history} has no row-level security, although ${relation} has it`,
          reason: "every role with a grant on the history reads all former rows of the table with Prefer: as-of",
          fix,
        },
      ];
    return fix === ""
      ? []
      : [
          {
            level: "note",
            finding: `${history} has row-level security and no policy, and ${relation} has policies`,
            reason: "only the owner of the history sees former rows",
            fix,
          },
        ];
  });
};

/** Finds tables whose policies have no effect, or hide all rows. @rule C-DOK-6 */
export const findIdlePolicies = async (context: PluginContext): Promise<readonly Finding[]> => {
  const findings = await loadRowSecurityFindings(context);
  return findings.map(({ relation, isOn }) =>
    isOn
      ? {
          level: "note",
          finding: `${relation} has row-level security and no policy`,
          reason: "only its owner sees rows: write a policy for other roles, or one that shows no rows",
          fix: `create policy nobody on ${relation} using (false)`,
        }
      : {
          level: "danger",
          finding: `${relation} has row policies that do nothing`,
          reason: "row-level security is off, so every role with a grant sees every row",
          fix: `alter table ${relation} enable row level security`,
        },
  );
};
