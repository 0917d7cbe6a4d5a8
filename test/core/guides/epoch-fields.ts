import { GraphQLFloat } from "graphql";
import { definePlugin, sql } from "../../../core/index.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../../../plugins/graphql/api.ts";

const TIMES = new Set(["date", "timestamp", "timestamptz"]);

/** `{ employee { hire_date hire_date_epoch } }`: each time of a row, also in seconds since 1970. */
export const epochFields = definePlugin({
  name: "epoch-fields",
  requires: ["graphql-queries"],
  functions: [{ name: "epoch", compile: (argument) => sql`extract(epoch from ${argument})` }],
  apply: (hooks) => {
    hooks.buildGqlField.tap("epoch-fields", (fields: GqlFields, { scope, relation, model, build }: GqlFieldContext) => {
      const table = scope === "row" && relation !== undefined ? build.table(relation) : undefined;
      if (table === undefined) return fields;
      const readable = build.rights(table).select?.columns;
      const added: Record<string, GqlField> = {};
      for (const { column, name } of table.columns) {
        if (readable?.has(column.name) !== true || !TIMES.has(model.types.get(column.type)?.name ?? "")) continue;
        added[build.fieldName({ text: name, isCustom: true }, "epoch")] = {
          config: { type: GraphQLFloat, description: `${name} in seconds since 1970` },
          toPlan: {
            kind: "custom",
            output: ({ as }) => ({
              kind: "value",
              as,
              value: { kind: "apply", function: "epoch", value: { kind: "column", name: column.name } },
            }),
          },
        };
      }
      return { ...added, ...fields }; // a column of that name wins
    });
  },
});
