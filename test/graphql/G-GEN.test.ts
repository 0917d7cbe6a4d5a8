import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);
const reader = await fetchSchema(api, "music_reader");
const editor = await fetchSchema(api, "music_editor");
const writer = await fetchSchema(api, "music_writer");
const nobodySchema = await fetchSchema(api, "music_nobody");

const rootFields = (schema: typeof admin, root: string): string[] => Object.keys(schema.members(root));
const listTableRootFields = (schema: typeof admin, table: string): string[] =>
  [
    ...rootFields(schema, "query_root"),
    ...(schema.roots.mutation === undefined ? [] : rootFields(schema, "mutation_root")),
  ].filter((name) =>
    [
      table,
      `${table}_aggregate`,
      `${table}_by_pk`,
      `insert_${table}`,
      `insert_${table}_one`,
      `update_${table}`,
      `update_${table}_by_pk`,
      `update_${table}_many`,
      `delete_${table}`,
      `delete_${table}_by_pk`,
    ].includes(name),
  );

const NO_QUERIES =
  "There are no queries available to the current role. Either there are no sources or remote schemas configured, or the current role doesn't have the required permissions.";

gqlCases(api, [
  {
    title: "G-GEN-1 a field that a role may not use is unknown",
    query: "{ artist { stats } }",
    role: "music_reader",
    error: {
      message: "field 'stats' not found in type: 'artist'",
      path: "$.selectionSet.artist.selectionSet.stats",
      code: "validation-failed",
    },
  },
  {
    title: "G-GEN-1 a relation without grants is an unknown root field",
    query: "{ diary { id } }",
    role: "music_reader",
    error: { message: "field 'diary' not found in type: 'query_root'", code: "validation-failed" },
  },
  {
    title: "G-GEN-5 no_queries_available returns its text",
    query: "{ no_queries_available }",
    role: "music_nobody",
    data: { no_queries_available: NO_QUERIES },
  },
  {
    title: "G-GEN-5 no_queries_available is absent if the role has a query field",
    query: "{ no_queries_available }",
    role: "music_reader",
    error: { message: "field 'no_queries_available' not found in type: 'query_root'" },
  },
  {
    title: "G-GEN-9 null for a NOT NULL column is an error",
    query: "mutation { insert_artist_one(object: {name: null}) { id } }",
    error: {
      message: "unexpected null value for type 'String'",
      path: "$.selectionSet.insert_artist_one.args.object.name",
      code: "validation-failed",
    },
  },
  {
    title: "G-GEN-14 a mutation without SELECT cannot return rows",
    query: 'mutation { update_artist(where: {}, _set: {country: "X"}) { affected_rows returning { name } } }',
    role: "music_writer",
    error: { message: "field 'returning' not found in type: 'artist_mutation_response'" },
  },
]);

test("G-GEN-1 a reload adds new tables on the same connections", async () => {
  await api.sql("create table late_arrival (id int primary key); grant select on late_arrival to music_reader");
  try {
    expect(await api.gql("{ late_arrival { id } }")).toHaveProperty("errors");
    await api.reload();
    expect(await api.gql("{ late_arrival { id } }", {}, asAdmin("music_reader"))).toEqual({
      data: { late_arrival: [] },
    });
  } finally {
    await api.sql("drop table late_arrival");
    await api.reload();
  }
  expect(await api.gql("{ late_arrival { id } }")).toHaveProperty("errors");
});

test("G-GEN-2 tables, partitioned tables and views are served, and partitions and other schemas are not", () => {
  const roots = rootFields(admin, "query_root");
  expect(roots).toEqual(expect.arrayContaining(["album", "measure", "album_title", "album_sale", "group"]));
  expect(
    roots.filter((name) =>
      ["measure_a", "measure_b", "vessels", "sea_vessels", "shop_item_one", "pg_class", "shop_order"].includes(name),
    ),
  ).toEqual([]);
});

test("G-GEN-3 rights by grants apply column by column", () => {
  expect(Object.keys(reader.members("artist")).filter((name) => !name.startsWith("albums"))).toEqual([
    "country",
    "id",
    "name",
  ]);
  expect(Object.keys(editor.members("album_insert_input"))).toEqual([
    "artist",
    "artist_id",
    "id",
    "live",
    "price",
    "tags",
    "title",
  ]);
  expect(Object.keys(editor.members("album_set_input"))).toEqual(["live", "price", "tags", "title"]);
});

test("G-GEN-3 the administrator has all rights of the login role", () => {
  expect(listTableRootFields(admin, "album")).toHaveLength(10);
  expect(Object.keys(admin.members("artist")).filter((name) => !name.startsWith("albums"))).toEqual([
    "born",
    "country",
    "id",
    "name",
    "stats",
  ]);
});

test("G-GEN-4 a type that no root reaches is not in the schema", () => {
  expect(admin.has("room_arr_rel_insert_input")).toBe(false);
  expect(admin.has("room_obj_rel_insert_input")).toBe(true);
  expect(reader.has("diary")).toBe(false);
  expect(reader.has("album_insert_input")).toBe(false);
});

test("G-GEN-5 a role without queries has only no_queries_available", () => {
  expect(nobodySchema.members("query_root")).toEqual({ no_queries_available: "String!" });
  expect(nobodySchema.description("query_root", "no_queries_available")).toBe(NO_QUERIES);
});

test("G-GEN-6 a role without mutations and subscriptions has no such root types", () => {
  expect(nobodySchema.roots).toEqual({ query: "query_root", mutation: undefined, subscription: undefined });
  expect(reader.roots.subscription).toBe("subscription_root");
});

