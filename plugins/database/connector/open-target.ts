/** Opens a connection to one of the hosts of a target, and detects a pooler. */
import type { Duplex } from "node:stream";
import { listRegisteredChannels } from "./channels.ts";
import { openConnection, type Connection, type ConnectionOptions } from "../../../core/database/connection.ts";
import { convertConnectionError, TIMED_OUT } from "../../../core/database/pg-errors.ts";
import { parseHosts } from "./hosts.ts";
import { openMatchingHost, type ReachedHost } from "./open-host.ts";
import { loadBackend, type PoolerMode } from "./poolers.ts";

/** The destination of connections: a connection string, or streams to an embedded database. */
export type Target =
  | {
      readonly url: string;
      readonly pooler: PoolerMode;
      /** The host of the last connection. */
      reachedHost?: ReachedHost;
    }
  | { readonly stream: () => Duplex; readonly ready?: Promise<void> };

/** Opens a connection to a target. @throws RelApiError `connection-failed` */
export const openTarget = async (
  target: Target,
  timeoutMs: number,
  kind: ConnectionOptions = {},
): Promise<Connection> => {
  try {
    if ("stream" in target) {
      const { stream, ready } = target;
      return await openConnection({ stream, ready, channels: () => listRegisteredChannels(stream) }, timeoutMs, kind);
    }
    return await openMatchingHost(target, timeoutMs, (url, limitMs) => openHost(url, target.pooler, limitMs, kind));
  } catch (error) {
    throw convertConnectionError(error);
  }
};

/** Returns the URL of the host that accepts a connection. Undefined for streams. @throws RelApiError
 *  `connection-failed` */
export const findDatabaseUrl = async (target: Target, timeoutMs: number): Promise<string | undefined> => {
  if ("stream" in target) return undefined;
  await (await openTarget(target, timeoutMs)).end();
  const { host, url } = target.reachedHost ?? { host: 0, url: 0 };
  return parseHosts(target.url).urls[host]?.[url];
};

/** Opens a connection to the single host of `url`. @throws the error of connecting */
const openHost = async (
  url: string,
  pooler: PoolerMode,
  timeoutMs: number,
  kind: ConnectionOptions,
): Promise<Connection> => {
  const endMs = performance.now() + timeoutMs;
  const connection = await openConnection({ url }, timeoutMs, kind);
  if (kind.replicates === true) return connection;
  const limit = setTimeout(() => connection.kill(new Error(TIMED_OUT)), Math.max(0, endMs - performance.now()));
  try {
    connection.backend = await loadBackend(connection, pooler);
    return connection;
  } finally {
    clearTimeout(limit);
  }
};
