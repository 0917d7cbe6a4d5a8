/** `GET /v1/graphql` in a browser: serves a page to write and run queries, mutations and subscriptions. The page works
 *  without the internet. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  definePlugin,
  explainMissingFile,
  type Answer,
  type Exchange,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import { graphqlService } from "../../graphql/api.ts";
import {
  createAssetStore,
  buildAssetAnswer,
  buildPageAnswer,
  acceptsPage,
  findBuiltFolder,
  readBuiltAsset,
} from "../../shared/pages.ts";
import { playgroundService } from "../api.ts";
import { buildPage } from "./page.ts";

/** The path of the GraphQL surface. */
const PATH = "/v1/graphql";
const ASSETS_PATH = `${PATH}/playground/`;
/** The path of the first query in the editor, which uses a table of the caller. */
const EXAMPLE_PATH = `${ASSETS_PATH}example`;

const YEAR_SECONDS = 31_536_000;

type AnyExchange = Omit<Exchange, "session">;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "main.js": "text/javascript; charset=utf-8",
  "main.css": "text/css; charset=utf-8",
  "worker.js": "text/javascript; charset=utf-8",
  "codicon.ttf": "font/ttf",
  "LICENSES.txt": "text/plain; charset=utf-8",
};

/** Computes a digest that changes with the files, so that browsers may cache the files forever. */
const computeDigest = (folder: string): string => {
  const hash = createHash("sha256");
  for (const name of Object.keys(CONTENT_TYPES)) hash.update(readFileSync(join(folder, `${name}.br`)));
  return hash.digest("base64url").slice(0, 12);
};

/** Returns the path of the assets relative to the page's URL, which may end with a slash. @rule R-PATH-11 */
const buildAssetPath = (exchange: AnyExchange): string =>
  exchange.request.url?.split("?", 1)[0]?.endsWith("/") === true ? "playground" : "graphql/playground";

const createSurface = (folder: string, { use }: Pick<PluginContext, "use">): Surface => {
  const assets = createAssetStore(CONTENT_TYPES, (name) => readBuiltAsset(folder, name));
  let cachedDigest: string | undefined;
  const getDigest = (): string => (cachedDigest ??= computeDigest(folder));

  const answer = async (exchange: AnyExchange): Promise<Answer> => {
    if (exchange.path === PATH)
      return buildPageAnswer((nonce) =>
        buildPage(`${buildAssetPath(exchange)}/${getDigest()}`, exchange.header("host"), nonce),
      );
    const [version, name = ""] = exchange.path.slice(ASSETS_PATH.length).split("/", 2);
    const asset = version === getDigest() ? await assets(name) : undefined;
    return asset === undefined
      ? { status: 404, headers: [] }
      : buildAssetAnswer(asset, exchange, `public, max-age=${YEAR_SECONDS}, immutable`);
  };

  return {
    name: "playground",
    isPage: true,
    paths: () => [PATH, `${ASSETS_PATH}*`],
    methods: ["GET", "HEAD"],
    match: (path, _method, request) =>
      (path !== PATH || acceptsPage(request.headers.accept, true)) && use(graphqlService) !== undefined,
    beforeAuthorize: answer,
    handle: answer,
    encodeError: (error) => ({ status: error.status, headers: [] }),
  };
};

/** Serves the first query of the editor, which the page requests with the headers in its editor. The response is 204 if
 *  the caller may read nothing. @rule G-HTTP-16 */
const createExampleSurface = ({ use }: Pick<PluginContext, "use">): Surface => ({
  name: "graphql",
  get credentialRules() {
    return use(graphqlService)?.credentialRules;
  },
  isPage: true,
  paths: () => [EXAMPLE_PATH],
  methods: ["GET"],
  match: () => use(graphqlService) !== undefined,
  handle: async ({ session }) => {
    const example = await use(graphqlService)?.buildExampleQuery(session);
    return {
      status: example === undefined ? 204 : 200,
      headers: [
        ["Content-Type", "text/plain; charset=utf-8"],
        ["Cache-Control", "no-store"],
        ["X-Content-Type-Options", "nosniff"],
      ],
      ...(example === undefined ? {} : { body: example }),
    };
  },
  encodeError: (error) => ({ status: error.status, headers: [] }),
});

/** Serves GraphiQL, a page to write and run GraphQL operations. */
export const playground = definePlugin({
  name: "playground",
  // The GraphQL surface serves the other methods of the path; it starts later, so it cannot be in `requires`.
  before: ["graphql"],
  apply: (_hooks, context) => {
    const folder = findBuiltFolder("playground/app", "main.js");
    if (folder === undefined) {
      const reason = explainMissingFile("its page has not been built (npm run build:playground)");
      context.logger.warn(`the playground is disabled: ${reason}`);
      return;
    }
    context.addSurface(createExampleSurface(context));
    context.addSurface(createSurface(folder, context));
    context.offer(playgroundService, { path: PATH });
  },
});
