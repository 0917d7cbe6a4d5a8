/** `GET /api`: the schema as an OpenAPI document. */
import {
  definePlugin,
  ident,
  runSliced,
  join,
  membersOf,
  observeSession,
  planKey,
  visibilityOf,
  sql,
  toStatement,
  VERSION,
  type Answer,
  type Ask,
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
import { openapiService } from "./api.ts";
import { buildAnswer } from "./answer/headers.ts";
import { gatherText, sendPieces } from "./answer/stream-text.ts";
import { onTarget, restOf, withMethods } from "./routes.ts";
import type { Description } from "./openapi/description.ts";
import { writeText, type DocumentMembers } from "./openapi/sliced-text.ts";
import { buildVersion2, type DocumentPlace } from "./openapi/version-2.ts";
import { chooseMedia } from "./plan/media.ts";
import type { Rest, RestRequest } from "./request.ts";
import { executionOf } from "./run.ts";
import { restPrefixesOf } from "./syntax/resolve-target.ts";
import { openapiSettings } from "./settings.ts";
import { checkPreferences } from "./syntax/prefer.ts";

/**
 * A program without a statement: its transaction only runs the pre-request function as the role, and returns the
 * columns that plugins add. @rule R-OAS-1 R-TX-7
 */
const emptyProgram = ({ resultColumns }: Registry): Program => ({
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

/** The address that the server listens on. A wildcard is shown as that of IPv4. */
const listeningHost = ({ request }: Exchange): string => {
  const { localAddress = "0.0.0.0", localPort = 0 } = request.socket;
  // Node sets it on the sockets of a server
  const server = (request.socket as { readonly server?: { address?(): unknown } }).server;
  const bound = server?.address?.() as { readonly address?: string } | string | null | undefined;
  const address =
    typeof bound === "object" && bound !== null && typeof bound.address === "string" ? bound.address : localAddress;
  const host = address === "::" || address === "0.0.0.0" ? "0.0.0.0" : address.includes(":") ? `[${address}]` : address;
  return `${host}:${localPort}`;
};

/** The address of the API in the document. @rule R-OAS-1 */
const documentPlaceOf = (options: ResolvedOptions, exchange: Exchange): DocumentPlace => {
  if (options.openapiServerProxyUri !== undefined) {
    const { protocol, hostname, port, pathname } = new URL(options.openapiServerProxyUri);
    const scheme = protocol.slice(0, -1);
    return { host: `${hostname}:${port === "" ? PORTS[scheme] : port}`, basePath: pathname, scheme };
  }
  // Express sets it where the api is mounted
  const original = (exchange.request as { readonly originalUrl?: string }).originalUrl;
  const path = (original?.split("?", 1)[0] ?? exchange.path).replace(/\/$/, "");
  return { host: listeningHost(exchange), basePath: path === "" ? "/" : path, scheme: "http" };
};

/** The cache key of a document: caller and schema. */
interface DescribedRequest extends WithSession {
  readonly request: RestRequest;
}

const REST: Question<DescribedRequest, Rest> = { name: "rest", of: ({ request }) => request.rest };
const MODEL: Question<DescribedRequest, Model> = { name: "model", of: ({ request }) => request.model };
const SCHEMA: Question<DescribedRequest, string> = { name: "schema", of: ({ request }) => request.schema };
const DOCUMENT_PLACE: Question<DescribedRequest, DocumentPlace> = {
  name: "place",
  of: ({ request: { rest, exchange } }) => documentPlaceOf(rest.context.options, exchange),
  key: planKey,
};

/** Writes a document any number of times. */
interface Document {
  readonly pieces: () => Generator<string>;
}

type WrittenDocument = { readonly document: Document; readonly text: string | undefined };

const DOCUMENT = membersOf<WrittenDocument>()("document");
/** Made only from the document, which is the cache key. */
const DOCUMENT_TEXT = membersOf<WrittenDocument>()("text", () => undefined);

/** Builds the document in one version of OpenAPI. */
export type Build = (description: Description, place: DocumentPlace, rest: Rest) => DocumentMembers;

const describedSchemas = (name: string, build: Build): CacheSpec<DescribedRequest, Document> => ({
  name,
  make: (ask) => {
    const rest = ask(REST);
    const model = ask(MODEL);
    const schema = ask(SCHEMA);
    const { openapiMode, openapiSecurityActive: hasSecurity } = rest.context.options;
    const visibility =
      openapiMode === "ignore-privileges" ? undefined : visibilityOf(model, observeSession(ask), "rest");
    const place = ask(DOCUMENT_PLACE);
    const description: Description = {
      model,
      schema,
      visibility,
      hasSecurity,
      version: VERSION,
      methodsOf: (target) => rest.routeOf(model, schema, target).methods,
    };
    return { pieces: () => writeText(build(description, place, rest)) };
  },
  bytesOf: () => BYTES_PER_DOCUMENT,
});

const BYTES_PER_DOCUMENT = 1000;
/** Longer documents are not cached but written again for each request, and sent meanwhile. */
const MAX_CACHED_CHARACTERS = 4 * 1024 * 1024;

/** The cached documents, and the statement that runs for each request. */
export interface Descriptions {
  readonly documents: Cache<DescribedRequest, Document>;
  readonly texts: Cache<WrittenDocument, string | undefined>;
  readonly nothing: Program;
}

export const createDescriptions = ({ caches, registry }: PluginContext, name: string, build: Build): Descriptions => ({
  documents: caches.create(describedSchemas(name, build)),
  texts: caches.create({
    name: `${name} as text`,
    make: (ask: Ask<WrittenDocument>) => {
      ask(DOCUMENT);
      return ask(DOCUMENT_TEXT);
    },
    bytesOf: (text) => (text?.length ?? 0) * 2,
  }),
  nothing: emptyProgram(registry),
});

/** Returns the whole text, or its start and the remaining members. */
const writeDocument = async (
  document: Document,
  { texts }: Descriptions,
): Promise<{ readonly text: string; readonly rest?: Generator<string> }> => {
  const { value: made } = texts.get({ document, text: undefined });
  if (made !== undefined) return { text: made };
  const rest = document.pieces();
  const start = await runSliced(gatherText(rest, MAX_CACHED_CHARACTERS));
  if (!start.isOver) return { text: start.text, rest };
  texts.get({ document, text: start.text }).commit();
  return start;
};

const contentTypeOf = ({ rest, accept, model }: RestRequest): string =>
  chooseMedia({ rest, model, maySeePlans: false, accept }, { isWholeRow: true, isRoot: true }).contentType;

/** @rule R-OAS-1 R-TX-2 */
export const describeSchema = async (
  request: RestRequest,
  descriptions: Descriptions,
  contentType: string,
): Promise<Answer> => {
  const { rest, exchange } = request;
  checkPreferences(request.preferences);
  exchange.mark("plan");
  const run = { access: "read only", values: [] } as const;
  const [row = {}] = await rest.context.execute(executionOf(request, descriptions.nothing, run));
  exchange.mark("transaction");
  const answer = (body?: string): Answer => buildAnswer(request, { status: 200, contentType, body }, { row });
  if (request.method === "HEAD") return answer();
  const document = descriptions.documents.take({ request, session: exchange.session });
  const { text, rest: more } = await writeDocument(document, descriptions);
  if (more === undefined) return answer(text);
  // calls by the application or a plugin cannot receive a streamed response
  if (exchange.response.socket === null) return answer(text + (await runSliced(gatherText(more, Infinity))).text);
  const { watchUnread } = rest.context;
  return { ...answer(), stream: (response) => sendPieces(response, text, more, watchUnread) };
};

const rootsOf = (options: ResolvedOptions): readonly string[] =>
  options.compatMode ? [...restPrefixesOf(options), ""] : restPrefixesOf(options);

/** The description of the schema at the REST root. */
export const openapi = definePlugin({
  name: "openapi",
  settings: openapiSettings,
  requires: ["rest"],
  apply: (hooks, context) => {
    const descriptions = createDescriptions(context, "openapi documents", buildVersion2);
    const describe = onTarget(restOf(context), (request) =>
      describeSchema(request, descriptions, contentTypeOf(request)),
    );
    const handlers = [["GET", describe] as const, ["HEAD", describe] as const];
    context.offer(openapiService, {
      isServed: () => context.options.openapiMode !== "disabled" && context.options.dbRootSpec === undefined,
      roots: () => rootsOf(context.options),
    });
    hooks.buildRestRoute.tap("openapi", (route) =>
      route.target.kind === "root" ? withMethods(route, handlers) : route,
    );
  },
});
