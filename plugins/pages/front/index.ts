/** `GET /` in a browser: a page with the served surfaces, the pages to try them, and first requests to copy. */
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import {
  definePlugin,
  RelApiError,
  findMountPath,
  sql,
  trimEndCharacter,
  VERSION,
  type Answer,
  type Credentials,
  type Exchange,
  type PluginContext,
  type Session,
  type Surface,
} from "../../../core/index.ts";
import { acceptedCredentialsService } from "../../auth/api.ts";
import { graphqlService } from "../../graphql/api.ts";
import { eventStreamsService } from "../../live/api.ts";
import { openapiPageService, restGuideService, type RestRelation } from "../../rest/api.ts";
import { buildPageAnswer, acceptsPage } from "../../shared/pages.ts";
import { playgroundService } from "../api.ts";
import type { LiveDemo } from "./live-demo.ts";
import { buildPage, type Card, type PageContent, type RelationList } from "./page.ts";
import { buildGraphqlRequests, buildRestRequests, type CredentialKind } from "./requests.ts";

type AnyExchange = Omit<Exchange, "session">;

/** Returns the credentials of an anonymous caller, without headers, cookies and facts from middleware. Any visitor may
 *  open the page, so the page shows only facts that anonymous callers may see. */
const buildAnonymousCredentials = (surface: string, rules: Credentials["rules"]): Credentials => ({
  header: () => undefined,
  headers: () => [],
  cookie: () => undefined,
  request: new IncomingMessage(new Socket()),
  surface,
  rules,
  isSocket: false,
});

/** Returns whether a webhook decides about callers without a credential. */
const hasAuthHook = ({ options, registry }: PluginContext): boolean =>
  registry.has("auth-hook") && options.authHook !== undefined && options.authHook !== "";

/** Returns the session of an anonymous caller. Returns undefined if the surface requires credentials, or if a webhook
 *  would have to be asked. @throws errors with a status from 500 on, and exceptions @rule X-HOOK-12 */
const findAnonymousSession = async (
  context: PluginContext,
  surface: string,
  rules?: Credentials["rules"],
): Promise<Session | undefined> => {
  if (hasAuthHook(context)) return undefined;
  try {
    return await context.authorize(buildAnonymousCredentials(surface, rules));
  } catch (error) {
    if (error instanceof RelApiError && error.status < 500) return undefined;
    throw error;
  }
};

/** Formats a version: `180004` is 18.4, `90624` is 9.6.24. */
const formatVersion = (version: number): string =>
  version >= 100_000
    ? `${Math.floor(version / 10_000)}.${version % 10_000}`
    : `${Math.floor(version / 10_000)}.${Math.floor(version / 100) % 100}.${version % 100}`;

const describeServer = ({ options, model }: PluginContext): string =>
  `PostgreSQL ${formatVersion(model().serverVersion)}${options.database === undefined ? "" : ", embedded in the server"}`;

const HOST = /^[A-Za-z0-9.\-_]+(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::\d{1,5})?$/;

/** Returns the origin according to the request. The page's script corrects the origin in the browser, because a proxy
 *  may change it. */
const readOrigin = ({ request }: AnyExchange): string => {
  const { host = "" } = request.headers;
  const scheme = "encrypted" in request.socket ? "https" : "http";
  return `${scheme}://${HOST.test(host) ? host : `localhost:${request.socket.localPort ?? 80}`}`;
};

/** Returns the kind of credential that the example requests need. */
const findCredentialKind = ({ use }: PluginContext): CredentialKind | undefined => {
  const acceptedCredentials = use(acceptedCredentialsService)?.read();
  return acceptedCredentials?.acceptsTokens === true
    ? "token"
    : acceptedCredentials?.acceptsAdminSecret === true
      ? "admin-secret"
      : undefined;
};

const MAX_HEADING_CHARACTERS = 200;

/** The comment that PostgreSQL itself gives the schema `public`. */
const DEFAULT_COMMENT = "standard public schema";

/** Returns the first line of the comment on the first schema, if callers without a credential may read something there.
 *  @rule X-PAGE-3 X-PAGE-4 */
const findSchemaTitle = ({ model }: PluginContext, cards: readonly (Card | undefined)[]): string | undefined => {
  const { schemas, schemaComments } = model();
  if (!cards.some((card) => card?.anonymousAccess === "open")) return undefined;
  const [title = ""] = schemaComments.get(schemas[0] ?? "")?.split("\n") ?? [];
  return title === DEFAULT_COMMENT ? undefined : title.trim().slice(0, MAX_HEADING_CHARACTERS) || undefined;
};

/** The number of relations of each schema that the page lists. */
const MAX_RELATIONS = 12;

const MAX_COMMENT_CHARACTERS = 100;

/** Returns the first line, cut off at a limit. */
const shorten = (comment = ""): string => {
  const [line = ""] = comment.split("\n");
  return line.length > MAX_COMMENT_CHARACTERS ? `${line.slice(0, MAX_COMMENT_CHARACTERS)}…` : line;
};

/** Lists the relations of each schema. `root` is the path of REST. `page` is the path of the OpenAPI page, which sends
 *  the header for schemas after the first one. @rule X-PAGE-7 X-PAGE-7a */
const listRelations = (
  relations: readonly RestRelation[],
  schemas: readonly string[],
  root: string,
  page: string | undefined,
): readonly RelationList[] =>
  schemas.flatMap((schema, index): readonly RelationList[] => {
    const schemaRelations = relations.filter((relation) => relation.schema === schema);
    const needsHeader = index > 0;
    const findPath = ({ name, path }: RestRelation): string | undefined => {
      if (!needsHeader) return root + path;
      return page && `${page}?schema=${encodeURIComponent(schema)}#/${encodeURIComponent(name)}`;
    };
    const first = schemaRelations.slice(0, MAX_RELATIONS).sort((a, b) => (a.name < b.name ? -1 : 1));
    const links = first.map((relation) => ({
      name: relation.name,
      path: findPath(relation),
      comment: shorten(relation.comment),
    }));
    return schemaRelations.length === 0
      ? []
      : [{ schema, needsHeader, relations: links, omittedCount: Math.max(0, schemaRelations.length - MAX_RELATIONS) }];
  });

