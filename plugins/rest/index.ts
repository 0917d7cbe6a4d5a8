/** The REST surface. `rest` is the base with reads, and each other method or media type is a plugin of its own. */
export { csvBodies } from "./csv-bodies.ts";
export { etag } from "./etag.ts";
export { restHints } from "./hints.ts";
export { restLive } from "./live.ts";
export { csvMedia } from "./media/csv.ts";
export { customMedia } from "./media/custom.ts";
export { explainMedia } from "./media/explain.ts";
export { geojsonMedia } from "./media/geojson.ts";
export { jsonMedia, singularMedia, strippedMedia } from "./media/json.ts";
export { openapi3 } from "./openapi-3.ts";
export { openapi } from "./openapi.ts";
export { restOptions } from "./options.ts";
export { raisedErrors } from "./raised-errors.ts";
export { responseSettings } from "./response-settings.ts";
export { rest } from "./rest.ts";
export { restRpc } from "./rpc.ts";
export { restSuggestions } from "./suggestions.ts";
export { restWrites } from "./write.ts";
