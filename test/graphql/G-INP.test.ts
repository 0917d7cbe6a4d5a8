// @runs-also-on postgresql-15-postgis
import { expect, test } from "vitest";
import { capabilities, forGraphql, startApi } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);
const writer = await fetchSchema(api, "music_writer");
const editor = await fetchSchema(api, "music_editor");

test("G-INP-1 T_bool_exp has columns, relationships and computed fields", () => {
  expect(admin.members("album_bool_exp")).toEqual({
    _and: "[album_bool_exp!]",
    _not: "album_bool_exp",
    _or: "[album_bool_exp!]",
    artist: "artist_bool_exp",
    artist_id: "Int_comparison_exp",
    id: "Int_comparison_exp",
    live: "Boolean_comparison_exp",
    price: "numeric_comparison_exp",
    sold: "Int_comparison_exp",
    tags: "String_array_comparison_exp",
    title: "String_comparison_exp",
  });
  expect(admin.members("artist_bool_exp")).toMatchObject({
    albums: "album_bool_exp",
    albums_aggregate: "album_aggregate_bool_exp",
  });
  expect(admin.description("album_bool_exp")).toBe(
    "Boolean expression to filter rows from the table \"album\". All fields are combined with a logical 'AND'.",
  );
});

test("G-INP-1 G-INP-1a computed fields without arguments are in T_bool_exp", () => {
  expect(admin.members("person_bool_exp")).toMatchObject({
    person_title: "String_comparison_exp",
    person_adult: "Boolean_comparison_exp",
    person_greeting: "String_comparison_exp",
    person_peers: "person_bool_exp",
  });
  expect(Object.keys(admin.members("person_bool_exp"))).not.toEqual(expect.arrayContaining(["person_age_in"]));
  expect(Object.keys(admin.members("person_bool_exp"))).not.toEqual(expect.arrayContaining(["person_label"]));
});

test("G-INP-2 comparison types have the operators of their type", () => {
  expect(admin.description("Int_comparison_exp")).toBe(
    "Boolean expression to compare columns of type \"Int\". All fields are combined with logical 'AND'.",
  );
  expect(admin.description("String_array_comparison_exp")).toBe(
    "Boolean expression to compare columns of type \"String\". All fields are combined with logical 'AND'.",
  );
  expect(admin.members("Int_comparison_exp")).toEqual({
    _eq: "Int",
    _gt: "Int",
    _gte: "Int",
    _in: "[Int!]",
    _is_null: "Boolean",
    _lt: "Int",
    _lte: "Int",
    _neq: "Int",
    _nin: "[Int!]",
  });
  expect(admin.description("String_comparison_exp", "_like")).toBe("does the column match the given pattern");
});

test("G-INP-3 T_order_by has columns and relationships", () => {
  expect(admin.members("album_order_by")).toEqual({
    artist: "artist_order_by",
    artist_id: "order_by",
    id: "order_by",
    live: "order_by",
    price: "order_by",
    sold: "order_by",
    tags: "order_by",
    title: "order_by",
  });
  expect(admin.members("artist_order_by")).toMatchObject({
    albums_aggregate: "album_aggregate_order_by",
    stats: "order_by",
  });
  expect(admin.members("person_order_by")).toMatchObject({
    person_title: "order_by",
    person_peers_aggregate: "person_aggregate_order_by",
  });
  expect(Object.keys(admin.members("person_order_by"))).not.toContain("person_age_in");
  expect(admin.description("album_order_by")).toBe('Ordering options when selecting data from "album".');
});

test("G-INP-4 R_aggregate_order_by has count and the aggregates", () => {
  expect(admin.members("album_aggregate_order_by")).toEqual({
    count: "order_by",
    ...Object.fromEntries(
      ["avg", "max", "min", "stddev", "stddev_pop", "stddev_samp", "sum", "var_pop", "var_samp", "variance"].map(
        (fn) => [fn, `album_${fn}_order_by`],
      ),
    ),
  });
  expect(admin.description("album_aggregate_order_by")).toBe('order by aggregate values of table "album"');
});

test("G-INP-5 R_<op>_order_by has the columns of the aggregate", () => {
  expect(admin.members("album_max_order_by")).toEqual(
    Object.fromEntries(["artist_id", "id", "price", "sold", "tags", "title"].map((name) => [name, "order_by"])),
  );
  expect(admin.description("album_max_order_by")).toBe('order by max() on columns of table "album"');
});

test("G-INP-6 R_aggregate_bool_exp has the predicates that have columns", () => {
  expect(Object.keys(admin.members("album_aggregate_bool_exp"))).toEqual(["bool_and", "bool_or", "count"]);
  expect(admin.members("take_aggregate_bool_exp")).toEqual(
    Object.fromEntries(
      ["avg", "bool_and", "bool_or", "corr", "count", "covar_samp", "max", "min", "stddev_samp", "sum", "var_samp"].map(
        (fn) => [fn, `take_aggregate_bool_exp_${fn}`],
      ),
    ),
  );
});

