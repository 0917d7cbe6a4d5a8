/**
 * `GET /api/openapi.json`, and the root with `Accept: application/openapi+json;version=3.1`: the schema as OpenAPI 3.1,
 * which generators of typed clients accept.
 */
import {
  definePlugin,
  sql,
  Stage,
  type Exchange,
  type Model,
  type PluginContext,
  type Relation,
  type ResolvedOptions,
  type Routine,
  type Surface,
} from "../../core/index.ts";
import { encodeError } from "./answer/encode-error.ts";
import type { RestHandler } from "./api.ts";
import { rootDisabled } from "./errors.ts";
import type { DocumentPlace } from "./openapi/version-2.ts";
import { buildVersion3 } from "./openapi/version-3.ts";
import { createDescriptions, describeSchema, type Build, type Descriptions } from "./openapi.ts";
import { onTarget, restOf, withMethods } from "./routes.ts";
import { openapiSettings } from "./settings.ts";
import { parseRequest } from "./syntax/parse-request.ts";
import { restPrefixesOf } from "./syntax/resolve-target.ts";

const FILE = "/openapi.json";

const acceptsVersion3 = (accept = ""): boolean =>
  accept.split(",").some((type) => /^\s*application\/openapi\+json\s*;(?:[^;]*;)*\s*version\s*=\s*"?3\b/i.test(type));

const TYPE = "application/openapi+json;version=3.1; charset=utf-8";

/** The REST root below which the file is requested. At the server's root it describes the first REST root. */
const rootOf = (options: ResolvedOptions, path: string): string | undefined => {
  if (!path.endsWith(FILE)) return undefined;
  const prefix = path.slice(0, -FILE.length);
  const prefixes = restPrefixesOf(options);
  if (prefixes.includes(prefix)) return prefix;
  return prefix === "" ? prefixes[0] : undefined;
};

/** The same request to the root. */
const withRoot = (exchange: Exchange, root: string): Exchange => {
  const { request } = exchange;
  const { originalUrl } = request as { readonly originalUrl?: string }; // Express sets it where the api is mounted
  const mount = originalUrl?.split("?", 1)[0]?.slice(0, -exchange.path.length) ?? "";
  return Object.create(exchange, {
    path: { value: root === "" ? "/" : root },
    request: { value: Object.create(request, { originalUrl: { value: mount + root } }) },
  }) as Exchange; // the prototype has all other members
};

/** The server as a path, which is correct behind any proxy, unless the setting contains an address. */
const serverOf = ({ openapiServerProxyUri }: ResolvedOptions, { basePath }: DocumentPlace): string =>
  openapiServerProxyUri?.replace(/\/$/, "") ?? basePath;

const EXTENSIONS_SERVICE = "openapi-of-extensions";

const build: Build = (description, place, { grammar, context }) => {
  // only this plugin writes it
  const foreign = (description.model.parts[EXTENSIONS_SERVICE] ?? new Set()) as ReadonlySet<number>;
  return buildVersion3({
    description: { ...description, leavesOut: ({ oid }: Relation | Routine) => foreign.has(oid) },
    server: serverOf(context.options, place),
    operators: [...grammar.operators.keys()],
    has: context.registry.has,
  });
};

const createSurface = (context: PluginContext, descriptions: Descriptions): Surface => ({
  name: "rest",
  paths: () => [FILE, ...restPrefixesOf(context.options).map((prefix) => prefix + FILE)],
  methods: ["GET", "HEAD"],
  handle: (exchange) => {
    const { openapiMode, dbRootSpec } = context.options;
    if (openapiMode === "disabled" || dbRootSpec !== undefined) throw rootDisabled();
    const root = withRoot(exchange, rootOf(context.options, exchange.path) ?? "");
    return describeSchema(parseRequest(restOf(context), root), descriptions, "application/json; charset=utf-8");
  },
  encodeError: (error, exchange) => encodeError(restOf(context), error, exchange),
});

/** Available only where the schema is described. @rule R-OAS-7 R-OAS-8 */
export const openapi3 = definePlugin({
  name: "openapi-3",
  // precedes the surface whose paths it shares; "openapi" follows that surface, so it cannot be in `requires`
  before: ["rest"],
  settings: openapiSettings,
  apply: (hooks, context) => {
    if (!context.registry.has("openapi")) return;
    const descriptions = createDescriptions(context, "openapi 3 documents", build);
    context.addSurface(createSurface(context, descriptions));
    hooks.introspect.tapPromise("openapi-3", async (model: Model, { query }) => {
      const rows = await query<{ readonly oid: string }>(
        sql`select objid::text as oid from pg_catalog.pg_depend where deptype = 'e'
          and classid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass)`,
      );
      return { ...model, parts: { ...model.parts, [EXTENSIONS_SERVICE]: new Set(rows.map(({ oid }) => Number(oid))) } };
    });
    hooks.buildRestRoute.tap({ name: "openapi-3", stage: Stage.late }, (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "root" || get === undefined) return route;
      const describe = onTarget(restOf(context), (request) => describeSchema(request, descriptions, TYPE));
      const negotiateVersion: RestHandler = (exchange, target) =>
        acceptsVersion3(exchange.header("accept")) ? describe(exchange, target) : get(exchange, target);
      return withMethods(route, [
        ["GET", negotiateVersion],
        ["HEAD", negotiateVersion],
      ]);
    });
  },
});
