/** Everything about a request that can be parsed without its body and the database: steps 4 to 8 of R-PIPE-1. */
import {
  utf8Text,
  type Exchange,
  type Model,
  type PluginContext,
  type RelApiOptions,
  type ResolvedOptions,
} from "../../../core/index.ts";
import { limitOnPut, pathInvalid, rootDisabled, schemaNotExposed } from "../errors.ts";
import type { Grammar, Place, Preferences, Rest, RestRequest } from "../request.ts";
import { decodePercent, templateOf } from "./parameters.ts";
import { NO_PREFERENCES, parsePreferences } from "./prefer.ts";
import { resolveRange } from "./range.ts";

// --- `/vessels`, `/rpc/fleet_weight`, `/`, and `Accept-Profile: sea`: where it leads ------------------------------------

/** What the path says. `schema`: where the setting of the root names one. */
type Location = Pick<Place, "kind" | "name" | "path"> & { readonly schema?: string };

type PathOptions = Pick<RelApiOptions, "restPrefixes" | "restPath">;

const prefixes = new WeakMap<PathOptions, readonly string[]>();

/** What REST paths start with: `["/api/", "/"]` is `["/api", ""]`. @rule R-PATH-1 */
export const restPrefixesOf = (options: PathOptions): readonly string[] => {
  let found = prefixes.get(options);
  if (found === undefined) {
    found = (options.restPrefixes ?? [options.restPath ?? "/api"]).map((path) => path.replace(/\/+$/, ""));
    prefixes.set(options, found);
  }
  return found;
};

/** The path below the REST root, or undefined where the surface does not reach. @rule R-PATH-1 R-PATH-2 */
export const belowRoot = (options: ResolvedOptions, path: string): string | undefined => {
  let found = options.compatMode ? "" : undefined;
  for (const prefix of restPrefixesOf(options))
    if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/"))
      if (found === undefined || prefix.length > found.length) found = prefix;
  return found === undefined ? undefined : path.slice(found.length);
};

/** Path and profile, read once for a request. @throws RelApiError `path-invalid`, `root-disabled`, `schema-not-exposed`
 *  @rule R-PATH-4 R-PATH-5 R-PATH-6 R-PATH-8 R-PROF-3 */
export const readPlace = (context: Pick<PluginContext, "options" | "model">, exchange: Exchange): Place => {
  const model = context.model();
  const { kind, name, path, schema } = locate(context.options, exchange.path);
  const profile = readProfile(model, exchange);
  return {
    exchange,
    kind,
    model,
    schema: schema ?? profile ?? model.schemas[0] ?? "public",
    isProfileNamed: profile !== undefined || model.schemas.length > 1,
    name,
    path,
  };
};

const locate = (options: ResolvedOptions, path: string): Location => {
  const below = belowRoot(options, path) ?? path;
  if (below === "" || below === "/") return locateRoot(options);
  const [empty, first = "", second, ...more] = below.split("/");
  if (empty !== "" || more.length > 0) throw pathInvalid();
  if (second === undefined) return { kind: "relation", name: decodePercent(first), path: below };
  if (first !== "rpc") throw pathInvalid();
  return { kind: "routine", name: decodePercent(second), path: below };
};

/** `dbRootSpec` is a function name, with its schema or without. */
const locateRoot = ({ dbRootSpec, openapiMode }: ResolvedOptions): Location => {
  if (dbRootSpec !== undefined) {
    const dot = dbRootSpec.indexOf(".");
    return {
      kind: "routine",
      name: dbRootSpec.slice(dot + 1),
      schema: dot === -1 ? undefined : dbRootSpec.slice(0, dot),
      path: "/",
    };
  }
  if (openapiMode === "disabled") throw rootDisabled();
  return { kind: "root", name: "", path: "/" };
};

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/** The exposed schema that the request asks for; undefined: it does not ask. @rule R-PROF-1 R-PROF-2 R-PROF-5 */
const readProfile = (model: Model, exchange: Exchange): string | undefined => {
  const sent = exchange.header(READING.has(exchange.method) ? "accept-profile" : "content-profile");
  if (sent === undefined) return undefined;
  const name = utf8Text(sent);
  if (!model.schemas.includes(name)) throw schemaNotExposed(name, model.schemas);
  return name;
};

// --- query string and headers: what it asks for -------------------------------------------------------------------------

export const readPreferences = (grammar: Grammar, { request }: Exchange): Preferences => {
  const header = request.headers["prefer"] as string | undefined; // Node joins repeated ones
  return header === undefined ? NO_PREFERENCES : parsePreferences(grammar, utf8Text(header));
};

const NONE: readonly string[] = [];

/** @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parseRequest = (rest: Rest, place: Place): RestRequest => {
  const { exchange, kind, model, schema, isProfileNamed, name, path } = place;
  const { method } = exchange;
  const isReading = method === "GET" || method === "HEAD";
  const template = isReading && kind === "relation" ? templateOf(rest.grammar, exchange.query) : undefined;
  const queryText = template === undefined ? exchange.query : template.text;
  const queryKind = kind === "routine" && isReading ? "arguments" : "filters";
  const query = rest.parseQuery(queryText, queryKind);
  const range = resolveRange(query.range, method === "GET" ? exchange.header("range") : undefined);
  if (method === "PUT" && (query.range.limit !== undefined || query.range.offset !== undefined)) throw limitOnPut();
  const preferences = readPreferences(rest.grammar, exchange);
  exchange.mark("parse");
  return {
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
    queryText,
    queryKind,
    filterValues: template === undefined ? NONE : template.values,
    range,
    preferences,
  };
};
