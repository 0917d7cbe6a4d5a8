/** `GET /api/vessels?select=name,ports(name)&tonnage=gte.500`: relations and functions of the exposed schemas as REST.
 *  */
import { SyncBailHook, SyncWaterfallHook } from "tapable";
import {
  definePlugin,
  nameKey,
  routinesOf,
  type Answer,
  type Ask,
  type Exchange,
  type PluginContext,
  type Question,
  type RelApiHooks,
} from "../../core/index.ts";
import { encodeError } from "./answer/encode-error.ts";
import { warnOfHeader } from "./answer/headers.ts";
import type {
  ChooseMedia,
  FinishAnswer,
  ReadBody,
  ReadRaised,
  RestGuideService,
  RestHandler,
  RestPreferences,
  RestPreferencesService,
  RestTarget,
  SuggestionsService,
} from "./api.ts";
import {
  methodUnsupported,
  methodUnsupportedByRoutine,
  pathInvalid,
  relationNotFound,
  rootDisabled,
} from "./errors.ts";
import { refusePath } from "./meant-path.ts";
import { plannedReads, readRelation, type PlannedReads } from "./read.ts";
import type { ParsedQuery, PlacedTarget, Place, QueryKind, Rest } from "./request.ts";
import { createRoutes, onRelation, type RestService } from "./routes.ts";
import type { EtagsService } from "./run.ts";
import { restLimits, restSettings } from "./settings.ts";
import {
  dbMaxRows,
  dbTxEnd,
  maxFilters,
  maxJsonDepth,
  maxOrderTerms,
  maxRelationDepth,
  metadataPermissionsForRest,
} from "../settings.ts";
import { buildGrammar } from "./syntax/grammar.ts";
import { parseRequest, readPlace, readPreferences, restPrefixesOf } from "./syntax/parse-request.ts";
import { bodyType, readPayload } from "./syntax/payload.ts";
import { PREFERENCES } from "./syntax/prefer.ts";
import { parseQuery } from "./syntax/query-string.ts";

interface QueryText {
  readonly text: string;
  readonly kind: QueryKind;
}

const TEXT: Question<QueryText, string> = { name: "text", of: ({ text }) => text };
const KIND: Question<QueryText, QueryKind> = { name: "kind", of: ({ kind }) => kind };

/** A parsed query is so much larger than its text. */
const BYTES_PER_CHARACTER = 30;

const createRest = (hooks: RelApiHooks, context: PluginContext, reads: PlannedReads): Rest => {
  const grammar = buildGrammar(context.registry, context.options);
  const queries = context.caches.create({
    name: "rest queries",
    make: (ask: Ask<QueryText>): ParsedQuery => parseQuery(grammar, ask(TEXT), ask(KIND)),
    bytesOf: ({ pairs }) =>
      pairs.reduce((bytes, [name, given = ""]) => bytes + (name.length + given.length) * BYTES_PER_CHARACTER, 500),
  });
  const relation = new Map<string, RestHandler>();
  const rest: Rest = {
    context,
    hooks,
    grammar,
    finishAnswer: hooks.use<FinishAnswer>("finishAnswer"),
    readBody: hooks.use<ReadBody>("readBody"),
    readRaised: hooks.use<ReadRaised>("readRaised"),
    suggestions: () => context.service<SuggestionsService>("suggestions"),
    routeOf: createRoutes(hooks, context.caches, { relation, routine: new Map(), root: new Map() }),
    parseQuery: (text = "", kind) => queries.take({ text, kind }),
  };
  const read = onRelation(rest, (request, target) => readRelation(request, target, reads));
  relation.set("GET", read).set("HEAD", read);
  return rest;
};

