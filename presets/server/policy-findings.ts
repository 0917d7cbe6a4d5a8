/** Finds row policies that have no effect or fail. */
import { catalogText, ident, isRelApiError, sql, toStatement, value, type PluginContext } from "../../core/index.ts";

export interface PolicyFinding {
  readonly isError: boolean;
  readonly text: string;
}

const schemasOf = ({ options }: PluginContext) =>
  sql`(select pg_catalog.json_array_elements_text(${value(JSON.stringify(options.dbSchemas), "json")}))`;

/** Finds tables whose row security is off, or on without a policy. @rule C-CHK-2 C-CHK-3 */
const switchedOff = async (context: PluginContext): Promise<readonly PolicyFinding[]> => {
  const rows = await context.query<{ readonly relation: string; readonly fault: "off" | "none" }>(sql`
    select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
      case when relation.relrowsecurity then 'none' else 'off' end as fault
    from pg_catalog.pg_class relation
    join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
    where schema.nspname in ${schemasOf(context)}
      and relation.relkind in ('r', 'p')
      and relation.relrowsecurity is distinct from exists (
        select from pg_catalog.pg_policy policy where policy.polrelid = relation.oid)
    order by 1`);
  return rows.map(({ relation, fault }) =>
    fault === "off"
      ? {
          isError: true,
          text: `${relation} has row policies that do nothing: ALTER TABLE ${relation} ENABLE ROW LEVEL SECURITY`,
        }
      : { isError: false, text: `${relation} has row-level security and no policy: only its owner sees rows` },
  );
};

interface Expression {
  readonly schema: string;
  readonly name: string;
  readonly relation: string;
  readonly policy: string;
  readonly expression: string;
}

/** SQLSTATEs of missing functions, tables, columns and settings. */
const MISSING: ReadonlySet<string> = new Set(["42883", "42P01", "42703", "42704", "3F000"]);

/**
 * PostgreSQL prevents dropping objects that a policy names, but not settings or objects that its functions name. Each
 * policy is therefore evaluated for a row of nulls, in a transaction that is rolled back. @rule C-CHK-4
 */
const brokenPolicies = async (context: PluginContext): Promise<readonly PolicyFinding[]> => {
  const expressions = await context.query<Expression>(sql`
    select schemaname::text as schema, tablename::text as name,
      pg_catalog.format('%I.%I', schemaname, tablename) as relation, policyname::text as policy, expression
    from pg_catalog.pg_policies
    cross join lateral (select distinct given as expression from (values (qual), (with_check)) as of_policy (given)) used
    where schemaname in ${schemasOf(context)} and expression is not null
    order by 3, 4`);
  const findings: PolicyFinding[] = [];
  for (const { schema, name, relation, policy, expression } of expressions) {
    const message = await failureOf(context, schema, name, expression);
    if (message !== undefined)
      findings.push({ isError: true, text: `policy "${policy}" on ${relation} fails for every row: ${message}` });
  }
  return findings;
};

const failureOf = async (
  context: PluginContext,
  schema: string,
  name: string,
  expression: string,
): Promise<string | undefined> => {
  const statement = sql`
    select (${catalogText(expression)}) is null as found
    from (select (null::${ident(schema, name)}).* offset 0) as ${ident(name)}`; // keeps the planner from folding nulls
  try {
    await context.execute({
      // runs as the login role, with the settings of requests
      session: { role: "admin", isAdmin: true, claims: { role: "admin" }, variables: { "x-session-role": "admin" } },
      access: "read write",
      schema,
      programs: [
        {
          program: {
            statements: [{ ...toStatement(statement), columns: ["found"] }],
            main: 0,
            checks: [],
            relations: new Set(),
            isOpenEnded: true,
          },
          values: [],
        },
      ],
      end: "rollback",
      skipPreRequest: true,
    });
  } catch (error) {
    if (!isRelApiError(error)) throw error;
    if (MISSING.has(error.code)) return error.message;
  }
  return undefined;
};

/** The findings, one line each. */
export const policyFindings = async (context: PluginContext): Promise<readonly PolicyFinding[]> => [
  ...(await switchedOff(context)),
  ...(await brokenPolicies(context)),
];
