/** Opens all connections to PostgreSQL: to the primary, to replicas, for notifications and for logical replication. */
import {
  connectionFailed,
  definePlugin,
  presetError,
  type RelApiError,
  type ResolvedOptions,
} from "../../../core/index.ts";
import type { DatabaseServer } from "../../../core/database/connection.ts";
import type { Connector, ConnectorParts } from "../../../core/database/connector.ts";
import { parseHosts } from "./hosts.ts";
import { createListener, type Listener } from "./listener.ts";
import { watchLiveness } from "./liveness.ts";
import { findDatabaseUrl, openTarget, type Target } from "./open-target.ts";
import { classifyLoginError } from "../../../core/database/pg-errors.ts";
import { hasOwnBackend } from "./poolers.ts";
import { connectorSettings } from "../settings.ts";
import { createReplicas } from "./replicas.ts";
import { openReplication } from "./replication.ts";

const SECOND_MS = 1000;
/** The timeout of an attempt to connect. It is short, so that callers hardly wait longer than a network failure
 *  lasts. */
const CONNECT_MS = 5000;
/** The number of connections to an embedded database, whose only backend serves one connection at a time. */
const EMBEDDED_CONNECTIONS = 1;

/** Creates the connector of the database in the options. @throws RelApiError `preset` if the options name no
 *  database */
export const createConnector = (parts: ConnectorParts): Connector => {
  const { options, logger, isLoaded } = parts;
  const target = createRefreshingTarget(readTarget(options), "databaseUrl", options);
  const directTarget = readDirectTarget(options);
  const direct =
    directTarget === undefined ? target : createRefreshingTarget(directTarget, "databaseDirectUrl", options);
  const acquisitionMs = options.dbPoolAcquisitionTimeout * SECOND_MS;
  // An embedded database may be restarting.
  const connectMs = "stream" in target ? acquisitionMs : Math.min(acquisitionMs, CONNECT_MS);
  const server = createDatabaseServer(target, connectMs, parts);
  let listener: Listener | undefined;
  let checks: ReturnType<typeof createReplicas> | undefined;
  let isLoginRejected = false;

  /** Logs once that the database rejects the login, because each request that needs a new connection then fails. @rule
   *  R-HST-11 */
  const reportOpening = (error?: unknown): void => {
    if (error === undefined) listener?.retryNow();
    if (error !== undefined && classifyLoginError(error) === undefined) return;
    if (isLoginRejected === (error !== undefined) || !isLoaded()) return;
    isLoginRejected = error !== undefined;
    if (isLoginRejected)
      logger.error("the database rejects new connections", { reason: (error as RelApiError).details });
    else logger.info("the database accepts new connections again");
  };

  return {
    primary: {
      ...server,
      open: async (limits) => {
        try {
          const connection = await server.open(limits);
          reportOpening();
          return connection;
        } catch (error) {
          reportOpening(error);
          throw error;
        }
      },
    },
    openReplicas: (openPool) => {
      const { databaseReplicaUrls, databaseReplicaMaxLag, databasePooler } = options;
      if (databaseReplicaUrls.length === 0) return undefined;
      const replicas = databaseReplicaUrls.map((url, i) => {
        const replicaTarget = createRefreshingTarget(
          { url, pooler: databasePooler },
          "databaseReplicaUrls",
          options,
          i,
        );
        // The timeout is short, because the primary can serve slower requests.
        return { target: replicaTarget, pool: openPool(createDatabaseServer(replicaTarget, SECOND_MS, parts)) };
      });
      checks = createReplicas({ primary: target, replicas, maxLagMs: databaseReplicaMaxLag * SECOND_MS, logger });
      return checks;
    },
    listen: (...listenArguments) => {
      listener ??= createListener(direct, logger, isLoaded, direct !== target);
      return listener.listen(...listenArguments);
    },
    waitForListening: async () => listener?.waitForFirstAttempt(CONNECT_MS),
    openReplication: async (isPooled) => {
      if (direct === target && isPooled)
        throw connectionFailed("logical replication does not work through a connection pooler", undefined, {
          sqlstate: "0A000",
        });
      return openReplication(direct);
    },
    findDatabaseUrl: () => findDatabaseUrl(direct, connectMs),
    close: async () => {
      checks?.close();
      await listener?.close();
    },
  };
};

const createDatabaseServer = (
  target: Target,
  connectMs: number,
  { options, logger }: ConnectorParts,
): DatabaseServer => {
  const open: DatabaseServer["open"] = (limits) => openTarget(target, connectMs, limits);
  if ("stream" in target)
    return { maxCount: EMBEDDED_CONNECTIONS, open, isPooled: async () => false, watch: () => () => undefined };
  return {
    maxCount: undefined,
    open,
    isPooled: async (connection) => !(await hasOwnBackend(connection)),
    watch: (pool) =>
      watchLiveness({
        ...pool,
        checkMs: options.dbSilenceCheck * SECOND_MS,
        limitMs: options.dbSilenceLimit * SECOND_MS,
        isOnlyHost: () => parseHosts(target.url).urls.length === 1,
        warn: (message, fields) => logger.warn(message, fields),
      }),
  };
};

const readTarget = ({ database, databaseUrl, databasePooler }: ResolvedOptions): Target => {
  if (database !== undefined) return { stream: database.stream, ...(database.ready && { ready: database.ready }) };
  if (databaseUrl === undefined || databaseUrl === "")
    throw presetError(
      "the preset has no database, because the option databaseUrl is unset or empty: check the variable that it is read from, or set database: embedded() from relapi/plugins/database",
    );
  return { url: databaseUrl, pooler: databasePooler };
};

/** Returns a target whose URL is read for each connection, because it may change. */
const createRefreshingTarget = (
  target: Target,
  option: string,
  { freshUrl }: Pick<ResolvedOptions, "freshUrl">,
  index?: number,
): Target => {
  if ("stream" in target || freshUrl === undefined) return target;
  return {
    ...target,
    get url() {
      return freshUrl(option, index) ?? target.url;
    },
  };
};

/** Returns the target for connections that need their own backend for longer than a transaction. */
const readDirectTarget = ({ database, databaseDirectUrl = "" }: ResolvedOptions): Target | undefined =>
  database !== undefined || databaseDirectUrl === "" ? undefined : { url: databaseDirectUrl, pooler: "auto" };

/** Connects to PostgreSQL: to the primary, to replicas, for notifications and for logical replication. */
export const connector = definePlugin({
  name: "connector",
  settings: connectorSettings,
  connector: createConnector,
});