test("G-INP-7 the count predicate has its arguments", () => {
  expect(admin.members("album_aggregate_bool_exp_count")).toEqual({
    arguments: "[album_select_column!]",
    distinct: "Boolean",
    filter: "album_bool_exp",
    predicate: "Int_comparison_exp!",
  });
});

test("G-INP-8 R_aggregate_bool_exp has the boolean predicates", () => {
  for (const fn of ["bool_and", "bool_or"])
    expect(admin.members(`album_aggregate_bool_exp_${fn}`)).toEqual({
      arguments: `album_select_column_album_aggregate_bool_exp_${fn}_arguments_columns!`,
      distinct: "Boolean",
      filter: "album_bool_exp",
      predicate: "Boolean_comparison_exp!",
    });
});

test("G-INP-9 predicates of one column have their arguments", () => {
  for (const fn of ["avg", "max", "min", "sum", "stddev_samp", "var_samp"])
    expect(admin.members(`take_aggregate_bool_exp_${fn}`)).toEqual({
      arguments: `take_select_column_take_aggregate_bool_exp_${fn}_arguments_columns!`,
      distinct: "Boolean",
      filter: "take_bool_exp",
      predicate: "float8_comparison_exp!",
    });
});

test("G-INP-10 predicates of two columns have their arguments", () => {
  for (const fn of ["corr", "covar_samp"]) {
    const columns = `take_select_column_take_aggregate_bool_exp_${fn}_arguments_columns!`;
    expect(admin.members(`take_aggregate_bool_exp_${fn}`)).toMatchObject({
      arguments: `take_aggregate_bool_exp_${fn}_arguments!`,
    });
    expect(admin.members(`take_aggregate_bool_exp_${fn}_arguments`)).toEqual({ X: columns, Y: columns });
  }
});

test("G-INP-11 T_insert_input has the insertable columns", () => {
  expect(admin.members("album_insert_input")).toEqual({
    artist: "artist_obj_rel_insert_input",
    artist_id: "Int",
    id: "Int",
    live: "Boolean",
    price: "numeric",
    sold: "Int",
    tags: "[String!]",
    title: "String",
  });
  expect(admin.description("album_insert_input")).toBe('input type for inserting data into table "album"');
  expect(admin.description("person_insert_input", "nickname")).toBe("What friends say");
});

test("G-INP-11 T_insert_input has relationships whose table the role may insert into", () => {
  expect(Object.keys(writer.members("artist_insert_input"))).toEqual(["country", "name"]);
  expect(Object.keys(editor.members("artist_insert_input"))).toContain("albums");
});

test("G-INP-12 the input of an object relationship has data and on_conflict", () => {
  expect(admin.members("artist_obj_rel_insert_input")).toEqual({
    data: "artist_insert_input!",
    on_conflict: "artist_on_conflict",
  });
  expect(admin.description("artist_obj_rel_insert_input")).toBe(
    'input type for inserting object relation for remote table "artist"',
  );
  expect(admin.description("artist_obj_rel_insert_input", "on_conflict")).toBe("upsert condition");
});

test("G-INP-13 the input of an array relationship has data and on_conflict", () => {
  expect(admin.members("album_arr_rel_insert_input")).toEqual({
    data: "[album_insert_input!]!",
    on_conflict: "album_on_conflict",
  });
  expect(admin.description("album_arr_rel_insert_input")).toBe(
    'input type for inserting array relation for remote table "album"',
  );
});

test("G-INP-14 T_on_conflict has its constraint, columns and condition", () => {
  expect(admin.members("artist_on_conflict")).toEqual({
    constraint: "artist_constraint!",
    update_columns: "[artist_update_column!]!",
    where: "artist_bool_exp",
  });
  expect(
    admin.type("artist_on_conflict").inputFields?.find((field) => field.name === "update_columns")?.defaultValue,
  ).toBe("[]");
  expect(admin.description("artist_on_conflict")).toBe('on_conflict condition type for table "artist"');
  expect(admin.has("listing_on_conflict")).toBe(true);
  expect(admin.has("play_log_on_conflict")).toBe(false);
  expect(admin.has("album_title_on_conflict")).toBe(false);
});

test("G-INP-15 T_set_input has every updatable column", () => {
  expect(admin.members("artist_set_input")).toEqual({
    born: "date",
    country: "String",
    id: "Int",
    name: "String",
    stats: "jsonb",
  });
  expect(admin.description("artist_set_input")).toBe('input type for updating data in table "artist"');
});

test("G-INP-16 T_inc_input has the numeric columns", () => {
  expect(admin.members("album_inc_input")).toEqual({ artist_id: "Int", id: "Int", price: "numeric", sold: "Int" });
  expect(admin.description("album_inc_input")).toBe('input type for incrementing numeric columns in table "album"');
  expect(admin.has("genre_inc_input")).toBe(false);
});

test("G-INP-17 T_append_input and T_prepend_input have the jsonb columns", () => {
  for (const name of ["append", "prepend"])
    expect(admin.members(`profile_${name}_input`)).toEqual({ doc: "jsonb", settings: "jsonb" });
  expect(admin.description("profile_append_input")).toBe(
    "append existing jsonb value of filtered columns with new jsonb value",
  );
  expect(admin.description("profile_prepend_input")).toBe(
    "prepend existing jsonb value of filtered columns with new jsonb value",
  );
  expect(admin.has("album_append_input")).toBe(false);
});

