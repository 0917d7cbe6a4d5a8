/** The types of `buildRestRoute` taps: which methods a relation, a function or the root answers. */
import type { Exchange, Answer } from "./http/exchange.ts";
import type { Model, Relation, Routine } from "./engine/model/model.ts";

export type RouteTarget =
  | { readonly kind: "root" }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "routine"; readonly name: string; readonly routines: readonly Routine[] };

export type RouteHandler = (exchange: Exchange, target: RouteTarget) => Promise<Answer> | Answer;

/** The methods of one target. The `Allow` header lists those that the caller may use. */
export interface Route {
  readonly target: RouteTarget;
  readonly methods: ReadonlyMap<string, RouteHandler>;
}

export interface RouteContext {
  readonly model: Model;
  readonly schema: string;
}
