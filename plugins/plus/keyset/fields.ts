/** Connections as fields of the query root and of rows. */
import type { GraphQLObjectType } from "graphql";
import { getQualifiedName } from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { planConnection } from "./connection-read.ts";
import { buildConnectionArguments, getConnectionType, findKeyedTable, nonNull } from "./connection-types.ts";

/** Adds a connection to the query root for each list of a table. @rule P-RLY-2 P-CUR-7 */
export const buildRootConnections = (fields: GqlFields, { build }: GqlFieldContext): GqlFields => {
  const connectionFields = Object.values(fields).flatMap((field): readonly (readonly [string, GqlField])[] => {
    const { toPlan } = field;
    const table = toPlan.kind === "list" ? findKeyedTable(build, toPlan.relation) : undefined;
    const type = table && getConnectionType(build, table);
    if (table === undefined || type === undefined) return [];
    const { relation } = table;
    const connection: GqlField = {
      config: buildConnectionConfig(field, type, `fetch data from the table: "${relation.name}"`),
      toPlan: {
        kind: "custom",
        plan: (selection, context) => ({
          ...planConnection(selection, context, relation),
          from: { relation: getQualifiedName(relation) },
        }),
      },
    };
    return [[build.rootName(table.namePart, "connection"), connection]];
  });
  return Object.fromEntries(connectionFields);
};

/** Returns the connection for a relationship field. Returns undefined if the field is not a list of rows of a table
 *  with a key. @rule P-RLY-2 P-CUR-7 */
export const buildRowConnection = (
  name: string,
  field: GqlField,
  { build }: GqlFieldContext,
): readonly [string, GqlField] | undefined => {
  const { toPlan } = field;
  if (toPlan.kind !== "relationship" || toPlan.relationship.isToOne) return undefined;
  const table = findKeyedTable(build, toPlan.target);
  const type = table && getConnectionType(build, table);
  if (table === undefined || type === undefined) return undefined;
  const connection: GqlField = {
    config: buildConnectionConfig(field, type, "An array relationship connection"),
    toPlan: {
      kind: "custom",
      output: (selection, context) => ({
        kind: "embed",
        as: selection.as,
        id: selection.as,
        mode: "aggregate",
        via: { relationship: toPlan.relationship.id },
        join: "left",
        read: {
          ...planConnection(selection, context, table.relation),
          from: { relation: getQualifiedName(table.relation) },
        },
      }),
    },
  };
  return [build.fieldName({ text: name, isCustom: true }, "connection"), connection];
};

const buildConnectionConfig = (field: GqlField, type: GraphQLObjectType, description: string): GqlField["config"] => ({
  type: nonNull(type),
  get args() {
    return buildConnectionArguments(field);
  },
  description,
});
