import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { forGraphql, startApi } from "../support/api.ts";
import { fetchSchema } from "../support/schema.ts";

/** The error of an API without these plugins for a document that needs them. */
const REMOVED_PLUGINS: readonly {
  readonly plugins: readonly string[];
  readonly query: string;
  readonly field: string;
  readonly type: string;
}[] = [
  {
    plugins: ["aggregate-predicates", "graphql-aggregates"],
    query: "{ album_aggregate { aggregate { count } } }",
    field: "album_aggregate",
    type: "query_root",
  },
  {
    plugins: ["aggregate-predicates", "graphql-aggregates"],
    query: "{ artist { albums_aggregate { aggregate { count } } } }",
    field: "albums_aggregate",
    type: "artist",
  },
  {
    plugins: ["aggregate-predicates"],
    query: "{ artist(where: {albums_aggregate: {count: {predicate: {_gt: 1}}}}) { id } }",
    field: "albums_aggregate",
    type: "artist_bool_exp",
  },
  {
    plugins: ["aggregate-predicates", "graphql-relationships"],
    query: "{ artist { albums { id } } }",
    field: "albums",
    type: "artist",
  },
  {
    plugins: ["graphql-functions"],
    query: '{ search_albums(args: {term: "a"}) { id } }',
    field: "search_albums",
    type: "query_root",
  },
  { plugins: ["graphql-computed-fields"], query: "{ person { person_title } }", field: "person_title", type: "person" },
  {
    plugins: ["graphql-casts"],
    query: '{ profile(where: {doc: {_cast: {String: {_like: "a"}}}}) { id } }',
    field: "_cast",
    type: "jsonb_comparison_exp",
  },
  {
    plugins: ["graphql-inserts"],
    query: "mutation { insert_album(objects: []) { affected_rows } }",
    field: "insert_album",
    type: "mutation_root",
  },
  {
    plugins: ["graphql-updates"],
    query: "mutation { update_album(where: {}) { affected_rows } }",
    field: "update_album",
    type: "mutation_root",
  },
  {
    plugins: ["graphql-deletes"],
    query: "mutation { delete_album(where: {}) { affected_rows } }",
    field: "delete_album",
    type: "mutation_root",
  },
];

for (const { plugins, query, field, type } of REMOVED_PLUGINS) {
  test(`G-DOC-4 without ${plugins.join(" and ")} the field ${field} of ${type} is unknown`, async () => {
    const api = await startApi(forGraphql({ parts: plugins.map((name) => without(name)) }));
    try {
      expect(await api.gql(query)).toMatchObject({
        errors: [
          { message: `field '${field}' not found in type: '${type}'`, extensions: { code: "validation-failed" } },
        ],
      });
    } finally {
      await api.close();
    }
  });
}

test("G-GEN-6 without the plugins of mutations there is no mutation_root", async () => {
  const api = await startApi(
    forGraphql({
      parts: ["graphql-inserts", "graphql-updates", "graphql-deletes", "graphql-functions"].map((name) =>
        without(name),
      ),
    }),
  );
  try {
    expect((await fetchSchema(api)).roots.mutation).toBeUndefined();
    expect(await api.gql("mutation { delete_album(where: {}) { affected_rows } }")).toMatchObject({
      errors: [{ message: "no mutations exist", extensions: { path: "$" } }],
    });
  } finally {
    await api.close();
  }
});
