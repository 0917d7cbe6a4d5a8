import { expect, test } from "vitest";
import { asAdmin, capabilities } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

/** Stores the literal in a column of row 2 and returns the bytes that are read back. */
const storeCase = (rule: string, column: string, literal: string, answer = literal) => ({
  title: `${rule} the literal ${literal} is stored in ${column} and returned`,
  query: `mutation { update_specimen_by_pk(pk_columns: {id: 2}, _set: {${column}: ${literal}}) { ${column} } }`,
  bytes: `{"data":{"update_specimen_by_pk":{"${column}":${answer}}}}`,
});
const read = (rule: string, column: string, answer: string) => ({
  title: `${rule} the value of ${column} is returned in its format`,
  query: `{ specimen_by_pk(id: 1) { ${column} } }`,
  bytes: `{"data":{"specimen_by_pk":{"${column}":${answer}}}}`,
});

gqlCases(api, [
  storeCase("G-TYP-1", "c_int4", "-2147483648"),
  storeCase("G-TYP-1", "c_int4", '"12"', "12"),
  storeCase("G-TYP-2", "c_int2", "-32768"),
  storeCase("G-TYP-3", "c_int8", "9223372036854775807"),
  storeCase("G-TYP-3", "c_int8", '"-9223372036854775808"', "-9223372036854775808"),
  storeCase("G-TYP-4", "c_float4", "1.25"),
  storeCase("G-TYP-4", "c_float4", '"2.5"', "2.5"),
  storeCase("G-TYP-5", "c_float8", "1e300", "1e+300"),
  storeCase("G-TYP-5", "c_float8", '"NaN"'),
  storeCase("G-TYP-5", "c_float8", '"-Infinity"'),
  storeCase("G-TYP-6", "c_numeric", "12345678901234567890.12345678901234567890"),
  storeCase("G-TYP-6", "c_numeric", "1.50"),
  storeCase("G-TYP-6", "c_numeric", "-1E-30", "-0.000000000000000000000000000001"),
  storeCase("G-TYP-6", "c_numeric", '"NaN"'),
  storeCase("G-TYP-7", "c_money", "1234.5", '"$1,234.50"'),
  storeCase("G-TYP-7", "c_money", "-2E-2", '"-$0.02"'),
  storeCase("G-TYP-7", "c_money", "0.005", '"$0.01"'),
  storeCase("G-TYP-7", "c_money", '"$7.10"'),
  storeCase("G-TYP-8", "c_bool", "true"),
  storeCase("G-TYP-8", "c_bool", '"f"', "false"),
  storeCase("G-TYP-9", "c_text", '"a \\"b\\" \\\\ c\\n"'),
  storeCase("G-TYP-9", "c_varchar", '"ünï"'),
  storeCase("G-TYP-10", "c_bpchar", '"ab"', '"ab   "'),
  storeCase("G-TYP-10", "c_char", '"x"'),
  storeCase("G-TYP-11", "c_citext", '"MiXed"'),
  storeCase("G-TYP-12", "c_date", '"2020-02-29"'),
  storeCase("G-TYP-12", "c_date", '"infinity"'),
  storeCase("G-TYP-13", "c_timestamp", '"2020-02-29T10:00:00.5"'),
  storeCase("G-TYP-13", "c_timestamp", '"2020-02-29 10:00:00"', '"2020-02-29T10:00:00"'),
  storeCase("G-TYP-15", "c_time", '"10:00:00"'),
  storeCase("G-TYP-15", "c_timetz", '"10:00:00+02"'),
  storeCase("G-TYP-16", "c_interval", '"1 day 2 hours"', '"1 day 02:00:00"'),
  storeCase("G-TYP-17", "c_uuid", '"3F2504E0-4F89-41D3-9A0C-0305E82C3301"', '"3f2504e0-4f89-41d3-9a0c-0305e82c3301"'),
  read("G-TYP-18", "c_json", '{"b":1, "a" : 2}'),
  storeCase(
    "G-TYP-18",
    "c_jsonb",
    "{a: [1.50, 9007199254740993, true, null]}",
    '{"a": [1.50, 9007199254740993, true, null]}',
  ),
  storeCase("G-TYP-19", "c_bytea", '"\\\\xDEAD"', '"\\\\xdead"'),
  read("G-TYP-20", "c_oid", '"42"'),
  storeCase("G-TYP-20", "c_inet", '"10.0.0.2"'),
  storeCase("G-TYP-20", "c_xml", '"<a>b</a>"'),
  storeCase("G-TYP-20", "c_int4range", '"[1,3]"', '"[1,4)"'),
  storeCase("G-TYP-20", "c_bit", '"011"'),
  storeCase("G-TYP-20", "c_varbit", '"0110"'),
  storeCase("G-TYP-20", "c_point", '"(1,2)"'),
  storeCase("G-TYP-20", "c_hstore", '"a=>1"', '{"a": "1"}'),
  storeCase("G-TYP-21", "c_ltree", '"top.art"'),
  storeCase("G-TYP-21", "c_lquery", '"*.art{1,}"'),
  storeCase("G-TYP-24", "c_mood", '"ok"'),
  storeCase("G-TYP-24", "c_mood", "happy", '"happy"'),
  storeCase("G-TYP-25", "c_email", '"me@home.example"'),
  {
    ...storeCase("G-TYP-25", "c_email", '"nobody"'),
    title: "G-TYP-25 a value that violates the check of its domain is rejected",
    bytes: undefined,
    error: {
      message: expect.stringContaining("Check constraint violation. value for domain"),
      code: "permission-error",
    },
  },
  storeCase("G-TYP-26", "c_addr", '"(Side,\\"New Town\\")"', '{"street":"Side","city":"New Town"}'),
  storeCase("G-TYP-27", "c_int_list", "[3, -1, null]", "[3,-1,null]"),
  storeCase("G-TYP-27", "c_big_list", "[9223372036854775807]"),
  storeCase(
    "G-TYP-27",
    "c_text_list",
    '["a,b", "{}", "\\"", "\\\\", "", "NULL", null]',
    '["a,b","{}","\\"","\\\\","","NULL",null]',
  ),
  storeCase("G-TYP-27", "c_addr_list", '["(Main,Oslo)"]', '[{"street":"Main","city":"Oslo"}]'),
  storeCase("G-TYP-27", "c_date_list", '["2020-01-01"]'),
  storeCase("G-TYP-27", "c_mood_list", '[sad, "ok"]', '["sad","ok"]'),
  read("G-TYP-29", "c_int8", "9223372036854775807"),
  read("G-TYP-29", "c_numeric", "12.3400"),
  {
    title: "G-TYP-31 numbers that JSON does not have are returned as strings",
    query: "{ specimen_by_pk(id: 2) { c_float4 c_float8 c_numeric } }",
    bytes: '{"data":{"specimen_by_pk":{"c_float4":"NaN","c_float8":"Infinity","c_numeric":"NaN"}}}',
  },
  {
    title: "G-TYP-32 the database rejects an invalid string",
    query: 'mutation { update_specimen(where: {}, _set: {c_int4: "x"}) { affected_rows } }',
    error: { message: 'invalid input syntax for type integer: "x"', code: "data-exception", path: "$" },
  },
  {
    title: "G-TYP-32 G-TYP-32a a literal is an integer if its value is integral",
    query:
      "mutation { update_specimen_by_pk(pk_columns: {id: 1}, _set: {c_int4: 3.0, c_int8: 2e3, c_int2: -7.00}) { c_int4 c_int8 c_int2 } }",
    data: { update_specimen_by_pk: { c_int4: 3, c_int8: 2000, c_int2: -7 } },
  },
  storeCase("G-TYP-33", "c_jsonb", '"{}"'),
  storeCase("G-TYP-33", "c_jsonb", "{a: red, b: [x, {c: 1}]}", '{"a": "red", "b": ["x", {"c": 1}]}'),
  storeCase("G-TYP-33", "c_jsonb", "red", '"red"'),
  storeCase("G-TYP-33", "c_jsonb", "1.0"),
  storeCase("G-TYP-33", "c_jsonb", "null"),
  storeCase(
    "G-TYP-33",
    "c_jsonb_list",
    '[{a: 1}, [2, 3], "{\\"b\\": 2}", "[4]", "{no", 5, true]',
    '[{"a": 1},[2, 3],{"b": 2},[4],"{no",5,true]',
  ),
  {
    title: "G-TYP-33 JSON values may contain variables or be one",
    query:
      "mutation ($v: Int, $j: jsonb, $k: json) { update_specimen_by_pk(pk_columns: {id: 2}, _set: {c_jsonb: {v: $v, j: $j, l: [$v]}, c_json: $k}) { c_jsonb c_json } }",
    variables: { v: 3, j: { x: [1] }, k: "text" },
    data: { update_specimen_by_pk: { c_jsonb: { v: 3, j: { x: [1] }, l: [3] }, c_json: "text" } },
  },
  ...['"a..b"', '"."', '".a"', "3", "{}"].map((literal) => ({
    title: `G-TYP-36 the ltree path ${literal} is rejected`,
    query: `{ category(where: {path: {_eq: ${literal}}}) { id } }`,
    error: {
      message: "Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3",
      path: "$.selectionSet.category.args.where.path._eq",
      code: "parse-failed",
    },
  })),
  storeCase("G-TYP-37", "c_text_list", '"{a,b}"', '["a","b"]'),
  storeCase("G-TYP-37", "c_matrix", '"{{5,6},{7,8}}"', "[[5,6],[7,8]]"),
  read("G-TYP-37", "c_matrix", "[[1,2],[3,4]]"),
  read("G-TYP-37", "c_int_list", "[1,2,null]"),
  {
    title: "G-TYP-37 a single value for an array column is rejected",
    query: "mutation { update_specimen(where: {}, _set: {c_int_list: 3}) { affected_rows } }",
    error: {
      message: "parsing [] failed, expected Array, but encountered Number",
      path: "$.selectionSet.update_specimen.args._set.c_int_list",
      code: "parse-failed",
    },
  },
  {
    title: "G-TYP-39 an error in a list has the path of the value",
    query: "mutation { update_specimen(where: {}, _set: {c_int_list: [1, true]}) { affected_rows } }",
    error: {
      message: "parsing Integer expected for input type: PGInteger failed, expected Number, but encountered Boolean",
      path: "$.selectionSet.update_specimen.args._set.c_int_list",
      code: "parse-failed",
    },
  },
  {
    title: "G-TYP-14 timestamptz values have the time zone of the session",
    query: '{ specimen(where: {c_timestamptz: {_eq: "2020-02-29T12:00:00+02:00"}}) { c_timestamptz } }',
    bytes: '{"data":{"specimen":[{"c_timestamptz":"2020-02-29T10:00:00+00:00"}]}}',
  },
]);

