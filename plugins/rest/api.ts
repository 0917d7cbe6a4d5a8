/** What the REST surface says to other plugins: types only. */
import type { Exchange, Execution, Plan, RouteTarget } from "../../core/index.ts";

export type {
  Route as RestRoute,
  RouteContext as RestRouteContext,
  RouteHandler as RestHandler,
  RouteTarget as RestTarget,
} from "../../core/index.ts";

/** Reads of relations as live queries: what the REST surface offers to others. */
export interface RestLive {
  /** The read that a GET of the relation is, its body as plain JSON; again after each reload. @throws RelApiError */
  plan(
    exchange: Exchange,
    target: RouteTarget,
  ): Pick<Execution, "schema" | "programs" | "settings" | "isolation"> & { readonly read: Plan };
  /** The body of an error. */
  encodeError(error: unknown, exchange: Exchange): string;
}

/** The preferences of a request, offered as `rest-preferences` to handlers that serve one themselves. */
export interface RestPreferences {
  /** The value taken of each declared preference, by name. */
  of(exchange: Exchange): ReadonlyMap<string, string>;
}
