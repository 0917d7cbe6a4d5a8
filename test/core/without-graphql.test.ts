// @runs-also-on postgresql-15-postgis
/** What the GraphQL surface answers where a plugin is missing. Several that do not touch each other are left out of one
 *  preset. */
import { describe, expect, test } from "vitest";
import { capabilities, forGraphql, startApi, type StartOptions } from "../support/api.ts";
import { gqlCases, type GqlCase } from "../support/cases.ts";
import { leftOut } from "./left-out.ts";

const start = (names: readonly string[], more: StartOptions = {}) =>
  startApi(forGraphql({ dbTxEnd: "rollback", ...more, parts: leftOut(...names) }));

const unknown = (field: string, type: string): Pick<GqlCase, "error"> => ({
  error: { message: `field '${field}' not found in type: '${type}'`, code: "validation-failed" },
});
const noArgument = (field: string, argument: string): Pick<GqlCase, "error"> => ({
  error: { message: `'${field}' has no argument named '${argument}'`, code: "validation-failed" },
});

/** `_like` on `name` and its like. */
const where = (table: string, column: string, condition: string): string =>
  `{ ${table}(where: {${column}: {${condition}}}) { id } }`;

describe("operators", async () => {
  gqlCases(
    await start(["text-operators", "json-operators", "array-range-operators", "ltree-operators", "graphql-casts"]),
    [
      {
        title: "G-OP-5 without text-operators _like is unknown",
        query: where("artist", "name", '_like: "A%"'),
        ...unknown("_like", "String_comparison_exp"),
      },
      {
        title: "G-OP-9 without text-operators _niregex is unknown",
        query: where("artist", "name", '_niregex: "A"'),
        ...unknown("_niregex", "String_comparison_exp"),
      },
      {
        title: "G-OP-10 without json-operators _contains of documents is unknown",
        query: where("artist", "stats", "_contains: {a: 1}"),
        ...unknown("_contains", "jsonb_comparison_exp"),
      },
      {
        title: "G-OP-12 without json-operators _has_key is unknown",
        query: where("artist", "stats", '_has_key: "a"'),
        ...unknown("_has_key", "jsonb_comparison_exp"),
      },
      {
        title: "G-OP-18 without array-range-operators _contains of arrays is unknown",
        query: where("album", "tags", '_contains: ["rock"]'),
        ...unknown("_contains", "String_array_comparison_exp"),
      },
      {
        title: "G-OP-19 without ltree-operators _ancestor is unknown",
        query: where("category", "path", '_ancestor: "top.science"'),
        ...unknown("_ancestor", "ltree_comparison_exp"),
      },
      {
        title: "G-OP-17 without graphql-casts _cast is unknown",
        query: where("artist", "stats", '_cast: {String: {_eq: "x"}}'),
        ...unknown("_cast", "jsonb_comparison_exp"),
      },
      {
        title: "G-OP-1 the operators of plugins that stay do their work",
        query: where("artist", "name", '_eq: "Abba"'),
        data: { artist: [{ id: 1 }] },
      },
    ],
  );
  gqlCases(await start(["comparison-operators"]), [
    {
      title: "G-OP-1 without comparison-operators _eq is unknown",
      query: where("artist", "id", "_eq: 1"),
      ...unknown("_eq", "Int_comparison_exp"),
    },
    {
      title: "G-OP-3 without comparison-operators _is_null is unknown",
      query: where("artist", "id", "_is_null: true"),
      ...unknown("_is_null", "Int_comparison_exp"),
    },
    {
      title: "G-ROOT-3 without comparison-operators rows are not found by their key",
      query: "{ artist_by_pk(id: 1) { id } }",
      ...unknown("artist_by_pk", "query_root"),
    },
    {
      title: "G-ROOT-14 without comparison-operators rows are not deleted by their key",
      query: "mutation { delete_artist_by_pk(id: 1) { id } }",
      ...unknown("delete_artist_by_pk", "mutation_root"),
    },
    {
      title: "G-ROOT-11 without comparison-operators rows are not updated by their key",
      query: "mutation { update_artist_by_pk(pk_columns: {id: 1}) { id } }",
      ...unknown("update_artist_by_pk", "mutation_root"),
    },
    {
      title: "G-FN-3 without comparison-operators functions of one row are not offered",
      query: "{ first_album { id } }",
      ...unknown("first_album", "query_root"),
    },
    {
      title: "G-OP-5 without comparison-operators _like works",
      query: where("artist", "name", '_like: "Ab%"'),
      data: { artist: [{ id: 1 }] },
    },
  ]);
  gqlCases(
    capabilities.postgis
      ? await start(["geo-operators"], { dbSchemas: ["atlas"], dbExtraSearchPath: ["gis"] })
      : () => undefined as never,
    [
      {
        title: "G-OP-23 without geo-operators geometry is no condition",
        query: "{ atlas_spots(where: {at: {_st_within: null}}) { id } }",
        ...unknown("at", "atlas_spots_bool_exp"),
      },
      {
        title: "G-TYP-22 without geo-operators geometry is no field",
        query: "{ atlas_spots { at } }",
        ...unknown("at", "atlas_spots"),
      },
      {
        title: "G-TYP-22 without geo-operators geography is no field",
        query: "{ atlas_spots { earth } }",
        ...unknown("earth", "atlas_spots"),
      },
      {
        title: "G-TYP-22 without geo-operators geometry is not written",
        query: 'mutation { insert_atlas_spots_one(object: {id: 50, name: "x", at: null}) { id } }',
        ...unknown("at", "atlas_spots_insert_input"),
      },
      {
        title: "G-OUT-1 without geo-operators the other columns are there",
        query: "{ atlas_spots(where: {id: {_eq: 1}}) { name } }",
        data: { atlas_spots: [{ name: "Oslo" }] },
      },
    ].map((row) => ({ ...row, when: capabilities.postgis })),
  );
});

