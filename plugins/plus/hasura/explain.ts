/**
 * `POST /v1/graphql/explain {"query": {"query": "{ album { id } }"}, "user": {"x-hasura-role": "reader"}}`: shows
 * administrators the SQL and the plan of a query for a role.
 */
import {
  isJsonObject,
  definePlugin,
  explainProgram,
  type BundleField,
  type Json,
  type PluginContext,
  type Session,
} from "../../../core/index.ts";
import type { GqlEngine, GqlOperation, GqlStep } from "../../graphql/api.ts";
import { createAdminSurface } from "./admin-surface.ts";
import { readEntry } from "./document.ts";
import { keyMissing, metadataError, kindUnexpected } from "./errors.ts";

const VARIABLE_PREFIX = /^(?:x-(?:hasura|session)-)?/i;

/** Returns the session of the role and the session variables in `user`, or an administrator's session if `user` names
 *  no role. */
const buildExplainedSession = (user: Json | undefined, context: PluginContext): Session => {
  if (user !== undefined && user !== null && !isJsonObject(user)) throw kindUnexpected("user", "an object", "$");
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(readEntry(user))) {
    if (typeof value !== "string") throw kindUnexpected(name, "a string", "$.user");
    variables[name.toLowerCase().replace(VARIABLE_PREFIX, "x-session-")] = value;
  }
  const { "x-session-role": role = "admin" } = variables;
  const isAdmin = role === "admin";
  // If metadata grants the rights of a role, it is not a database role.
  const isLogin = isAdmin || context.model().loginRoles?.get("graphql")?.has(role) === true;
  return {
    role,
    ...(isLogin ? {} : { databaseRole: role }),
    isAdmin,
    claims: { role },
    variables: { ...variables, "x-session-role": role },
  };
};

/** One root field. A field without a step runs no statement. */
interface ExplainedField {
  readonly field: string;
  readonly step?: GqlStep;
}

/** Returns the fields of a statement, including those of namespaces. */
const listBundleFields = (step: GqlStep, fields: readonly BundleField[]): readonly ExplainedField[] =>
  fields.flatMap((field): readonly ExplainedField[] => {
    if ("bundle" in field) return listBundleFields(step, field.bundle.fields);
    if ("value" in field) return [{ field: field.as }];
    return [
      { field: field.as, step: { ...step, planned: { ...step.planned, plan: { kind: "bundle", fields: [field] } } } },
    ];
  });

const listExplainedFields = (operation: GqlOperation, outputs = operation.outputs): readonly ExplainedField[] =>
  outputs.flatMap((output): readonly ExplainedField[] => {
    if ("outputs" in output) return listExplainedFields(operation, output.outputs);
    if ("step" in output) return [{ field: output.as, step: operation.steps[output.step] }];
    if (!("bundle" in output)) return [{ field: output.as }];
    const step = operation.steps[output.bundle];
    const plan = step?.planned.plan;
    return step !== undefined && plan?.kind === "bundle" ? listBundleFields(step, plan.fields) : [];
  });

const explainField = async (
  context: PluginContext,
  session: Session,
  { field, step }: ExplainedField,
): Promise<Readonly<Record<string, Json>>> => {
  if (step === undefined) return { field, sql: null, plan: null };
  const { planned: plannedProgram, values, path } = step;
  const program = context.prepare(plannedProgram, session, "graphql");
  const [row] = await context.execute({
    session,
    access: "read only",
    schema: context.model().schemas[0] ?? "public",
    keepsLoginPath: true,
    programs: [{ program: explainProgram(program, "format text"), values, path }],
    end: "rollback",
    skipsPreRequest: true,
  });
  return {
    field,
    sql: program.statements.map(({ text }) => text).join(";\n"),
    plan: (row?.["plan"] ?? "").split("\n"),
  };
};

const explainRequest = async (context: PluginContext, engine: GqlEngine, body: Json): Promise<Json> => {
  if (!isJsonObject(body)) throw metadataError("parse-failed", "expected an object", "$");
  if (body["query"] === undefined) throw keyMissing("query", "$");
  const session = buildExplainedSession(body["user"], context);
  const request = engine.readRequest(body["query"]);
  const document = await engine.prepare(request, session);
  const operation = document.bind();
  if (operation.kind === "mutation") throw metadataError("invalid-params", "only queries can be explained", "$");
  const explanations: Readonly<Record<string, Json>>[] = [];
  for (const field of listExplainedFields(operation)) explanations.push(await explainField(context, session, field));
  if (operation.kind === "query") return explanations;
  const { field: _, ...explanation } = explanations[0] ?? {};
  return { ...explanation, variables: { synthetic: [], query: {}, session: {} } };
};

/** Shows administrators the SQL and the plan of a query: `POST /v1/graphql/explain`. @rule P-HAS-7 */
export const graphqlExplain = definePlugin({
  name: "graphql-explain",
  before: ["graphql"],
  apply: (_hooks, context) => {
    context.addSurface(
      createAdminSurface(context, {
        path: "/v1/graphql/explain",
        kind: "explain",
        answer: (body, { engine }) => explainRequest(context, engine, body),
      }),
    );
  },
});
