/** `{ top_artists(args: {least: 3}, where: {sold: {_gt: 10}}) { name sold } }`: SQL of the metadata as fields, with the
 *  columns and rows of the role. */
import { GraphQLInt, GraphQLList, GraphQLNonNull } from "graphql";
import { definePlugin, isRelApiError, RelApiError, type Json, type PluginContext } from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields, GqlFunctionRequest, GraphqlService } from "../../graphql/api.ts";
import type { MetadataNative } from "../../metadata/api.ts";
import { readNative, type NativeQuery } from "./document.ts";
import { nativeProgram } from "./statement.ts";
import { argumentsType, isTaken, modelTypes, type ModelTypes } from "./types.ts";

const PART = "native-queries";

/** What is wrong with values is the client's business; the rest names what the SQL is made of. */
const toldError = (error: unknown): unknown => {
  if (!isRelApiError(error) || !/^[0-9A-Z]{5}$/.test(error.code)) return error;
  return error.code.startsWith("22")
    ? new RelApiError({ code: "data-exception", status: 400, message: error.message, cause: error })
    : new RelApiError({ code: "postgres-error", status: 400, message: "database query error", cause: error });
};

/** Runs one as the caller, before the transaction of the request. */
const run = async (context: PluginContext, query: NativeQuery, request: GqlFunctionRequest): Promise<Json> => {
  const { session, selection, signal } = request;
  const program = nativeProgram(
    query,
    { arguments: request.arguments, session, columns: selection.map(({ name }) => name) },
    { model: context.model(), registry: context.registry },
  );
  try {
    const [row] = await context.execute({
      session,
      access: "read only",
      schema: context.model().schemas[0] ?? "public",
      keepsLoginPath: true,
      programs: [{ program, values: [] }],
      end: "commit",
      mayUseReplica: true,
      onGone: (listener) => {
        signal.addEventListener("abort", listener, { once: true });
        return () => signal.removeEventListener("abort", listener);
      },
    });
    const text = row?.["body"] ?? "[]";
    return context.service<GraphqlService>("graphql")?.parseJson(text) ?? [];
  } catch (error) {
    if (isRelApiError(error))
      context.logger.warn(`native query ${query.name} failed`, { code: error.code, reason: error.message });
    throw toldError(error);
  }
};

/** @rule P-NAT-1 P-NAT-2 P-NAT-3 */
export const nativeQueries = definePlugin({
  name: PART,
  requires: ["metadata", "graphql-queries"],
  apply: (hooks, context) => {
    hooks.introspect.tapPromise(PART, async (model, { warn }) => {
      const native = model.parts["metadata-native"] as MetadataNative | undefined; // only the loader of the metadata writes it
      if (native === undefined) return model;
      return { ...model, parts: { ...model.parts, [PART]: readNative(native, model, warn) } };
    });

    hooks.buildGqlField.tap(PART, (fields: GqlFields, { scope, model, role, build }: GqlFieldContext) => {
      const queries = model.parts[PART] as readonly NativeQuery[] | undefined; // the tap above writes it
      if (scope !== "query_root" || queries === undefined || queries.length === 0) return fields;
      const types = new Map<string, ModelTypes | undefined>();
      const added: Record<string, GqlField> = {};
      for (const query of queries) {
        const { returns } = query;
        const columns = returns.permissions.get(role)?.columns;
        if ((role !== "admin" && columns === undefined) || isTaken(build, returns.name)) continue;
        if (!types.has(returns.name)) {
          const readable = role === "admin" ? returns.fields : returns.fields.filter(({ name }) => columns?.has(name));
          types.set(returns.name, modelTypes(build, returns, readable));
        }
        const made = types.get(returns.name);
        const args = query.arguments.length === 0 ? undefined : argumentsType(build, query);
        if (made === undefined || (query.arguments.length > 0 && args === undefined)) continue;
        added[query.name] = {
          config: {
            type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(made.row))),
            ...(query.description === undefined ? {} : { description: query.description }),
            args: {
              ...(args === undefined ? {} : { args: { type: args } }),
              distinct_on: { type: new GraphQLList(new GraphQLNonNull(made.columns)) },
              limit: { type: GraphQLInt },
              offset: { type: GraphQLInt },
              ...(made.order === undefined
                ? {}
                : { order_by: { type: new GraphQLList(new GraphQLNonNull(made.order)) } }),
              where: { type: made.where },
            },
          },
          toPlan: { kind: "custom", run: (request) => run(context, query, request) },
        };
      }
      return { ...added, ...fields }; // a table's field of that name wins
    });
  },
});
