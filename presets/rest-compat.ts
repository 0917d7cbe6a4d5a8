/** The preset of the REST surface, compatible with PostgREST. */
import { compose, type Preset } from "../core/index.ts";
import { spreadEmbeds } from "../plugins/operators/embeds/spread.ts";
import {
  csvMedia,
  customMedia,
  explainMedia,
  geojsonMedia,
  jsonMedia,
  singularMedia,
  strippedMedia,
} from "../plugins/rest/media/index.ts";
import { fullTextOperators } from "../plugins/operators/full-text.ts";
import { openapiPage } from "../plugins/pages/openapi/index.ts";
import { etag } from "../plugins/rest/etag.ts";
import { restHints } from "../plugins/rest/hints.ts";
import { rest } from "../plugins/rest/index.ts";
import { openapi } from "../plugins/rest/openapi.ts";
import { csvBodies } from "../plugins/rest/csv-bodies.ts";
import { restLive } from "../plugins/rest/live.ts";
import { raisedErrors } from "../plugins/rest/raised-errors.ts";
import { responseSettings } from "../plugins/rest/response-settings.ts";
import { openapi3 } from "../plugins/rest/openapi-3.ts";
import { restOptions } from "../plugins/rest/options.ts";
import { restRpc } from "../plugins/rest/rpc.ts";
import { restWrites } from "../plugins/rest/write.ts";
import { suggestions } from "../plugins/rest/suggestions.ts";
import { common } from "./common.ts";
import { ofThePackage } from "./known-plugins.ts";
import type { PresetOptions } from "./options.ts";

/** The REST surface of PostgREST 16. */
export const restCompat = (options: PresetOptions): Preset =>
  compose(
    { plugins: common, options, ...ofThePackage },
    // plugins of the methods
    rest,
    restWrites,
    restRpc,
    restOptions,
    csvBodies,
    responseSettings,
    raisedErrors,
    suggestions,
    restHints,
    restLive,
    etag,
    // plugins that describe the schema
    openapi,
    openapi3,
    openapiPage,
    // plugins of filters
    fullTextOperators,
    // plugins of related rows
    spreadEmbeds,
    // plugins of body formats
    jsonMedia,
    singularMedia,
    strippedMedia,
    csvMedia,
    geojsonMedia,
    explainMedia,
    customMedia,
  );
