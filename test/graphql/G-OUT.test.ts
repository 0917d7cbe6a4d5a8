import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);
const writer = await fetchSchema(api, "music_writer");

const AVERAGES = ["avg", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "variance"];

test("G-OUT-1 a row has its columns, relationships with their aggregates, and computed fields", () => {
  expect(admin.members("artist")).toEqual({
    albums: "[album!]!",
    albums_aggregate: "album_aggregate!",
    born: "date",
    country: "String",
    id: "Int!",
    name: "String!",
    stats: "jsonb",
  });
  expect(Object.keys(admin.members("person"))).toEqual(
    expect.arrayContaining(["person_title", "person_peers", "passport", "sheep"]),
  );
});

test("G-OUT-1 json and jsonb columns have an argument path", () => {
  expect(admin.args("artist", "stats")).toEqual({ path: "String" });
  expect(admin.args("profile", "raw")).toEqual({ path: "String" });
  expect(admin.description("artist", "stats", "path")).toBe("JSON select path");
  expect(admin.args("artist", "name")).toEqual({});
});

test("G-OUT-1 array relationships have the list arguments, and object relationships have none", () => {
  expect(admin.args("artist", "albums")).toEqual(admin.args("query_root", "album"));
  expect(admin.args("artist", "albums_aggregate")).toEqual(admin.args("query_root", "album"));
  expect(admin.args("album", "artist")).toEqual({});
});

test("G-OUT-2 T_aggregate has aggregate and nodes", () => {
  expect(admin.members("album_aggregate")).toEqual({ aggregate: "album_aggregate_fields", nodes: "[album!]!" });
  expect(admin.description("album_aggregate")).toBe('aggregated selection of "album"');
});

test("G-OUT-3 T_aggregate_fields has count and the aggregate functions", () => {
  expect(admin.members("album_aggregate_fields")).toEqual({
    count: "Int!",
    ...Object.fromEntries([...AVERAGES, "max", "min", "sum"].map((fn) => [fn, `album_${fn}_fields`])),
  });
  expect(admin.args("album_aggregate_fields", "count")).toEqual({
    columns: "[album_select_column!]",
    distinct: "Boolean",
  });
  expect(admin.description("album_aggregate_fields")).toBe('aggregate fields of "album"');
});

test("G-OUT-3 tables without numeric columns have no averages, and without comparable columns no max", async () => {
  expect(Object.keys(admin.members("blank_enum_aggregate_fields"))).toEqual(["count", "max", "min"]);
  await api.sql("create table only_flags (flag boolean)");
  try {
    await api.reload();
    expect(Object.keys((await fetchSchema(api)).members("only_flags_aggregate_fields"))).toEqual(["count"]);
  } finally {
    await api.sql("drop table only_flags");
    await api.reload();
  }
});

test("G-OUT-4 averages are Floats of the numeric columns", () => {
  for (const fn of AVERAGES) {
    expect(admin.members(`album_${fn}_fields`)).toEqual({
      artist_id: "Float",
      id: "Float",
      price: "Float",
      sold: "Float",
    });
    expect(admin.description(`album_${fn}_fields`)).toBe(`aggregate ${fn} on columns`);
  }
});

test("G-OUT-4 columns of aggregates have the column's comment", async () => {
  await api.sql("comment on column song.seconds is 'Play time'");
  try {
    await api.reload();
    const schema = await fetchSchema(api);
    expect(schema.description("song_avg_fields", "seconds")).toBe("Play time");
  } finally {
    await api.sql("comment on column song.seconds is null");
    await api.reload();
  }
});

test("G-OUT-5 sums have the type of their column", () => {
  expect(admin.members("album_sum_fields")).toEqual({ artist_id: "Int", id: "Int", price: "numeric", sold: "Int" });
  expect(admin.description("album_sum_fields")).toBe("aggregate sum on columns");
});

test("G-OUT-6 max and min have the comparable columns", () => {
  for (const fn of ["max", "min"]) {
    expect(admin.members(`album_${fn}_fields`)).toEqual({
      artist_id: "Int",
      id: "Int",
      price: "numeric",
      sold: "Int",
      tags: "[String!]",
      title: "String",
    });
    expect(admin.description(`album_${fn}_fields`)).toBe(`aggregate ${fn} on columns`);
  }
});

test("G-OUT-7 mutation responses have affected_rows and returning", () => {
  expect(admin.members("album_mutation_response")).toEqual({ affected_rows: "Int!", returning: "[album!]!" });
  expect(admin.description("album_mutation_response")).toBe('response of any mutation on the table "album"');
  expect(admin.description("album_mutation_response", "affected_rows")).toBe("number of rows affected by the mutation");
  expect(admin.description("album_mutation_response", "returning")).toBe("data from the rows affected by the mutation");
});

test("G-OUT-8 sums have the numeric columns", () => {
  expect(Object.keys(admin.members("specimen_sum_fields"))).toEqual([
    "c_float4",
    "c_float8",
    "c_int2",
    "c_int4",
    "c_int8",
    "c_money",
    "c_numeric",
    "id",
  ]);
});

test("G-OUT-9 G-OUT-9a max has the comparable columns", () => {
  const comparable = Object.keys(admin.members("specimen_max_fields"));
  expect(comparable).toEqual(
    expect.arrayContaining([
      "c_bpchar",
      "c_char",
      "c_citext",
      "c_date",
      "c_email",
      "c_float8",
      "c_int_list",
      "c_ltree",
      "c_money",
      "c_mood",
      "c_mood_list",
      "c_numeric",
      "c_text",
      "c_timestamp",
      "c_timestamptz",
      "c_timetz",
      "c_uuid",
      "c_varchar",
    ]),
  );
  const incomparable = [
    "c_bool",
    "c_json",
    "c_jsonb",
    "c_time",
    "c_interval",
    "c_bytea",
    "c_inet",
    "c_oid",
    "c_name",
    "c_xml",
    "c_int4range",
    "c_point",
    "c_hstore",
    "c_addr",
    "c_bit",
  ];
  expect(comparable.filter((name) => incomparable.includes(name))).toEqual([]);
});

test("G-OUT-10 scalar computed fields are in aggregates with their arguments, and not in aggregate orders", () => {
  expect(admin.members("person_max_fields")).toMatchObject({
    person_title: "String",
    person_score: "numeric",
    person_age_in: "Int",
  });
  expect(admin.members("person_avg_fields")).toMatchObject({ person_score: "numeric", person_age_in: "Int" });
  expect(admin.args("person_sum_fields", "person_age_in")).toEqual({ args: "person_age_in_person_args!" });
  expect(Object.keys(admin.members("person_max_fields"))).not.toContain("person_adult");
  expect(Object.keys(admin.members("person_max_order_by"))).not.toContain("person_title");
});

test("G-OUT-11 a role without selectable columns has no select_column", () => {
  expect(writer.has("artist_select_column")).toBe(false);
});
