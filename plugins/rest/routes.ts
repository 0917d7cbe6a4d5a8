/** Finds the route of a target: the methods of the surface, changed by taps of `buildRestRoute`. */
import {
  defineService,
  requireService,
  type Answer,
  type Exchange,
  type PluginContext,
  type RelApiHooks,
  type Relation,
} from "../../core/index.ts";
import type { RestHandler, RestRoute, RestTarget } from "./api.ts";
import type { RestSurface, RestRequest } from "./request.ts";
import { parseRequest } from "./syntax/parse-request.ts";

/** The methods of relations, in the order of `Allow`. @rule R-OPT-6 */
export const RELATION_METHODS: readonly string[] = ["OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** The surface, for the other plugins of this folder. */
export const restService = defineService<RestSurface>("rest");

/** Returns the surface for a plugin that lists `rest` in `requires`. */
export const requireRest = (context: PluginContext): RestSurface => requireService(context, restService);

/** Creates a handler of requests that are not planned. */
export const createTargetHandler =
  (rest: RestSurface, handle: (request: RestRequest, target: RestTarget) => Promise<Answer> | Answer): RestHandler =>
  (exchange, target) =>
    handle(parseRequest(rest, exchange), target);

export const createRelationHandler =
  (handle: (exchange: Exchange, relation: Relation) => Promise<Answer>): RestHandler =>
  (exchange, target) => {
    if (target.kind !== "relation") throw new Error("a handler for relations received another target");
    return handle(exchange, target.relation);
  };

/** Returns the route with more methods. */
export const withMethods = (
  route: RestRoute,
  methods: readonly (readonly [method: string, handler: RestHandler])[],
): RestRoute => ({
  ...route,
  methods: new Map([...route.methods, ...methods]),
});

/** The surface's own methods by kind of target, in the order of `Allow`. */
type MethodsByTarget = Readonly<Record<RestTarget["kind"], ReadonlyMap<string, RestHandler>>>;

/** Creates the function that builds the route of a target. `createRouteMatcher` caches the routes of requests. */
export const createRouteFinder =
  ({ buildRestRoute }: RelApiHooks, methods: MethodsByTarget): RestSurface["findRoute"] =>
  (model, schema, target) =>
    buildRestRoute.call({ target, methods: methods[target.kind] }, { model, schema });
