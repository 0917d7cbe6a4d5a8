import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);
const reader = await fetchSchema(api, "music_reader");

test("G-ENU-1 order_by has the directions and the positions of nulls", () => {
  expect(admin.description("order_by")).toBe("column ordering options");
  const descriptions = admin.values("order_by").map((name) => [name, admin.description("order_by", name)]);
  expect(descriptions).toEqual([
    ["asc", "in ascending order, nulls last"],
    ["asc_nulls_first", "in ascending order, nulls first"],
    ["asc_nulls_last", "in ascending order, nulls last"],
    ["desc", "in descending order, nulls first"],
    ["desc_nulls_first", "in descending order, nulls first"],
    ["desc_nulls_last", "in descending order, nulls last"],
  ]);
});

test("G-ENU-2 the select columns are those that the role may read", () => {
  expect(admin.values("artist_select_column")).toEqual(["born", "country", "id", "name", "stats"]);
  expect(reader.values("artist_select_column")).toEqual(["country", "id", "name"]);
  expect(admin.description("artist_select_column")).toBe('select columns of table "artist"');
  expect(admin.description("artist_select_column", "born")).toBe("column name");
});

test("G-ENU-3 the update columns are those that the role may change", async () => {
  expect(admin.values("artist_update_column")).toEqual(["born", "country", "id", "name", "stats"]);
  expect(admin.description("artist_update_column")).toBe('update columns of table "artist"');
  expect(admin.description("artist_update_column", "born")).toBe("column name");
});

test("G-ENU-3 an enum of update columns without columns has a placeholder", async () => {
  await api.sql("grant insert (name) on artist to music_reader");
  try {
    await api.reload();
    const schema = await fetchSchema(api, "music_reader");
    expect(schema.values("artist_update_column")).toEqual(["_PLACEHOLDER"]);
    expect(schema.description("artist_update_column", "_PLACEHOLDER")).toBe("placeholder (do not use)");
    expect(schema.description("artist_update_column")).toBe(
      'placeholder for update columns of table "artist" (current role has no relevant permissions)',
    );
  } finally {
    await api.sql("revoke insert (name) on artist from music_reader");
    await api.reload();
  }
});

test("G-ENU-4 constraints have their SQL names and descriptions", () => {
  expect(admin.values("artist_constraint")).toEqual(["artist_name_key", "artist_pkey"]);
  expect(admin.description("artist_constraint")).toBe('unique or primary key constraints on table "artist"');
  expect(admin.description("artist_constraint", "artist_pkey")).toBe(
    'unique or primary key constraint on columns "id"',
  );
  expect(admin.description("seat_constraint", "seat_row_number_key")).toBe(
    'unique or primary key constraint on columns "row", "number"',
  );
});

test("G-ENU-6 the columns of aggregate predicates are grouped by type", () => {
  const getEnumName = (fn: string) => `take_select_column_take_aggregate_bool_exp_${fn}_arguments_columns`;
  for (const fn of ["bool_and", "bool_or"]) expect(admin.values(getEnumName(fn))).toEqual(["kept"]);
  for (const fn of ["avg", "max", "min", "sum", "stddev_samp", "var_samp", "corr", "covar_samp"])
    expect(admin.values(getEnumName(fn))).toEqual(["length", "tempo"]);
  expect(admin.description(getEnumName("avg"))).toBe(
    'select "take_aggregate_bool_exp_avg_arguments_columns" columns of table "take"',
  );
  expect(admin.description(getEnumName("avg"), "tempo")).toBe("column name");
});