describe("related rows", async () => {
  gqlCases(await start(["nest-embeds"]), [
    {
      title: "G-REL-1 without nest-embeds to-one rows are no fields",
      query: "{ album { artist { name } } }",
      ...unknown("artist", "album"),
    },
    {
      title: "G-REL-2 without nest-embeds to-many rows are no fields",
      query: "{ artist { albums { id } } }",
      ...unknown("albums", "artist"),
    },
    {
      title: "G-CF-2 without nest-embeds rows of computed fields are no fields",
      query: "{ person { person_peers { id } } }",
      ...unknown("person_peers", "person"),
    },
    {
      title: "G-BEXP-3 without nest-embeds conditions follow relationships",
      query: '{ album(where: {artist: {name: {_eq: "Bjork"}}}) { id } }',
      data: { album: [{ id: 3 }] },
    },
    {
      title: "G-CF-1 without nest-embeds values of computed fields are there",
      query: "{ person(limit: 1) { person_title } }",
      data: { person: [{ person_title: "Dear Ann" }] },
    },
  ]);
  gqlCases(await start(["aggregate-embeds"]), [
    {
      title: "G-REL-2 without aggregate-embeds rows have no aggregates of related rows",
      query: "{ artist { albums_aggregate { aggregate { count } } } }",
      ...unknown("albums_aggregate", "artist"),
    },
    {
      title: "G-ROOT-2 without aggregate-embeds root fields aggregate",
      query: "{ artist_aggregate { aggregate { count } } }",
      data: { artist_aggregate: { aggregate: { count: 4 } } },
    },
  ]);
  gqlCases(await start(["graphql-relationships"]), [
    {
      title: "G-REL-1 without graphql-relationships to-one rows are no fields",
      query: "{ album { artist { name } } }",
      ...unknown("artist", "album"),
    },
    {
      title: "G-BEXP-3 without graphql-relationships conditions follow none",
      query: "{ album(where: {artist: {}}) { id } }",
      ...unknown("artist", "album_bool_exp"),
    },
    {
      title: "G-ORD-5 without graphql-relationships orders follow none",
      query: "{ album(order_by: {artist: {name: asc}}) { id } }",
      ...unknown("artist", "album_order_by"),
    },
  ]);
  gqlCases(await start(["relationships"]), [
    {
      title: "G-REL-2 without relationships nothing is related",
      query: "{ artist { albums { id } } }",
      ...unknown("albums", "artist"),
    },
    {
      title: "G-NST-1 without relationships nothing is inserted beside",
      query: 'mutation { insert_artist_one(object: {name: "x", albums: {data: []}}) { id } }',
      ...unknown("albums", "artist_insert_input"),
    },
  ]);
});

