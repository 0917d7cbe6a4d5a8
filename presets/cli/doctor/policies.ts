/** Row policies that slow every query, and tables where they do nothing or hide everything. */
import { sql, type PluginContext } from "../../../core/index.ts";
import { callsPerRow, withSubselects } from "./calls-per-row.ts";
import { askCatalog, quoted, schemasOf, type Finding } from "./finding.ts";

interface PolicyRow {
  readonly relation: string;
  readonly policy: string;
  readonly using: string | null;
  readonly check: string | null;
}

/** @rule C-DOK-1 */
export const callsForEachRow = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await askCatalog<PolicyRow>(
    context,
    sql`
      select pg_catalog.format('%I.%I', schemaname, tablename) as relation, policyname as policy,
        qual as "using", with_check as "check"
      from pg_catalog.pg_policies where schemaname in ${schemasOf(context)} order by 1, 2`,
  );
  return rows.flatMap(({ relation, policy, using, check }): readonly Finding[] => {
    const calls = callsPerRow([using, check].filter((each) => each !== null).join(" and "));
    if (calls.length === 0) return [];
    const clauses = [
      ...(using === null ? [] : [`using (${withSubselects(using)})`]),
      ...(check === null ? [] : [`with check (${withSubselects(check)})`]),
    ];
    return [
      {
        level: "slow",
        what: `policy "${policy}" on ${relation} calls ${calls.map((call) => `${call}()`).join(", ")} for each row`,
        why: "it answers the same for every row of a statement; in a subselect it is called once, and an index can be used",
        mend: `alter policy ${quoted(policy)} on ${relation} ${clauses.join(" ")}`,
      },
    ];
  });
};

interface SwitchRow {
  readonly relation: string;
  readonly isOn: boolean;
}

/** @rule C-DOK-6 */
export const idlePolicies = async (context: PluginContext): Promise<readonly Finding[]> => {
  const rows = await askCatalog<SwitchRow>(
    context,
    sql`
      select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
        relation.relrowsecurity as "isOn"
      from pg_catalog.pg_class relation
      join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
      where schema.nspname in ${schemasOf(context)} and relation.relkind in ('r', 'p')
        and relation.relrowsecurity is distinct from exists (
          select from pg_catalog.pg_policy policy where policy.polrelid = relation.oid)
      order by 1`,
  );
  return rows.map(({ relation, isOn }) =>
    isOn
      ? {
          level: "note",
          what: `${relation} has row-level security and no policy`,
          why: "only its owner sees rows: write a policy that says who else does, or one that says that nobody does",
          mend: `create policy nobody on ${relation} using (false)`,
        }
      : {
          level: "danger",
          what: `${relation} has row policies that do nothing`,
          why: "row-level security is off, so whoever has a grant sees every row",
          mend: `alter table ${relation} enable row level security`,
        },
  );
};
