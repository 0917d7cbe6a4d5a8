/** Creates pools of connections, which limit the number and lifetime of their connections. */
import { connectionLost, poolTimedOut } from "../kernel/errors.ts";
import type { Connection, DatabaseServer } from "./connection.ts";
import { isTimedOut, TIMED_OUT, connectionTimedOut } from "./pg-errors.ts";
import type { PlanOwner } from "./prepared-statements.ts";
import { planUnprepared } from "./wire.ts";
import { getSharing, type Sharing } from "./sharing.ts";

interface PoolOptions {
  readonly server: DatabaseServer;
  readonly maxCount: number;
  readonly acquisitionMs: number;
  readonly lifetimeMs: number;
  readonly idleMs: number;
  /** The limit in bytes for the result of one batch. */
  readonly maxResultBytes: number;
  /** The bytes of parsed SQL after which a connection is replaced. */
  readonly maxParsedBytes: number;
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

export interface PoolCounts {
  readonly max: number;
  /** The number of connections that are idle or not opened yet. */
  readonly available: number;
  /** The number of open connections that are not idle. */
  readonly inUse: number;
  readonly waiting: number;
  /** The number of acquisitions that have timed out since the start. */
  readonly timeouts: number;
  /** The number of results that exceeded the limit since the start. */
  readonly rejected: number;
  /** The number of prepared statements on all connections. */
  readonly prepared: number;
  readonly preparedBytes: number;
}

export interface Pool {
  /** Returns an idle connection immediately, preferably a connection with plans of `owner`, or waits for a connection.
   *  @throws RelApiError `pool-timeout`, `connection-failed` */
  acquire(owner?: PlanOwner): Connection | Promise<Connection>;
  release(connection: Connection, isReusable: boolean): void;
  /** The sharing of the last opened or checked connection, which the next connection probably has too. Undefined if the
   *  connection has its own backend. @rule R-TX-15 */
  readonly sharing: Sharing | undefined;
  /** Checks the backend of a connection that has lost prepared statements. If the backend differs from the original
   *  one, the connection leads to a pooler and counts as shared. Resolves with whether the connection leads to a
   *  pooler. */
  recheck(connection: Connection): Promise<boolean>;
  /** Closes connections opened before now as they become idle. @rule R-SC-4 */
  renew(): void;
  counts(): PoolCounts;
  readonly isClosed: boolean;
  /** Ends all connections and their running statements. */
  abandon(): void;
  /** Closes all connections. Waits up to `patienceMs` for connections in use, then cancels their statements. */
  close(patienceMs: number): Promise<void>;
}

interface PooledConnection {
  readonly connection: Connection;
  readonly openedAtMs: number;
  readonly generation: number;
  idleSinceMs: number;
}

interface Waiter {
  readonly give: (connection: Connection) => void;
  readonly fail: (error: unknown) => void;
  timer: NodeJS.Timeout | undefined;
}

const EXPIRY_CHECK_MS = 5000;
/** The time after a lost connection in which other idle connections are checked before their use. */
const LIVENESS_CHECK_MS = 1000;
/** The shortest time between two warnings of an exhausted pool. */
const WARNING_INTERVAL_MS = 60_000;

/** Creates a pool. @rule R-ADM-5 */
export const createPool = (options: PoolOptions): Pool => {
  const { server, maxCount, acquisitionMs, lifetimeMs, idleMs, maxResultBytes, maxParsedBytes, warn } = options;
  const connections = new Map<Connection, PooledConnection>();
  const idle: PooledConnection[] = [];
  const waiters: Waiter[] = [];
  let openingCount = 0;
  let generation = 0;
  let timeouts = 0;
  let rejectedCount = 0;
  let suspectUntilMs = 0;
  let warnedAtMs = 0;
  /** The last time at which the server responded. */
  let lastResponseAtMs = 0;
  let isClosed = false;
  let whenEmpty: (() => void) | undefined;

  const isStale = (entry: PooledConnection, nowMs: number): boolean =>
    entry.connection.isEnded ||
    entry.generation !== generation ||
    entry.connection.prepared.parsedBytes > maxParsedBytes ||
    nowMs - entry.openedAtMs >= lifetimeMs;

  const drop = (entry: PooledConnection): void => {
    if (!connections.delete(entry.connection)) return;
    const index = idle.indexOf(entry);
    if (index !== -1) idle.splice(index, 1);
    void entry.connection.end();
    if (isClosed && connections.size === 0) whenEmpty?.();
    serveNext();
  };

  const suspectConnections = (): void => {
    suspectUntilMs = Date.now() + LIVENESS_CHECK_MS;
  };

  /** Returns whether the server responds on the connection now. */
  const isAlive = async ({ connection }: PooledConnection): Promise<boolean> => {
    const patience = setTimeout(() => connection.kill(connectionLost(TIMED_OUT)), LIVENESS_CHECK_MS);
    const result = await connection.run(planUnprepared([]));
    clearTimeout(patience);
    return !("error" in result) && !connection.isEnded;
  };

  const openOrWait = (): Promise<Connection> => (connections.size + openingCount < maxCount ? open() : wait());

  /** Returns an idle connection after a check that the server responds on it, or waits for a connection. @rule
   *  R-HST-7 */
  const acquireAlive = async (owner: PlanOwner | undefined): Promise<Connection> => {
    for (let entry = acquireIdle(owner); entry !== undefined; entry = acquireIdle(owner)) {
      if (!isStale(entry, Date.now()) && (await isAlive(entry))) return entry.connection;
      drop(entry);
    }
    return openOrWait();
  };

  const failWaiters = (error: unknown): void => {
    for (const waiter of waiters.splice(0)) {
      clearTimeout(waiter.timer);
      waiter.fail(error);
    }
  };

  const open = async (): Promise<Connection> => {
    openingCount++;
    const beganAtMs = performance.now();
    try {
      const connection = await server.open({ maxResultBytes, onRejected: () => void rejectedCount++ });
      pool.sharing = getSharing(connection);
      lastResponseAtMs = performance.now();
      const nowMs = Date.now();
      const entry: PooledConnection = { connection, openedAtMs: nowMs, generation, idleSinceMs: nowMs };
      connections.set(connection, entry);
      connection.onEnd(() => {
        if (connections.has(connection)) suspectConnections();
        drop(entry);
      });
      openingCount--;
      return connection;
    } catch (error) {
      openingCount--;
      // Waiters would wait for another timeout, because the server has not responded since the attempt began.
      if (isTimedOut(error) && lastResponseAtMs < beganAtMs) failWaiters(error);
      // The next attempt fails as fast, or finds the database available again.
      serveNext();
      throw error;
    }
  };

  /** Returns the most recently used connection. A request that runs user-defined code prefers a connection with plans
   *  of the same role, or without plans. */
  const acquireIdle = (owner: PlanOwner | undefined): PooledConnection | undefined => {
    if (owner === undefined || idle.length < 2) return idle.pop();
    let index = idle.findLastIndex(({ connection }) => connection.planOwner === owner);
    if (index === -1) index = idle.findLastIndex(({ connection }) => connection.planOwner === undefined);
    return index === -1 ? idle.pop() : idle.splice(index, 1)[0];
  };

  const giveConnection = (waiter: Waiter, connection: Connection): void => {
    clearTimeout(waiter.timer);
    waiter.give(connection);
  };

  /** Opens a connection for the longest waiter after a slot became free. */
  const serveNext = (): void => {
    if (waiters.length === 0 || isClosed || connections.size + openingCount >= maxCount) return;
    // The list of waiters is not empty.
    const waiter = waiters.shift() as Waiter;
    open().then(
      (connection) => giveConnection(waiter, connection),
      (error: unknown) => {
        clearTimeout(waiter.timer);
        waiter.fail(error);
      },
    );
  };

  const warnOfExhaustion = (): void => {
    const nowMs = Date.now();
    if (nowMs - warnedAtMs < WARNING_INTERVAL_MS) return;
    warnedAtMs = nowMs;
    warn("no database connection became free in time: requests are answered 504", {
      connections: maxCount,
      waiting: waiters.length,
      seconds: acquisitionMs / 1000,
    });
  };

  const wait = (): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = { give: resolve, fail: reject, timer: undefined };
      waiter.timer = setTimeout(() => {
        const index = waiters.indexOf(waiter);
        // A connection is being opened for this waiter, so the timeout of connecting applies.
        if (index === -1) return;
        waiters.splice(index, 1);
        timeouts++;
        warnOfExhaustion();
        reject(poolTimedOut());
      }, acquisitionMs);
      waiters.push(waiter);
    });

  const expiryTimer = setInterval(
    () => {
      const nowMs = Date.now();
      for (const entry of idle.slice()) if (isStale(entry, nowMs) || nowMs - entry.idleSinceMs >= idleMs) drop(entry);
    },
    Math.max(100, Math.min(EXPIRY_CHECK_MS, idleMs / 2, lifetimeMs / 2)),
  );
  expiryTimer.unref();
  const stopWatching = server.watch({
    connections: () => connections.keys(),
    onLost: (isUnreachable) => {
      if (isUnreachable) failWaiters(connectionTimedOut());
      for (const entry of idle.slice()) drop(entry);
    },
  });

  const pool: Pool & { sharing: Sharing | undefined } = {
    acquire: (owner) => {
      if (isClosed) return Promise.reject(poolTimedOut());
      for (let entry = acquireIdle(owner); entry !== undefined; entry = acquireIdle(owner)) {
        const nowMs = Date.now();
        if (nowMs < suspectUntilMs) {
          idle.push(entry);
          return acquireAlive(owner);
        }
        if (!isStale(entry, nowMs)) return entry.connection;
        drop(entry);
      }
      return openOrWait();
    },
    release: (connection, isReusable) => {
      const entry = connections.get(connection);
      if (entry === undefined) return; // the pool has dropped the connection
      const nowMs = Date.now();
      if (isReusable) lastResponseAtMs = performance.now();
      else suspectConnections();
      if (!isReusable || isClosed || isStale(entry, nowMs)) return drop(entry);
      const waiter = waiters.shift();
      if (waiter !== undefined) return giveConnection(waiter, connection);
      entry.idleSinceMs = nowMs;
      idle.push(entry);
    },
    sharing: undefined,
    recheck: async (connection) => {
      if (!(await server.isPooled(connection))) return false;
      connection.backend = { ...connection.backend, isShared: true };
      pool.sharing = connection.backend.sharing;
      return true;
    },
    get isClosed() {
      return isClosed;
    },
    abandon: () => {
      for (const entry of connections.values()) drop(entry);
    },
    renew: () => {
      generation++;
      for (const entry of idle.slice()) drop(entry);
    },
    counts: () => ({
      ...countPrepared(connections.keys()),
      max: maxCount,
      inUse: connections.size - idle.length,
      available: idle.length + Math.max(0, maxCount - connections.size - openingCount),
      waiting: waiters.length,
      timeouts,
      rejected: rejectedCount,
    }),
    close: async (patienceMs) => {
      isClosed = true;
      clearInterval(expiryTimer);
      stopWatching();
      failWaiters(poolTimedOut());
      for (const entry of idle.slice()) drop(entry);
      if (connections.size === 0) return;
      const cancellations: Promise<void>[] = [];
      const patience = setTimeout(() => {
        warn("closing connections that are still in use", { count: connections.size });
        for (const entry of connections.values()) {
          drop(entry);
          // The running statement is cancelled, because the server notices the disconnection only later.
          cancellations.push(entry.connection.cancel());
        }
      }, patienceMs);
      await new Promise<void>((resolve) => {
        whenEmpty = resolve;
      });
      clearTimeout(patience);
      await Promise.all(cancellations);
    },
  };
  return pool;
};

const countPrepared = (connections: Iterable<Connection>): Pick<PoolCounts, "prepared" | "preparedBytes"> => {
  let [preparedCount, preparedBytes] = [0, 0];
  for (const connection of connections) {
    preparedCount += connection.prepared.size;
    preparedBytes += connection.prepared.bytes;
  }
  return { prepared: preparedCount, preparedBytes };
};
