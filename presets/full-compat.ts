/** Both surfaces over one database. */
import { compose, type Preset, type RelApiOptions } from "../core/index.ts";
import { gqlCompat } from "./gql-compat.ts";
import { restCompat } from "./rest-compat.ts";

/** Both surfaces over one database: `restCompat` and `gqlCompat` together. */
export const fullCompat = (options: RelApiOptions): Preset => compose(gqlCompat(options), restCompat(options));
