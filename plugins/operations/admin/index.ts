/** Serves liveness, readiness, metrics, live queries, the model and the settings on a separate listener:
 *  `GET :3001/ready`. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  buildJsonAnswer,
  definePlugin,
  sql,
  type Answer,
  type Plugin,
  type PluginContext,
  type ResolvedOptions,
  type Setting,
  writeAnswer,
} from "../../../core/index.ts";
import { untilAborted } from "../../shared/abort.ts";
import { findLivePage } from "./live-page.ts";
import { metricsService } from "../api.ts";
import { DOCUMENT_STYLE } from "../../shared/page-style.ts";
import { acceptsPage, buildPageAnswer, type Page } from "../../shared/pages.ts";
import { encodeModel } from "./schema-cache.ts";

/** The options of `adminServer`. */
export interface AdminServerOptions {
  /** The port of the listener, where 0 selects any free port. */
  readonly port: number;
  readonly host?: string;
  /** Returns whether the API's own listener accepts requests. Without this function, the listener is assumed to accept
   *  them. */
  readonly isApiListening?: () => boolean;
  readonly onListening?: (port: number) => void;
}

/** The time that the readiness probe waits for the database. */
const PROBE_MS = 2000;

const buildTextAnswer = (status: number, body: string): Answer => ({
  status,
  headers: [["Content-Type", "text/plain; charset=utf-8"]],
  body,
});

/** The options that are not settings, or that are too large for a line. */
const HIDDEN_OPTIONS = new Set(["database", "logger", "metadata"]);

/** Converts the name of an option: `dbPool` becomes `db-pool`. */
const formatSettingName = (option: string): string => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const formatSettingValue = (setting: unknown): string =>
  Array.isArray(setting) ? JSON.stringify(setting.join(",")) : JSON.stringify(setting);

/** Encodes one line for each setting: `db-pool = 10`. */
const encodeConfig = (options: ResolvedOptions, settings: readonly Setting[]): string => {
  // An option that no plugin declares may contain a secret, so its value is hidden.
  const shownNames = new Set(settings.flatMap(({ name, isSecret }) => (isSecret === true ? [] : name)));
  return Object.entries(options)
    .filter(([name, setting]) => setting !== undefined && !HIDDEN_OPTIONS.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, setting]) =>
        `${formatSettingName(name)} = ${shownNames.has(name) ? formatSettingValue(setting) : '"***"'}\n`,
    )
    .join("");
};

type EndpointHandler = (context: PluginContext, options: AdminServerOptions) => Promise<Answer> | Answer;

const isUp = (options: AdminServerOptions): boolean => options.isApiListening?.() ?? true;

/** Reports whether the api is ready. The status is 500 if the api accepts no more requests. It is 503 without a model,
 *  or if the database does not respond within `PROBE_MS`. The body lists the reasons and the health problems, also
 *  with status 200. @rule R-ADM-1 */
const checkReadiness: EndpointHandler = async (context, options) => {
  const buildAnswer = (status: number, ...reasons: readonly string[]): Answer => {
    const lines = [...reasons, ...context.healthProblems.list()];
    return lines.length === 0
      ? { status, headers: [] }
      : buildTextAnswer(status, lines.map((line) => `${line}\n`).join(""));
  };
  if (!isUp(options)) return buildAnswer(500, "the API does not accept requests any more");
  return (await respondsInTime(context))
    ? buildAnswer(200)
    : buildAnswer(503, "there is no schema yet, or the database does not answer");
};

const respondsInTime = async (context: PluginContext): Promise<boolean> => {
  try {
    context.model();
    const rows = await untilAborted(context.query(sql`select 1 as ready`), AbortSignal.timeout(PROBE_MS));
    return rows !== undefined;
  } catch {
    return false; // after any error, the api is not ready; the api itself logs the error
  }
};

interface AdminEndpoint {
  readonly path: string;
  /** The description on the page for browsers at `/`. */
  readonly description: string;
  readonly handler: EndpointHandler;
}