describe("fields", async () => {
  gqlCases(await start(["graphql-aggregates", "graphql-computed-fields"]), [
    {
      title: "G-ROOT-2 without graphql-aggregates there are no aggregates",
      query: "{ artist_aggregate { aggregate { count } } }",
      ...unknown("artist_aggregate", "query_root"),
    },
    {
      title: "G-REL-2 without graphql-aggregates nor of related rows",
      query: "{ artist { albums_aggregate { aggregate { count } } } }",
      ...unknown("albums_aggregate", "artist"),
    },
    {
      title: "G-ORD-6 without graphql-aggregates nor in orders",
      query: "{ artist(order_by: {albums_aggregate: {count: asc}}) { id } }",
      ...unknown("albums_aggregate", "artist_order_by"),
    },
    {
      title: "G-ROOT-4 without graphql-aggregates nor over functions",
      query: '{ search_albums_aggregate(args: {term: "a"}) { aggregate { count } } }',
      ...unknown("search_albums_aggregate", "query_root"),
    },
    {
      title: "G-CF-1 without graphql-computed-fields functions of a row are no fields",
      query: "{ person { person_title } }",
      ...unknown("person_title", "person"),
    },
    {
      title: "G-CF-5 without graphql-computed-fields nor conditions",
      query: '{ person(where: {person_title: {_eq: "x"}}) { id } }',
      ...unknown("person_title", "person_bool_exp"),
    },
  ]);
  gqlCases(await start(["aggregate-predicates", "graphql-functions"]), [
    {
      title: "G-AGP-1 without aggregate-predicates sets of rows are no condition",
      query: "{ artist(where: {albums_aggregate: {count: {predicate: {_gt: 1}}}}) { id } }",
      ...unknown("albums_aggregate", "artist_bool_exp"),
    },
    {
      title: "G-FN-2 without graphql-functions functions are no queries",
      query: '{ search_albums(args: {term: "a"}) { id } }',
      ...unknown("search_albums", "query_root"),
    },
    {
      title: "G-FN-2 without graphql-functions nor mutations",
      query: "mutation { sell_album(args: {album_id: 1}) { id } }",
      ...unknown("sell_album", "mutation_root"),
    },
    {
      title: "G-OUT-2 without aggregate-predicates aggregates are there",
      query: "{ artist_aggregate { aggregate { count } } }",
      data: { artist_aggregate: { aggregate: { count: 4 } } },
    },
  ]);
  gqlCases(await start(["graphql-introspection"]), [
    {
      title: "G-INT-1 without graphql-introspection __schema is unknown",
      query: "{ __schema { queryType { name } } }",
      ...unknown("__schema", "query_root"),
    },
    {
      title: "G-INT-1 without graphql-introspection __type is unknown",
      query: '{ __type(name: "artist") { name } }',
      ...unknown("__type", "query_root"),
    },
    {
      title: "G-INT-1 without graphql-introspection __typename is there",
      query: "{ __typename }",
      data: { __typename: "query_root" },
    },
  ]);
  for (const name of ["graphql-queries", "graphql-comparisons", "catalog-introspection"])
    gqlCases(await start([name]), [
      {
        title: `G-GEN-4 without ${name} tables are unknown`,
        query: "{ artist { id } }",
        ...unknown("artist", "query_root"),
      },
      {
        title: `G-GEN-4 without ${name} there are no mutations`,
        query: "mutation { delete_artist(where: {}) { affected_rows } }",
        error: { message: "no mutations exist", code: "validation-failed" },
      },
      {
        title: `G-GEN-4 without ${name} there are no subscriptions`,
        query: "subscription { artist { id } }",
        error: { message: "no subscriptions exist", code: "validation-failed" },
      },
    ]);
});

