/** What the GraphQL surface says to other plugins: types only. Names of fields, tables and rights; what a tap of
 *  `buildGqlField` sees; the engine. */
import type { Token } from "../../core/index.ts";
import type { GqlEngine } from "./parts.ts";

export type * from "./parts.ts";
export type * from "./served.ts";

/** Offered by the plugin `graphql`. */
export type GraphqlService = Token<"graphql", GqlEngine>;
