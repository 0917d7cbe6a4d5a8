/** What taps of `buildRestRoute` see and return. */
import type { Exchange, Answer } from "./http/exchange.ts";
import type { Model, Relation, Routine } from "./model/model.ts";
import type { Plan } from "./plan/plan.ts";
import type { Execution } from "./plugin.ts";

export type RestTarget =
  | { readonly kind: "root" }
  | { readonly kind: "relation"; readonly relation: Relation }
  | { readonly kind: "routine"; readonly name: string; readonly routines: readonly Routine[] };

export type RestHandler = (exchange: Exchange, target: RestTarget) => Promise<Answer> | Answer;

/** The methods of one target. `Allow` comes from here and the contract's grants. */
export interface RestRoute {
  readonly target: RestTarget;
  readonly methods: ReadonlyMap<string, RestHandler>;
}

export interface RestRouteContext {
  readonly model: Model;
  readonly schema: string;
}

/** Reads of relations as live queries: what the REST surface offers to others, by `context.service("rest-live")`. */
export interface RestLive {
  /** The read that a GET of the relation is, its body as plain JSON; again after each reload. @throws RelApiError */
  plan(exchange: Exchange, target: RestTarget): Pick<Execution, "schema" | "programs" | "settings" | "isolation"> & { readonly read: Plan };
  /** The body of an error. */
  encodeError(error: unknown, exchange: Exchange): string;
}