interface SurfacePart {
  readonly card: Card;
  readonly liveDemo?: LiveDemo;
}

const createFrontPage = (context: PluginContext): Surface => {
  let cachedName: Promise<string> | undefined;
  /** Loads the name of the database, which is cached because the pool stays connected to one database. */
  const loadDatabaseName = async (): Promise<string> => {
    cachedName ??= context
      .query<{ readonly name: string }>(sql`select pg_catalog.current_database() as name`)
      .then(([row]) => row?.name ?? "");
    try {
      return await cachedName;
    } catch (error) {
      cachedName = undefined; // the next request queries the name again
      throw error;
    }
  };

  const buildRestPart = async (base: string, origin: string): Promise<SurfacePart | undefined> => {
    const guide = context.use(restGuideService);
    const roots = guide?.roots() ?? [];
    const [root] = roots;
    if (guide === undefined || root === undefined) return undefined;
    const session = await findAnonymousSession(context, "rest");
    const model = context.model();
    const example = session && (await guide.example(model, session));
    const relations = session === undefined ? [] : await guide.relations(model, session);
    const liveExample = session && (await guide.liveExample(model, session));
    const page = context.use(openapiPageService)?.paths()[0];
    const pagePath = page === undefined ? undefined : base + (page === "" ? "/" : page);
    const credentialKind = findCredentialKind(context);
    const card: Card = {
      title: "REST",
      description: "Every table, view and function is a URL.",
      url: origin + base + root,
      ...(pagePath === undefined ? {} : { link: { text: "Open the OpenAPI page", path: pagePath } }),
      anonymousAccess: session === undefined ? "rejected" : example === undefined ? "empty" : "open",
      requests: buildRestRequests(origin + base, roots, example, example === undefined ? credentialKind : undefined),
      relationLists: listRelations(relations, model.schemas, base + root, pagePath),
    };
    if (liveExample === undefined) return { card };
    const { path, relationPath, key, column, mayUpdate } = liveExample;
    const rootPath = base + root;
    return {
      card,
      liveDemo: {
        surface: "rest",
        path: rootPath + path,
        relationPath: rootPath + relationPath,
        key,
        column,
        mayUpdate,
        credentialKind,
      },
    };
  };

  const buildGraphqlPart = async (base: string, origin: string): Promise<SurfacePart | undefined> => {
    const engine = context.use(graphqlService);
    if (engine === undefined) return undefined;
    const session = await findAnonymousSession(context, "graphql", engine.credentialRules);
    const example = session && (await engine.buildExampleQuery(session));
    const page = context.use(playgroundService);
    // REST has its own demo; both surfaces stream live queries through the same plugin.
    const isStreamed = context.use(restGuideService) === undefined && context.use(eventStreamsService) !== undefined;
    const liveExample = isStreamed && session !== undefined ? await engine.buildLiveExample(session) : undefined;
    const credentialKind = findCredentialKind(context);
    const url = origin + base + engine.path;
    const card: Card = {
      title: "GraphQL",
      description: "Queries, mutations and live queries, typed from the schema.",
      url,
      ...(page === undefined ? {} : { link: { text: "Open GraphiQL", path: base + page.path } }),
      anonymousAccess: session === undefined ? "rejected" : example === undefined ? "empty" : "open",
      requests: buildGraphqlRequests(url, example, example === undefined ? credentialKind : undefined),
    };
    if (liveExample === undefined) return { card };
    return { card, liveDemo: { surface: "graphql", path: base + engine.path, ...liveExample, credentialKind } };
  };

  const answer = async (exchange: AnyExchange): Promise<Answer> => {
    // A link that begins with two slashes leads to another host.
    const base = trimEndCharacter(findMountPath(exchange.request), "/").replace(/^\/+/, "/");
    const origin = readOrigin(exchange);
    // Building the cards waits for the first load of the schema.
    const restPart = await buildRestPart(base, origin);
    const graphqlPart = await buildGraphqlPart(base, origin);
    const cards = [restPart?.card, graphqlPart?.card];
    const content: PageContent = {
      heading: findSchemaTitle(context, cards) ?? (await loadDatabaseName()),
      server: describeServer(context),
      version: VERSION,
      origin,
      credentialKind: findCredentialKind(context),
      hasAuthHook: hasAuthHook(context),
      cards: cards.filter((card) => card !== undefined),
      liveDemo: restPart?.liveDemo ?? graphqlPart?.liveDemo,
    };
    return buildPageAnswer((nonce) => buildPage(content, nonce));
  };

  return {
    name: "front-page",
    isPage: true,
    isFallback: true,
    match: (path, method, request) =>
      path === "/" && (method === "GET" || method === "HEAD") && acceptsPage(request.headers.accept),
    beforeAuthorize: answer,
    handle: answer,
    encodeError: (error) => ({
      status: error.status,
      headers: [["Content-Type", "text/plain; charset=utf-8"], ["X-Content-Type-Options", "nosniff"], ...error.headers],
      body: error.message,
    }),
  };
};

/** Serves the front page: the surfaces, the pages to try them, and first requests to copy. @rule X-PAGE-1 X-PAGE-2
 *  X-PAGE-3 X-PAGE-4 */
export const frontPage = definePlugin({
  name: "front-page",
  apply: (_hooks, context) => context.addSurface(createFrontPage(context)),
});