const send = async (body: string) =>
  (await api.post("/v1/graphql", { headers: { ...asAdmin(), "content-type": "application/json" }, body })).text;

test("G-TYP-29 numbers in variables keep every digit", async () => {
  const query =
    "mutation ($set: specimen_set_input, $j: jsonb) { update_specimen_by_pk(pk_columns: {id: 2}, _set: $set, _append: {}) { c_int8 c_numeric c_money c_jsonb c_big_list } insert_profile_one(object: {id: 9, doc: $j}) { doc } }";
  const variables =
    '{"set": {"c_int8": 9223372036854775807, "c_numeric": 0.12345678901234567890, "c_money": 1.005, "c_jsonb": {"n": [1.10, 12345678901234567890]}, "c_big_list": [9007199254740993]}, "j": 1.000}';
  expect(await send(`{"query": ${JSON.stringify(query)}, "variables": ${variables}}`)).toBe(
    '{"data":{"update_specimen_by_pk":{"c_int8":9223372036854775807,"c_numeric":0.12345678901234567890,"c_money":"$1.01","c_jsonb":{"n": [1.10, 12345678901234567890]},"c_big_list":[9007199254740993]},"insert_profile_one":{"doc":1.000}}}',
  );
});

test("G-TYP-29 a number below a millionth is kept as written", async () => {
  const query =
    "mutation ($set: specimen_set_input) { update_specimen_by_pk(pk_columns: {id: 2}, _set: $set) { c_json } }";
  for (const number of ["0.0000001", "0.000001", "-0.000000012"])
    expect(await send(`{"query": ${JSON.stringify(query)}, "variables": {"set": {"c_json": ${number}}}}`)).toBe(
      `{"data":{"update_specimen_by_pk":{"c_json":${number}}}}`,
    );
});

