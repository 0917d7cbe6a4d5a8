// @runs-also-on postgresql-15-postgis
import { expect, test } from "vitest";
import { capabilities, forGraphql, startApi } from "../support/api.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);
const specimen = admin.members("specimen");
const inputs = admin.members("specimen_insert_input");

/** Rule, column of `specimen`, its type; inputs have the same. */
const TYPES: readonly (readonly [rule: string, column: string, type: string])[] = [
  ["G-TYP-1", "c_int4", "Int"],
  ["G-TYP-2", "c_int2", "smallint"],
  ["G-TYP-3", "c_int8", "bigint"],
  ["G-TYP-4", "c_float4", "Float"],
  ["G-TYP-5", "c_float8", "float8"],
  ["G-TYP-6", "c_numeric", "numeric"],
  ["G-TYP-7", "c_money", "money"],
  ["G-TYP-8", "c_bool", "Boolean"],
  ["G-TYP-9", "c_text", "String"],
  ["G-TYP-9", "c_varchar", "String"],
  ["G-TYP-10", "c_bpchar", "bpchar"],
  ["G-TYP-10", "c_char", "bpchar"],
  ["G-TYP-11", "c_citext", "citext"],
  ["G-TYP-12", "c_date", "date"],
  ["G-TYP-13", "c_timestamp", "timestamp"],
  ["G-TYP-14", "c_timestamptz", "timestamptz"],
  ["G-TYP-15", "c_time", "time"],
  ["G-TYP-15", "c_timetz", "timetz"],
  ["G-TYP-16", "c_interval", "interval"],
  ["G-TYP-17", "c_uuid", "uuid"],
  ["G-TYP-18", "c_json", "json"],
  ["G-TYP-18", "c_jsonb", "jsonb"],
  ["G-TYP-19", "c_bytea", "bytea"],
  ["G-TYP-20", "c_inet", "inet"],
  ["G-TYP-20", "c_oid", "oid"],
  ["G-TYP-20", "c_name", "name"],
  ["G-TYP-20", "c_tsvector", "tsvector"],
  ["G-TYP-20", "c_int4range", "int4range"],
  ["G-TYP-20", "c_point", "point"],
  ["G-TYP-20", "c_hstore", "hstore"],
  ["G-TYP-20", "c_bit", "bit"],
  ["G-TYP-21", "c_ltree", "ltree"],
  ["G-TYP-21", "c_lquery", "lquery"],
  ["G-TYP-21", "c_ltxtquery", "ltxtquery"],
  ["G-TYP-24", "c_mood", "mood"],
  ["G-TYP-25", "c_email", "String"],
  ["G-TYP-26", "c_addr", "addr_scalar"],
  ["G-TYP-27", "c_int_list", "[Int!]"],
  ["G-TYP-27", "c_big_list", "[bigint!]"],
  ["G-TYP-27", "c_text_list", "[String!]"],
  ["G-TYP-27", "c_matrix", "[Int!]"],
  ["G-TYP-27", "c_addr_list", "[addr!]"],
  ["G-TYP-27", "c_mood_list", "[mood!]"],
];

for (const [rule, column, type] of TYPES) {
  test(`${rule} the column ${column} has the type ${type}`, () => {
    expect(specimen[column]).toBe(type);
    expect(inputs[column]).toBe(type);
  });
}

test("G-TYP-24 a native enum is a scalar with its name", () => {
  expect(admin.type("mood").kind).toBe("SCALAR");
});

test("G-TYP-26 composite arguments of functions are scalars", () => {
  expect(admin.members("typed_people_args")).toEqual({
    contact: "email",
    feeling: "mood",
    home: "addr_scalar",
    ids: "_int4",
  });
});

test("G-TYP-27 arrays are compared by the comparison type of their element", () => {
  expect(admin.members("specimen_bool_exp")).toMatchObject({
    c_int_list: "Int_array_comparison_exp",
    c_addr_list: "addr_array_comparison_exp",
    c_matrix: "Int_array_comparison_exp",
  });
  expect(admin.members("bigint_array_comparison_exp")).toEqual({
    _contained_in: "[bigint!]",
    _contains: "[bigint!]",
    _eq: "[bigint!]",
    _gt: "[bigint!]",
    _gte: "[bigint!]",
    _in: "[[bigint!]!]",
    _is_null: "Boolean",
    _lt: "[bigint!]",
    _lte: "[bigint!]",
    _neq: "[bigint!]",
    _nin: "[[bigint!]!]",
  });
});

test("G-TYP-1 the type ID is not used", () => {
  expect(admin.has("ID")).toBe(false);
});

test("G-TYP-40 scalars have no description", () => {
  expect(admin.names.filter((name) => admin.type(name).kind === "SCALAR" && admin.description(name) !== null)).toEqual(
    [],
  );
});

test("G-TYP-38 arrays can be opaque scalars", async () => {
  const opaqueApi = await startApi(forGraphql({ disablePostgresArrays: true }));
  try {
    const schema = await fetchSchema(opaqueApi);
    expect(schema.members("album").tags).toBe("_text");
    expect(schema.members("specimen")).toMatchObject({ c_big_list: "_int8", c_mood_list: "_mood" });
    expect(schema.members("album_bool_exp").tags).toBe("_text_comparison_exp");
  } finally {
    await opaqueApi.close();
  }
});

const atlas = capabilities.postgis
  ? await fetchSchema(await startApi(forGraphql({ dbSchemas: ["atlas"], dbExtraSearchPath: ["public", "gis"] })))
  : undefined;

test.skipIf(!capabilities.postgis)("G-TYP-22 geometry and geography have their scalars and comparisons", () => {
  expect(atlas?.members("atlas_spots")).toMatchObject({ at: "geometry", earth: "geography", shape: "geometry" });
  expect(atlas?.members("geometry_comparison_exp")).toMatchObject({
    _st_contains: "geometry",
    _st_d_within: "st_d_within_input",
    _st_intersects: "geometry",
    _cast: "geometry_cast_exp",
  });
  expect(atlas?.members("geography_comparison_exp")).toMatchObject({
    _st_intersects: "geography",
    _st_d_within: "st_d_within_geography_input",
  });
});

test.skipIf(!capabilities.raster)("G-TYP-23 raster has its scalar and comparison", () => {
  expect(Object.values(atlas?.members("atlas_tiles") ?? {})).toContain("raster");
  expect(Object.keys(atlas?.members("raster_comparison_exp") ?? {})).toEqual([
    "_eq",
    "_in",
    "_is_null",
    "_neq",
    "_nin",
    "_st_intersects_geom_nband",
    "_st_intersects_nband_geom",
    "_st_intersects_rast",
  ]);
});
