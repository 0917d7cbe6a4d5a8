/** `GET /api/vessels?select=name,ports(name)&tonnage=gte.500`: relations and functions of the exposed schemas as REST.
 *  */
import {
  countRejection,
  definePlugin,
  type Exchange,
  type OpenExchange,
  type PluginContext,
  type RelApiError,
  type RelApiHooks,
  type Relation,
} from "../../core/index.ts";
import { graphqlService } from "../graphql/api.ts";
import { eventStreamsService } from "../live/api.ts";
import { streamedAnswersService } from "../speed/api.ts";
import { encodeError } from "./answer/encode-error.ts";
import { createHeaderWarning } from "./answer/headers.ts";
import {
  exposeRestHeadersHook,
  restHintsService,
  readParametersHook,
  restGuideService,
  restPreferencesService,
  nameSuggestionsService,
  type RestGuide,
  type RestHandler,
  type RestPreferences,
  type RestTarget,
} from "./api.ts";
import {
  methodUnsupported,
  methodUnsupportedByRoutine,
  pathInvalid,
  pathNotServed,
  relationNotFound,
  rootDisabled,
} from "./errors.ts";
import { planRead } from "./plan/read.ts";
import { createRequestCache, namesColumns } from "./plan/planning.ts";
import { readRelation } from "./read.ts";
import type { RestSurface, RouteMatch } from "./request.ts";
import { etagsService } from "./run.ts";
import { createRouteFinder, createRelationHandler, RELATION_METHODS, restService } from "./routes.ts";
import { restLimits, restSettings } from "./settings.ts";
import { metadataPermissionsForRest, surfaceSettings } from "../shared/settings.ts";
import { buildGrammar } from "./syntax/grammar.ts";
import {
  createRouteMatcher,
  isServed,
  parseRequest,
  readPreferHeader,
  readPreferences,
} from "./syntax/parse-request.ts";
import { receivePayload } from "./syntax/payload.ts";
import { getRestPrefixes } from "./syntax/resolve-target.ts";
import { POSTGREST_PREFERENCES } from "./syntax/prefer.ts";

const createRest = (hooks: RelApiHooks, context: PluginContext): RestSurface => {
  const readParameters = context.use(readParametersHook);
  const grammar = buildGrammar(context.registry, context, (name) => readParameters.get(name) !== undefined);
  const relation = new Map<string, RestHandler>();
  const findRoute = createRouteFinder(hooks, { relation, routine: new Map(), root: new Map() });
  const rest: RestSurface = {
    context,
    hooks,
    grammar,
    findSuggestions: () => context.use(nameSuggestionsService),
    findHints: () => (context.options.compatMode ? undefined : context.use(restHintsService)),
    // An entity tag is computed from the whole body, so etags exclude streaming (R-STR-6).
    findStreamedAnswers: () =>
      context.use(etagsService) === undefined ? context.use(streamedAnswersService) : undefined,
    findRoute,
    matchRoute: createRouteMatcher(context, findRoute),
    get reads() {
      return reads;
    },
  };
  const reads = createRequestCache(rest, "rest reads", planRead);
  const read = createRelationHandler((exchange, target) => readRelation(rest, exchange, target));
  relation.set("GET", read).set("HEAD", read);
  return rest;
};

/** Rejects a request that has no handler. @rule R-PATH-4 R-PATH-7 R-PATH-10 R-PIPE-1 */
const rejectRequest = (rest: RestSurface, exchange: Exchange, match: RouteMatch): Promise<never> => {
  const { target, model, schema, path } = match;
  const { method } = exchange;
  if (target === undefined) {
    if (!RELATION_METHODS.includes(method)) throw methodUnsupported(method);
    return rejectUnknown(rest, exchange);
  }
  const route = rest.findRoute(model, schema, target);
  if (!isServed(route)) throw path === "/" ? rootDisabled() : pathInvalid();
  throw target.kind === "root" && !route.methods.has("GET") ? rootDisabled() : buildMethodError(target, method);
};