describe("mutations", async () => {
  gqlCases(await start(["graphql-inserts", "inc-operator", "document-operators"]), [
    {
      title: "G-ROOT-8 without graphql-inserts nothing is inserted",
      query: "mutation { insert_artist(objects: []) { affected_rows } }",
      ...unknown("insert_artist", "mutation_root"),
    },
    {
      title: "G-ROOT-9 without graphql-inserts nor one row",
      query: 'mutation { insert_artist_one(object: {name: "x"}) { id } }',
      ...unknown("insert_artist_one", "mutation_root"),
    },
    {
      title: "G-UPD-1b without inc-operator _inc is no argument",
      query: "mutation { update_album(where: {}, _inc: {sold: 1}) { affected_rows } }",
      ...noArgument("update_album", "_inc"),
    },
    ...["_append", "_prepend", "_delete_key", "_delete_elem", "_delete_at_path"].map((operator, i) => ({
      title: `G-UPD-1${"cdefg"[i]} without document-operators ${operator} is no argument`,
      query: `mutation { update_artist(where: {}, ${operator}: {stats: null}) { affected_rows } }`,
      ...noArgument("update_artist", operator),
    })),
    {
      title: "G-UPD-1a the operators of plugins that stay do their work",
      query: 'mutation { update_artist(where: {id: {_eq: 1}}, _set: {country: "NO"}) { affected_rows } }',
      data: { update_artist: { affected_rows: 1 } },
    },
  ]);
  gqlCases(await start(["graphql-updates"]), [
    {
      title: "G-ROOT-10 without graphql-updates nothing is updated",
      query: 'mutation { update_artist(where: {}, _set: {name: "x"}) { affected_rows } }',
      ...unknown("update_artist", "mutation_root"),
    },
    {
      title: "G-ROOT-11 without graphql-updates nor by key",
      query: 'mutation { update_artist_by_pk(pk_columns: {id: 1}, _set: {name: "x"}) { id } }',
      ...unknown("update_artist_by_pk", "mutation_root"),
    },
    {
      title: "G-ROOT-12 without graphql-updates nor many",
      query: "mutation { update_artist_many(updates: []) { affected_rows } }",
      ...unknown("update_artist_many", "mutation_root"),
    },
  ]);
  gqlCases(await start(["graphql-deletes", "set-operator"]), [
    {
      title: "G-ROOT-13 without graphql-deletes nothing is deleted",
      query: "mutation { delete_artist(where: {}) { affected_rows } }",
      ...unknown("delete_artist", "mutation_root"),
    },
    {
      title: "G-ROOT-14 without graphql-deletes nor by key",
      query: "mutation { delete_artist_by_pk(id: 1) { id } }",
      ...unknown("delete_artist_by_pk", "mutation_root"),
    },
    {
      title: "G-UPD-1a without set-operator _set is no argument",
      query: 'mutation { update_artist(where: {}, _set: {name: "x"}) { affected_rows } }',
      ...noArgument("update_artist", "_set"),
    },
    {
      title: "G-UPD-1b without set-operator _inc works",
      query: "mutation { update_album(where: {id: {_eq: 1}}, _inc: {sold: 1}) { returning { sold } } }",
      data: { update_album: { returning: [{ sold: 4 }] } },
    },
  ]);
});

describe("addresses", async () => {
  const page = { headers: { accept: "text/html" } };
  const noPlayground = await start(["playground"]);
  const noGraphql = await start(["graphql"]);

  test("G-HTTP-12 without playground the address has no page", async () => {
    const answer = await noPlayground.get("/v1/graphql", page);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "OPTIONS, GET, HEAD, POST"]);
    expect((await noPlayground.get("/v1/graphql/playground/x/index.js")).status).toBe(404);
  });

  test.each(["/v1/graphql", "/v1alpha1/graphql", "/v1/version"])(
    "R-PATH-6 without graphql %s is no path",
    async (path) => {
      const answer = await noGraphql.post(path, { body: { query: "{ __typename }" } });
      expect([answer.status, answer.json().code]).toEqual([404, "PGRST125"]);
      expect((await noGraphql.get("/v1/graphql", page)).status).toBe(404);
    },
  );

  test("R-PATH-4 without graphql /api/graphql is a relation that is not there", async () => {
    const answer = await noGraphql.get("/api/graphql");
    expect([answer.status, answer.json().code]).toEqual([404, "PGRST205"]);
  });
});
