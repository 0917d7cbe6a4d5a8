/** `POST /v1/graphql/explain {"query": {"query": "{ album { id } }"}, "user": {"x-hasura-role": "reader"}}`: what a query
 *  becomes for a role, for administrators. */
import {
  definePlugin,
  sessionOf,
  type Json,
  type Plan,
  type PluginContext,
  type Program,
  type Session,
} from "../../../core/index.ts";
import type { GqlEngine, GqlStep } from "../../graphql/api.ts";
import { createAdminSurface } from "./admin-surface.ts";
import { entryOf, isEntry } from "./document.ts";
import { missingKey, refusal, wrongKind } from "./errors.ts";

const DIALECT_PREFIX = /^x-hasura-/i;

/** Whom `user` names: the role and the session variables; an administrator if it names none. */
const sessionFor = (user: Json | undefined, context: PluginContext): Session => {
  if (user !== undefined && user !== null && !isEntry(user)) throw wrongKind("user", "an object", "$");
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(entryOf(user))) {
    if (typeof value !== "string") throw wrongKind(name, "a string", "$.user");
    variables[name.toLowerCase().replace(DIALECT_PREFIX, "x-session-")] = value;
  }
  const { "x-session-role": role = "admin", ...own } = variables;
  const session = sessionOf({ role, isAdmin: role === "admin", variables: own });
  if (context.model().loginRoles?.get("graphql")?.has(role) !== true) return session;
  // its rights come from the metadata: it is no role of the database
  const { databaseRole: _, ...asLogin } = session;
  return asLogin;
};

const explaining = (program: Program): Program => ({
  ...program,
  statements: program.statements.map(({ text, slots, path }) => ({
    text: `explain ${text}`,
    slots,
    columns: ["plan"],
    isMultiRow: true,
    ...(path === undefined ? {} : { path }),
  })),
  checks: [],
});

const fieldsOf = (plan: Plan): string => (plan.kind === "bundle" ? plan.fields.map(({ as }) => as).join(", ") : "");

const explainStep = async (
  context: PluginContext,
  session: Session,
  { planned, values, path }: GqlStep,
): Promise<Readonly<Record<string, Json>>> => {
  const program = context.prepare(planned, session, "graphql");
  const [row] = await context.execute({
    session,
    access: "read only",
    schema: context.model().schemas[0] ?? "public",
    keepsLoginPath: true,
    programs: [{ program: explaining(program), values, path }],
    end: "rollback",
    skipPreRequest: true,
  });
  return {
    field: fieldsOf(planned.plan),
    sql: program.statements.map(({ text }) => text).join(";\n"),
    plan: (row?.["plan"] ?? "").split("\n"),
  };
};

const answer = async (context: PluginContext, engine: GqlEngine, body: Json): Promise<Json> => {
  if (!isEntry(body)) throw refusal("parse-failed", "expected an object", "$");
  if (body["query"] === undefined) throw missingKey("query", "$");
  const session = sessionFor(body["user"], context);
  const request = engine.readRequest(body["query"]);
  const document = await engine.prepare(request, session);
  const operation = document.bind(request.variables);
  if (operation.kind === "mutation")
    throw refusal("invalid-params", "only queries and subscriptions can be explained", "$");
  const explained: Readonly<Record<string, Json>>[] = [];
  for (const step of operation.steps) explained.push(await explainStep(context, session, step));
  if (operation.kind === "query") return explained;
  const { field: _, ...only } = explained[0] ?? {};
  return { ...only, variables: { synthetic: [], query: {}, session: {} } };
};

/** @rule P-HAS-7 */
export const graphqlExplain = definePlugin({
  name: "graphql-explain",
  before: ["graphql"],
  apply: (_hooks, context) => {
    context.addSurface(
      createAdminSurface(context, {
        path: "/v1/graphql/explain",
        kind: "explain",
        answer: (body, { engine }) => answer(context, engine, body),
      }),
    );
  },
});
