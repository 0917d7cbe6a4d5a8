import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);

const LIST = {
  distinct_on: "[album_select_column!]",
  limit: "Int",
  offset: "Int",
  order_by: "[album_order_by!]",
  where: "album_bool_exp",
};

interface RootField {
  readonly rule: string;
  readonly root: string;
  readonly field: string;
  readonly type: string;
  readonly args: Readonly<Record<string, string>>;
  readonly description: string;
}

const OPERATORS = { _inc: "album_inc_input", _set: "album_set_input" };
const ON_CONFLICT = { on_conflict: "album_on_conflict" };

const FIELDS: readonly RootField[] = [
  {
    rule: "G-ROOT-1",
    root: "query_root",
    field: "album",
    type: "[album!]!",
    args: LIST,
    description: 'fetch data from the table: "album"',
  },
  {
    rule: "G-ROOT-2",
    root: "query_root",
    field: "album_aggregate",
    type: "album_aggregate!",
    args: LIST,
    description: 'fetch aggregated fields from the table: "album"',
  },
  {
    rule: "G-ROOT-3",
    root: "query_root",
    field: "album_by_pk",
    type: "album",
    args: { id: "Int!" },
    description: 'fetch data from the table: "album" using primary key columns',
  },
  {
    rule: "G-ROOT-3",
    root: "query_root",
    field: "hall_by_pk",
    type: "hall",
    args: { city: "String!", number: "Int!" },
    description: 'fetch data from the table: "hall" using primary key columns',
  },
  {
    rule: "G-ROOT-8",
    root: "mutation_root",
    field: "insert_album",
    type: "album_mutation_response",
    args: { objects: "[album_insert_input!]!", ...ON_CONFLICT },
    description: 'insert data into the table: "album"',
  },
  {
    rule: "G-ROOT-9",
    root: "mutation_root",
    field: "insert_album_one",
    type: "album",
    args: { object: "album_insert_input!", ...ON_CONFLICT },
    description: 'insert a single row into the table: "album"',
  },
  {
    rule: "G-ROOT-10",
    root: "mutation_root",
    field: "update_album",
    type: "album_mutation_response",
    args: { ...OPERATORS, where: "album_bool_exp!" },
    description: 'update data of the table: "album"',
  },
  {
    rule: "G-ROOT-11",
    root: "mutation_root",
    field: "update_album_by_pk",
    type: "album",
    args: { ...OPERATORS, pk_columns: "album_pk_columns_input!" },
    description: 'update single row of the table: "album"',
  },
  {
    rule: "G-ROOT-12",
    root: "mutation_root",
    field: "update_album_many",
    type: "[album_mutation_response]",
    args: { updates: "[album_updates!]!" },
    description: 'update multiples rows of table: "album"',
  },
  {
    rule: "G-ROOT-13",
    root: "mutation_root",
    field: "delete_album",
    type: "album_mutation_response",
    args: { where: "album_bool_exp!" },
    description: 'delete data from the table: "album"',
  },
  {
    rule: "G-ROOT-14",
    root: "mutation_root",
    field: "delete_album_by_pk",
    type: "album",
    args: { id: "Int!" },
    description: 'delete single row from the table: "album"',
  },
];

for (const { rule, root, field, type, args, description } of FIELDS) {
  test(`${rule} the root field ${field} has its type, arguments and description`, () => {
    expect(admin.members(root)[field]).toBe(type);
    expect(admin.args(root, field)).toEqual(args);
    expect(admin.description(root, field)).toBe(description);
  });
}

test("G-ROOT-3 arguments of by_pk fields have the comments of their columns", async () => {
  await api.sql("comment on column song.id is 'Number of the song'");
  try {
    await api.reload();
    const schema = await fetchSchema(api);
    expect(schema.description("query_root", "song_by_pk", "id")).toBe("Number of the song");
  } finally {
    await api.sql("comment on column song.id is null");
    await api.reload();
  }
});

test("G-ROOT-4 functions are root fields", () => {
  expect(admin.members("query_root")).toMatchObject({
    search_albums: "[album!]!",
    search_albums_aggregate: "album_aggregate!",
    first_album: "album",
  });
  expect(admin.members("mutation_root")).toMatchObject({ add_artist: "[artist!]!", sell_album: "album" });
});

