/** `relapi explain`: the statements of a request as a role, their plans, and the row policies that apply. */
import {
  isRelApiError,
  presetError,
  sessionOf,
  sql,
  value,
  visitPlan,
  type Caller,
  type PluginContext,
  type Program,
  type RelApi,
} from "../../core/index.ts";
import type { EnvironmentSettings } from "../environment.ts";
import { callerOf } from "./documents-command.ts";
import { withApi, type OpenApi } from "./open-api.ts";

interface PolicyRow {
  readonly relation: string;
  readonly policy: string;
  readonly expression: string;
}

/** Those that decide which rows the role sees. */
const policiesOf = (context: PluginContext, relations: ReadonlySet<string>, role: string) =>
  context.query<PolicyRow>(sql`
    select schemaname || '.' || tablename as relation, policyname::text as policy, qual as expression
    from pg_catalog.pg_policies
    where schemaname || '.' || tablename in (select pg_catalog.json_array_elements_text(${value(JSON.stringify([...relations]), "json")}))
      and cmd in ('ALL', 'SELECT') and qual is not null
      and (roles && array['public'::name]
        or exists (select from unnest(roles) granted where pg_catalog.pg_has_role(${value(role)}::name, granted, 'usage')))
    order by 1, 2`);

/** The plan for any values: the ones of the request are known to the server alone that runs it. */
const planProgram = (text: string): Program => {
  const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
  const values = count === 0 ? "" : `(${Array.from({ length: count }, () => "null").join(", ")})`;
  const statement = (line: string, columns: readonly string[] = []) => ({ text: line, slots: [], columns });
  return {
    statements: [
      statement(`prepare relapi_explained as ${text}`),
      { ...statement(`explain execute relapi_explained${values}`, ["plan"]), isMultiRow: true },
      statement("deallocate relapi_explained"),
    ],
    main: 1,
    checks: [],
    relations: new Set(),
    isOpenEnded: true,
  };
};

const planOf = async (context: PluginContext, text: string, caller: Caller): Promise<string> => {
  const [schema = "public"] = context.options.dbSchemas;
  try {
    const [row] = await context.execute({
      session: sessionOf(caller),
      access: "read write",
      schema,
      settings: [["plan_cache_mode", "force_generic_plan"]],
      programs: [{ program: planProgram(text), values: [] }],
      end: "rollback",
      skipPreRequest: true,
    });
    return row?.["plan"] ?? "";
  } catch (error) {
    if (!isRelApiError(error)) throw error;
    return `no plan: ${error.message}`;
  }
};

const ask = async (api: RelApi, request: string, session: Caller): Promise<void> => {
  if (request.startsWith("/")) return void (await api.rest({ path: request, session }));
  const { errors } = await api.graphql({ query: request, session });
  if (errors !== undefined) throw presetError(errors.map(({ message }) => message).join("\n"));
};

const explainOn = async (open: OpenApi, request: string, role: string | undefined, heard: Heard): Promise<string> => {
  const { api, context, model } = open;
  const caller: Caller = role === undefined ? { role: "admin", isAdmin: true } : callerOf(model, role);
  heard.statements.length = 0;
  await ask(api, request, caller);
  const parts: string[] = [];
  const statements = heard.statements.slice(); // explaining them is heard too
  for (const text of statements) parts.push(`${text};\n\n${await planOf(context, text, caller)}\n`);
  if (parts.length === 0) parts.push("no statement was needed\n");
  const policies = await policiesOf(context, heard.relations, role ?? model.loginRole);
  for (const { relation, policy, expression } of policies)
    parts.push(`policy "${policy}" on ${relation} leaves rows where ${expression}\n`);
  return parts.join("\n");
};

interface Heard {
  readonly statements: string[];
  readonly relations: Set<string>;
}

/** The request runs, and nothing of it is kept. @rule C-EXP-1 */
export const explain = (settings: EnvironmentSettings, request: string, role?: string): Promise<string> => {
  const heard: Heard = { statements: [], relations: new Set() };
  const options = { ...settings.options, dbTxEnd: "rollback", logQuery: true } as const;
  return withApi({ options, server: settings.server }, (open) => explainOn(open, request, role, heard), {
    said: (text) => void heard.statements.push(text),
    tap: ({ transformPlan }) =>
      transformPlan.tap("command-line", (plan, { model }) => {
        visitPlan(plan, model, {
          read: (read) => {
            if ("relation" in read.from) heard.relations.add(`${read.from.relation.schema}.${read.from.relation.name}`);
            return read;
          },
        });
        return plan;
      }),
  });
};
