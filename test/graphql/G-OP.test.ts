import { expect, test } from "vitest";
import { capabilities } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const buildQuery = (table: string, condition: string) =>
  `{ ${table}(where: ${condition}, order_by: {id: asc}) { id } }`;
const rows = (table: string, ...list: number[]) => ({ [table]: list.map((id) => ({ id })) });
const buildCase = (rule: string, table: string, condition: string, ...list: number[]) => ({
  title: `${rule} the filter ${condition} on ${table} selects its rows`,
  query: buildQuery(table, condition),
  data: rows(table, ...list),
});

gqlCases(api, [
  buildCase("G-OP-1", "album", '{title: {_eq: "Debut"}}', 3),
  buildCase("G-OP-1", "album", '{title: {_neq: "Debut"}}', 1, 2, 4, 5),
  buildCase("G-OP-2", "album", "{price: {_gt: 12.5}}", 2, 4),
  buildCase("G-OP-2", "album", "{price: {_gte: 12.5}}", 1, 2, 4),
  buildCase("G-OP-2", "album", "{price: {_lt: 12.5}}", 3),
  buildCase("G-OP-2", "album", "{price: {_lte: 12.5}}", 1, 3),
  buildCase("G-OP-3", "album", "{sold: {_in: [3, 10]}}", 1, 2),
  buildCase("G-OP-3", "album", "{sold: {_nin: [3, 10]}}", 4, 5),
  buildCase("G-OP-4", "album", "{price: {_is_null: true}}", 5),
  buildCase("G-OP-4", "album", "{price: {_is_null: false}}", 1, 2, 3, 4),
  buildCase("G-OP-5", "album", '{title: {_like: "%ut%"}}', 3, 5),
  buildCase("G-OP-5", "album", '{title: {_nlike: "%ut%"}}', 1, 2, 4),
  buildCase("G-OP-6", "album", '{title: {_ilike: "a%"}}', 1),
  buildCase("G-OP-6", "album", '{title: {_nilike: "%A%"}}', 3),
  buildCase("G-OP-7", "album", '{title: {_similar: "(D|A)%"}}', 1, 3),
  buildCase("G-OP-7", "album", '{title: {_nsimilar: "(D|A)%"}}', 2, 4, 5),
  buildCase("G-OP-8", "album", '{title: {_regex: "^[DA]"}}', 1, 3),
  buildCase("G-OP-8", "album", '{title: {_nregex: "^[DA]"}}', 2, 4, 5),
  buildCase("G-OP-9", "album", '{title: {_iregex: "^[da]"}}', 1, 3),
  buildCase("G-OP-9", "album", '{title: {_niregex: "^[da]"}}', 2, 4, 5),
  buildCase("G-OP-5", "category", '{title: {_like: "t%"}}', 1),
  buildCase("G-OP-5", "specimen", '{c_bpchar: {_like: "ab%"}}', 1),
  buildCase("G-OP-10", "profile", '{doc: {_contains: {tags: ["x"]}}}', 1),
  buildCase("G-OP-11", "profile", "{doc: {_contained_in: {b: true, c: 1}}}", 3),
  buildCase("G-OP-12", "profile", '{doc: {_has_key: "two"}}', 2),
  buildCase("G-OP-13", "profile", '{doc: {_has_keys_any: ["a", "b"]}}', 1, 3),
  buildCase("G-OP-14", "profile", '{doc: {_has_keys_all: ["a", "deep"]}}', 1),
  buildCase("G-OP-15", "profile", '{doc: {_jsonb_path_exists: "$.deep.n.m"}}', 1),
  buildCase("G-OP-16", "profile", '{doc: {_jsonb_path_match: "$.deep.n.m > 4"}}', 1),
  buildCase("G-OP-17", "profile", '{doc: {_cast: {String: {_like: "%three%"}}}}', 2),
  buildCase("G-OP-18", "album", '{tags: {_contains: ["rock"]}}', 1, 5),
  buildCase("G-OP-18", "album", '{tags: {_contained_in: ["rock", "x"]}}', 4, 5),
  buildCase("G-OP-18", "specimen", "{c_int_list: {_contains: [2]}}", 1),
  buildCase("G-OP-19", "category", '{path: {_ancestor: "top.science.physics.quantum"}}', 1, 2, 3),
  buildCase("G-OP-19", "category", '{path: {_ancestor_any: ["top.science", "other"]}}', 1, 2),
  buildCase("G-OP-20", "category", '{path: {_descendant: "top.science"}}', 2, 3),
  buildCase("G-OP-20", "category", '{path: {_descendant_any: ["top.art", "top.science.physics"]}}', 3, 4),
  buildCase("G-OP-21", "category", '{path: {_matches: "*.physics"}}', 3),
  buildCase("G-OP-21", "category", '{path: {_matches_any: ["*.art", "top"]}}', 1, 4),
  buildCase("G-OP-22", "category", '{path: {_matches_fulltext: "science & !physics"}}', 2),
  buildCase("G-OP-32", "album", "{price: {_in: []}}"),
  buildCase("G-OP-32", "album", "{price: {_nin: []}}", 1, 2, 3, 4, 5),
  buildCase("G-OP-32", "album", "{id: {_in: 3}}", 3),
  {
    title: "G-OP-32 a null element is rejected at its index",
    query: buildQuery("album", "{id: {_in: [1, null]}}"),
    error: {
      message: "unexpected null value for type 'Int'",
      path: "$.selectionSet.album.args.where.id._in[1]",
      code: "validation-failed",
    },
  },
  {
    title: "G-OP-32 a null element in a variable is rejected at its index",
    query: "query ($l: [Int!]) { album(where: {id: {_in: $l}}) { id } }",
    variables: { l: [1, 2, null] },
    error: { message: "unexpected null value for type 'Int'", path: "$.selectionSet.album.args.where.id._in[2]" },
  },
  buildCase("G-OP-33", "album", "{price: {_eq: 20}}", 2),
  buildCase("G-OP-33", "album", "{price: {_neq: 20}}", 1, 3, 4),
  buildCase("G-OP-33", "album", "{price: {_nin: [20]}}", 1, 3, 4),
  {
    title: "G-OP-34 json columns have no equality operator in the database",
    query: buildQuery("profile", "{raw: {_eq: {a: 1}}}"),
    error: { message: "database query error", code: "unexpected", path: "$" },
  },
  buildCase("G-OP-34", "profile", "{raw: {_is_null: true}}", 2),
  {
    title: "G-OP-34 other scalars have only the common operators",
    query: buildQuery("specimen", '{c_uuid: {_like: "a"}}'),
    error: {
      message: "field '_like' not found in type: 'uuid_comparison_exp'",
      path: "$.selectionSet.specimen.args.where.c_uuid._like",
    },
  },
  buildCase("G-OP-34", "album", "{live: {_lt: true}}", 2),
  buildCase("G-OP-35", "person", '{mood: {_eq: "happy"}}', 1),
  buildCase("G-OP-35", "person", "{mood: {_in: [happy, ok]}}", 1, 2),
  buildCase("G-OP-36", "specimen", "{c_int8: {_eq: 9223372036854775807}}", 1),
  buildCase("G-OP-36", "specimen", '{c_timestamptz: {_eq: "2020-02-29T11:00:00+01:00"}}', 1),
  buildCase("G-OP-36", "specimen", '{c_email: {_eq: "jo@work.example"}}', 1),
  buildCase("G-OP-36", "specimen", '{c_bpchar: {_eq: "ab"}}', 1),
  buildCase("G-OP-36", "specimen", '{c_bit: {_eq: "101"}}', 1),
  buildCase("G-OP-36", "specimen", '{c_varchar: {_in: ["varchar", "a,b", "c\\"d", "{}"]}}', 1),
  buildCase("G-OP-36", "specimen", '{c_text_list: {_in: [["a", "b c"], []]}}', 1),
  buildCase("G-OP-36", "specimen", '{c_jsonb: {_in: [{a: {b: [1, {c: "d"}]}, _x: 1}, {a: 1}]}}'),
  buildCase("G-OP-36", "specimen", "{c_mood: {_in: [happy]}}", 1),
  buildCase("G-OP-36", "album", `{title: {_eq: "'; drop table album; --"}}`),
  {
    title: "G-OP-36 the database rejects an invalid value",
    query: buildQuery("specimen", '{c_uuid: {_eq: "x"}}'),
    error: { message: 'invalid input syntax for type uuid: "x"', code: "data-exception", path: "$" },
  },
  buildCase("G-OP-2", "specimen", '{c_date: {_gte: "2020-02-29"}}', 1),
]);

