/** What the metadata says to other plugins: types only. */
import type { Json } from "../../core/index.ts";

/** Named queries and what refers to them; `metadata-loader` leaves them in `model.parts["metadata-queries"]`. */
export interface MetadataQueries {
  /** Documents by the name of their collection and their own. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The collections of the allow list. `roles`: for these alone. */
  readonly allowed: readonly { readonly collection: string; readonly roles?: readonly string[] }[];
  readonly endpoints: readonly MetadataEndpoint[];
}

export interface MetadataEndpoint {
  readonly name: string;
  /** Below `/api/rest/`: `people/:id`. */
  readonly url: string;
  readonly methods: readonly string[];
  readonly document: string;
}

/** The metadata's `api_limits` as it is written; `metadata-loader` leaves it in `model.parts["metadata-limits"]`. */
export type MetadataLimits = Readonly<Record<string, Json>>;
