/** Reads the parts of a request that need neither its body nor the database: steps 4 to 8 of R-PIPE-1. */
import {
  defineCacheQuestion,
  memoize,
  buildNameKey,
  findRoutines,
  decodeUtf8Header,
  type Ask,
  type Exchange,
  type Model,
  type Operation,
  type PluginContext,
  type CacheQuestion,
  type Relation,
} from "../../../core/index.ts";
import type { RestRoute, RestTarget } from "../api.ts";
import { limitOnPutUnsupported } from "../errors.ts";
import type {
  Grammar,
  NodeRange,
  ParsedRequest,
  RequestTarget,
  Preferences,
  RequestSource,
  RestSurface,
  RestRequest,
  Window,
} from "../request.ts";
import { buildTemplate } from "./parameters.ts";
import { getProfileHeader, resolveTarget } from "./resolve-target.ts";
import { NO_PREFERENCES, parsePreferences, resolveTransactionEnd } from "./prefer.ts";
import { parseQuery } from "./query-string.ts";
import { resolveRange } from "./range.ts";

/** Finds the target. Returns undefined for an unknown relation. An unknown function has no overloads. */
const findTarget = ({ kind, model, schema, name }: RequestTarget): RestTarget | undefined => {
  if (kind === "root") return { kind };
  if (kind === "routine") return { kind, name, routines: findRoutines(model, { schema, name }) };
  const relation = model.relations.get(buildNameKey({ schema, name }));
  return relation && { kind, relation };
};

/** Returns whether the target is served. Functions are not served without a plugin that calls them. @rule R-PATH-7 */
export const isServed = ({ target, methods }: RestRoute): boolean =>
  target.kind !== "routine" || methods.size > (methods.has("OPTIONS") ? 1 : 0);

const OPERATION_KINDS: Readonly<Record<string, string>> = {
  GET: "read",
  HEAD: "read",
  POST: "insert",
  PUT: "insert",
  PATCH: "update",
  DELETE: "delete",
};

/** Describes the request for metrics and logs, without an unknown name, which may be any text. */
const describeOperation = (
  { kind, name }: RequestTarget,
  method: string,
  target: RestTarget | undefined,
): Operation => ({
  kind:
    method === "OPTIONS"
      ? "options"
      : kind === "routine"
        ? "call"
        : kind === "root"
          ? "describe"
          : (OPERATION_KINDS[method] ?? "other"),
  name: target === undefined || target.kind === "root" ? undefined : name,
});

/** Matches routes by method, path and profile. The routes of relations and functions are built once for each model. */
export const createRouteMatcher = (
  context: PluginContext,
  buildRoute: RestSurface["findRoute"],
): RestSurface["matchRoute"] => {
  const getRoutes = memoize((_model: Model) => new Map<object, RestRoute>());
  const findRoute = ({ model, schema }: RequestTarget, target: RestTarget): RestRoute => {
    if (target.kind === "root") return buildRoute(model, schema, target);
    const routes = getRoutes(model);
    const key = target.kind === "relation" ? target.relation : target.routines;
    const route = routes.get(key) ?? buildRoute(model, schema, target);
    routes.set(key, route);
    return route;
  };
  return (exchange) => {
    const { method } = exchange;
    const profile = exchange.header(getProfileHeader(method));
    const requestTarget = resolveTarget(context.options, context.model(), exchange.path, profile);
    const target = findTarget(requestTarget);
    const route = target && findRoute(requestTarget, target);
    const handler = route && isServed(route) ? route.methods.get(method) : undefined;
    // A spread of the target would take several microseconds.
    const { kind, model, schema, isProfileNamed, name, path } = requestTarget;
    const operation = describeOperation(requestTarget, method, target);
    return { kind, model, schema, isProfileNamed, name, path, target, handler, operation };
  };
};

export const readPreferences = (grammar: Grammar, header: string | undefined): Preferences =>
  header === undefined || header === "" ? NO_PREFERENCES : parsePreferences(grammar, decodeUtf8Header(header));

