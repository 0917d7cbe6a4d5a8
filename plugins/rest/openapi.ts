/** `GET /api`: the schema as an OpenAPI document. */
import {
  createProgram,
  definePlugin,
  defineCacheQuestion,
  quoteIdentifier,
  runSliced,
  joinSql,
  observeSession,
  planKey,
  getVisibility,
  sql,
  compileSql,
  VERSION,
  type Answer,
  type CacheSpec,
  type Exchange,
  type PluginContext,
  type Program,
  type Registry,
  type ResolvedOptions,
  type SessionSource,
} from "../../core/index.ts";
import { openapiService } from "./api.ts";
import { buildAnswer } from "./answer/headers.ts";
import { gatherText, sendPieces } from "./answer/stream-text.ts";
import { createTargetHandler, requireRest, withMethods } from "./routes.ts";
import type { Description } from "./openapi/description.ts";
import { writeText, type DocumentMembers } from "./openapi/sliced-text.ts";
import { buildVersion2, type DocumentAddress } from "./openapi/version-2.ts";
import { chooseMedia } from "./plan/media.ts";
import type { RestSurface, RestRequest } from "./request.ts";
import { buildExecution } from "./run.ts";
import { getRestPrefixes } from "./syntax/resolve-target.ts";
import { openapiSettings } from "./settings.ts";
import { checkPreferences } from "./syntax/prefer.ts";

/** Builds a program that reads only the result columns of plugins. Its transaction runs the pre-request function as the
 *  role. @rule R-OAS-1 R-TX-7 */
const buildEmptyProgram = ({ resultColumns }: Registry): Program => {
  const columns = joinSql(resultColumns.map(({ name, compile }) => sql`${compile()} as ${quoteIdentifier(name)}`));
  const statement = { ...compileSql(sql`select ${columns}`), columns: resultColumns.map(({ name }) => name) };
  return createProgram([statement], { isOpenEnded: false });
};

/** The default ports of the schemes, because the document names the port even if the URL does not. */
const PORTS: Readonly<Record<string, string>> = { http: "80", https: "443" };

/** Returns the host and port that the server listens on. The wildcard addresses of IPv4 and IPv6 are both `0.0.0.0`. */
const findListeningHost = ({ request }: Exchange): string => {
  const { localAddress = "0.0.0.0", localPort = 0 } = request.socket;
  // Node sets `server` on the sockets of a server.
  const server = (request.socket as { readonly server?: { address?(): unknown } }).server;
  const serverAddress = server?.address?.() as { readonly address?: string } | string | null | undefined;
  const address =
    typeof serverAddress === "object" && serverAddress !== null && typeof serverAddress.address === "string"
      ? serverAddress.address
      : localAddress;
  const host = address === "::" || address === "0.0.0.0" ? "0.0.0.0" : address.includes(":") ? `[${address}]` : address;
  return `${host}:${localPort}`;
};

/** Returns the address of the API in the document. @rule R-OAS-1 */
const findDocumentAddress = (options: ResolvedOptions, exchange: Exchange): DocumentAddress => {
  if (options.openapiServerProxyUri !== undefined) {
    const { protocol, hostname, port, pathname } = new URL(options.openapiServerProxyUri);
    const scheme = protocol.slice(0, -1);
    return { host: `${hostname}:${port === "" ? PORTS[scheme] : port}`, basePath: pathname, scheme };
  }
  // Express sets `originalUrl` if the api is mounted.
  const original = (exchange.request as { readonly originalUrl?: string }).originalUrl;
  const path = (original?.split("?", 1)[0] ?? exchange.path).replace(/\/$/, "");
  return { host: findListeningHost(exchange), basePath: path === "" ? "/" : path, scheme: "http" };
};

/** The source of the answers that are the cache key of a document: the caller, the schema and the address. */
interface DescribedRequest extends SessionSource {
  readonly request: RestRequest;
}

const REST = defineCacheQuestion("rest", ({ request }: DescribedRequest) => request.rest);
const MODEL = defineCacheQuestion("model", ({ request }: DescribedRequest) => request.model);
const SCHEMA = defineCacheQuestion("schema", ({ request }: DescribedRequest) => request.schema);
const DOCUMENT_ADDRESS = defineCacheQuestion(
  "address",
  ({ request: { rest, exchange } }: DescribedRequest): DocumentAddress =>
    findDocumentAddress(rest.context.options, exchange),
  planKey,
);

