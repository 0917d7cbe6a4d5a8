/** Which methods answer for a target: the surface's own, and what `buildRestRoute` taps make of them. Built when first asked for. */
import { nameKey, type Model, type RelApiHooks, type RestHandler, type RestRoute, type RestTarget } from "../../core/index.ts";

/** The surface's own methods by kind of target, in the order of `Allow`. */
export type Methods = Readonly<Record<RestTarget["kind"], ReadonlyMap<string, RestHandler>>>;

/** Routes of each model, gone with it. */
export const createRoutes = (hooks: RelApiHooks, methods: Methods): ((model: Model, schema: string, target: RestTarget) => RestRoute) => {
  const routesOf = new WeakMap<Model, Map<string, RestRoute>>();
  return (model, schema, target) => {
    let routes = routesOf.get(model);
    if (routes === undefined) {
      routes = new Map();
      routesOf.set(model, routes);
    }
    const key = `${target.kind}\u0000${schema}\u0000${nameOf(target)}`;
    const known = routes.get(key);
    if (known !== undefined) return known;
    const route = hooks.buildRestRoute.call({ target, methods: methods[target.kind] }, { model, schema });
    // a name the model lacks would be kept for whoever asks for it
    if (target.kind !== "routine" || target.routines.length > 0) routes.set(key, route);
    return route;
  };
};

const nameOf = (target: RestTarget): string => (target.kind === "root" ? "" : target.kind === "relation" ? nameKey(target.relation) : target.name);
