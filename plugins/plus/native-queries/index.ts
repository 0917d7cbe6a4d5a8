/**
 * `{ top_artists(args: {least: 3}, where: {sold: {_gt: 10}}) { name sold } }`: SQL from the metadata as fields, with
 * the columns and rows of the role.
 */
import {
  isJsonObject,
  definePlugin,
  RelApiError,
  memoize,
  sql,
  type IntrospectContext,
  type Json,
  type Model,
  type PluginContext,
} from "../../../core/index.ts";
import {
  graphqlService,
  type GqlBuild,
  type GqlField,
  type GqlFieldContext,
  type GqlFields,
  type GqlFunctionRequest,
  type GqlLiveField,
} from "../../graphql/api.ts";
import { createProblemReport, getMetadataFacts, METADATA_PROBLEMS } from "../../metadata/api.ts";
import { readNativeQueries, removeRejected, type NativeQuery } from "./document.ts";
import { buildProgram, compileTrial } from "./statement.ts";
import { pickDescription, createQueryTypes, buildRowsType } from "./graphql-types.ts";

const PART = "native-queries";

// Only the tap in this file writes this part.
const getQueries = (model: Model): readonly NativeQuery[] => (model.pluginFacts[PART] ?? []) as readonly NativeQuery[];

/** Converts an error. Errors about values keep their message, because the client has sent the values. Other messages
 *  would reveal the SQL and are hidden. */
const toClientError = (error: unknown): unknown => {
  if (!(error instanceof RelApiError) || !/^[0-9A-Z]{5}$/.test(error.code)) return error;
  return error.code.startsWith("22")
    ? new RelApiError({ code: "data-exception", status: 400, message: error.message, cause: error })
    : new RelApiError({ code: "postgres-error", status: 400, message: "database query error", cause: error });
};

/** SQLSTATE classes that concern the statement, not the connection or the server. */
const STATEMENT_ERROR = /^(?:0A|2[0-9A-F]|3[0-9A-F]|4[24]|54|P0|XX)[0-9A-Z]{3}$/;

/** Missing rights are ignored, because the caller's role may have rights that the login role lacks. */
const INSUFFICIENT_PRIVILEGE = "42501";

/** Returns why the database rejects some of the queries, by query name. The queries are not executed. @rule P-NAT-6 */
const findRejectedQueries = async (
  queries: readonly NativeQuery[],
  runQuery: IntrospectContext["query"],
): Promise<ReadonlyMap<string, string>> => {
  const reasons = new Map<string, string>();
  if (queries.length === 0) return reasons;
  // The savepoint keeps an error from aborting the transaction of the load.
  await runQuery(sql`savepoint native_queries`);
  for (const query of queries) {
    try {
      await runQuery(LOGIN_PATH);
      await runQuery(compileTrial(query));
    } catch (error) {
      // Database errors have these members.
      const { code, message } = error as { readonly code?: unknown; readonly message: string };
      if (typeof code !== "string" || !STATEMENT_ERROR.test(code)) throw error;
      if (code !== INSUFFICIENT_PRIVILEGE) reasons.set(query.name, message);
    }
    await runQuery(sql`rollback to savepoint native_queries`);
  }
  await runQuery(sql`release savepoint native_queries`);
  return reasons;
};

const LOGIN_PATH = sql`select pg_catalog.set_config('search_path', reset_val, true)
  from pg_catalog.pg_settings where name = 'search_path'`;

/**
 * Rejects a null in a field that the logical model declares not nullable. @throws RelApiError whose message names the
 * field
 */
const rejectNulls = (
  query: NativeQuery,
  rows: Json,
  selection: GqlFunctionRequest["selection"],
  queries: ReadonlyMap<string, NativeQuery>,
): void => {
  const nullabilityViolated = (field: string, reason: string): RelApiError =>
    new RelApiError({
      code: "postgres-error",
      status: 400,
      message: `the native query "${query.name}" gives ${reason} for the field "${field}" of the logical model "${query.returns.name}", which is not nullable`,
    });
  for (const row of Array.isArray(rows) ? (rows as readonly Json[]) : [rows]) {
    if (!isJsonObject(row)) continue;
    for (const { name, key, selection: inner } of selection) {
      const value = row[key] ?? null;
      const field = query.returns.fields.find((modelField) => modelField.name === name);
      const target = queries.get(query.relationships.get(name)?.target ?? "");
      if (field !== undefined && !field.isNullable && value === null) throw nullabilityViolated(name, "null");
      if (field?.type.element !== undefined && Array.isArray(value) && value.includes(null))
        throw nullabilityViolated(name, "a list with null in it");
      if (target !== undefined) rejectNulls(target, value, inner, queries);
    }
  }
};