/** The endpoints of the listener. @rule R-ADM-1 R-ADM-1b */
const ENDPOINTS: readonly AdminEndpoint[] = [
  {
    path: "/live",
    description: "200 while the API accepts requests",
    handler: (_context, options) => ({ status: isUp(options) ? 200 : 500, headers: [] }),
  },
  {
    path: "/ready",
    description: "200 while the API can answer requests, with its health problems",
    handler: checkReadiness,
  },
  {
    path: "/metrics",
    description: "metrics for Prometheus",
    handler: async (context) => {
      const metrics = context.use(metricsService);
      return metrics === undefined ? { status: 404, headers: [] } : buildTextAnswer(200, await metrics.text());
    },
  },
  {
    path: "/live-queries",
    description: "live queries by plan and role",
    handler: (context) => {
      const buildPage = findLivePage(context);
      return buildPage === undefined ? { status: 404, headers: [] } : buildPageAnswer(buildPage);
    },
  },
  {
    path: "/config",
    description: "the settings",
    handler: ({ options, settings }) => buildTextAnswer(200, encodeConfig(options, settings)),
  },
  {
    path: "/schema_cache",
    description: "the schema as JSON",
    handler: (context) => buildJsonAnswer(200, encodeModel(context.model())),
  },
];

const NOT_FOUND = buildTextAnswer(404, `admin endpoints: ${ENDPOINTS.map(({ path }) => path).join(", ")}\n`);

const buildIndex = (): Page => ({
  title: "relapi admin",
  style: `${DOCUMENT_STYLE}td a { white-space: nowrap; }`,
  body: `<main>
<h1>relapi admin</h1>
<section><div class="scroll"><table>
${ENDPOINTS.map(({ path, description }) => `<tr><td><a href="${path.slice(1)}"><code>${path}</code></a></td><td>${description}</td></tr>`).join("\n")}
</table></div></section>
</main>`,
});

const findHandler = ({ method, url = "", headers }: IncomingMessage): EndpointHandler | undefined => {
  if (method !== "GET" && method !== "HEAD") return undefined;
  const path = url.split("?", 1)[0] ?? "";
  if (path === "/" && acceptsPage(headers.accept)) return () => buildPageAnswer(buildIndex);
  return ENDPOINTS.find((endpoint) => endpoint.path === path)?.handler;
};

const handle = async (
  request: IncomingMessage,
  response: ServerResponse,
  context: PluginContext,
  options: AdminServerOptions,
): Promise<void> => {
  const respond = (answer: Answer): number => writeAnswer(request, response, answer, [], context.watchUnread);
  const handler = findHandler(request);
  if (handler === undefined) return void respond(NOT_FOUND);
  try {
    respond(await handler(context, options));
  } catch (error) {
    // An endpoint fails if it needs the model before the first load.
    context.logger.warn("an admin endpoint failed", { path: request.url, error: String(error) });
    respond({ status: 503, headers: [] });
  }
};

const listen = (context: PluginContext, options: AdminServerOptions): Server => {
  const server = createServer((request, response) => void handle(request, response, context, options));
  server.on("error", (error) => context.logger.error("the admin listener failed", { error: error.message }));
  server.listen(options.port, options.host ?? "127.0.0.1", () => {
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : options.port;
    context.logger.info("admin endpoints", { host: options.host ?? "127.0.0.1", port });
    options.onListening?.(port);
  });
  return server;
};

/** Serves health, metrics, live queries, the model and the settings to operators. Opens a separate listener
 *  without authentication, because these endpoints must never be on the port of the API. @rule R-ADM-1 R-ADM-2 */
export const adminServer = (options: AdminServerOptions): Plugin =>
  definePlugin({
    name: "admin-server",
    apply: (_hooks, context) => {
      const server = listen(context, options);
      context.onClose(
        () =>
          new Promise<void>((resolve) => {
            server.close(() => resolve());
            server.closeAllConnections();
          }),
      );
    },
  });