test("G-OP-36 values of any number share one statement", async () => {
  const query =
    "query ($ids: [Int!]!, $low: numeric) { album(where: {id: {_in: $ids}, price: {_gt: $low}}, order_by: {id: asc}) { id } }";
  expect(await api.gql(query, { ids: [1, 2, 3], low: 10 })).toEqual({ data: { album: [{ id: 1 }, { id: 2 }] } });
  expect(await api.gql(query, { ids: [4], low: 24.99 })).toEqual({ data: { album: [{ id: 4 }] } });
  expect(await api.gql(query, { ids: [], low: 0 })).toEqual({ data: { album: [] } });
});

const { postgis, raster } = capabilities;
const atlasApi = postgis ? await gqlApi({ dbSchemas: ["atlas"], dbExtraSearchPath: ["public", "gis"] }) : api;
const spots = (rule: string, condition: string, ...list: number[]) => ({
  ...buildCase(rule, "atlas_spots", condition, ...list),
  when: postgis,
});
const square = "{type: Polygon, coordinates: [[[10, 59], [12, 59], [12, 61], [10, 61], [10, 59]]]}";

gqlCases(atlasApi, [
  spots("G-OP-23", "{area: {_st_contains: {type: Point, coordinates: [11, 60]}}}", 1),
  spots("G-OP-23b", `{area: {_st_equals: ${square}}}`, 1),
  spots(
    "G-OP-23c",
    "{area: {_st_overlaps: {type: Polygon, coordinates: [[[11, 60], [13, 60], [13, 62], [11, 62], [11, 60]]]}}}",
    1,
  ),
  spots("G-OP-23d", "{area: {_st_touches: {type: Point, coordinates: [10, 60]}}}", 1),
  spots("G-OP-23e", `{at: {_st_within: ${square}}}`, 1),
  spots("G-OP-23a", "{area: {_st_crosses: {type: LineString, coordinates: [[9, 60], [11, 60]]}}}", 1),
  spots("G-OP-24", `{at: {_st_intersects: ${square}}}`, 1),
  spots("G-OP-24", `{earth: {_st_intersects: ${square}}}`, 1),
  spots("G-OP-25", `{at: {_st_3d_intersects: ${square}}}`, 1),
  spots("G-OP-26", "{at: {_st_d_within: {distance: 0.5, from: {type: Point, coordinates: [-3, 56]}}}}", 2),
  spots("G-OP-26", "{at: {_st_3d_d_within: {distance: 1, from: {type: Point, coordinates: [-3, 56, 0]}}}}", 2),
  spots("G-OP-27", "{earth: {_st_d_within: {distance: 20000, from: {type: Point, coordinates: [-3, 56]}}}}", 2),
  spots(
    "G-OP-27",
    "{earth: {_st_d_within: {distance: 20000, from: {type: Point, coordinates: [-3, 56]}, use_spheroid: false}}}",
    2,
  ),
  spots(
    "G-OP-28",
    "{at: {_cast: {geography: {_st_d_within: {distance: 20000, from: {type: Point, coordinates: [-3, 56]}}}}}}",
    2,
  ),
  spots("G-OP-28", `{earth: {_cast: {geometry: {_st_within: ${square}}}}}`, 1),
  spots("G-OP-3", "{at: {_in: [{type: Point, coordinates: [10.75, 59.91]}]}}", 1),
  spots("G-OP-1", "{at: {_eq: {type: Point, coordinates: [10.75, 59.91]}}}", 1),
]);

const [tile] = raster ? await atlasApi.sql("select gis.st_ashexwkb(rast) as hex from atlas.tiles where id = 1") : [];
const plain = '{type: "name", properties: {name: "EPSG:0"}}';
const tiles = (rule: string, condition: string, ...list: number[]) => ({
  ...buildCase(rule, "atlas_tiles", condition, ...list),
  title: `${rule} the raster filter ${condition.slice(0, 60)} selects its rows`,
  when: raster,
});

gqlCases(atlasApi, [
  tiles("G-OP-29", `{rast: {_st_intersects_rast: "${tile?.["hex"]}"}}`, 1),
  tiles(
    "G-OP-30",
    `{rast: {_st_intersects_nband_geom: {nband: 1, geommin: {type: Point, coordinates: [11, 11], crs: ${plain}}}}}`,
    2,
  ),
  tiles(
    "G-OP-31",
    `{rast: {_st_intersects_geom_nband: {geommin: {type: Point, coordinates: [1, 1], crs: ${plain}}}}}`,
    1,
  ),
  tiles(
    "G-OP-31",
    `{rast: {_st_intersects_geom_nband: {nband: 1, geommin: {type: Point, coordinates: [5, 5], crs: ${plain}}}}}`,
  ),
]);
