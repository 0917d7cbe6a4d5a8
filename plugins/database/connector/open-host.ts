/** Chooses one of several hosts, with or without encryption, and opens a connection. */
import type { Connection } from "../../../core/database/connection.ts";
import { mayConcernEncryption } from "./connection-string.ts";
import { parseHosts, type SessionKind } from "./hosts.ts";
import { readSqlstate } from "../../../core/database/pg-errors.ts";

/** The host and URL of the last connection, which are tried first. */
export interface ReachedHost {
  readonly host: number;
  readonly url: number;
}

type ServerState = NonNullable<ReturnType<Connection["getServerState"]>>;

type ConnectToHost = (url: string, timeoutMs: number) => Promise<Connection>;

/** Tries the hosts in order until one has the required kind of session. A rejected login (28…) or a missing database
 *  (3D…) ends the search, because the other hosts would respond alike. `open` connects to one host. @throws the first
 *  error @rule R-HST-1 R-HST-2 */
export const openMatchingHost = async (
  target: { readonly url: string; reachedHost?: ReachedHost },
  timeoutMs: number,
  open: ConnectToHost,
): Promise<Connection> => {
  const { urls, sessionKind, isShuffled, connectMs = Number.POSITIVE_INFINITY } = parseHosts(target.url);
  const endMs = performance.now() + timeoutMs;
  let firstError: unknown;
  for (const kind of sessionKind === "prefer-standby" ? (["standby", "any"] as const) : [sessionKind]) {
    for (const host of orderHosts(urls.length, isShuffled, target.reachedHost?.host)) {
      const leftMs = Math.min(endMs - performance.now(), connectMs);
      if (leftMs <= 0) throw firstError;
      try {
        const [connection, url] = await openWithEncryptionFallback(urls[host] ?? [], target.reachedHost, leftMs, open);
        if (await matchesTarget(connection, kind)) {
          target.reachedHost = { host, url };
          return connection;
        }
        void connection.end();
        firstError ??= new Error(`the server does not match target_session_attrs=${kind}`);
      } catch (error) {
        firstError ??= error;
        if (/^(?:28|3D)/.test(readSqlstate(error) ?? "")) throw error;
      }
    }
  }
  throw firstError;
};

/** Returns the order of the hosts. `last` is the host of the last connection. */
const orderHosts = (count: number, isShuffled: boolean, last: number | undefined): readonly number[] => {
  const order = Array.from({ length: count }, (_, i) => i);
  if (count === 1) return order;
  if (!isShuffled) return last === undefined ? order : [last, ...order.filter((host) => host !== last)];
  for (let i = count - 1; i > 0; i--) {
    const swapIndex = Math.floor(Math.random() * (i + 1));
    [order[i], order[swapIndex]] = [order[swapIndex] as number, order[i] as number]; // both are within its length
  }
  return order;
};

/** Connects to one host, with or without encryption. @throws the first error */
const openWithEncryptionFallback = async (
  urls: readonly string[],
  last: ReachedHost | undefined,
  timeoutMs: number,
  open: ConnectToHost,
): Promise<readonly [Connection, url: number]> => {
  const order = last === undefined ? [0, 1] : [last.url, 1 - last.url];
  let first: unknown;
  for (const index of order) {
    const url = urls[index];
    if (url === undefined) continue;
    try {
      return [await open(url, timeoutMs), index];
    } catch (error) {
      first ??= error;
      if (!mayConcernEncryption(error instanceof Error ? error.message : "", readSqlstate(error))) break;
    }
  }
  throw first;
};

const matchesTarget = async (connection: Connection, sessionKind: SessionKind): Promise<boolean> => {
  if (sessionKind === "any" || sessionKind === "prefer-standby") return true;
  // Servers before PostgreSQL 14 and some poolers do not report their state.
  const session = connection.getServerState() ?? (await connection.query<ServerState>(SESSION_QUERY, []))[0];
  const { isStandby, isReadOnly } = session ?? { isStandby: false, isReadOnly: false };
  switch (sessionKind) {
    case "primary":
      return !isStandby;
    case "standby":
      return isStandby;
    case "read-write":
      return !isStandby && !isReadOnly;
    case "read-only":
      return isStandby || isReadOnly;
  }
};

const SESSION_QUERY = `select pg_catalog.pg_is_in_recovery() as "isStandby", pg_catalog.current_setting('default_transaction_read_only') = 'on' as "isReadOnly"`;
