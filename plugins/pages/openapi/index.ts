/** `GET /api` in a browser: shows the OpenAPI document as a page on which requests can be tried. The page works without
 *  the internet. */
import {
  definePlugin,
  explainMissingFile,
  findMountPath,
  type Answer,
  type Exchange,
  type PluginContext,
  type Surface,
} from "../../../core/index.ts";
import { openapiPageService, openapiService } from "../../rest/api.ts";
import {
  createAssetStore,
  buildAssetAnswer,
  buildPageAnswer,
  acceptsPage,
  encodeAsset,
  findBuiltFolder,
  readBuiltAsset,
} from "../../shared/pages.ts";
import { buildPage, PAGE_SCRIPT } from "./page.ts";

/** The path below the REST root. Relations and functions never have a path of three segments. */
const ASSETS = "/openapi/ui";
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
  "page.js": "text/javascript; charset=utf-8",
};
const MAX_AGE_SECONDS = 86_400;

const notFound: Answer = { status: 404, headers: [["Content-Length", "0"]] };

/** Creates the surface of the page. */
const createSurface = (folder: string, context: PluginContext, isDescribed: () => boolean): Surface => {
  // The plugin `openapi` starts after this plugin.
  const findRoots = (): readonly string[] => context.use(openapiService)?.roots() ?? [];
  const assets = createAssetStore(CONTENT_TYPES, (name) =>
    name === "page.js" ? encodeAsset(Buffer.from(PAGE_SCRIPT)) : readBuiltAsset(folder, name),
  );
  const parseAssetName = (path: string): string | undefined => {
    const root = findRoots().find((restRoot) => path.startsWith(`${restRoot}${ASSETS}/`));
    return root === undefined ? undefined : path.slice(root.length + ASSETS.length + 1);
  };
  const answer = async (exchange: Omit<Exchange, "session">): Promise<Answer> => {
    const name = parseAssetName(exchange.path);
    if (name !== undefined) {
      const asset = await assets(name);
      return asset === undefined ? notFound : buildAssetAnswer(asset, exchange, `public, max-age=${MAX_AGE_SECONDS}`);
    }
    const { dbSchemas, openapiServerProxyUri } = context.options;
    const root = findMountPath(exchange.request) + exchange.path.replace(/\/$/, "");
    const config = {
      root: root === "" ? "/" : root,
      assets: root + ASSETS,
      schemas: dbSchemas,
      isProxied: openapiServerProxyUri !== undefined,
    };
    return buildPageAnswer(() => buildPage(config));
  };
  return {
    name: "openapi-page",
    isPage: true,
    methods: ["GET", "HEAD"],
    match: (path, method, request) => {
      if (parseAssetName(path) !== undefined) return isDescribed();
      return method === "GET" && acceptsPage(request.headers.accept) && isDescribed();
    },
    beforeAuthorize: answer,
    handle: answer,
    encodeError: (error) => ({ status: error.status, headers: [["Content-Length", "0"]] }),
    paths: () => findRoots().flatMap((root) => [root, `${root}/`, `${root}${ASSETS}/*`]),
  };
};

/** Serves a page to browse the OpenAPI document and to send requests, if REST serves the document. @rule R-OAS-1 */
export const openapiPage = definePlugin({
  name: "openapi-page",
  // This surface must precede `rest`, which answers requests to the same root with the document.
  before: ["rest"],
  apply: (_hooks, context) => {
    const isDescribed = (): boolean => context.use(openapiService)?.isServed() === true;
    const folder = findBuiltFolder("openapi/swagger-ui", "swagger-ui-bundle.js");
    if (folder !== undefined) {
      context.offer(openapiPageService, {
        paths: () => (isDescribed() ? (context.use(openapiService)?.roots() ?? []) : []),
      });
      return context.addSurface(createSurface(folder, context, isDescribed));
    }
    let hasWarned = false;
    context.onModel(() => {
      if (hasWarned || !isDescribed()) return;
      hasWarned = true;
      const reason = explainMissingFile("its files have not been built (npm run build:openapi-page)");
      context.logger.warn(`the OpenAPI page is disabled: ${reason}`);
    });
  },
});
