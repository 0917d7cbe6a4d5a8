/** What the GraphQL surface says to other plugins: types and tokens. Names of fields, tables and rights; what a tap of
 *  `buildGqlField` sees; the engine. */
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
import type { RoleSchema } from "./parts.ts";
import type { GqlDirective } from "./directives.ts";

export type * from "./part-kinds.ts";
export type * from "./parts.ts";
export type { GqlDirective } from "./directives.ts";
export type * from "./served.ts";
export type * from "./value-types.ts";
export type * from "./operations.ts";

/** Offered by the plugin `graphql`. */
export const graphqlService = defineService<GqlEngine>("graphql");

/** The page for people, offered by the plugin `playground` where its files are there. */
export const playgroundService = defineService<{ readonly path: string }>("playground");

/** Members of `extensions` that the dialect does not have. @rule G-HNT-1 … G-HNT-4 */
export interface GqlHints {
  hintsFor(error: RelApiError, session: Session, schema: () => RoleSchema): object | undefined;
}

/** Offered by the plugin `graphql-hints`. */
export const graphqlHintsService = defineService<GqlHints>("graphql-hints");

/** Asked for requests without a `query`, and for those with a persisted one. The first tap that answers has the text of
 *  the document; undefined: no name that it knows. @rule X-DOC-1 */
export const findGqlDocumentHook = defineHook(
  "findGqlDocument",
  "graphql",
  () => new SyncBailHook<[request: Readonly<Record<string, Json>>], string | undefined>(["request"]),
);

/** Declared by the plugin `graphql`: taps add to the directives that plugins read, or to one of them. @rule X-DIR-1 */
export const gqlDirectivesHook = defineHook(
  "gqlDirectives",
  "graphql",
  () => new SyncWaterfallHook<[directives: readonly GqlDirective[]]>(["directives"]),
);

/** Sees each document that can be read and who sent it, before it is planned; throws for one that may not run.
 *  `sender`: absent when a live query runs again. @rule X-DOC-2 */
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

declare module "../../core/plugin.ts" {
  interface OperatorSpec {
    /** GraphQL name; absent: `_name`; false: not in GraphQL. `keywords`: the GraphQL values for each keyword
     *  (`_is_null: true` is `null`). */
    readonly graphql?: string | false | { readonly name: string; readonly keywords: Readonly<Record<string, string>> };
    /** `fields` operands: name of the GraphQL input type and its fields, each an SDL type with default (`Float!`,
     *  `Boolean = true`) over GraphQL names. */
    readonly input?: { readonly typeName: string; readonly fields: Readonly<Record<string, string>> };
    /** A null operand is taken (G-BEXP-5); others refuse it. */
    readonly takesNull?: boolean;
  }
  interface EmbedSpec {
    /** A field per relationship, named after it with the suffix: `albums_first`; "": just the name of the relationship.
     *  It returns the rows as the relationship does, or with `row` at most one of them. With `aggregate`, the plugin
     *  adds the fields itself (`buildGqlField`). */
    readonly graphql?: { readonly suffix: string; readonly answers?: "row" | "aggregate" };
  }
  interface UpdateOperatorSpec {
    /** GraphQL argument, e.g. `_inc`. */
    readonly graphql: string;
    /** Description of the input type; `$table` is replaced by the quoted table name. */
    readonly inputDescription: string;
    /** A null operand is refused also where the column may be null (G-UPD-5). */
    readonly refusesNull?: boolean;
  }
  interface AggregateSpec {
    /** GraphQL name; absent: `name`; false: not in GraphQL. */
    readonly graphql?: string | false;
    /** Columns that it takes in aggregates and their `order_by`: `typname`s of base types, or groups as for operators.
     *  Absent: it is not there. */
    readonly types?: readonly string[];
    readonly exceptTypes?: readonly string[];
    /** Its type in GraphQL: a `typname`, or the name of a GraphQL scalar; absent: that of the column. */
    readonly result?: string;
  }
  interface OrderingSpec {
    /** GraphQL name; absent: `_name`; false: not in GraphQL. */
    readonly graphql?: string | false;
  }
}