/** A document of one schema for callers with equal rights. */
interface Document {
  /** Yields the text of the document, in pieces that may be empty. */
  readonly pieces: () => Generator<string>;
  /** The whole text. Undefined before the first request, or if the text is too long for the cache. */
  text?: string;
}

/** Builds a document in one version of OpenAPI. */
export type BuildDocument = (description: Description, address: DocumentAddress, rest: RestSurface) => DocumentMembers;

const createDocumentSpec = (name: string, build: BuildDocument): CacheSpec<DescribedRequest, Document> => ({
  name,
  make: (ask) => {
    const rest = ask(REST);
    const model = ask(MODEL);
    const schema = ask(SCHEMA);
    const { openapiMode, openapiSecurityActive: hasSecurity } = rest.context.options;
    const visibility =
      openapiMode === "ignore-privileges" ? undefined : getVisibility(model, observeSession(ask), "rest");
    const address = ask(DOCUMENT_ADDRESS);
    const description: Description = {
      model,
      schema,
      visibility,
      hasSecurity,
      version: VERSION,
      findMethods: (target) => rest.findRoute(model, schema, target).methods,
    };
    return { pieces: () => writeText(build(description, address, rest)) };
  },
  estimateBytes: ({ text = "" }) => BYTES_PER_DOCUMENT + text.length * 2,
});

const BYTES_PER_DOCUMENT = 1000;
/** The limit for cached documents, in UTF-16 code units. A longer document is written again for each request, and sent
 *  while it is written. */
const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;

/** Returns the whole text of a short document, or the start of a long one and its remaining pieces. */
const writeDocument = async (
  document: Document,
  cacheDocument: () => void,
): Promise<{ readonly text: string; readonly remainingText?: Generator<string> }> => {
  if (document.text !== undefined) return { text: document.text };
  const remainingText = document.pieces();
  const start = await runSliced(gatherText(remainingText, MAX_CACHED_CHARACTERS));
  if (!start.isOver) return { text: start.text, remainingText };
  document.text = start.text;
  cacheDocument();
  return start;
};

const negotiateContentType = ({ rest, accept, model }: RestRequest): string =>
  chooseMedia({ rest, model, maySeePlans: false, accept }, { isWholeRow: true, isRoot: true }).contentType;

/** Creates the handler that answers with the document of the request's schema. `name` is the name of its cache.
 *  @rule R-OAS-1 R-TX-2 */
export const createSchemaHandler = (
  { caches, registry, watchUnread }: PluginContext,
  name: string,
  build: BuildDocument,
): ((request: RestRequest, contentType: string) => Promise<Answer>) => {
  const documents = caches.create(createDocumentSpec(name, build));
  const program = buildEmptyProgram(registry);
  return async (request, contentType) => {
    const { rest, exchange } = request;
    checkPreferences(request.preferences);
    exchange.endPhase("plan");
    const run = { access: "read only", values: [] } as const;
    const [row = {}] = await rest.context.execute(buildExecution(request, program, run));
    exchange.endPhase("transaction");
    const answer = (body?: string): Answer => buildAnswer(request, { status: 200, contentType, body }, { row });
    if (request.method === "HEAD") return answer();
    const { value: document, commit } = documents.get({ request, session: exchange.session });
    const { text, remainingText: remainingPieces } = await writeDocument(document, commit);
    if (remainingPieces === undefined) return answer(text);
    // Calls by the application or a plugin cannot receive a streamed response.
    if (exchange.response.socket === null)
      return answer(text + (await runSliced(gatherText(remainingPieces, Infinity))).text);
    return { ...answer(), stream: (response) => sendPieces(response, text, remainingPieces, watchUnread) };
  };
};

const findRoots = (options: ResolvedOptions): readonly string[] =>
  options.compatMode ? [...getRestPrefixes(options), ""] : getRestPrefixes(options);

/** Answers requests to the REST root with the description of the schema. */
export const openapi = definePlugin({
  name: "openapi",
  settings: openapiSettings,
  requires: ["rest"],
  apply: (hooks, context) => {
    const describeSchema = createSchemaHandler(context, "openapi documents", buildVersion2);
    const describe = createTargetHandler(requireRest(context), (request) =>
      describeSchema(request, negotiateContentType(request)),
    );
    const handlers = [["GET", describe] as const, ["HEAD", describe] as const];
    context.offer(openapiService, {
      isServed: () => context.options.openapiMode !== "disabled" && context.options.dbRootSpec === undefined,
      roots: () => findRoots(context.options),
    });
    hooks.buildRestRoute.tap("openapi", (route) =>
      route.target.kind === "root" ? withMethods(route, handlers) : route,
    );
  },
});