test("G-INP-18 T_delete_key_input has a key for each jsonb column", () => {
  expect(admin.members("profile_delete_key_input")).toEqual({ doc: "String", settings: "String" });
  expect(admin.description("profile_delete_key_input")).toBe(
    "delete key/value pair or string element. key/value pairs are matched based on their key value",
  );
});

test("G-INP-19 T_delete_elem_input has an index for each jsonb column", () => {
  expect(admin.members("profile_delete_elem_input")).toEqual({ doc: "Int", settings: "Int" });
  expect(admin.description("profile_delete_elem_input")).toBe(
    "delete the array element with specified index (negative integers count from the end). throws an error if top level container is not an array",
  );
});

test("G-INP-20 T_delete_at_path_input has a path for each jsonb column", () => {
  expect(admin.members("profile_delete_at_path_input")).toEqual({ doc: "[String!]", settings: "[String!]" });
  expect(admin.description("profile_delete_at_path_input")).toBe(
    "delete the field or element with specified path (for JSON arrays, negative integers count from the end)",
  );
});

test("G-INP-21 T_pk_columns_input has the columns of the primary key", () => {
  expect(admin.members("hall_pk_columns_input")).toEqual({ city: "String!", number: "Int!" });
  expect(admin.description("hall_pk_columns_input")).toBe("primary key columns input for table: hall");
});

test("G-INP-22 T_updates has where and the update operators", () => {
  expect(admin.members("album_updates")).toEqual({
    _inc: "album_inc_input",
    _set: "album_set_input",
    where: "album_bool_exp!",
  });
  expect(Object.keys(admin.members("profile_updates"))).toEqual([
    "_append",
    "_delete_at_path",
    "_delete_elem",
    "_delete_key",
    "_inc",
    "_prepend",
    "_set",
    "where",
  ]);
  expect(admin.description("album_updates", "where")).toBe("filter the rows which have to be updated");
});

test("G-INP-23 functions and computed fields have inputs for their arguments", () => {
  expect(admin.members("range_albums_args")).toEqual({ from_id: "Int", to_id: "Int" });
  expect(admin.members("person_age_in_person_args")).toEqual({ year: "Int" });
});

test("G-INP-28 jsonb_cast_exp has the comparison of strings", () => {
  expect(admin.members("jsonb_cast_exp")).toEqual({ String: "String_comparison_exp" });
  expect(admin.members("jsonb_comparison_exp")).toMatchObject({ _cast: "jsonb_cast_exp" });
  expect(writer.has("jsonb_cast_exp")).toBe(false);
});

const atlas = capabilities.postgis
  ? await startApi(forGraphql({ dbSchemas: ["atlas"], dbExtraSearchPath: ["public", "gis"] }))
  : undefined;
const geo = atlas && (await fetchSchema(atlas));

test("G-INP-15 a table with dollars in its name is described by its name", async () => {
  const database = await openDatabase();
  await database.query('create table "in$$out$&" (id int primary key)');
  const metadata = buildMetadataDocument([table("in$$out$&", { configuration: { custom_name: "flow" } })]);
  const dollarSchema = await fetchSchema(await startApi(forGraphql({ on: database, metadata })));
  expect(dollarSchema.description("flow_set_input")).toBe('input type for updating data in table "in$$out$&"');
});

test.skipIf(!capabilities.postgis)("G-INP-24 st_d_within_input has a distance and a geometry", () => {
  expect(geo?.members("st_d_within_input")).toEqual({ distance: "Float!", from: "geometry!" });
});

test.skipIf(!capabilities.postgis)(
  "G-INP-25 st_d_within_geography_input has a distance, a geography and use_spheroid",
  () => {
    expect(geo?.members("st_d_within_geography_input")).toEqual({
      distance: "Float!",
      from: "geography!",
      use_spheroid: "Boolean",
    });
    expect(geo?.type("st_d_within_geography_input").inputFields?.map((field) => field.defaultValue)).toEqual([
      null,
      null,
      "true",
    ]);
  },
);

test.skipIf(!capabilities.raster)("G-INP-26 st_intersects_nband_geom_input has a band and a geometry", () => {
  expect(geo?.members("st_intersects_nband_geom_input")).toEqual({ geommin: "geometry!", nband: "Int!" });
});

test.skipIf(!capabilities.raster)("G-INP-27 st_intersects_geom_nband_input has a geometry and an optional band", () => {
  expect(geo?.members("st_intersects_geom_nband_input")).toEqual({ geommin: "geometry!", nband: "Int" });
});

test.skipIf(!capabilities.postgis)("G-INP-28 geometry and geography can be cast to each other", () => {
  expect(geo?.members("geometry_cast_exp")).toEqual({ geography: "geography_comparison_exp" });
  expect(geo?.members("geography_cast_exp")).toEqual({ geometry: "geometry_comparison_exp" });
});
