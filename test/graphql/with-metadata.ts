import { definePlugin, findRelation, type Model } from "../../core/index.ts";
import type { GqlMetadata, GqlTableEntry } from "../../plugins/graphql/api.ts";

/** Adds the configuration of metadata to the model. */
export const withMetadata = (buildMetadata: (model: Model) => Partial<GqlMetadata>) =>
  definePlugin({
    name: "metadata-of-the-test",
    requires: ["relationships"],
    apply: (hooks) =>
      hooks.introspect.tap("metadata-of-the-test", (model) => ({
        ...model,
        pluginFacts: {
          ...model.pluginFacts,
          metadata: { findAccess: () => undefined, ...buildMetadata(model) } satisfies GqlMetadata,
        },
      })),
  });

const findRelationshipId = (model: Model, table: string, target: string): string => {
  const relation = findRelation(model, { schema: "public", name: table });
  const match = relation?.relationships.find(
    (relationship) =>
      relationship.target.name === target && relationship.junction === undefined && relationship.routine === undefined,
  );
  if (match === undefined) throw new Error(`no relationship from ${table} to ${target}`);
  return match.id;
};

/** An entry of a table in `public`. `relationships`: name and target table. */
export const entry = (
  model: Model,
  table: string,
  overrides: Partial<GqlTableEntry> = {},
  relationships: Readonly<Record<string, string>> = {},
): GqlTableEntry => ({
  relation: { schema: "public", name: table },
  computedFields: [],
  relationships: Object.entries(relationships).map(([name, target]) => ({
    name,
    relationship: findRelationshipId(model, table, target),
  })),
  ...overrides,
});
