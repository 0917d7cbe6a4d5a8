/** The standalone server: a Node HTTP server around a preset, configured by settings. */
import cluster from "node:cluster";
import { chmodSync, existsSync, lstatSync, unlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  compose,
  coreSettings,
  definePlugin,
  presetError,
  relApi,
  resolveOptions,
  type Counters,
  type DatabaseSource,
  type Logger,
  type RelApi,
  type RelApiOptions,
} from "../../core/index.ts";
import { adminServer, metrics } from "../../plugins/operations/index.ts";
import { embedded } from "../../plugins/database/index.ts";
import { workerLimits } from "../../plugins/limits/index.ts";
import type { EnvironmentSettings } from "./environment.ts";
import { checkNamedFunctions } from "./checks.ts";
import { answerClientError } from "./client-errors.ts";
import { lostLog } from "./log-errors.ts";
import { getPreset } from "../preset-names.ts";
import { followSecretFiles } from "./secret-files.ts";
import { SERVER_DEFAULTS, type ServerSettings } from "./server-settings.ts";

export interface StandaloneServer {
  readonly api: RelApi;
  readonly server: Server;
  /** `http://127.0.0.1:3000`, or the path of the socket. */
  readonly address: string;
  /** The effective options, including the options of the embedded database. */
  readonly options: RelApiOptions;
  /** Stops the server: reports that it is not ready, stops accepting connections, waits for requests in progress, then
   *  closes everything. @rule R-ADM-4 */
  stop(): Promise<void>;
  /** Returns the number of requests that did not end in the grace period, known after the stop. */
  countCutOff(): number;
  /** Returns the number of requests in progress. */
  countRunning(): number;
  /** The logger of the api. */
  readonly logger: Logger;
}

/** The role for which the demo's access rules are written. */
const DEMO_ANON_ROLE = "anon";

/** Idle connections stay open longer than in common proxies, which would otherwise reuse closed connections. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_MS = 5000;
const CLOSING_MS = 50;
/** The time that clients have to read responses that are already written. */
const STOP_PATIENCE_MS = 1000;

/** Reports settings that name missing objects once, and again if an object existed in the meantime. Requests work as
 *  soon as the object exists. @rule C-SET-3 */
const startReport = definePlugin({
  name: "start-report",
  apply: (_, context) => {
    let reportedFindings: readonly string[] = [];
    context.onModel(async () => {
      const findings = await checkNamedFunctions(context);
      for (const finding of findings) if (!reportedFindings.includes(finding)) context.logger.warn(finding);
      reportedFindings = findings;
    });
  },
});

/** Listens at once. Until the schema is loaded, requests wait or get 503. `isFirst` says that this process has the
 *  admin listener. @throws RelApiError `preset`, and errors of listening */
export const serve = async (
  { options: presetOptions, server: settings, files = [] }: EnvironmentSettings,
  isFirst = true,
): Promise<StandaloneServer> => {
  const options = await addEmbeddedDatabase({ options: presetOptions, server: settings });
  let isListening = false;
  const adminPlugins =
    settings.adminPort === undefined || !isFirst
      ? []
      : [adminServer({ port: settings.adminPort, host: settings.adminHost, isApiListening: () => isListening })];
  // Metrics cost time, so only a server with an admin port has them.
  const metricsPlugins = settings.adminPort === undefined ? [] : [metrics];
  let counters: Counters | undefined;
  let logger: Logger | undefined;
  const contextAccess = definePlugin({
    name: "end-report",
    apply: (_, context) => {
      counters = context.counters;
      logger = context.logger;
    },
  });
  const secrets = files.length === 0 ? undefined : followSecretFiles(files);
  const api = relApi(
    compose(
      getPreset(settings.preset)({ ...options, ...secrets?.options }),
      ...(secrets === undefined ? [] : [secrets.plugin]),
      contextAccess,
      ...(cluster.isWorker ? [workerLimits] : []),
      lostLog,
      ...(isFirst ? [startReport] : []),
      ...metricsPlugins,
      ...adminPlugins,
    ),
  );
  const { requestTimeout, maxUrlBytes } = resolveOptions(options, coreSettings);
  const headersMs = requestTimeout * 1000;
  // Bodies have a minimum pace instead of a time limit (R-BND-4).
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: headersMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(CHECK_MS, headersMs / 2),
      // URL and headers may each have this size.
      maxHeaderSize: 2 * maxUrlBytes,
    },
    api,
  );
  server.on("clientError", answerClientError);
  api.attach(server);
  try {
    await listen(server, settings, options);
  } catch (error) {
    await api.close();
    throw error;
  }
  isListening = true;
  server.on("close", () => {
    isListening = false;
  });
  const stopGracefully = async (): Promise<void> => {
    isListening = false;
    // Load balancers check readiness only every few seconds and send requests meanwhile.
    for (const eventName of ["request", "checkContinue"] as const)
      server.prependListener(eventName, (_, response) => void (response.shouldKeepAlive = false));
    await new Promise((resolve) =>
      setTimeout(resolve, (settings.shutdownDelay ?? SERVER_DEFAULTS.shutdownDelay) * 1000),
    );
    await closeServer(server, api);
  };
  return {
    api,
    server,
    address: formatAddress(server),
    options,
    stop: stopGracefully,
    countCutOff: () => counters?.get("requests-cut-off") ?? 0,
    countRunning: () => counters?.get("requests-running") ?? 0,
    logger: logger as Logger, // `relApi` has applied the plugins, which sets `logger`
  };
};

