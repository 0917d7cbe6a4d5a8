/** Everything about a request that can be read without its body and the database: steps 4 to 8 of R-PIPE-1. The
 *  parts that many requests share are cached. */
import {
  createExchangeSlot,
  membersIn,
  membersOf,
  nameKey,
  questionsAbout,
  routinesOf,
  utf8Text,
  type Ask,
  type Exchange,
  type Model,
  type Operation,
  type PluginContext,
  type Question,
} from "../../../core/index.ts";
import type { RestRoute, RestTarget } from "../api.ts";
import { limitOnPut } from "../errors.ts";
import type { Grammar, ParsedRequest, ParseSource, Place, Preferences, Rest, RestRequest, Way } from "../request.ts";
import { templateOf } from "./parameters.ts";
import { profileHeader, readPlace } from "./place.ts";
import { NO_PREFERENCES, parsePreferences, resolveEnd } from "./prefer.ts";
import { parseQuery } from "./query-string.ts";
import { resolveRange } from "./range.ts";

// --- path and profile: where it leads -------------------------------------------------------------------------------

interface WaySource {
  readonly exchange: Exchange;
  readonly model: Model;
}

const MODEL = membersOf<WaySource>()("model");
const METHOD = membersIn<WaySource>()("exchange")("method");
const PATH = membersIn<WaySource>()("exchange")("path");
const aboutExchange = questionsAbout(({ exchange }: WaySource) => exchange);
const PROFILES: Readonly<Record<string, Question<WaySource, string | undefined>>> = Object.fromEntries(
  ["accept-profile", "content-profile"].map((name) => [name, aboutExchange(name, (exchange) => exchange.header(name))]),
);

/** Returns undefined for an unknown relation. An unknown function has no overloads. */
const findTarget = ({ kind, model, schema, name }: Place): RestTarget | undefined => {
  if (kind === "root") return { kind };
  if (kind === "routine") return { kind, name, routines: routinesOf(model, { schema, name }) };
  const relation = model.relations.get(nameKey({ schema, name }));
  return relation && { kind, relation };
};

/** Functions are not, where no plugin calls them. @rule R-PATH-7 */
export const isServed = ({ target, methods }: RestRoute): boolean =>
  target.kind !== "routine" || methods.size > (methods.has("OPTIONS") ? 1 : 0);

const KINDS: Readonly<Record<string, string>> = {
  GET: "read",
  HEAD: "read",
  POST: "insert",
  PUT: "insert",
  PATCH: "update",
  DELETE: "delete",
};

/** An unknown name may be anything. */
const operationOf = ({ kind, name }: Place, method: string, target: RestTarget | undefined): Operation => ({
  kind:
    method === "OPTIONS"
      ? "options"
      : kind === "routine"
        ? "call"
        : kind === "root"
          ? "describe"
          : (KINDS[method] ?? "other"),
  name: target === undefined || target.kind === "root" ? undefined : name,
});

const BYTES_PER_WAY = 1000;

/** An unknown name would be cached for every client that tries one. */
const isKnown = ({ target }: Way): boolean =>
  target !== undefined && (target.kind !== "routine" || target.routines.length > 0);

export const createWays = (context: PluginContext, routeOf: Rest["routeOf"]): Rest["wayOf"] => {
  const ways = context.caches.create({
    name: "rest ways",
    make: (ask: Ask<WaySource>): Way => {
      const method = ask(METHOD);
      const profile = ask(PROFILES[profileHeader(method)] as (typeof PROFILES)[string]); // one of both
      const place = readPlace(context.options, ask(MODEL), ask(PATH), profile);
      const target = findTarget(place);
      const route = target && routeOf(place.model, place.schema, target);
      const handler = route && isServed(route) ? route.methods.get(method) : undefined;
      return { ...place, method, target, handler, operation: operationOf(place, method, target) };
    },
    bytesOf: () => BYTES_PER_WAY,
  });
  const waysOfExchanges = createExchangeSlot<{ readonly exchange: Exchange; readonly way: Way }>();
  return (exchange) => {
    const known = waysOfExchanges.get(exchange);
    if (known?.exchange === exchange) return known.way; // an exchange that is derived from it may have another path
    const { made: way, keep } = ways.get({ exchange, model: context.model() });
    if (isKnown(way)) keep();
    waysOfExchanges.set(exchange, { exchange, way });
    return way;
  };
};

