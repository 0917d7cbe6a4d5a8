/** The preset of the REST surface, compatible with PostgREST. */
import { compose, type Preset } from "../core/index.ts";
import { fullTextOperators, spreadEmbeds } from "../plugins/operators/index.ts";
import { openapiPage } from "../plugins/pages/index.ts";
import {
  csvBodies,
  csvMedia,
  customMedia,
  etag,
  explainMedia,
  geojsonMedia,
  jsonMedia,
  openapi,
  openapi3,
  raisedErrors,
  responseSettings,
  rest,
  restHints,
  restLive,
  restOptions,
  restRpc,
  restWrites,
  singularMedia,
  strippedMedia,
  restSuggestions,
} from "../plugins/rest/index.ts";
import { commonPlugins } from "./common-plugins.ts";
import { packageNames } from "./known-plugins.ts";
import type { PresetOptions } from "./options.ts";

/** Composes the REST surface of PostgREST 16. */
export const restCompat = (options: PresetOptions): Preset =>
  compose(
    { plugins: commonPlugins, options, ...packageNames },
    // Plugins of the methods.
    rest,
    restWrites,
    restRpc,
    restOptions,
    csvBodies,
    responseSettings,
    raisedErrors,
    restSuggestions,
    restHints,
    restLive,
    etag,
    // Plugins that describe the schema.
    openapi,
    openapi3,
    openapiPage,
    // Plugins of filters.
    fullTextOperators,
    // Plugins of related rows.
    spreadEmbeds,
    // Plugins of body formats.
    jsonMedia,
    singularMedia,
    strippedMedia,
    csvMedia,
    geojsonMedia,
    explainMedia,
    customMedia,
  );
