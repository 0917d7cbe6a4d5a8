/** Operators of PostGIS for geometry, geography and raster:
 *  `{ area: { _st_contains: { type: "Point", coordinates: [1, 2] } } }`. */
import { definePlugin, quoteIdentifier, sql } from "../../core/index.ts";
import type { FilterContext, Model, OperatorSpec, PlanFunction, Sql } from "../../core/index.ts";

const qualifyPostgis = (model: Model, name: string): Sql =>
  quoteIdentifier(model.extensions.get("postgis") ?? "public", name);
const qualifyRaster = (model: Model, name: string): Sql =>
  quoteIdentifier(model.extensions.get("postgis_raster") ?? model.extensions.get("postgis") ?? "public", name);

/** Casts the operand, which arrives as geometry, to the type of the column. */
const castToColumnType = (context: FilterContext, operand: Sql): Sql =>
  sql`${operand}::${qualifyPostgis(context.model, context.type?.name === "geography" ? "geography" : "geometry")}`;

const defineGeometryTest = (
  name: string,
  graphql: string,
  fn: string,
  types: readonly string[],
  description: string,
): OperatorSpec => ({
  name,
  rest: false,
  graphql,
  types,
  operand: "scalar",
  description,
  compile: (column, operand, context) =>
    sql`${qualifyPostgis(context.model, fn)}(${column}, ${castToColumnType(context, operand)})`,
});

const compileField = (context: FilterContext, name: string): Sql => context.field(name) ?? sql`null`;

const defineDistanceOperator = (name: string, graphql: string, fn: string, description: string): OperatorSpec => ({
  name,
  rest: false,
  graphql,
  types: ["geometry"],
  operand: "fields",
  input: { typeName: "st_d_within_input", fields: { distance: "Float!", from: "geometry!" } },
  description,
  compile: (column, _operand, context) =>
    sql`${qualifyPostgis(context.model, fn)}(${column}, ${castToColumnType(context, compileField(context, "from"))}, ${compileField(context, "distance")})`,
});

const GEOMETRY = ["geometry"];

const functions: readonly PlanFunction[] = [
  {
    name: "from-geojson",
    compile: (argument, model) => sql`${qualifyPostgis(model, "st_geomfromgeojson")}((${argument})::text)`,
  },
  {
    name: "to-geojson",
    compile: (argument, model) => sql`${qualifyPostgis(model, "st_asgeojson")}(${argument}, 15, 4)::json`,
  },
  {
    name: "from-hexwkb",
    compile: (argument, model) => sql`${qualifyRaster(model, "st_rastfromhexwkb")}((${argument})::text)`,
  },
  { name: "to-hexwkb", compile: (argument, model) => sql`${qualifyRaster(model, "st_ashexwkb")}(${argument})` },
];

/** Operators of PostGIS for geometry, geography and raster. @rule G-OP-23 G-OP-24 G-OP-25 G-OP-26 G-OP-27 G-OP-29
 *  G-OP-30 G-OP-31 G-TYP-34 G-TYP-35 */
export const geoOperators = definePlugin({
  name: "geo-operators",
  extensionTypes: ["geometry", "geography", "raster"],
  functions,
  operators: [
    defineGeometryTest(
      "st-contains",
      "_st_contains",
      "st_contains",
      GEOMETRY,
      "does the column contain the given geometry value",
    ),
    defineGeometryTest(
      "st-crosses",
      "_st_crosses",
      "st_crosses",
      GEOMETRY,
      "does the column cross the given geometry value",
    ),
    defineGeometryTest(
      "st-equals",
      "_st_equals",
      "st_equals",
      GEOMETRY,
      "is the column equal to given geometry value (directionality is ignored)",
    ),
    defineGeometryTest(
      "st-overlaps",
      "_st_overlaps",
      "st_overlaps",
      GEOMETRY,
      "does the column 'spatially overlap' (intersect but not completely contain) the given geometry value",
    ),
    defineGeometryTest(
      "st-touches",
      "_st_touches",
      "st_touches",
      GEOMETRY,
      "does the column have atleast one point in common with the given geometry value",
    ),
    defineGeometryTest(
      "st-within",
      "_st_within",
      "st_within",
      GEOMETRY,
      "is the column contained in the given geometry value",
    ),
    defineGeometryTest(
      "st-3d-intersects",
      "_st_3d_intersects",
      "st_3dintersects",
      GEOMETRY,
      "does the column spatially intersect the given geometry value in 3D",
    ),
    defineGeometryTest(
      "st-intersects",
      "_st_intersects",
      "st_intersects",
      GEOMETRY,
      "does the column spatially intersect the given geometry value",
    ),
    defineGeometryTest(
      "st-intersects",
      "_st_intersects",
      "st_intersects",
      ["geography"],
      "does the column spatially intersect the given geography value",
    ),
    defineDistanceOperator(
      "st-d-within",
      "_st_d_within",
      "st_dwithin",
      "is the column within a given distance from the given geometry value",
    ),
    defineDistanceOperator(
      "st-3d-d-within",
      "_st_3d_d_within",
      "st_3ddwithin",
      "is the column within a given 3D distance from the given geometry value",
    ),
    {
      name: "st-d-within",
      rest: false,
      graphql: "_st_d_within",
      types: ["geography"],
      operand: "fields",
      input: {
        typeName: "st_d_within_geography_input",
        fields: { distance: "Float!", from: "geography!", use_spheroid: "Boolean = true" },
      },
      description: "is the column within a given distance from the given geography value",
      compile: (column, _operand, context) =>
        sql`${qualifyPostgis(context.model, "st_dwithin")}(${column}, ${castToColumnType(context, compileField(context, "from"))}, ${compileField(context, "distance")}, ${compileField(context, "use_spheroid")})`,
    },
    {
      name: "st-intersects-rast",
      rest: false,
      graphql: "_st_intersects_rast",
      types: ["raster"],
      operand: "scalar",
      compile: (column, operand, context) =>
        sql`${qualifyRaster(context.model, "st_intersects")}(${column}, ${operand})`,
    },
    {
      name: "st-intersects-nband-geom",
      rest: false,
      graphql: "_st_intersects_nband_geom",
      types: ["raster"],
      operand: "fields",
      input: { typeName: "st_intersects_nband_geom_input", fields: { geommin: "geometry!", nband: "Int!" } },
      compile: (column, _operand, context) =>
        sql`${qualifyRaster(context.model, "st_intersects")}(${column}, ${compileField(context, "nband")}::integer, ${compileField(context, "geommin")})`,
    },
    {
      name: "st-intersects-geom-nband",
      rest: false,
      graphql: "_st_intersects_geom_nband",
      types: ["raster"],
      operand: "fields",
      input: { typeName: "st_intersects_geom_nband_input", fields: { geommin: "geometry!", nband: "Int" } },
      compile: (column, _operand, context) =>
        sql`${qualifyRaster(context.model, "st_intersects")}(${column}, ${compileField(context, "geommin")}, ${compileField(context, "nband")}::integer)`,
    },
  ],
});
