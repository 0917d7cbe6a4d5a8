/** `POST /v1beta1/relay`: the tables as the Relay specification has them, with connections and global ids. */
import { GraphQLID, GraphQLNonNull } from "graphql";
import { columnOf, definePlugin, Stage, type Json, type Predicate, type Relation } from "../../../core/index.ts";
import type { GqlEngine, GqlField, GqlFieldContext, GqlFields, GqlVariant, GraphqlService } from "../../graphql/api.ts";
import { aggregates, fitToLimit, planConnection } from "./connection.ts";
import { functions, ID, idInvalid, readId } from "./ids.ts";
import { createSurface } from "./surface.ts";
import { connectionArguments, connectionType, keyedTable, Node, required } from "./types.ts";

type ParseJson = (text: string) => Json;

const nameOf = ({ schema, name }: Relation) => ({ schema, name });

const sortedFields = (fields: readonly (readonly [string, GqlField])[]): GqlFields =>
  Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

const rootFields = (fields: GqlFields, { build, model }: GqlFieldContext, parse: ParseJson): GqlFields => {
  const connectionsOf = Object.values(fields).flatMap((field): (readonly [string, GqlField])[] => {
    const { toPlan } = field;
    const table = toPlan.kind === "list" ? keyedTable(build, toPlan.relation) : undefined;
    const type = table && connectionType(build, table);
    if (table === undefined || type === undefined) return [];
    const { relation } = table;
    return [
      [
        build.rootName(table.word, "connection"),
        {
          config: {
            type: required(type),
            get args() {
              return connectionArguments(field);
            },
            description: `fetch data from the table: "${relation.name}"`,
          },
          toPlan: {
            kind: "custom",
            plugin: "relay",
            plan: (selection, context) => ({
              ...planConnection(selection, context, relation, parse),
              from: { relation: nameOf(relation) },
            }),
          },
        },
      ],
    ];
  });
  if (connectionsOf.length === 0) return {};
  const node: GqlField = {
    config: { type: Node, args: { id: { type: new GraphQLNonNull(GraphQLID), description: "A globally unique id" } } },
    toPlan: {
      kind: "custom",
      plugin: "relay",
      plan: (selection, context) => {
        const { schema, name, key } = readId(String(selection.arguments["id"]), parse);
        const table = keyedTable(build, build.table({ schema, name })?.relation);
        const row = table && build.rowType(table);
        if (table === undefined || row === undefined || key.length !== table.relation.primaryKey.length)
          throw idInvalid();
        const { relation } = table;
        const where = relation.primaryKey.map((column, i): Predicate => {
          const type = model.types.get(columnOf(relation, column)?.type ?? 0)?.sqlName;
          const operand = { ...context.bind(key[i] ?? null), ...(type !== undefined && { type }) };
          return { kind: "compare", left: { kind: "column", name: column }, operator: "eq", operand };
        });
        return {
          kind: "read",
          from: { relation: nameOf(relation) },
          shape: "rows",
          output: context.rows(row),
          where: { kind: "and", of: where },
        };
      },
    },
  };
  const others = Object.entries(fields).filter(
    ([
      ,
      {
        toPlan: { kind },
      },
    ]) => !["list", "aggregate", "by-pk"].includes(kind),
  );
  return sortedFields([...others, ...connectionsOf, ["node", node]]);
};

const rowFields = (fields: GqlFields, { build, relation }: GqlFieldContext, parse: ParseJson): GqlFields => {
  const entries = Object.entries(fields).flatMap(([name, field]): (readonly [string, GqlField])[] => {
    const { toPlan } = field;
    if (toPlan.kind !== "relationship" || toPlan.relationship.isToOne) return [[name, field]];
    const table = keyedTable(build, toPlan.target);
    const type = table && connectionType(build, table);
    if (table === undefined || type === undefined) return [[name, field]];
    return [
      [
        build.fieldName({ text: name, isCustom: true }, "connection"),
        {
          config: {
            type: required(type),
            get args() {
              return connectionArguments(field);
            },
            description: "An array relationship connection",
          },
          toPlan: {
            kind: "custom",
            plugin: "relay",
            output: (selection, context) => ({
              kind: "embed",
              as: selection.as,
              id: selection.as,
              mode: "aggregate",
              via: { relationship: toPlan.relationship.id },
              join: "left",
              read: {
                ...planConnection(selection, context, table.relation, parse),
                from: { relation: nameOf(table.relation) },
              },
            }),
          },
        },
      ],
    ];
  });
  const [first, ...more] = relation?.primaryKey ?? [];
  if (relation === undefined || first === undefined || keyedTable(build, relation) === undefined)
    return sortedFields(entries);
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
          of: { kind: "column", name: first },
          operands: [
            { constant: schema, type: "text" },
            { constant: name, type: "text" },
            ...more.map((column) => ({ expression: { kind: "column", name: column } as const })),
          ],
        },
      }),
    },
  };
  return sortedFields([...entries.filter(([each]) => each !== "id"), ["id", id]]);
};

const variantOf = (parse: ParseJson): GqlVariant => ({
  name: "relay",
  fields: (fields, context) => {
    if (context.scope === "query_root") return rootFields(fields, context, parse);
    if (context.scope === "subscription_root") return {};
    return context.scope === "row" ? rowFields(fields, context, parse) : fields;
  },
  interfaces: ({ scope, build, relation }) =>
    scope === "row" && keyedTable(build, relation) !== undefined ? [Node] : [],
});

/** @rule P-RLY-1 … P-RLY-7 */
export const relay = definePlugin({
  name: "relay",
  requires: ["aggregate-embeds"],
  // the paths beside this one are its
  before: ["graphql"],
  functions,
  aggregates,
  apply: (hooks, context) => {
    let derived: GqlEngine | undefined;
    const engineOf = (): GqlEngine => {
      const engine = context.service<GraphqlService>("graphql");
      if (engine === undefined) throw new Error('the plugin "graphql" is missing');
      return (derived ??= engine.derive(variantOf((text) => engine.parseJson(text))));
    };
    hooks.transformPlan.tap({ name: "relay", stage: Stage.late, keepsRows: true }, (plan, { surface, model }) =>
      surface === "graphql" ? fitToLimit(plan, model) : plan,
    );
    context.onModel(() => void engineOf());
    context.addSurface(createSurface(context, engineOf));
  },
});
