/** How plugins of this surface add methods to its routes. */
import type { Answer, PluginContext, Relation } from "../../core/index.ts";
import type { RestHandler, RestRoute, RestTarget } from "./api.ts";
import type { Rest, RestRequest } from "./request.ts";
import { parseRequest } from "./syntax/parse-request.ts";

/** Name under which the surface is offered to other plugins. */
export const REST = "rest";

const restOf = (context: PluginContext): Rest => {
  const rest = context.service<Rest>(REST);
  if (rest === undefined) throw new Error('the plugin "rest" is not there'); // every plugin of this folder requires it
  return rest;
};

type Handle = (request: RestRequest, target: RestTarget) => Promise<Answer> | Answer;

/** A handler that is given the parsed request. */
export const onTarget =
  (context: PluginContext, handle: Handle): RestHandler =>
  (exchange, target) =>
    handle(parseRequest(restOf(context), exchange, target.kind), target);

export const onRelation = (
  context: PluginContext,
  handle: (request: RestRequest, relation: Relation) => Promise<Answer> | Answer,
): RestHandler =>
  onTarget(context, (request, target) => {
    if (target.kind !== "relation") throw new Error("a handler of relations was given another target");
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