test("G-GEN-7 generated columns can be read and not written", () => {
  expect(Object.keys(admin.members("invoice"))).toEqual(["created", "gross", "id", "net", "note", "ref"]);
  expect(Object.keys(admin.members("invoice_insert_input"))).toEqual(["created", "net", "note", "ref"]);
  expect(Object.keys(admin.members("invoice_set_input"))).toEqual(["created", "net", "note", "ref"]);
  expect(Object.keys(admin.members("invoice_inc_input"))).toEqual(["net", "ref"]);
});

test("G-GEN-7 insertable columns need no SELECT grant", () => {
  expect(Object.keys(writer.members("artist_insert_input"))).toEqual(["country", "name"]);
  expect(Object.keys(writer.members("artist_set_input"))).toEqual(["country"]);
});

test("G-GEN-8 output fields are non-null by their column or domain, and fields of views are nullable", () => {
  expect(admin.members("album")).toMatchObject({ id: "Int!", title: "String!", price: "numeric", tags: "[String!]" });
  expect(admin.members("booking")).toMatchObject({ seats: "Int!", guest: "String" });
  expect(admin.members("album_title")).toMatchObject({ id: "Int", title: "String" });
  expect(admin.members("album_sale")).toMatchObject({ album_id: "Int" });
});

test("G-GEN-9 fields of insert and update inputs are optional", () => {
  for (const type of ["artist_insert_input", "album_insert_input", "album_set_input", "album_inc_input"])
    expect(Object.values(admin.members(type)).filter((text) => text.endsWith("!"))).toEqual([]);
});

test("G-GEN-10 G-GEN-10a descriptions come from comments, and otherwise from names", () => {
  expect(admin.description("person")).toBe("People of the house");
  expect(admin.description("album")).toBe('columns and relationships of "album"');
  expect(admin.description("person", "nickname")).toBe("What friends say");
  expect(admin.description("person", "name")).toBeNull();
  // The table's comment does not change the root fields.
  expect(admin.description("query_root", "person")).toBe('fetch data from the table: "person"');
});

test("G-GEN-10 G-GEN-10a outside of public a description names the table with its schema", async () => {
  const otherApi = await startApi(forGraphql({ dbSchemas: ["shop"] }));
  try {
    const shop = await fetchSchema(otherApi);
    expect(shop.description("shop_item")).toBe('columns and relationships of "shop.item"');
    expect(shop.description("query_root", "shop_order_by_pk")).toBe(
      'fetch data from the table: "shop.order" using primary key columns',
    );
    expect(shop.description("shop_item_pk_columns_input")).toBe("primary key columns input for table: shop.item");
  } finally {
    await otherApi.close();
  }
});

test("G-GEN-11 each kind of relation has its operations", () => {
  expect(listTableRootFields(admin, "album")).toHaveLength(10);
  expect(listTableRootFields(admin, "measure")).toHaveLength(10);
  expect(listTableRootFields(admin, "album_sale")).toEqual(["album_sale", "album_sale_aggregate"]);
  expect(listTableRootFields(admin, "artist_total")).toEqual(["artist_total", "artist_total_aggregate"]);
  expect(listTableRootFields(admin, "album_title").sort()).toEqual([
    "album_title",
    "album_title_aggregate",
    "delete_album_title",
    "insert_album_title",
    "insert_album_title_one",
    "update_album_title",
    "update_album_title_many",
  ]);
});

test("G-GEN-11 the fields of a relation depend on the rights of the role", () => {
  expect(listTableRootFields(reader, "album").sort()).toEqual(["album", "album_aggregate", "album_by_pk"]);
  expect(listTableRootFields(writer, "artist").sort()).toEqual([
    "delete_artist",
    "insert_artist",
    "update_artist",
    "update_artist_many",
  ]);
});

test("G-GEN-12 a view has the writes that the database accepts, column by column", () => {
  expect(Object.keys(admin.members("album_title_insert_input"))).toEqual(["artist_id", "id", "title"]);
  expect(Object.keys(admin.members("album_title_set_input"))).toEqual(["artist_id", "id", "title"]);
  expect(listTableRootFields(admin, "team_card").sort()).toEqual([
    "insert_team_card",
    "insert_team_card_one",
    "team_card",
    "team_card_aggregate",
  ]);
  expect(Object.keys(admin.members("team_card_insert_input"))).toEqual(["home_matches", "id", "name"]);
});

test("G-GEN-13 a table without a primary key has no by_pk fields, even with a unique constraint", () => {
  const seven = (table: string): string[] =>
    listTableRootFields(admin, table).filter((name) => !name.endsWith("_by_pk"));
  for (const table of ["play_log", "listing"]) {
    expect(listTableRootFields(admin, table)).toHaveLength(7);
    expect(seven(table)).toHaveLength(7);
  }
});

test("G-GEN-14 mutations work without a SELECT grant", () => {
  expect(writer.members("artist_mutation_response")).toEqual({ affected_rows: "Int!" });
  expect(Object.keys(writer.members("artist_bool_exp"))).toEqual(["_and", "_not", "_or"]);
  expect(writer.has("artist")).toBe(false);
});

test("G-GEN-15 subscription_root has the fields of query_root, and no streams", () => {
  expect(admin.members("subscription_root")).toEqual(admin.members("query_root"));
  for (const field of ["album", "album_aggregate", "album_by_pk", "search_albums"])
    expect(admin.args("subscription_root", field)).toEqual(admin.args("query_root", field));
  expect(admin.names.filter((name) => name.includes("stream") || name === "cursor_ordering")).toEqual([]);
  expect(Object.keys(admin.members("subscription_root")).filter((name) => name.endsWith("_stream"))).toEqual([]);
});

test("G-GEN-16 the root types have descriptions", () => {
  expect([
    admin.description("query_root"),
    admin.description("mutation_root"),
    admin.description("subscription_root"),
  ]).toEqual([null, "mutation root", null]);
});
