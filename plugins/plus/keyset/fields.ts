/** Connections as fields of the query root and of rows. */
import type { Relation } from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { planConnection } from "./connection.ts";
import { connectionArguments, connectionType, keyedTable, required } from "./types.ts";

export const nameOf = ({ schema, name }: Relation) => ({ schema, name });

/** Adds a connection to the query root for each list of a table. @rule P-RLY-2 P-CUR-7 */
export const rootConnections = (fields: GqlFields, { build }: GqlFieldContext): GqlFields => {
  const found = Object.values(fields).flatMap((field): readonly (readonly [string, GqlField])[] => {
    const { toPlan } = field;
    const table = toPlan.kind === "list" ? keyedTable(build, toPlan.relation) : undefined;
    const type = table && connectionType(build, table);
    if (table === undefined || type === undefined) return [];
    const { relation } = table;
    const connection: GqlField = {
      config: {
        type: required(type),
        get args() {
          return connectionArguments(field);
        },
        description: `fetch data from the table: "${relation.name}"`,
      },
      toPlan: {
        kind: "custom",
        plan: (selection, context) => ({
          ...planConnection(selection, context, relation),
          from: { relation: nameOf(relation) },
        }),
      },
    };
    return [[build.rootName(table.word, "connection"), connection]];
  });
  return Object.fromEntries(found);
};

/**
 * The connection for a relationship field. Undefined if the field is not a list of rows of a table with a key.
 * @rule P-RLY-2 P-CUR-7
 */
export const rowConnection = (
  name: string,
  field: GqlField,
  { build }: GqlFieldContext,
): readonly [string, GqlField] | undefined => {
  const { toPlan } = field;
  if (toPlan.kind !== "relationship" || toPlan.relationship.isToOne) return undefined;
  const table = keyedTable(build, toPlan.target);
  const type = table && connectionType(build, table);
  if (table === undefined || type === undefined) return undefined;
  const connection: GqlField = {
    config: {
      type: required(type),
      get args() {
        return connectionArguments(field);
      },
      description: "An array relationship connection",
    },
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
          from: { relation: nameOf(table.relation) },
        },
      }),
    },
  };
  return [build.fieldName({ text: name, isCustom: true }, "connection"), connection];
};
