/** What the metadata says to other plugins: types and tokens. */
import { defineService, type Json, type QualifiedName } from "../../core/index.ts";

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

/** `native_queries` and `logical_models` of the served source as they are written; `metadata-loader` leaves them in
 *  `model.parts["metadata-native"]`. */
export interface MetadataNative {
  readonly queries: readonly Json[];
  readonly models: readonly Json[];
  /** Root fields and types of the tables and functions of the source, by their names in GraphQL. */
  readonly taken: { readonly roots: ReadonlySet<string>; readonly types: ReadonlySet<string> };
}

/** An object of the metadata. */
export interface MetadataObject {
  readonly type:
    | "table"
    | "enum_table"
    | "object_relation"
    | "array_relation"
    | "computed_field"
    | "select_permission"
    | "insert_permission"
    | "update_permission"
    | "delete_permission"
    | "function"
    | "inherited_role"
    | "native_query"
    | "logical_model"
    | "rest_endpoint";
  /** The table that has it, or the table or function itself. */
  readonly of?: QualifiedName;
  /** Its name there; the role of a permission. */
  readonly name?: string;
}

/** An object that is left out, or of which a part is, because it does not fit the database. The plugins of the metadata
 *  leave the list of them in `model.parts["metadata-problems"]`; another plugin adds to it before `metadata` is applied. @rule G-MET-12 */
export interface MetadataProblem extends MetadataObject {
  readonly reason: string;
  /** The reason without the place, in the words of the dialect where it has some. */
  readonly detail?: string;
}

/** Where the metadata comes from, for who edits it. */
export interface MetadataSource {
  /** The file or the folder; absent: an object that the program has given. */
  readonly path?: string;
  /** As it is written now, every include in its place. `files`: those that were read. */
  read(): Promise<{ readonly raw: Json; readonly files: readonly string[] }>;
  /** From now on loads of the schema take this in its place; `undefined`: no more. `accept`: called with what does not
   *  fit the database before the model comes into force; if it throws, the load fails, and the one before stays. */
  propose(proposal: MetadataProposal | undefined): void;
}

export interface MetadataProposal {
  readonly raw: Json;
  accept(problems: readonly MetadataProblem[]): void;
}

/** Offered by `metadata-loader`, where the option `metadata` is set. */
export const metadataSourceService = defineService<MetadataSource>("metadata-source");
