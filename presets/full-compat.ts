/** The preset of both surfaces over one database. */
import { compose, type Preset } from "../core/index.ts";
import { gqlCompat } from "./gql-compat.ts";
import { restCompat } from "./rest-compat.ts";
import type { PresetOptions } from "./options.ts";

/** Composes both surfaces over one database from `restCompat` and `gqlCompat`. */
export const fullCompat = (options: PresetOptions): Preset => compose(gqlCompat(options), restCompat(options));