// --- query string and headers: what it asks for -------------------------------------------------------------------------

export const readPreferences = (grammar: Grammar, header: string | undefined): Preferences =>
  header === undefined || header === "" ? NO_PREFERENCES : parsePreferences(grammar, utf8Text(header));

/** The memory of a parsed query for each character of its text. */
const BYTES_PER_CHARACTER = 30;

const ofRequest = membersOf<ParseSource>();
const WAY = ofRequest("way");
const TEXT = ofRequest("text");
const HAS_MARKS = ofRequest("hasMarks");
const HAS_RANGE = ofRequest("hasRange");
const PREFER = ofRequest("prefer");

const isReading = (method: string): boolean => method === "GET" || method === "HEAD";

/** @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
const parse = (rest: Rest, ask: Ask<ParseSource>): ParsedRequest => {
  const { kind, model, schema, isProfileNamed, name, path, method } = ask(WAY);
  const query = parseQuery(
    rest.grammar,
    ask(TEXT) ?? "",
    !isReading(method) ? "filters" : kind === "routine" ? "arguments" : "reads",
  );
  const range = ask(HAS_RANGE) ? undefined : resolveRange(query.range, undefined);
  if (method === "PUT" && (query.range.limit !== undefined || query.range.offset !== undefined)) throw limitOnPut();
  const preferences = readPreferences(rest.grammar, ask(PREFER));
  const end = resolveEnd(rest.context.options, preferences);
  const hasMarks = ask(HAS_MARKS);
  return { kind, rest, model, method, schema, isProfileNamed, name, path, query, hasMarks, preferences, end, range };
};

export const createParse = (rest: Rest): Rest["parse"] =>
  rest.context.caches.create({
    name: "rest requests",
    make: (ask: Ask<ParseSource>) => parse(rest, ask),
    bytesOf: ({ query: { pairs } }) =>
      pairs.reduce((bytes, [name, given = ""]) => bytes + (name.length + given.length) * BYTES_PER_CHARACTER, 1000),
  }).take;

const NONE: readonly string[] = [];

/** Node joins repeated ones. */
export const preferOf = ({ prefer, request }: Pick<Exchange, "prefer" | "request">): string | undefined =>
  prefer ?? (request.headers["prefer"] as string | undefined);

/** `way`, `prefer`: in place of the exchange's own. @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parseRequest = (
  rest: Rest,
  exchange: Exchange,
  way: Way = rest.wayOf(exchange),
  prefer: string | undefined = preferOf(exchange),
): RestRequest => {
  const { method } = way;
  const isRead = way.kind === "relation" && isReading(method);
  const template = isRead ? templateOf(rest.grammar, exchange.query) : undefined;
  const header = method === "GET" ? exchange.header("range") : undefined;
  const parsed = rest.parse({
    way,
    text: template === undefined ? exchange.query : template.text,
    hasMarks: template !== undefined,
    hasRange: header !== undefined,
    prefer,
  });
  const { kind, model, schema, isProfileNamed, name, path, query, preferences, end } = parsed;
  const range = parsed.range ?? resolveRange(query.range, header);
  exchange.mark("parse");
  return {
    parsed,
    kind,
    rest,
    exchange,
    model,
    method,
    schema,
    isProfileNamed,
    name,
    path,
    query,
    filterValues: template === undefined ? NONE : template.values,
    range,
    hasLimit: range.limit !== undefined,
    hasOffset: range.offset !== 0n,
    preferences,
    end,
    accept: exchange.header("accept"),
  };
};
