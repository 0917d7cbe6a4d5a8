/** `GET /api`: the schema as an OpenAPI document. */
import {
  definePlugin,
  ident,
  join,
  observeSession,
  planKey,
  visibilityOf,
  sql,
  toStatement,
  VERSION,
  type Answer,
  type Cache,
  type CacheSpec,
  type Exchange,
  type Model,
  type PluginContext,
  type Program,
  type Question,
  type Registry,
  type ResolvedOptions,
  type WithSession,
} from "../../core/index.ts";
import type { OpenapiService } from "./api.ts";
import { buildAnswer } from "./answer/headers.ts";
import { onTarget, restOf, withMethods } from "./routes.ts";
import { buildDocument, type DocumentInput, type DocumentPlace } from "./openapi/document.ts";
import { chooseMedia } from "./plan/media.ts";
import type { Rest, RestRequest } from "./request.ts";
import { executionOf } from "./run.ts";
import { restPrefixesOf } from "./syntax/place.ts";
import { openapiSettings } from "./settings.ts";
import { checkPreferences } from "./syntax/prefer.ts";

/** Reads nothing: the transaction only runs the pre-request function as the role, and collects what plugins add to the
 *  row. @rule R-OAS-1 R-TX-7 */
const readNothing = ({ resultColumns }: Registry): Program => ({
  statements: [
    {
      ...toStatement(
        sql`select ${join(resultColumns.map(({ name, compile }) => sql`${compile()} as ${ident(name)}`))}`,
      ),
      columns: resultColumns.map(({ name }) => name),
    },
  ],
  main: 0,
  checks: [],
  relations: new Set(),
  isOpenEnded: false,
});

/** Default ports of the schemes, which the document always writes out. */
const PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };

/** The address listened on; a wildcard is shown as IPv4's. */
const listeningHost = ({ request }: Exchange): string => {
  const { localAddress = "0.0.0.0", localPort = 0 } = request.socket;
  const server = (request.socket as { readonly server?: { address?(): unknown } }).server; // Node keeps it on the sockets of a listener
  const bound = server?.address?.() as { readonly address?: string } | string | null | undefined;
  const address =
    typeof bound === "object" && bound !== null && typeof bound.address === "string" ? bound.address : localAddress;
  const host = address === "::" || address === "0.0.0.0" ? "0.0.0.0" : address.includes(":") ? `[${address}]` : address;
  return `${host}:${localPort}`;
};

/** The address of the API in the document. @rule R-OAS-1 */
const placeOf = (options: ResolvedOptions, exchange: Exchange): DocumentPlace => {
  if (options.openapiServerProxyUri !== undefined) {
    const { protocol, hostname, port, pathname } = new URL(options.openapiServerProxyUri);
    const scheme = protocol.slice(0, -1);
    return { host: `${hostname}:${port === "" ? PORTS[scheme] : port}`, basePath: pathname, scheme };
  }
  const original = (exchange.request as { readonly originalUrl?: string }).originalUrl; // set by Express where the api is mounted
  const path = (original?.split("?", 1)[0] ?? exchange.path).replace(/\/$/, "");
  return { host: listeningHost(exchange), basePath: path === "" ? "/" : path, scheme: "http" };
};

/** What the document depends on: caller and schema. */
interface Described extends WithSession {
  readonly request: RestRequest;
}

const REST: Question<Described, Rest> = { name: "rest", of: ({ request }) => request.rest };
const MODEL: Question<Described, Model> = { name: "model", of: ({ request }) => request.model };
const SCHEMA: Question<Described, string> = { name: "schema", of: ({ request }) => request.schema };
const PLACE: Question<Described, DocumentPlace> = {
  name: "place",
  of: ({ request: { rest, exchange } }) => placeOf(rest.context.options, exchange),
  key: planKey,
};

type Documents = Cache<Described, string>;

/** One version of OpenAPI. */
type Build = (input: DocumentInput, rest: Rest) => object;

const describedSchemas = (name: string, build: Build): CacheSpec<Described, string> => ({
  name,
  make: (ask) => {
    const rest = ask(REST);
    const model = ask(MODEL);
    const schema = ask(SCHEMA);
    const { openapiMode, openapiSecurityActive: hasSecurity } = rest.context.options;
    const sight = openapiMode === "ignore-privileges" ? undefined : visibilityOf(model, observeSession(ask), "rest");
    return JSON.stringify(
      build(
        {
          model,
          schema,
          sight,
          place: ask(PLACE),
          hasSecurity,
          version: VERSION,
          methodsOf: (target) => rest.routeOf(model, schema, target).methods,
        },
        rest,
      ),
    );
  },
  bytesOf: (document) => document.length * 2,
});

/** Documents that are kept, and the statement that runs for each request. */
export interface Descriptions {
  readonly documents: Documents;
  readonly nothing: Program;
}

export const createDescriptions = ({ caches, registry }: PluginContext, name: string, build: Build): Descriptions => ({
  documents: caches.create(describedSchemas(name, build)),
  nothing: readNothing(registry),
});

const contentTypeOf = ({ rest, accept, model }: RestRequest): string =>
  chooseMedia({ rest, model, maySeePlans: false, accept }, { isWholeRow: true, isRoot: true }).contentType;

/** @rule R-OAS-1 R-TX-2 */
export const describeSchema = async (
  request: RestRequest,
  { documents, nothing }: Descriptions,
  contentType: string,
): Promise<Answer> => {
  const { rest, exchange } = request;
  checkPreferences(request.preferences);
  exchange.mark("plan");
  const run = { access: "read only", values: [] } as const;
  const [row = {}] = await rest.context.execute(executionOf(request, nothing, run));
  exchange.mark("transaction");
  const body = documents.take({ request, session: exchange.session });
  return buildAnswer(request, { status: 200, contentType, body }, { row });
};

const rootsOf = (options: ResolvedOptions): readonly string[] =>
  options.compatMode ? [...restPrefixesOf(options), ""] : restPrefixesOf(options);

/** The description of the schema at the REST root. */
export const openapi = definePlugin({
  name: "openapi",
  settings: openapiSettings,
  requires: ["rest"],
  apply: (hooks, context) => {
    const descriptions = createDescriptions(context, "openapi documents", buildDocument);
    const describe = onTarget(restOf(context), (request) =>
      describeSchema(request, descriptions, contentTypeOf(request)),
    );
    const handlers = [["GET", describe] as const, ["HEAD", describe] as const];
    context.offer<OpenapiService>("openapi", {
      isServed: () => context.options.openapiMode !== "disabled" && context.options.dbRootSpec === undefined,
      roots: () => rootsOf(context.options),
    });
    hooks.buildRestRoute.tap("openapi", (route) =>
      route.target.kind === "root" ? withMethods(route, handlers) : route,
    );
  },
});
