/** What the GraphQL surface says to other plugins: types only. Names of fields, tables and rights; what a tap of
 *  `buildGqlField` sees; the engine. */
import type { CallOptions, Token } from "../../core/index.ts";
import type { GqlEngine } from "./operations.ts";

export type * from "./parts.ts";
export type * from "./served.ts";
export type * from "./value-types.ts";
export type * from "./operations.ts";

/** Offered by the plugin `graphql`. */
export type GraphqlService = Token<"graphql", GqlEngine>;

/** @rule X-CALL-2 */
export interface GraphqlCall<Variables = Readonly<Record<string, unknown>>> extends CallOptions {
  readonly query: string;
  readonly variables?: Variables;
  readonly operationName?: string;
}

/** As a client gets it. */
export interface GraphqlResult<Data = any> {
  readonly data?: Data;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly path: string; readonly code: string };
  }[];
}

declare module "../../core/http/call.ts" {
  interface ApiMethods {
    /** An operation of the GraphQL surface, without HTTP. What is wrong with it is in `errors`. @rule X-CALL-2 */
    graphql<Data = any>(call: GraphqlCall): Promise<GraphqlResult<Data>>;
  }
}
