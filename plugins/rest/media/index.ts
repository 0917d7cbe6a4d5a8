/** Media types of REST responses, one plugin each. */
export { csvMedia } from "./csv.ts";
export { customMedia } from "./custom.ts";
export { explainMedia } from "./explain.ts";
export { geojsonMedia } from "./geojson.ts";
export { jsonMedia } from "./json.ts";
export { singularMedia } from "./singular.ts";
export { strippedMedia } from "./stripped.ts";