const METHOD = defineCacheQuestion("method", ({ exchange }: RequestSource) => exchange.method);
const MODEL = defineCacheQuestion("model", ({ model }: RequestSource) => model);
const PATH = defineCacheQuestion("path", ({ exchange }: RequestSource) => exchange.path);
const PREFER = defineCacheQuestion("prefer", ({ prefer }: RequestSource) => prefer);
const PROFILE = defineCacheQuestion("profile", ({ exchange }: RequestSource) =>
  exchange.header(getProfileHeader(exchange.method)),
);
const TEXT = defineCacheQuestion("text", ({ template, exchange }: RequestSource) =>
  template === undefined ? exchange.query : template.text,
);
const HAS_MARKS = defineCacheQuestion("has marks", ({ template }: RequestSource) => template !== undefined);

const readRangeHeader = ({ exchange }: RequestSource): string | undefined =>
  exchange.method === "GET" ? exchange.header("range") : undefined;

/** Creates the question for the rows of the root, which a `Range` header may select. */
const createWindowQuestion = (range: NodeRange): CacheQuestion<RequestSource, Window> =>
  defineCacheQuestion(
    "window",
    (source) => {
      const { limit, offset } = resolveRange(range, readRangeHeader(source));
      return { hasLimit: limit !== undefined, hasOffset: offset !== 0n };
    },
    ({ hasLimit, hasOffset }) => Number(hasLimit) + 2 * Number(hasOffset),
  );

export const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/** Parses a request that is planned. Each answer of `ask` becomes part of the cache key. @throws RelApiError in the
 *  order of R-PIPE-1 @rule R-PIPE-1 */
export const parseForPlan = (rest: RestSurface, ask: Ask<RequestSource>): ParsedRequest => {
  const { grammar, context } = rest;
  const method = ask(METHOD);
  const target = resolveTarget(context.options, ask(MODEL), ask(PATH), ask(PROFILE));
  const query = parseQuery(
    grammar,
    ask(TEXT) ?? "",
    !isReading(method) ? "filters" : target.kind === "routine" ? "arguments" : "reads",
  );
  const window = ask(createWindowQuestion(query.range));
  if (method === "PUT" && (query.range.limit !== undefined || query.range.offset !== undefined))
    throw limitOnPutUnsupported();
  const preferences = readPreferences(grammar, ask(PREFER));
  const end = resolveTransactionEnd(context.options, preferences);
  return { ...target, rest, method, query, hasMarks: ask(HAS_MARKS), preferences, end, window };
};

const NO_VALUES: readonly string[] = [];

/** Returns the `Prefer` headers, which Node joins if there are several. */
export const readPreferHeader = ({ prefer, request }: Pick<Exchange, "prefer" | "request">): string | undefined =>
  prefer ?? (request.headers["prefer"] as string | undefined);

/** Collects the facts of a request. `relation` is the relation of a planned read or write. */
export const buildSource = (
  { context, grammar }: RestSurface,
  exchange: Exchange,
  relation?: Relation,
): RequestSource => ({
  exchange,
  session: exchange.session,
  model: context.model(),
  prefer: readPreferHeader(exchange),
  template: relation && isReading(exchange.method) ? buildTemplate(grammar, exchange.query) : undefined,
  relation,
});

/** Returns the request with the values that it does not share with others. */
export const buildRequest = (parsedRequest: ParsedRequest, source: RequestSource): RestRequest => {
  // A spread of the parsed request would take several microseconds.
  const { kind, model, schema, isProfileNamed, name, path, rest, method, query, hasMarks, preferences, end, window } =
    parsedRequest;
  const { exchange, template } = source;
  return {
    kind,
    model,
    schema,
    isProfileNamed,
    name,
    path,
    rest,
    method,
    query,
    hasMarks,
    preferences,
    end,
    window,
    exchange,
    filterValues: template === undefined ? NO_VALUES : template.values,
    range: resolveRange(query.range, readRangeHeader(source)),
    accept: exchange.header("accept"),
  };
};

/** Parses a request that is not planned. @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parseRequest = (rest: RestSurface, exchange: Exchange): RestRequest => {
  const source = buildSource(rest, exchange);
  const parsedRequest = parseForPlan(rest, (question) => question.read(source));
  exchange.endPhase("parse");
  return buildRequest(parsedRequest, source);
};
