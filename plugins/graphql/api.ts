/** What the GraphQL surface says to other plugins: types only. Names of fields, tables and rights; what a tap of
 *  `buildGqlField` sees; the engine. */
export type * from "./parts.ts";
export type * from "./served.ts";
export type * from "./value-types.ts";
export type * from "./operations.ts";
