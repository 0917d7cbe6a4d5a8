/** Which methods answer for a target: the surface's own, and what `buildRestRoute` taps make of them. */
import type {
  Answer,
  Ask,
  Caches,
  Model,
  PluginContext,
  Question,
  RelApiHooks,
  Relation,
  Token,
} from "../../core/index.ts";
import type { RestHandler, RestRoute, RestTarget } from "./api.ts";
import type { Rest, RestRequest } from "./request.ts";
import { parseRequest } from "./syntax/parse-request.ts";

/** The surface, for the other plugins of this folder. */
export type RestService = Token<"rest", Rest>;

/** The surface, for a plugin that requires it: it is there when that plugin is applied. */
export const restOf = (context: PluginContext): Rest => {
  const rest = context.service<RestService>("rest");
  if (rest === undefined) throw new Error('the plugin "rest" is missing');
  return rest;
};

/** A handler that is given the parsed request. */
export const onTarget =
  (rest: Rest, handle: (request: RestRequest, target: RestTarget) => Promise<Answer> | Answer): RestHandler =>
  (exchange, target) =>
    handle(parseRequest(rest, exchange), target);

export const onRelation = (
  rest: Rest,
  handle: (request: RestRequest, relation: Relation) => Promise<Answer> | Answer,
): RestHandler =>
  onTarget(rest, (request, target) => {
    if (target.kind !== "relation") throw new Error("a handler for relations received another target");
    return handle(request, target.relation);
  });

/** The route with more methods. */
export const withMethods = (
  route: RestRoute,
  methods: readonly (readonly [method: string, handler: RestHandler])[],
): RestRoute => ({
  ...route,
  methods: new Map([...route.methods, ...methods]),
});

/** The surface's own methods by kind of target, in the order of `Allow`. */
export type Methods = Readonly<Record<RestTarget["kind"], ReadonlyMap<string, RestHandler>>>;

interface Wanted {
  readonly model: Model;
  readonly schema: string;
  readonly target: RestTarget;
}

const MODEL: Question<Wanted, Model> = { name: "model", of: ({ model }) => model };
const SCHEMA: Question<Wanted, string> = { name: "schema", of: ({ schema }) => schema };
/** Relations and overloads are the model's own, so their identity says which, and of what kind. */
const SUBJECT: Question<Wanted, RestTarget> = {
  name: "target",
  of: ({ target }) => target,
  key: (target) =>
    target.kind === "relation" ? target.relation : target.kind === "routine" ? target.routines : target.kind,
};

const BYTES_PER_ROUTE = 1000;

/** Built when first asked for. */
export const createRoutes = (
  hooks: RelApiHooks,
  caches: Caches,
  methods: Methods,
): Pick<Rest, "routeOf" | "methodsOf"> => {
  const routes = caches.create({
    name: "rest routes",
    make: (ask: Ask<Wanted>): RestRoute =>
      hooks.buildRestRoute.call(
        { target: ask(SUBJECT), methods: methods[ask(SUBJECT).kind] },
        { model: ask(MODEL), schema: ask(SCHEMA) },
      ),
    bytesOf: () => BYTES_PER_ROUTE,
  });
  return {
    routeOf: (model, schema, target) => {
      const found = routes.get({ model, schema, target });
      // an unknown name would be cached for every client that tries one
      if (target.kind !== "routine" || target.routines.length > 0) found.keep();
      return found.made;
    },
    // who describes all targets would push everything else out of the cache
    methodsOf: (model, schema, target) => routes.get({ model, schema, target }).made.methods,
  };
};