test("G-ROOT-5 list arguments have descriptions", () => {
  const descriptions = Object.fromEntries(
    Object.keys(LIST).map((name) => [name, admin.description("query_root", "album", name)]),
  );
  expect(descriptions).toEqual({
    distinct_on: "distinct select on columns",
    limit: "limit the number of rows returned",
    offset: "skip the first n rows. Use only with order_by",
    order_by: "sort the rows by one or more columns",
    where: "filter the rows returned",
  });
});

test("G-ROOT-8 arguments of writes have descriptions", () => {
  expect(admin.description("mutation_root", "insert_album", "objects")).toBe("the rows to be inserted");
  expect(admin.description("mutation_root", "insert_album_one", "object")).toBe("the row to be inserted");
  expect(admin.description("mutation_root", "insert_album", "on_conflict")).toBe("upsert condition");
  expect(admin.description("mutation_root", "update_album", "where")).toBe("filter the rows which have to be updated");
  expect(admin.description("mutation_root", "update_album_many", "updates")).toBe("updates to execute, in order");
  expect(admin.description("mutation_root", "delete_album", "where")).toBe("filter the rows which have to be deleted");
});

test("G-ROOT-15 operator arguments exist if their inputs have columns", () => {
  expect(Object.keys(admin.args("mutation_root", "update_profile"))).toEqual([
    "_append",
    "_delete_at_path",
    "_delete_elem",
    "_delete_key",
    "_inc",
    "_prepend",
    "_set",
    "where",
  ]);
  expect(Object.keys(admin.args("mutation_root", "update_genre"))).toEqual(["_set", "where"]);
  expect(admin.description("mutation_root", "update_album", "_set")).toBe(
    "sets the columns of the filtered rows to the given values",
  );
  expect(admin.description("mutation_root", "update_album", "_inc")).toBe(
    "increments the numeric columns with given value of the filtered values",
  );
  expect(admin.description("mutation_root", "update_profile", "_append")).toBe(
    admin.description("profile_append_input"),
  );
  expect(Object.keys(admin.args("mutation_root", "insert_album_title"))).toEqual(["objects"]);
});

gqlCases(api, [
  {
    title: "G-ROOT-1 a table field returns its rows",
    query: "{ team(order_by: {id: asc}) { name } }",
    data: { team: [{ name: "Reds" }, { name: "Blues" }, { name: "Greens" }] },
  },
  {
    title: "G-ROOT-2 an aggregate field returns aggregates and nodes",
    query: "{ team_aggregate { aggregate { count } nodes { id } } }",
    data: { team_aggregate: { aggregate: { count: 3 }, nodes: [{ id: 1 }, { id: 2 }, { id: 3 }] } },
  },
  {
    title: "G-ROOT-3 a by_pk field returns a row by its key",
    query: '{ hall_by_pk(city: "Oslo", number: 2) { name } }',
    data: { hall_by_pk: { name: "Small" } },
  },
  {
    title: "G-ROOT-6 a by_pk field without a matching row is null",
    query: "{ album_by_pk(id: 999) { id } }",
    data: { album_by_pk: null },
  },
  {
    title: "G-ROOT-6 a by_pk field with an invisible row is null",
    query: "{ album_by_pk(id: 1) { id } }",
    role: "music_artist",
    session: { "artist-id": "2" },
    data: { album_by_pk: null },
  },
  {
    title: "G-ROOT-7 null list arguments have no effect",
    query: "{ team(where: null, order_by: null, distinct_on: null, limit: null, offset: null) { id } }",
    data: { team: [{ id: 1 }, { id: 2 }, { id: 3 }] },
  },
]);

test("G-DOC-11 more root fields than a statement has columns are returned in their order", async () => {
  const generousApi = await startApi(forGraphql({ maxRootFields: 2000, maxAliases: 2000 }));
  const names = Array.from({ length: 1700 }, (_, i) => `f${i}`);
  const data = Object.fromEntries(names.map((name, i) => [name, i % 7 === 0 ? "query_root" : { id: (i % 3) + 1 }]));
  const query = `{ ${names.map((name, i) => `${name}: ${i % 7 === 0 ? "__typename" : `team_by_pk(id: ${(i % 3) + 1}) { id }`}`).join(" ")} }`;
  const answer = await generousApi.request("POST", "/v1/graphql", { headers: asAdmin(), body: { query } });
  expect(answer.text).toBe(JSON.stringify({ data }));
  await generousApi.close();
});
