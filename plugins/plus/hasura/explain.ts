/**
 * `POST /v1/graphql/explain {"query": {"query": "{ album { id } }"}, "user": {"x-hasura-role": "reader"}}`: shows
 * administrators the SQL and the plan of a query for a role.
 */
import {
  definePlugin,
  explainProgram,
  sessionOf,
  type BundleField,
  type Json,
  type PluginContext,
  type Session,
} from "../../../core/index.ts";
import type { GqlEngine, GqlOperation, GqlStep } from "../../graphql/api.ts";
import { createAdminSurface } from "./admin-surface.ts";
import { entryOf, isEntry } from "./document.ts";
import { missingKey, refusal, wrongKind } from "./errors.ts";

const DIALECT_PREFIX = /^x-hasura-/i;

/** The session of the role and the session variables in `user`; that of an administrator if `user` names no role. */
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
  // metadata grants the rights of this role, so it is not a database role
  const { databaseRole: _, ...asLogin } = session;
  return asLogin;
};

/** One root field. It runs no statement if it has no step. */
interface Explained {
  readonly field: string;
  readonly step?: GqlStep;
}

/** The fields of a statement, including those of namespaces. */
const fieldsOf = (step: GqlStep, fields: readonly BundleField[]): readonly Explained[] =>
  fields.flatMap((field): readonly Explained[] => {
    if ("bundle" in field) return fieldsOf(step, field.bundle.fields);
    if ("value" in field) return [{ field: field.as }];
    return [
      { field: field.as, step: { ...step, planned: { ...step.planned, plan: { kind: "bundle", fields: [field] } } } },
    ];
  });

const explainedOf = (operation: GqlOperation, outputs = operation.outputs): readonly Explained[] =>
  outputs.flatMap((output): readonly Explained[] => {
    if ("of" in output) return explainedOf(operation, output.of);
    if ("step" in output) return [{ field: output.as, step: operation.steps[output.step] }];
    if (!("bundle" in output)) return [{ field: output.as }];
    const step = operation.steps[output.bundle];
    const plan = step?.planned.plan;
    return step !== undefined && plan?.kind === "bundle" ? fieldsOf(step, plan.fields) : [];
  });

const explainField = async (
  context: PluginContext,
  session: Session,
  { field, step }: Explained,
): Promise<Readonly<Record<string, Json>>> => {
  if (step === undefined) return { field, sql: null, plan: null };
  const { planned, values, path } = step;
  const program = context.prepare(planned, session, "graphql");
  const [row] = await context.execute({
    session,
    access: "read only",
    schema: context.model().schemas[0] ?? "public",
    keepsLoginPath: true,
    programs: [{ program: explainProgram(program, "format text"), values, path }],
    end: "rollback",
    skipPreRequest: true,
  });
  return {
    field,
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
  const operation = document.bind();
  if (operation.kind === "mutation") throw refusal("invalid-params", "only queries can be explained", "$");
  const explained: Readonly<Record<string, Json>>[] = [];
  for (const field of explainedOf(operation)) explained.push(await explainField(context, session, field));
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