/** Returns the statement of a query as the caller runs it. */
const buildLiveField = (
  context: PluginContext,
  query: NativeQuery,
  { arguments: args, session, selection }: Omit<GqlFunctionRequest, "signal" | "document">,
): GqlLiveField => {
  const model = context.model();
  const queries = new Map(getQueries(model).map((nativeQuery) => [nativeQuery.name, nativeQuery]));
  return {
    program: buildProgram(
      query,
      { arguments: args, session, selection },
      { model, registry: context.registry, queries },
    ),
    read: (body) => {
      const rows = context.use(graphqlService)?.parseJson(body) ?? [];
      rejectNulls(query, rows, selection, queries);
      return rows;
    },
    convertError: (error) => {
      if (error instanceof RelApiError)
        context.logger.warn(`native query ${query.name} failed`, { code: error.code, reason: error.message });
      return toClientError(error);
    },
  };
};

/** Runs a query as the caller, before the transaction of the request. */
const runQuery = async (context: PluginContext, query: NativeQuery, request: GqlFunctionRequest): Promise<Json> => {
  const { session, signal } = request;
  const model = context.model();
  const { program, read, convertError } = buildLiveField(context, query, request);
  try {
    const [row] = await context.execute({
      session,
      access: "read only",
      schema: model.schemas[0] ?? "public",
      keepsLoginPath: true,
      programs: [{ program, values: [] }],
      end: "commit",
      mayUseReplica: true,
      ...(request.exchange === undefined ? {} : { exchange: request.exchange }),
      onDisconnect: (listener) => {
        signal.addEventListener("abort", listener, { once: true });
        return () => signal.removeEventListener("abort", listener);
      },
    });
    return read(row?.["body"] ?? "[]");
  } catch (error) {
    throw convertError(error);
  }
};

/** Serves SQL from the metadata as GraphQL fields. @rule P-NAT-1 P-NAT-2 P-NAT-3 P-NAT-4 */
export const nativeQueries = definePlugin({
  name: PART,
  requires: ["metadata-loader", "catalog-introspection", "graphql-queries"],
  before: ["metadata"], // the tap of `metadata` reports the metadata problems
  apply: (hooks, context) => {
    hooks.introspect.tapPromise(PART, async (model, introspection) => {
      const { "metadata-native": native } = getMetadataFacts(model);
      if (native === undefined) return model;
      const { problems, report } = createProblemReport(model, introspection);
      const reportProblem = (type: "native_query" | "logical_model", name: string, reason: string): void =>
        report({ type, name }, `${type.replace("_", " ")} ${name}`, reason);
      const read = readNativeQueries(native, model, reportProblem);
      const queries = removeRejected(read, await findRejectedQueries(read, introspection.query), reportProblem);
      return { ...model, pluginFacts: { ...model.pluginFacts, [PART]: queries, [METADATA_PROBLEMS]: problems } };
    });

    const getTypes = memoize((build: GqlBuild) => createQueryTypes(build, getQueries(build.schema.model)));
    hooks.buildGqlField.tap(PART, (fields: GqlFields, { scope, model, build }: GqlFieldContext) => {
      const queries = getQueries(model);
      if ((scope !== "query_root" && scope !== "subscription_root") || queries.length === 0) return fields;
      const addedFields: Record<string, GqlField> = {};
      for (const query of queries) {
        const types = getTypes(build)(query);
        if (types === undefined) continue;
        addedFields[query.name] = {
          config: {
            type: buildRowsType(types),
            ...pickDescription(query),
            args: { ...types.args, ...types.listArgs },
          },
          toPlan: {
            kind: "custom",
            run: (request) => runQuery(context, query, request),
            live: (request) => buildLiveField(context, query, request),
          },
        };
      }
      return { ...addedFields, ...fields }; // a field of a table takes precedence
    });
  },
});