test("G-TYP-3 a number just beyond bigint is rejected, also from JSON", async () => {
  const query = "query ($v: bigint) { specimen(where: {c_int8: {_eq: $v}}) { id } }";
  const answer = JSON.parse(await send(`{"query": ${JSON.stringify(query)}, "variables": {"v": 9223372036854775808}}`));
  expect(answer.errors[0].message).toBe(
    "The value 9.223372036854775808e18 lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?",
  );
});

const stringifyingApi = await gqlApi({ stringifyNumericTypes: true });

gqlCases(stringifyingApi, [
  {
    title: "G-TYP-30 G-CON-4 bigint, numeric, float8 and money are strings with the setting",
    query: "{ specimen_by_pk(id: 1) { c_int4 c_int8 c_float4 c_float8 c_numeric c_money } }",
    bytes:
      '{"data":{"specimen_by_pk":{"c_int4":2147483647,"c_int8":"9223372036854775807","c_float4":1.5,"c_float8":"2.25","c_numeric":"12.3400","c_money":"$1,234.50"}}}',
  },
  {
    title: "G-TYP-30 G-CON-4 G-TYP-30a aggregates over numeric columns are strings with the setting",
    query:
      "{ album_aggregate { aggregate { count avg { price sold } sum { price sold } max { price } stddev { price } } } }",
    bytes:
      '{"data":{"album_aggregate":{"aggregate":{"count":5,"avg":{"price":"16.8725000000000000","sold":6.7500000000000000},"sum":{"price":"67.49","sold":27},"max":{"price":"25.00"},"stddev":{"price":"6.8877929459781721"}}}}}',
  },
  {
    title: "G-TYP-30 G-TYP-30a returning and computed fields have strings for numeric values with the setting",
    query:
      'mutation { update_album(where: {id: {_eq: 1}}, _inc: {price: 1}) { affected_rows returning { price } } insert_person_one(object: {id: 50, name: "x"}) { person_score } }',
    bytes:
      '{"data":{"update_album":{"affected_rows":1,"returning":[{"price":"13.50"}]},"insert_person_one":{"person_score":"75.00"}}}',
  },
  {
    title: "G-TYP-30 NULL stays null with the setting",
    query: "{ album_by_pk(id: 5) { price } }",
    bytes: '{"data":{"album_by_pk":{"price":null}}}',
  },
]);