/** Returns the options, with the embedded database if they name no database. */
export const addEmbeddedDatabase = async ({
  options,
  server: { dataDir },
}: EnvironmentSettings): Promise<RelApiOptions> => {
  if (options.databaseUrl !== undefined || options.database !== undefined) return options;
  const database: DatabaseSource = embedded({ image: "demo", dataDir });
  // Without the database, the server would be useless.
  await database.ready;
  return { anonRole: DEMO_ANON_ROLE, errorHints: true, ...options, database };
};

/** Adds advice for the common causes of listen errors. @rule C-CLI-5 */
const explainListenError = (error: NodeJS.ErrnoException, { port }: ServerSettings): Error => {
  if (error.code === "EADDRINUSE")
    return presetError(
      `port ${port} is in use: end the program that listens there, or choose another port with --port or PORT`,
    );
  if (error.code === "EACCES")
    return presetError(`port ${port} is not permitted for this user: choose one above 1023 with --port or PORT`);
  return error;
};

/** The number of connections that may wait to be accepted, as far as the system permits. The number allows all clients
 *  to reconnect at once. A rejected client retries after one second, then after three. */
const BACKLOG = 4096;

const listen = (server: Server, settings: ServerSettings, options: RelApiOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    const { unixSocket, port } = settings;
    server.once("error", (error) => reject(unixSocket === undefined ? explainListenError(error, settings) : error));
    if (unixSocket === undefined) {
      const host = settings.host ?? (options.database === undefined ? "0.0.0.0" : "127.0.0.1");
      server.listen({ port, host, backlog: BACKLOG }, resolve);
      return;
    }
    // A process that was killed leaves its socket file behind; other files must not be removed.
    if (existsSync(unixSocket)) {
      if (!lstatSync(unixSocket).isSocket())
        return reject(
          presetError(`SERVER_UNIX_SOCKET is "${unixSocket}", which exists and is not a socket: choose another path`),
        );
      unlinkSync(unixSocket);
    }
    server.listen(unixSocket, () => {
      chmodSync(unixSocket, settings.unixSocketMode);
      resolve();
    });
  });

const formatAddress = (server: Server): string => {
  const address = server.address() as AddressInfo | string; // a listening server has an address
  if (typeof address === "string") return address;
  const host =
    address.address === "0.0.0.0" || address.address === "::"
      ? "localhost"
      : address.family === "IPv6"
        ? `[${address.address}]`
        : address.address;
  return `http://${host}:${address.port}`;
};

const closeServer = async (server: Server, api: RelApi): Promise<void> => {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // Connections become idle one by one, as their last responses end.
  const closingTimer = setInterval(() => server.closeIdleConnections(), CLOSING_MS);
  await api.close();
  const patience = setTimeout(() => server.closeAllConnections(), STOP_PATIENCE_MS);
  await closed;
  clearInterval(closingTimer);
  clearTimeout(patience);
};
