/** What there is to say of a directive: types only. */
import type { GraphQLInputType } from "graphql";

/** A directive of whole operations that a plugin reads, beside those of the dialect. @rule X-DIR-1 */
export interface GqlDirective {
  readonly name: string;
  /** In introspection. */
  readonly description: string;
  readonly on: readonly ("query" | "mutation" | "subscription")[];
  /** Its arguments, all booleans, and what they are where they are left out. */
  readonly arguments: Readonly<Record<string, boolean>>;
}

export type DirectivePlace =
  | "a query"
  | "a mutation"
  | "a subscription"
  | "a field"
  | "a fragment spread"
  | "an inline fragment";

export interface DirectiveSpec {
  readonly places: readonly DirectivePlace[];
  /** By name. */
  readonly arguments: Readonly<Record<string, { readonly type: GraphQLInputType; readonly hasDefault: boolean }>>;
  /** What a plugin says of its own. */
  readonly added?: GqlDirective;
}

/** By name. */
export type Directives = Readonly<Record<string, DirectiveSpec>>;

/** Arguments of an operation's own directives that plugins read, by name. */
export type ReadDirectives = ReadonlyMap<string, Readonly<Record<string, boolean>>>;
