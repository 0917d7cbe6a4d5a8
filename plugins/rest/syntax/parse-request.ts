/** Everything about a request that can be read without its body and the database: steps 4 to 8 of R-PIPE-1. */
import {
  membersIn,
  membersOf,
  memoize,
  nameKey,
  routinesOf,
  utf8Text,
  type Ask,
  type Exchange,
  type Model,
  type Operation,
  type PluginContext,
  type Question,
  type Relation,
} from "../../../core/index.ts";
import type { RestRoute, RestTarget } from "../api.ts";
import { limitOnPut } from "../errors.ts";
import type {
  Grammar,
  NodeRange,
  ParsedRequest,
  RequestTarget,
  Preferences,
  RequestSource,
  Rest,
  RestRequest,
  Window,
  RootRange,
} from "../request.ts";
import { templateOf } from "./parameters.ts";
import { profileHeader, resolveTarget } from "./resolve-target.ts";
import { NO_PREFERENCES, parsePreferences, resolveEnd } from "./prefer.ts";
import { parseQuery } from "./query-string.ts";
import { resolveRange } from "./range.ts";

// --- path and profile: where it leads -------------------------------------------------------------------------------

/** Returns undefined for an unknown relation. An unknown function has no overloads. */
const findTarget = ({ kind, model, schema, name }: RequestTarget): RestTarget | undefined => {
  if (kind === "root") return { kind };
  if (kind === "routine") return { kind, name, routines: routinesOf(model, { schema, name }) };
  const relation = model.relations.get(nameKey({ schema, name }));
  return relation && { kind, relation };
};

/** Functions are not, where no plugin calls them. @rule R-PATH-7 */
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

/** An unknown name may be anything. */
const operationOf = ({ kind, name }: RequestTarget, method: string, target: RestTarget | undefined): Operation => ({
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
export const createRouteMatches = (context: PluginContext, routeOf: Rest["routeOf"]): Rest["matchRoute"] => {
  const routesOf = memoize((_model: Model) => new WeakMap<object, RestRoute>());
  const findRoute = ({ model, schema }: RequestTarget, target: RestTarget): RestRoute => {
    if (target.kind === "root") return routeOf(model, schema, target);
    const routes = routesOf(model);
    const key = target.kind === "relation" ? target.relation : target.routines;
    const route = routes.get(key) ?? routeOf(model, schema, target);
    routes.set(key, route);
    return route;
  };
  return (exchange) => {
    const { method } = exchange;
    const profile = exchange.header(profileHeader(method));
    const place = resolveTarget(context.options, context.model(), exchange.path, profile);
    const target = findTarget(place);
    const route = target && findRoute(place, target);
    const handler = route && isServed(route) ? route.methods.get(method) : undefined;
    // a spread of the place would take several microseconds
    const { kind, model, schema, isProfileNamed, name, path } = place;
    const operation = operationOf(place, method, target);
    return { kind, model, schema, isProfileNamed, name, path, target, handler, operation };
  };
};

// --- query string and headers: what it asks for -------------------------------------------------------------------------

export const readPreferences = (grammar: Grammar, header: string | undefined): Preferences =>
  header === undefined || header === "" ? NO_PREFERENCES : parsePreferences(grammar, utf8Text(header));

const ofSource = membersOf<RequestSource>();
const ofExchange = membersIn<RequestSource>()("exchange");
const METHOD = ofExchange("method");
const MODEL = ofSource("model");
const PATH = ofExchange("path");
const PREFER = ofSource("prefer");
const PROFILES: Readonly<Record<string, Question<RequestSource, string | undefined>>> = Object.fromEntries(
  ["accept-profile", "content-profile"].map((name) => [name, { name, of: ({ exchange }) => exchange.header(name) }]),
);
const TEXT: Question<RequestSource, string | undefined> = {
  name: "text",
  of: ({ template, exchange }) => (template === undefined ? exchange.query : template.text),
};
const HAS_MARKS: Question<RequestSource, boolean> = {
  name: "has marks",
  of: ({ template }) => template !== undefined,
};

const rangeHeaderOf = ({ exchange }: RequestSource): string | undefined =>
  exchange.method === "GET" ? exchange.header("range") : undefined;

const HAS_RANGE: Question<RequestSource, boolean> = {
  name: "has range",
  of: (source) => rangeHeaderOf(source) !== undefined,
};

const windowIn = ({ limit, offset }: RootRange): Window => ({
  hasLimit: limit !== undefined,
  hasOffset: offset !== 0n,
});

/** The rows of the root that a request with a `Range` header selects. */
const windowOf = (range: NodeRange): Question<RequestSource, Window> => ({
  name: "window",
  of: (source) => windowIn(resolveRange(range, rangeHeaderOf(source))),
  key: ({ hasLimit, hasOffset }) => Number(hasLimit) + 2 * Number(hasOffset),
});

export const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/** @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parse = (rest: Rest, ask: Ask<RequestSource>): ParsedRequest => {
  const { grammar, context } = rest;
  const method = ask(METHOD);
  const profile = ask(PROFILES[profileHeader(method)] as (typeof PROFILES)[string]); // one of both
  const place = resolveTarget(context.options, ask(MODEL), ask(PATH), profile);
  const query = parseQuery(
    grammar,
    ask(TEXT) ?? "",
    !isReading(method) ? "filters" : place.kind === "routine" ? "arguments" : "reads",
  );
  const range = ask(HAS_RANGE) ? undefined : resolveRange(query.range, undefined);
  const window = range === undefined ? ask(windowOf(query.range)) : windowIn(range);
  if (method === "PUT" && (query.range.limit !== undefined || query.range.offset !== undefined)) throw limitOnPut();
  const preferences = readPreferences(grammar, ask(PREFER));
  const end = resolveEnd(context.options, preferences);
  return { ...place, rest, method, query, hasMarks: ask(HAS_MARKS), preferences, end, window, range };
};

const NONE: readonly string[] = [];

/** Node joins repeated ones. */
export const preferOf = ({ prefer, request }: Pick<Exchange, "prefer" | "request">): string | undefined =>
  prefer ?? (request.headers["prefer"] as string | undefined);

/** Collects the facts of a request. `relation` is that of a planned read or write. */
export const sourceOf = ({ context, grammar }: Rest, exchange: Exchange, relation?: Relation): RequestSource => ({
  exchange,
  session: exchange.session,
  model: context.model(),
  prefer: preferOf(exchange),
  template: relation && isReading(exchange.method) ? templateOf(grammar, exchange.query) : undefined,
  relation,
});

/** The request with the values that it does not share with others. */
export const requestOf = (parsed: ParsedRequest, source: RequestSource): RestRequest => {
  // a spread of the parsed request would take several microseconds
  const { kind, model, schema, isProfileNamed, name, path, rest, method, query, hasMarks, preferences, end, window } =
    parsed;
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
    filterValues: template === undefined ? NONE : template.values,
    range: parsed.range ?? resolveRange(query.range, rangeHeaderOf(source)),
    accept: exchange.header("accept"),
  };
};

/** Parses a request that is not planned. @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parseRequest = (rest: Rest, exchange: Exchange): RestRequest => {
  const source = sourceOf(rest, exchange);
  const parsed = parse(rest, (question) => question.of(source));
  exchange.mark("parse");
  return requestOf(parsed, source);
};
