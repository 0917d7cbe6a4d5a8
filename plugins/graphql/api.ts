/** The types and tokens of the GraphQL surface for other plugins: served tables and rights, the context of
 *  `buildGqlField` taps, and the engine. */
import { SyncBailHook, SyncHook, SyncWaterfallHook } from "tapable";
import {
  defineService,
  defineHook,
  type CallOptions,
  type Json,
  type RelApiError,
  type Session,
} from "../../core/index.ts";
import type { GqlEngine, GqlSender, ValidatedDocument } from "./operations.ts";
import type { RoleSchema } from "./types/role-schema.ts";
import type { GqlDirective } from "./directives.ts";

export type * from "./part-kinds.ts";
export type * from "./field-types.ts";
export type * from "./plan-parts.ts";
export type * from "./types/role-schema.ts";
export type { GqlDirective } from "./directives.ts";
export type { NameBuilder as GqlNameBuilder } from "./types/names.ts";
export type * from "./catalog-types.ts";
export type * from "./value-types.ts";
export type * from "./operations.ts";

/** The token of the service that the plugin `graphql` provides. */
export const graphqlService = defineService<GqlEngine>("graphql");

/** A service that adds members of `extensions` that the dialect does not have. @rule G-HNT-1 … G-HNT-4 @experimental */
export interface GqlHints {
  buildHints(error: RelApiError, session: Session, schema: () => RoleSchema): object | undefined;
}

/** The token of the service that the plugin `graphql-hints` provides. @experimental */
export const graphqlHintsService = defineService<GqlHints>("graphql-hints");

/** The hook for requests without a `query` or with a persisted one. The first tap that returns a string provides the
 *  document. A tap returns undefined for an unknown name. @rule X-DOC-1 */
export const findGqlDocumentHook = defineHook(
  "findGqlDocument",
  "graphql",
  () => new SyncBailHook<[request: Readonly<Record<string, Json>>], string | undefined>(["request"]),
);

/** The hook whose taps add directives for plugins to read, or extend one of them. The plugin `graphql` declares it.
 *  @rule X-DIR-1 */
export const gqlDirectivesHook = defineHook(
  "gqlDirectives",
  "graphql",
  () => new SyncWaterfallHook<[directives: readonly GqlDirective[]]>(["directives"]),
);

/** The hook that receives each document that can be parsed, with its sender, before planning. A tap throws to reject
 *  the document. `sender` is undefined when a live query runs again. @rule X-DOC-2 */
export const checkGqlDocumentHook = defineHook(
  "checkGqlDocument",
  "graphql",
  () =>
    new SyncHook<[text: string, session: Session, document: ValidatedDocument, sender: GqlSender | undefined]>([
      "text",
      "session",
      "document",
      "sender",
    ]),
);

/** An operation that a program runs without HTTP. @rule X-CALL-2 */
export interface GraphqlCall<Variables = Readonly<Record<string, unknown>>> extends CallOptions {
  readonly query: string;
  readonly variables?: Variables;
  readonly operationName?: string;
}

/** The result in the form in which clients receive it. */
export interface GraphqlResult<Data = any> {
  readonly data?: Data;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions: { readonly path: string; readonly code: string };
  }[];
}

declare module "../../core/index.ts" {
  interface ApiMethods {
    /** Runs an operation of the GraphQL surface without HTTP. Its errors are in `errors`. @rule X-CALL-2 */
    graphql<Data = any>(call: GraphqlCall): Promise<GraphqlResult<Data>>;
  }
  interface OperatorSpec {
    /** The GraphQL name of the operator, by default `_name`. If false, the operator is not in GraphQL. `keywords` has
     *  the GraphQL value of each keyword (`_is_null: true` is `null`). */
    readonly graphql?: string | false | { readonly name: string; readonly keywords: Readonly<Record<string, string>> };
    /** The name of the GraphQL input type and its fields, for `fields` operands. Each field is an SDL type with a
     *  default (`Float!`, `Boolean = true`) and has a GraphQL name. */
    readonly input?: { readonly typeName: string; readonly fields: Readonly<Record<string, string>> };
    /** True if the operator accepts a null operand (G-BEXP-5). Other operators reject it. */
    readonly takesNull?: boolean;
  }
  interface EmbedSpec {
    /** The field that the embedding mode adds per relationship. Its name is the relationship's name with the suffix,
     *  such as `albums_first`. It returns the rows of the relationship, or at most one with `row`. With `aggregate`,
     *  the plugin adds the fields itself (`buildGqlField`). */
    readonly graphql?: { readonly suffix: string; readonly answers?: "row" | "aggregate" };
  }
  interface UpdateOperatorSpec {
    /** The GraphQL argument of the update operator, such as `_inc`. */
    readonly graphql: string;
    /** The description of the input type. `$table` is replaced by the quoted table name. */
    readonly inputDescription: string;
    /** True if a null operand is rejected even if the column may be null (G-UPD-5). */
    readonly rejectsNull?: boolean;
  }
  interface AggregateSpec {
    /** The GraphQL name of the aggregate, by default `name`. If false, the aggregate is not in GraphQL. */
    readonly graphql?: string | false;
    /** The columns that the aggregate accepts in `aggregate` and `order_by`: `typname`s of base types, or type groups
     *  as for operators. Undefined if GraphQL does not offer it there. */
    readonly types?: readonly string[];
    readonly exceptTypes?: readonly string[];
    /** The aggregate's result type in GraphQL: a `typname`, or the name of a GraphQL scalar. By default, it is the type
     *  of the column. */
    readonly result?: string;
  }
  interface OrderingSpec {
    /** The GraphQL name of the ordering, by default `_name`. If false, the ordering is not in GraphQL. */
    readonly graphql?: string | false;
  }
}

/** The key of `GqlMetadata` in `model.pluginFacts`. @experimental */
export const GQL_METADATA = "metadata";
