/** The REST surface, as PostgREST has it. */
import { compose, type Preset, type RelApiOptions } from "../core/index.ts";
import { spreadEmbeds } from "../plugins/embeds/spread.ts";
import { csvMedia, customMedia, explainMedia, geojsonMedia, jsonMedia, singularMedia, strippedMedia } from "../plugins/media/index.ts";
import { fullTextOperators } from "../plugins/operators/full-text.ts";
import { common } from "./common.ts";

export const restCompat = (options: RelApiOptions): Preset =>
  compose(
    { plugins: common, options },
    // filters
    fullTextOperators,
    // related rows
    spreadEmbeds,
    // bodies
    jsonMedia,
    singularMedia,
    strippedMedia,
    csvMedia,
    geojsonMedia,
    explainMedia,
    customMedia,
  );