const buildMethodError = (target: RestTarget, method: string): Error =>
  target.kind === "routine" ? methodUnsupportedByRoutine(method) : methodUnsupported(method);

const WITH_BODY = new Set(["POST", "PUT", "PATCH"]);

/** Reports an error of the query or the body before an unknown name. @rule R-PIPE-2 R-SC-7 */
const rejectUnknown = async (rest: RestSurface, exchange: Exchange): Promise<never> => {
  const request = parseRequest(rest, exchange);
  const { model, schema, name, method } = request;
  if (WITH_BODY.has(method)) (await receivePayload(rest, exchange))(namesColumns(request));
  throw relationNotFound(schema, name, rest.findSuggestions()?.relation(model, schema, name));
};

/** Returns the error for a path that no surface serves. */
const buildPathError = ({ context, findSuggestions }: RestSurface, { path, session }: OpenExchange): RelApiError => {
  const prefixes = getRestPrefixes(context.options);
  const similarPath = session && findSuggestions()?.path(context.model(), session, path);
  return pathNotServed(prefixes, context.use(graphqlService)?.path, similarPath && `${prefixes[0]}${similarPath}`);
};

/** The REST surface with reads. The other methods are separate plugins. @rule R-PATH-1 R-PATH-2 R-PATH-3 */
export const rest = definePlugin({
  name: "rest",
  settings: [...restSettings, ...restLimits, ...surfaceSettings, metadataPermissionsForRest],
  preferences: POSTGREST_PREFERENCES,
  apply: (hooks, context) => {
    const surface = createRest(hooks, context);
    context.addMethod("rest", ({ method = "GET", path, ...call }) =>
      context.call({ ...call, method, path: (getRestPrefixes(context.options)[0] ?? "") + path }),
    );
    context.offer(restService, surface);
    const warnOfIgnoredHeader = createHeaderWarning(context.logger);
    const encode: RestGuide["encodeError"] = (error, exchange) => {
      countRejection(context.counters, error);
      return encodeError(
        surface,
        error.code === "path-not-found" ? buildPathError(surface, exchange) : error,
        exchange,
        warnOfIgnoredHeader,
      );
    };
    const preferences: RestPreferences = {
      read: (exchange) => readPreferences(surface.grammar, readPreferHeader(exchange)).acceptedValues,
    };
    context.offer(restPreferencesService, preferences);
    const isDescribed = (): boolean => context.options.openapiMode !== "disabled";
    context.offer(restGuideService, {
      roots: () => getRestPrefixes(context.options),
      encodeError: encode,
      // The first call loads the file.
      example: async (model, session) =>
        isDescribed()
          ? (await import("./example.ts")).buildExampleRead(model, session)
          : { path: "/<table>?limit=3", relation: "<table>", select: "*" },
      relations: async (model, session) =>
        isDescribed() ? (await import("./example.ts")).listExampleRelations(model, session) : [],
      liveExample: async (model, session) => {
        if (!isDescribed() || context.use(eventStreamsService)?.isServed() !== true) return undefined;
        const mayPatch = (relation: Relation): boolean =>
          surface.findRoute(model, relation.schema, { kind: "relation", relation }).methods.has("PATCH");
        return (await import("./example.ts")).buildLiveExample(model, session, mayPatch);
      },
    });
    let exposedHeaders: readonly string[] | undefined;
    context.addSurface({
      name: "rest",
      // The surface serves the prefix itself and all paths below it; at the root, all paths.
      paths: () =>
        context.options.compatMode ? ["*"] : getRestPrefixes(context.options).flatMap((root) => [root, `${root}/*`]),
      get exposedHeaders() {
        return (exposedHeaders ??= context.use(exposeRestHeadersHook).call([]));
      },
      // Runs steps 4 to 6 of R-PIPE-1, then the handler of the target.
      handle: (exchange) => {
        const match = surface.matchRoute(exchange);
        const { handler, target } = match;
        exchange.operation = match.operation;
        return handler === undefined || target === undefined
          ? rejectRequest(surface, exchange, match)
          : handler(exchange, target);
      },
      encodeError: encode,
    });
  },
});
