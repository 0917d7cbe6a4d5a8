/** `Accept: application/geo+json`: rows as a FeatureCollection. Needs PostGIS. */
import { definePlugin, ident, RelApiError, sql } from "../../core/index.ts";

const withoutPostgis = (): RelApiError =>
  new RelApiError({
    code: "media-type-unavailable",
    status: 406,
    message: "None of these media types are available: application/geo+json",
    details: "The database has no PostGIS extension",
  });

/** @rule R-MED-1 */
export const geojsonMedia = definePlugin({
  name: "geojson-media",
  apply: (hooks) => {
    hooks.compileMedia.for("application/geo+json").tap("geojson-media", ({ model, row }) => {
      const schema = model.extensions.get("postgis");
      if (schema === undefined) throw withoutPostgis();
      const features = sql`coalesce(pg_catalog.json_agg(${ident(schema, "st_asgeojson")}(${row})::json), '[]')`;
      return sql`pg_catalog.json_build_object('type', 'FeatureCollection', 'features', ${features})::text`;
    });
  },
});