const opaqueApi = await gqlApi({ disablePostgresArrays: true });

gqlCases(opaqueApi, [
  {
    title: "G-TYP-38 arrays as opaque scalars accept array literals",
    query: 'mutation { update_album_by_pk(pk_columns: {id: 1}, _set: {tags: "{a,b}"}) { tags } }',
    data: { update_album_by_pk: { tags: ["a", "b"] } },
  },
]);

const { postgis, raster } = capabilities;
const atlasApi = postgis ? await gqlApi({ dbSchemas: ["atlas"], dbExtraSearchPath: ["public", "gis"] }) : api;

const geo = (literal: string, message: string) => ({
  title: `G-TYP-34 the geometry ${literal} is rejected`,
  when: postgis,
  query: `{ atlas_spots(where: {shape: {_eq: ${literal}}}) { id } }`,
  error: { message, path: "$.selectionSet.atlas_spots.args.where.shape._eq", code: "parse-failed" },
});
const crs = { type: "name", properties: { name: "urn:ogc:def:crs:EPSG::4326" } };

gqlCases(atlasApi, [
  {
    title: "G-TYP-22 G-TYP-34 geometries are GeoJSON in responses",
    when: postgis,
    query: "{ atlas_spots_by_pk(id: 1) { at track earth shape } }",
    data: {
      atlas_spots_by_pk: {
        at: { type: "Point", crs, coordinates: [10.75, 59.91] },
        track: {
          type: "LineString",
          coordinates: [
            [0, 0],
            [2, 2],
          ],
        },
        earth: { type: "Point", crs, coordinates: [10.75, 59.91] },
        shape: {
          type: "GeometryCollection",
          geometries: [
            { type: "Point", coordinates: [1, 2] },
            {
              type: "LineString",
              coordinates: [
                [0, 0],
                [1, 1],
              ],
            },
          ],
        },
      },
    },
  },
  {
    title: "G-TYP-34 G-TYP-34a geometries are GeoJSON in inputs",
    when: postgis,
    query: `mutation ($at: geometry) { insert_atlas_spots(objects: [{id: 10, name: "a", at: $at, track: {type: "LineString", coordinates: [[0, 0], [1, 1]], crs: {type: "name", properties: {name: "EPSG:0"}}}, earth: {type: "Point", coordinates: [1, 2]}}, {id: 11, name: "b"}]) { returning { at earth name } }
      update_atlas_spots(where: {id: {_eq: 2}}, _set: {at: $at, earth: "{\\"type\\": \\"Point\\", \\"coordinates\\": [3, 4]}"}) { returning { at earth } } }`,
    variables: { at: { type: "Point", coordinates: [5, 6.5] } },
    data: {
      insert_atlas_spots: {
        returning: [
          {
            at: { type: "Point", crs, coordinates: [5, 6.5] },
            earth: { type: "Point", crs, coordinates: [1, 2] },
            name: "a",
          },
          { at: null, earth: null, name: "b" },
        ],
      },
      update_atlas_spots: {
        returning: [
          { at: { type: "Point", crs, coordinates: [5, 6.5] }, earth: { type: "Point", crs, coordinates: [3, 4] } },
        ],
      },
    },
  },
  {
    title: "G-TYP-34 nested inserts and function arguments accept GeoJSON",
    when: postgis,
    query: `mutation { insert_atlas_spots_one(object: {id: 12, name: "c", at: {type: "Point", coordinates: [7, 8]}, spot_names: {data: [{id: 9, name: "n"}]}}) { at spot_names { name } } }`,
    data: { insert_atlas_spots_one: { at: { type: "Point", crs, coordinates: [7, 8] }, spot_names: [{ name: "n" }] } },
  },
  {
    title: "G-TYP-34 a function's argument accepts GeoJSON",
    when: postgis,
    query: "{ atlas_spots_near(args: {place: {type: Point, coordinates: [-3, 56]}, distance: 0.5}) { name } }",
    data: { atlas_spots_near: [{ name: "Leith" }] },
  },
  geo("{type: Point, coordinates: [1]}", "A Position needs at least 2 elements"),
  geo("{type: LineString, coordinates: [[1, 2]]}", "A LineString needs at least 2 Positions"),
  geo("{type: Polygon, coordinates: [[[1, 2], [3, 4], [1, 2]]]}", "A LinearRing needs at least 4 Positions"),
  geo(
    "{type: Polygon, coordinates: [[[1, 2], [3, 4], [5, 6], [7, 8]]]}",
    "the first and last locations have to be equal for a LinearRing",
  ),
  geo("{type: MultiPolygon, coordinates: [[[[1, 2], [3, 4], [1, 2]]]]}", "A LinearRing needs at least 4 Positions"),
  geo("{type: MultiPoint, coordinates: [[1]]}", "A Position needs at least 2 elements"),
  geo("{type: Circle, coordinates: [1, 2]}", "unexpected geometry type: Circle"),
  geo("{coordinates: [1, 2]}", 'key "type" not found'),
  geo("{type: Point}", 'key "coordinates" not found'),
  geo("{type: GeometryCollection}", 'key "geometries" not found'),
  geo(
    "{type: GeometryCollection, geometries: [{type: Point, coordinates: [1]}]}",
    "A Position needs at least 2 elements",
  ),
  geo("3", "parsing Geometry failed, expected Object, but encountered Number"),
  geo("[1, 2]", "parsing Geometry failed, expected Object, but encountered Array"),
  {
    title: "G-TYP-34 G-TYP-34a a string for a geometry is passed unchanged",
    when: postgis,
    query: '{ atlas_spots(where: {at: {_eq: "nonsense"}}) { id } }',
    error: { message: expect.any(String), path: "$", code: "unexpected" },
  },
  {
    title: "G-TYP-23 rasters are hexadecimal WKB",
    when: raster,
    query: "{ atlas_tiles(order_by: {id: asc}, limit: 1) { rast } }",
    data: { atlas_tiles: [{ rast: expect.stringMatching(/^[0-9A-F]+$/) }] },
  },
  {
    title: "G-TYP-35 a raster that is not hexadecimal is rejected",
    when: raster,
    query: '{ atlas_tiles(where: {rast: {_st_intersects_rast: "xyz"}}) { id } }',
    error: {
      message: "invalid hexadecimal representation of raster well known binary format",
      path: "$.selectionSet.atlas_tiles.args.where.rast._st_intersects_rast",
      code: "parse-failed",
    },
  },
]);
