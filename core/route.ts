/** Defines the types of `buildRestRoute` taps, which change the methods of a relation, a function or the root. */
import type { Exchange, Answer } from "./http/exchange.ts";
import type { Model, Relation, Routine } from "./model/model.ts";

/** The target that the path of a REST request names: the root, a relation or a function. */
export type RouteTarget =
  | { readonly kind: "root" }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "routine"; readonly name: string; readonly routines: readonly Routine[] };

/** Serves a method of a target. */
export type RouteHandler = (exchange: Exchange, target: RouteTarget) => Promise<Answer> | Answer;

/** The methods of one target. The `Allow` header lists those that the caller may use. */
export interface Route {
  readonly target: RouteTarget;
  readonly methods: ReadonlyMap<string, RouteHandler>;
}

/** The model and the schema for which a route is built. */
export interface RouteContext {
  readonly model: Model;
  readonly schema: string;
}