const RELATION_METHODS = ["OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Steps 4 to 6 of R-PIPE-1, then the target's own handler. @rule R-PATH-4 R-PATH-7 R-PATH-10 R-PIPE-1 */
const answer = (rest: Rest, exchange: Exchange): Promise<Answer> | Answer => {
  const { method } = exchange;
  const place = readPlace(rest.context, exchange);
  const target = findTarget(place);
  if (target === undefined) {
    if (!RELATION_METHODS.includes(method)) throw methodUnsupported(method);
    return refuseUnknown(rest, place);
  }
  const { methods } = rest.routeOf(place.model, place.schema, target);
  // functions are not served at all where no plugin calls them
  if (target.kind === "routine" && methods.size === (methods.has("OPTIONS") ? 1 : 0))
    throw place.path === "/" ? rootDisabled() : pathInvalid();
  const handler = methods.get(method);
  if (handler === undefined)
    throw target.kind === "root" && !methods.has("GET") ? rootDisabled() : refuseMethod(target, method);
  return handler(exchange, target);
};

const refuseMethod = (target: RestTarget, method: string): Error =>
  target.kind === "routine" ? methodUnsupportedByRoutine(method) : methodUnsupported(method);

/** Undefined: an unknown relation. An unknown function has no overloads. */
const findTarget = (place: Place): PlacedTarget | undefined => {
  const { kind, model, schema, name } = place;
  if (kind === "root") return { kind, place };
  if (kind === "routine") return { kind, name, routines: routinesOf(model, { schema, name }), place };
  const relation = model.relations.get(nameKey({ schema, name }));
  return relation && { kind, relation, place };
};

const WITH_BODY = new Set(["POST", "PUT", "PATCH"]);

/** What is wrong with the query or the body comes before what is wrong with the name. @rule R-PIPE-2 R-SC-7 */
const refuseUnknown = async (rest: Rest, place: Place): Promise<never> => {
  const { exchange, query, model, schema, name, method } = parseRequest(rest, place);
  if (WITH_BODY.has(method))
    readPayload(
      rest,
      await exchange.body(),
      bodyType(exchange.header("content-type")),
      query.columns !== undefined && method !== "PUT",
    );
  throw relationNotFound(schema, name, rest.suggestions()?.relation(model, schema, name));
};

const NONE: readonly string[] = [];
const TAGS: readonly string[] = ["ETag"];

/** The REST surface with reads. The other methods are separate plugins. @rule R-PATH-1 R-PATH-2 R-PATH-3 */
export const rest = definePlugin({
  name: "rest",
  settings: [
    ...restSettings,
    ...restLimits,
    dbMaxRows,
    dbTxEnd,
    metadataPermissionsForRest,
    maxJsonDepth,
    maxRelationDepth,
    maxFilters,
    maxOrderTerms,
  ],
  preferences: PREFERENCES,
  apply: (hooks, context) => {
    hooks.declare<ChooseMedia>("chooseMedia", new SyncBailHook(["type", "context"]) satisfies ChooseMedia["value"]);
    hooks.declare<FinishAnswer>(
      "finishAnswer",
      new SyncWaterfallHook(["answer", "row"]) satisfies FinishAnswer["value"],
    );
    hooks.declare<ReadBody>("readBody", new SyncBailHook(["body", "type"]) satisfies ReadBody["value"]);
    hooks.declare<ReadRaised>("readRaised", new SyncBailHook(["error"]) satisfies ReadRaised["value"]);
    const reads = context.caches.create(plannedReads);
    const surface = createRest(hooks, context, reads);
    context.addMethod("rest", ({ method = "GET", path, ...call }) =>
      context.call({ ...call, method, path: (restPrefixesOf(context.options)[0] ?? "") + path }),
    );
    context.offer<RestService>("rest", surface);
    const preferences: RestPreferences = { of: (exchange) => readPreferences(surface.grammar, exchange).given };
    context.offer<RestPreferencesService>("rest-preferences", preferences);
    context.offer<RestGuideService>("rest-guide", {
      roots: () => restPrefixesOf(context.options),
      // loaded for the first who asks
      example: async (model, session) => (await import("./example.ts")).exampleRead(model, session),
    });
    const ignored = warnOfHeader(context.logger);
    context.addSurface({
      name: "rest",
      // `/api`, and everything below it; at the root, everything
      paths: () =>
        context.options.compatMode ? ["*"] : restPrefixesOf(context.options).flatMap((root) => [root, `${root}/*`]),
      handle: (exchange) => answer(surface, exchange),
      get exposedHeaders() {
        return context.service<EtagsService>("rest-etags") === undefined ? NONE : TAGS;
      },
      encodeError: (error, exchange) =>
        encodeError(
          surface,
          error.code === "path-not-found" ? refusePath(surface, exchange) : error,
          exchange,
          ignored,
        ),
    });
  },
});

export { restPrefixesOf };
