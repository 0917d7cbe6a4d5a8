/** Declares the types of directives. */
import type { GraphQLInputType } from "graphql";

/** A directive of whole operations that a plugin reads, in addition to those of the dialect. @rule X-DIR-1 */
export interface GqlDirective {
  readonly name: string;
  /** The description of the directive in introspection. */
  readonly description: string;
  readonly on: readonly ("query" | "mutation" | "subscription")[];
  /** The directive's arguments, all booleans, with their default values. */
  readonly arguments: Readonly<Record<string, boolean>>;
}

export type DirectiveTarget =
  | "a query"
  | "a mutation"
  | "a subscription"
  | "a field"
  | "a fragment spread"
  | "an inline fragment";

export interface DirectiveSpec {
  /** The description in introspection. Undefined if introspection does not list the directive. */
  readonly description?: string;
  readonly targets: readonly DirectiveTarget[];
  readonly arguments: Readonly<Record<string, { readonly type: GraphQLInputType; readonly defaultValue?: unknown }>>;
  /** The declaration of a plugin's directive. */
  readonly pluginDirective?: GqlDirective;
}

export type Directives = Readonly<Record<string, DirectiveSpec>>;

/** The arguments of the directives that plugins read on an operation, by directive name. */
export type ReadDirectives = ReadonlyMap<string, Readonly<Record<string, boolean>>>;
