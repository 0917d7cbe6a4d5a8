/** Returns rows as a FeatureCollection, which needs PostGIS: `Accept: application/geo+json`. */
import { definePlugin, quoteIdentifier, quoteLiteral, UNNAMED_COLUMN, sql, type Sql } from "../../../core/index.ts";
import { postgisMissing } from "../errors.ts";

/** Compiles the feature with its empty key. SQL allows no empty column name, so the column has a placeholder name.
 *  @rule R-SEL-5 */
const restoreEmptyKey = (feature: Sql): Sql => sql`(
  select pg_catalog.json_object_agg(_m.key, case _m.key when 'properties' then (
    select pg_catalog.json_object_agg(case _p.key when ${quoteLiteral(UNNAMED_COLUMN)} then '' else _p.key end, _p.value)
    from pg_catalog.json_each(_m.value) as _p
  ) else _m.value end)
  from pg_catalog.json_each(${feature}) as _m
)`;

/** Returns rows as a FeatureCollection: `Accept: application/geo+json`. Rejects the media type if the database has no
 *  PostGIS. @throws RelApiError `media-type-unavailable` @rule R-MED-1 */
export const geojsonMedia = definePlugin({
  name: "geojson-media",
  apply: (hooks) => {
    hooks.compileMedia.for("application/geo+json").tap("geojson-media", ({ model, row, object }) => {
      const schema = model.extensions.get("postgis");
      if (schema === undefined) throw postgisMissing();
      const feature = sql`${quoteIdentifier(schema, "st_asgeojson")}(${row})::json`;
      const element = object === undefined ? feature : restoreEmptyKey(feature);
      const features = sql`coalesce(pg_catalog.json_agg(${element}), '[]')`;
      return sql`pg_catalog.json_build_object('type', 'FeatureCollection', 'features', ${features})::text`;
    });
  },
});
