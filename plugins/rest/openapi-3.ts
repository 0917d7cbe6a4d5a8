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
  type Registry,
  type Relation,
  type ResolvedOptions,
  type Routine,
  type Surface,
} from "../../core/index.ts";
import { encodeError } from "./answer/encode-error.ts";
import { describeAdditionsHook, type RestHandler } from "./api.ts";
import { rootDisabled } from "./errors.ts";
import type { DocumentAddress } from "./openapi/version-2.ts";
import { buildVersion3 } from "./openapi/version-3.ts";
import { createSchemaHandler, type BuildDocument } from "./openapi.ts";
import { createTargetHandler, requireRest, withMethods } from "./routes.ts";
import { openapiSettings } from "./settings.ts";
import { parseRequest } from "./syntax/parse-request.ts";
import { getRestPrefixes } from "./syntax/resolve-target.ts";

const FILE_PATH = "/openapi.json";

const acceptsVersion3 = (accept = ""): boolean =>
  accept.split(",").some((type) => /^\s*application\/openapi\+json\s*;(?:[^;]*;)*\s*version\s*=\s*"?3\b/i.test(type));

const CONTENT_TYPE = "application/openapi+json;version=3.1; charset=utf-8";

/** Returns the REST root that the file of this path describes. The file at the server's root describes the first REST
 *  root. */
const findRoot = (options: ResolvedOptions, path: string): string | undefined => {
  if (!path.endsWith(FILE_PATH)) return undefined;
  const prefix = path.slice(0, -FILE_PATH.length);
  const prefixes = getRestPrefixes(options);
  if (prefixes.includes(prefix)) return prefix;
  return prefix === "" ? prefixes[0] : undefined;
};

/** Returns the exchange with the path of the REST root instead of the path of the file. */
const buildRootExchange = (exchange: Exchange, root: string): Exchange => {
  const { request } = exchange;
  // Express sets `originalUrl` if the api is mounted.
  const { originalUrl } = request as { readonly originalUrl?: string };
  const mount = originalUrl?.split("?", 1)[0]?.slice(0, -exchange.path.length) ?? "";
  return Object.create(exchange, {
    path: { value: root === "" ? "/" : root },
    request: { value: Object.create(request, { originalUrl: { value: mount + root } }) },
  }) as Exchange; // the prototype has all other members of the exchange
};

/** Returns the address in the setting, or the path of the REST root, which is correct behind any proxy. */
const findServer = ({ openapiServerProxyUri }: ResolvedOptions, { basePath }: DocumentAddress): string =>
  openapiServerProxyUri?.replace(/\/$/, "") ?? basePath;

const EXTENSION_OBJECTS_PART = "openapi-of-extensions";

/** Returns the examples of the declared preferences, sorted. */
const findPreferences = ({ preferences }: Registry): readonly string[] =>
  [...preferences.values()].flatMap(({ example }) => example ?? []).sort();

const buildDocument: BuildDocument = (description, address, { grammar, context }) => {
  // Only this plugin writes the fact.
  const extensionObjects = (description.model.pluginFacts[EXTENSION_OBJECTS_PART] ?? new Set()) as ReadonlySet<number>;
  return buildVersion3({
    description: { ...description, isLeftOut: ({ oid }: Relation | Routine) => extensionObjects.has(oid) },
    server: findServer(context.options, address),
    operators: [...grammar.operators.keys()],
    additions: context.use(describeAdditionsHook).call({ readParameters: {}, paths: {} }),
    preferences: findPreferences(context.registry),
  });
};

const createSurface = (context: PluginContext, describeSchema: ReturnType<typeof createSchemaHandler>): Surface => ({
  name: "rest",
  paths: () => [FILE_PATH, ...getRestPrefixes(context.options).map((prefix) => prefix + FILE_PATH)],
  methods: ["GET", "HEAD"],
  handle: (exchange) => {
    const { openapiMode, dbRootSpec } = context.options;
    if (openapiMode === "disabled" || dbRootSpec !== undefined) throw rootDisabled();
    const root = buildRootExchange(exchange, findRoot(context.options, exchange.path) ?? "");
    return describeSchema(parseRequest(requireRest(context), root), "application/json; charset=utf-8");
  },
  encodeError: (error, exchange) => encodeError(requireRest(context), error, exchange),
});

/** Describes the schema in OpenAPI 3.1 too, if the preset contains the plugin "openapi". @rule R-OAS-7 R-OAS-8 */
export const openapi3 = definePlugin({
  name: "openapi-3",
  // The plugin precedes the surface whose paths it shares. "openapi" follows that surface, so it cannot be in
  // `requires`.
  before: ["rest"],
  settings: openapiSettings,
  apply: (hooks, context) => {
    if (!context.registry.has("openapi")) return;
    const describeSchema = createSchemaHandler(context, "openapi 3 documents", buildDocument);
    context.addSurface(createSurface(context, describeSchema));
    hooks.introspect.tapPromise("openapi-3", async (model: Model, { query }) => {
      const rows = await query<{ readonly oid: string }>(
        sql`select objid::text as oid from pg_catalog.pg_depend where deptype = 'e'
          and classid in ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_class'::pg_catalog.regclass)`,
      );
      return {
        ...model,
        pluginFacts: { ...model.pluginFacts, [EXTENSION_OBJECTS_PART]: new Set(rows.map(({ oid }) => Number(oid))) },
      };
    });
    hooks.buildRestRoute.tap({ name: "openapi-3", stage: Stage.late }, (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "root" || get === undefined) return route;
      const describe = createTargetHandler(requireRest(context), (request) => describeSchema(request, CONTENT_TYPE));
      const negotiateVersion: RestHandler = (exchange, target) =>
        acceptsVersion3(exchange.header("accept")) ? describe(exchange, target) : get(exchange, target);
      return withMethods(route, [
        ["GET", negotiateVersion],
        ["HEAD", negotiateVersion],
      ]);
    });
  },
});
