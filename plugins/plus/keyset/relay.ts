/** `POST /v1beta1/relay`: the tables as the Relay specification requires, with connections and global ids. */
import { GraphQLID, GraphQLNonNull } from "graphql";
import {
  getQualifiedName,
  findBaseType,
  findColumn,
  definePlugin,
  requireService,
  type Json,
  type Predicate,
} from "../../../core/index.ts";
import {
  graphqlService,
  type GqlEngine,
  type GqlField,
  type GqlFieldContext,
  type GqlFields,
  type GqlVariant,
} from "../../graphql/api.ts";
import { buildRootConnections, buildRowConnection } from "./fields.ts";
import { ID, idFunction, idInvalid, isPossibleValue, decodeId } from "./ids.ts";
import { createSurface } from "./surface.ts";
import { findKeyedTable, Node } from "./connection-types.ts";

/** A JSON parser that keeps all digits of numbers. */
type ParseJson = (text: string) => Json;

const sortFields = (fields: readonly (readonly [string, GqlField])[]): GqlFields =>
  Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/** Returns the added fields, each with the name of the plugin that adds it. */
const addPluginName = (fields: GqlFields): readonly (readonly [string, GqlField])[] =>
  Object.entries(fields).map(([name, { config, toPlan }]) => [
    name,
    { config, toPlan: toPlan.kind === "custom" ? { ...toPlan, plugin: "relay" } : toPlan },
  ]);

const buildRootFields = (fields: GqlFields, context: GqlFieldContext, parse: ParseJson): GqlFields => {
  const { build, model } = context;
  const connections = addPluginName(buildRootConnections(fields, context));
  if (connections.length === 0) return {};
  const node: GqlField = {
    config: { type: Node, args: { id: { type: new GraphQLNonNull(GraphQLID), description: "A globally unique id" } } },
    toPlan: {
      kind: "custom",
      plugin: "relay",
      plan: (selection, context) => {
        const { schema, name, key } = decodeId(String(selection.arguments["id"]), parse);
        const table = findKeyedTable(build, build.table({ schema, name })?.relation);
        const row = table && build.rowType(table);
        if (table === undefined || row === undefined || key.length !== table.relation.primaryKey.length)
          throw idInvalid();
        const { relation } = table;
        const where = relation.primaryKey.map((column, i): Predicate => {
          const type = findBaseType(model, findColumn(relation, column)?.type ?? 0);
          if (!isPossibleValue(key[i] ?? "", type)) throw idInvalid();
          const operand = { ...context.bind(key[i] ?? null), ...(type !== undefined && { type: type.sqlName }) };
          return { kind: "compare", left: { kind: "column", name: column }, operator: "eq", operand };
        });
        return {
          kind: "read",
          from: { relation: getQualifiedName(relation) },
          shape: "rows",
          output: context.rows(row),
          where: { kind: "and", predicates: where },
        };
      },
    },
  };
  const otherFields = Object.entries(fields).filter(
    ([
      ,
      {
        toPlan: { kind },
      },
    ]) => !["list", "aggregate", "by-pk"].includes(kind),
  );
  return sortFields([...otherFields, ...connections, ["node", node]]);
};

const buildRowFields = (fields: GqlFields, context: GqlFieldContext): GqlFields => {
  const { build, relation } = context;
  const entries = Object.entries(fields).flatMap(([name, field]): readonly (readonly [string, GqlField])[] => {
    const connectionField = buildRowConnection(name, field, context);
    return connectionField === undefined ? [[name, field]] : addPluginName(Object.fromEntries([connectionField]));
  });
  const [first, ...otherColumns] = relation?.primaryKey ?? [];
  if (relation === undefined || first === undefined || findKeyedTable(build, relation) === undefined)
    return sortFields(entries);
  const { schema, name } = relation;
  const id: GqlField = {
    config: { type: new GraphQLNonNull(GraphQLID), description: "A globally unique identifier" },
    toPlan: {
      kind: "custom",
      plugin: "relay",
      output: ({ as }) => ({
        kind: "value",
        as,
        value: {
          kind: "apply",
          function: ID,
          value: { kind: "column", name: first },
          operands: [
            { constant: schema, type: "text" },
            { constant: name, type: "text" },
            ...otherColumns.map((column) => ({ expression: { kind: "column", name: column } as const })),
          ],
        },
      }),
    },
  };
  return sortFields([...entries.filter(([fieldName]) => fieldName !== "id"), ["id", id]]);
};

const buildVariant = (parse: ParseJson): GqlVariant => ({
  name: "relay",
  // The directive `@appendNode(connections: $connections)` uses a variable only in the client.
  takesUnknownVariables: true,
  fields: (fields, context) => {
    if (context.scope === "query_root") return buildRootFields(fields, context, parse);
    if (context.scope === "subscription_root") return {};
    return context.scope === "row" ? buildRowFields(fields, context) : fields;
  },
  interfaces: ({ scope, build, relation }) =>
    scope === "row" && findKeyedTable(build, relation) !== undefined ? [Node] : [],
});

/** Serves the tables as the Relay specification requires: `POST /v1beta1/relay`. @rule P-RLY-1 … P-RLY-7 */
export const relay = definePlugin({
  name: "relay",
  requires: ["cursor-connections"],
  // This path must match before the paths of that plugin.
  before: ["graphql"],
  functions: [idFunction],
  apply: (_hooks, context) => {
    let relayEngine: GqlEngine | undefined;
    const getEngine = (): GqlEngine => {
      const engine = requireService(context, graphqlService);
      return (relayEngine ??= engine.derive(buildVariant((text) => engine.parseJson(text))));
    };
    context.onModel(() => void getEngine());
    context.addSurface(createSurface(getEngine));
  },
});
