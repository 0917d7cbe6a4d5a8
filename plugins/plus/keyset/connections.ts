/**
 * `{ album_connection(first: 10, after: "…") { edges { node { title tracks_connection(first: 3) { … } } } pageInfo { …
 * } } }`: connections at `/v1/graphql`, and the parts that they share with `/v1beta1/relay`.
 */
import { definePlugin, Stage } from "../../../core/index.ts";
import type { GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { aggregates, fitToLimit } from "./connection-read.ts";
import { buildRootConnections, buildRowConnection } from "./fields.ts";
import { functions } from "./ids.ts";

/** The plan functions and aggregates of connections. This plugin adds no field. @rule P-RLY-4 P-RLY-6 */
export const cursorConnections = definePlugin({
  name: "cursor-connections",
  requires: ["aggregate-embeds"],
  functions,
  aggregates,
  apply: (hooks) => {
    hooks.transformPlan.tap(
      { name: "cursor-connections", stage: Stage.late, keepsRows: true },
      (plan, { surface, model }) => (surface === "graphql" ? fitToLimit(plan, model) : plan),
    );
  },
});

/** Adds connections with cursors to `/v1/graphql`. @rule P-CUR-7 P-CUR-8 */
export const graphqlConnections = definePlugin({
  name: "graphql-connections",
  requires: ["cursor-connections", "graphql-queries"],
  stage: Stage.late, // connections are added beside fields that must already exist
  apply: (hooks) => {
    hooks.buildGqlField.tap("graphql-connections", (fields: GqlFields, field: GqlFieldContext) => {
      if (field.scope === "query_root" || field.scope === "subscription_root")
        return { ...buildRootConnections(fields, field), ...fields };
      if (field.scope !== "row") return fields;
      const connectionFields = Object.entries(fields).flatMap(([name, rootField]) => {
        const connectionField = buildRowConnection(name, rootField, field);
        return connectionField === undefined ? [] : [connectionField];
      });
      return connectionFields.length === 0 ? fields : { ...Object.fromEntries(connectionFields), ...fields };
    });
  },
});
