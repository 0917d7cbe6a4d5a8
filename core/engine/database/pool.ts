/** Connections to PostgreSQL: opening them, keeping them, cancelling what runs on them. The one file that imports pg.
 *  */
import type { Duplex } from "node:stream";
import pg from "pg";
import { poolTimeout } from "../../kernel/errors.ts";
import { wantedChannels } from "./channels.ts";
import { createCleaner, type Cleaner, type Cleaning, type CleaningTraits } from "./cleaning.ts";
import { fromConnecting, sqlstateOf } from "./pg-errors.ts";
import { PreparedStatements, type PlanOwner } from "./prepared.ts";
import { MAX_MESSAGE_BYTES, watchAnswers, type Watch } from "./watch.ts";
import { CopyBoth, FollowingBatch, WireBatch, type WirePlan, type WireResult } from "./wire.ts";

/** Where a pool connects to. */
export type Target = { readonly url: string } | { readonly stream: () => Duplex; readonly ready?: Promise<void> };

export interface PoolOptions {
  readonly target: Target;
  readonly maxCount: number;
  readonly acquisitionMs: number;
  readonly lifetimeMs: number;
  readonly idleMs: number;
  /** Bytes of the result of one batch. */
  readonly maxResultBytes: number;
  /** Bytes of SQL parsed on a connection, after which it is replaced. */
  readonly maxParsedBytes: number;
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

export interface Connection {
  readonly prepared: PreparedStatements;
  /** The role for which functions have planned statements on it; the database session keeps those plans for the next
   *  caller. Undefined: none have. @rule R-TX-14 */
  planOwner: PlanOwner | undefined;
  /** Sends one batch; send the next when its result has arrived. `cleaning`: sent after it, to remove what it leaves
   *  behind. */
  run(plan: WirePlan, cleaning?: Cleaning): Promise<WireResult>;
  /** Whose `cleaned` settles when the cleaning is done that was sent last. */
  readonly cleaner: Pick<Cleaner, "cleaned">;
  /** An ordinary query with values parsed by their types. */
  query<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Starts a copy in both directions, which goes on until the connection ends. Rejects when the server refuses or ends
   *  it. */
  copyBoth(text: string, take: (bytes: Buffer) => void): Promise<void>;
  /** The client's part of such a copy. */
  sendCopy(bytes: Buffer): void;
  /** Asks the server to cancel the running statement. Resolves when the server has received the request, so that it
   *  cannot hit a later statement. */
  cancel(): Promise<void>;
  /** Calls for each `NOTIFY` of the channels listened to. */
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Called once when the connection ends, from whichever side. */
  onEnd(listener: () => void): void;
  readonly isEnded: boolean;
  end(): Promise<void>;
}

export interface PoolCounts {
  readonly max: number;
  /** Idle, or not opened yet. */
  readonly available: number;
  readonly waiting: number;
  /** Acquisitions given up since the start. */
  readonly timeouts: number;
  /** Results that were too large, since the start. */
  readonly refused: number;
  /** On all its connections. */
  readonly prepared: number;
  readonly preparedBytes: number;
}

export interface Pool {
  /** A connection at once when one is idle, rather one that is `owner`'s already. @throws RelApiError `pool-timeout`,
   *  `connection-failed` */
  acquire(owner?: PlanOwner): Connection | Promise<Connection>;
  release(connection: Connection, isReusable: boolean): void;
  /** Connections opened before now are closed as they become free. @rule R-SC-4 */
  renew(): void;
  counts(): PoolCounts;
  /** Waits so long for connections in use, then cancels what runs on them. */
  close(patienceMs: number): Promise<void>;
}

// --- opening --------------------------------------------------------------------------------------------------------

interface RawConnection {
  connect(portOrPath: number | string, host?: string): void;
  on(event: string, listener: (...parts: any[]) => void): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  readonly stream: Duplex;
}

/** What pg's types leave out. */
type Client = pg.Client & {
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly ssl: unknown;
  readonly host: string;
  readonly port: number;
  readonly connection: {
    readonly stream: Duplex;
    on(event: "connect" | "sslconnect", listener: () => void): void;
    sendCopyFromChunk(bytes: Buffer): void;
  };
};

/** pg's types leave `replication` out. */
const clientConfig = (target: Target, url: string, timeoutMs: number): pg.ClientConfig & { replication?: string } => {
  const common = { fallback_application_name: "relapi", connectionTimeoutMillis: timeoutMs, keepAlive: true };
  if ("stream" in target)
    return { ...common, stream: target.stream as () => any, user: "postgres", database: "postgres", ssl: false }; // pg's types want a net.Socket
  return { ...common, connectionString: url };
};

/** The URL that last reached a target; it is tried first. */
const reachedBy = new WeakMap<Target, string>();

export interface ConnectionKind {
  /** It takes commands of the replication protocol too. */
  readonly replicates?: boolean;
  /** Bytes of the result of one batch; a larger one ends the connection. */
  readonly maxResultBytes?: number;
  /** Called for each result that was too large. */
  readonly refused?: () => void;
}

/** @throws RelApiError `connection-failed` */
export const openConnection = async (
  target: Target,
  timeoutMs: number,
  kind: ConnectionKind = {},
): Promise<Connection> => {
  const { replicates = false } = kind;
  const open = async (url: string): Promise<Connection> => {
    const config = clientConfig(target, url, timeoutMs);
    const client = new pg.Client(replicates ? { ...config, replication: "database" } : config) as Client;
    const traits = {
      hasNoJit: false,
      ...("stream" in target ? { wantedChannels: () => wantedChannels(target.stream) } : {}),
    };
    const connection = wrap(client, traits, kind);
    await client.connect();
    // a server that does not know the question goes on with what it has
    if ("url" in target && !replicates) {
      const set = await client.query(NO_JIT).catch(() => undefined);
      traits.hasNoJit = (set?.rowCount ?? 0) > 0;
    }
    return connection;
  };
  try {
    if ("stream" in target) {
      await target.ready;
      return await open("");
    }
    const last = reachedBy.get(target);
    const { connectionUrls, mayBeEncryption } = await import("./connection-string.ts");
    const urls = connectionUrls(target.url);
    const ordered = last === undefined ? urls : [last, ...urls.filter((url) => url !== last)];
    let first: unknown;
    for (const url of ordered) {
      try {
        const connection = await open(url);
        reachedBy.set(target, url);
        return connection;
      } catch (error) {
        first ??= error;
        if (!mayBeEncryption(error instanceof Error ? error.message : "", sqlstateOf(error))) break;
      }
    }
    throw first;
  } catch (error) {
    throw fromConnecting(error);
  }
};

/** Statements of many nested rows look dear to the planner, and compiling them takes several times as long as running
 *  them. Who has set it (for the server, the database, the role, the connection) has it their way. @rule R-TX-8 */
const NO_JIT =
  "select pg_catalog.set_config('jit', 'off', false) from pg_catalog.pg_settings where name = 'jit' and source = 'default'";

const wrap = (
  client: Client,
  traits: CleaningTraits,
  { maxResultBytes = MAX_MESSAGE_BYTES, refused = () => undefined }: ConnectionKind,
): Connection => {
  const endListeners: (() => void)[] = [];
  const ended = (): void => {
    if (connection.isEnded) return;
    connection.isEnded = true;
    for (const listener of endListeners) listener();
  };
  // what goes wrong while a statement runs reaches the statement too; without a listener Node would stop the process
  client.on("error", ended);
  client.on("end", ended);
  let watch: Watch | undefined;
  const watchStream = (): void => {
    watch = watchAnswers(client.connection.stream, refused);
  };
  // before encryption there is but one byte, which pg takes itself
  if (client.ssl) client.connection.on("sslconnect", watchStream);
  else client.connection.on("connect", watchStream);
  const limit = (bytes: number): void => {
    if (watch !== undefined) watch.limit = bytes;
  };
  const enqueue = (follower: FollowingBatch): void => void client.query(follower);
  const cleaner = createCleaner(traits, async (text) => lastRows(await client.query(text)));
  const send = (plan: WirePlan, cleaning: Cleaning | undefined): Promise<WireResult> =>
    new Promise((resolve) => {
      if (watch !== undefined) watch.limit = maxResultBytes;
      const follower = cleaning === undefined ? undefined : cleaner.follow(cleaning, client.user ?? "");
      client.query(new WireBatch(plan, resolve, follower, enqueue) as WireBatch & pg.Submittable); // pg's types ask for its own Connection in submit
    });
  const connection: Connection & { isEnded: boolean } = {
    prepared: new PreparedStatements(),
    planOwner: undefined,
    // behind a statement that failed in a transaction that is still open there is a cleaning that fails too
    run: (plan, cleaning) =>
      cleaner.cleaned === undefined ? send(plan, cleaning) : cleaner.cleaned.then(() => send(plan, cleaning)),
    cleaner,
    query: async <Row>(text: string, values: readonly unknown[]) => {
      // of core itself: the catalog may be of any size, and notifications go on for ever
      limit(Number.POSITIVE_INFINITY);
      return lastRows<Row>(await client.query(text, values as unknown[]));
    },
    copyBoth: (text, take) =>
      new Promise((_resolve, reject) => {
        limit(Number.POSITIVE_INFINITY); // it goes on for ever
        client.query(new CopyBoth(text, take, reject) as CopyBoth & pg.Submittable); // pg's types ask for its own Connection in submit
      }),
    sendCopy: (bytes) => client.connection.sendCopyFromChunk(bytes),
    cancel: () => (traits.wantedChannels !== undefined ? Promise.resolve() : sendCancel(client)),
    onNotification: (listener) => {
      client.on("notification", ({ channel, payload }) => listener(channel, payload ?? ""));
    },
    onEnd: (listener) => {
      endListeners.push(listener);
    },
    isEnded: false,
    end: async () => {
      await client.end().catch(() => undefined); // it is gone either way
      ended();
    },
  };
  return connection;
};

/** pg's types know no text of several statements, which has a result for each. */
const lastRows = <Row>(result: unknown): readonly Row[] =>
  (Array.isArray(result) ? result.at(-1) : result).rows as readonly Row[];

const CANCEL_PATIENCE_MS = 5000;

/** A cancel request uses a separate connection, which the server closes when it has sent the signal. */
const sendCancel = (client: Client): Promise<void> =>
  new Promise((resolve) => {
    const { processID, secretKey, ssl, host, port } = client;
    if (processID === null || secretKey === null) return resolve();
    const raw = new pg.Connection({ ssl } as any) as unknown as RawConnection; // pg's types know neither option nor methods
    const patience = setTimeout(() => raw.stream.destroy(), CANCEL_PATIENCE_MS);
    const send = (): void => raw.cancel(processID, secretKey);
    raw.on("connect", () => {
      if (ssl) raw.requestSsl();
      else send();
    });
    raw.on("sslconnect", send);
    raw.on("error", () => raw.stream.destroy());
    raw.on("end", () => {
      clearTimeout(patience);
      resolve();
    });
    if (host.startsWith("/")) raw.connect(`${host}/.s.PGSQL.${port}`);
    else raw.connect(port, host);
  });

// --- keeping --------------------------------------------------------------------------------------------------------

interface IdleConnection {
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

const SWEEP_MS = 5000;

/** @rule R-ADM-5 */
export const createPool = (options: PoolOptions): Pool => {
  const { target, maxCount, acquisitionMs, lifetimeMs, idleMs, maxResultBytes, maxParsedBytes, warn } = options;
  const all = new Map<Connection, IdleConnection>();
  const idle: IdleConnection[] = [];
  const waiters: Waiter[] = [];
  let openingCount = 0;
  let generation = 0;
  let timeouts = 0;
  let refusedCount = 0;
  let isClosed = false;
  let whenEmpty: (() => void) | undefined;

  const isStale = (kept: IdleConnection, now: number): boolean =>
    kept.connection.isEnded ||
    kept.generation !== generation ||
    kept.connection.prepared.parsedBytes > maxParsedBytes ||
    now - kept.openedAtMs >= lifetimeMs;

  const drop = (kept: IdleConnection): void => {
    if (!all.delete(kept.connection)) return;
    const at = idle.indexOf(kept);
    if (at !== -1) idle.splice(at, 1);
    void kept.connection.end();
    if (isClosed && all.size === 0) whenEmpty?.();
    serveNext();
  };

  const open = async (): Promise<Connection> => {
    openingCount++;
    try {
      const connection = await openConnection(target, acquisitionMs, {
        maxResultBytes,
        refused: () => void refusedCount++,
      });
      const now = Date.now();
      const kept: IdleConnection = { connection, openedAtMs: now, generation, idleSinceMs: now };
      all.set(connection, kept);
      connection.onEnd(() => drop(kept));
      openingCount--;
      return connection;
    } catch (error) {
      openingCount--;
      // waiting requests then fail as fast, or find the database back
      serveNext();
      throw error;
    }
  };

  /** The most recently used connection; for a caller whose request runs user code, one that has plans of the same role,
   *  or of none. */
  const takeIdle = (owner: PlanOwner | undefined): IdleConnection | undefined => {
    if (owner === undefined || idle.length < 2) return idle.pop();
    let at = idle.findLastIndex(({ connection }) => connection.planOwner === owner);
    if (at === -1) at = idle.findLastIndex(({ connection }) => connection.planOwner === undefined);
    return at === -1 ? idle.pop() : idle.splice(at, 1)[0];
  };

  const give = (waiter: Waiter, connection: Connection): void => {
    clearTimeout(waiter.timer);
    waiter.give(connection);
  };

  /** A slot became free: the longest waiter opens a new connection. */
  const serveNext = (): void => {
    if (waiters.length === 0 || isClosed || all.size + openingCount >= maxCount) return;
    const waiter = waiters.shift() as Waiter; // checked above
    open().then(
      (connection) => give(waiter, connection),
      (error: unknown) => {
        clearTimeout(waiter.timer);
        waiter.fail(error);
      },
    );
  };

  const wait = (): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const waiter: Waiter = { give: resolve, fail: reject, timer: undefined };
      waiter.timer = setTimeout(() => {
        const at = waiters.indexOf(waiter);
        if (at === -1) return; // being served: the time-out of connecting counts
        waiters.splice(at, 1);
        timeouts++;
        reject(poolTimeout());
      }, acquisitionMs);
      waiters.push(waiter);
    });

  const sweep = setInterval(
    () => {
      const now = Date.now();
      for (const kept of idle.slice()) if (isStale(kept, now) || now - kept.idleSinceMs >= idleMs) drop(kept);
    },
    Math.max(100, Math.min(SWEEP_MS, idleMs / 2, lifetimeMs / 2)),
  );
  sweep.unref();

  return {
    acquire: (owner) => {
      if (isClosed) return Promise.reject(poolTimeout());
      for (let kept = takeIdle(owner); kept !== undefined; kept = takeIdle(owner)) {
        if (!isStale(kept, Date.now())) return kept.connection;
        drop(kept);
      }
      return all.size + openingCount < maxCount ? open() : wait();
    },
    release: (connection, isReusable) => {
      const kept = all.get(connection);
      if (kept === undefined) return; // it ended meanwhile
      const now = Date.now();
      if (!isReusable || isClosed || isStale(kept, now)) return drop(kept);
      const waiter = waiters.shift();
      if (waiter !== undefined) return give(waiter, connection);
      kept.idleSinceMs = now;
      idle.push(kept);
    },
    renew: () => {
      generation++;
      for (const kept of idle.slice()) drop(kept);
    },
    counts: () => ({
      ...preparedOn(all.keys()),
      max: maxCount,
      available: idle.length + Math.max(0, maxCount - all.size - openingCount),
      waiting: waiters.length,
      timeouts,
      refused: refusedCount,
    }),
    close: async (patienceMs) => {
      isClosed = true;
      clearInterval(sweep);
      for (const waiter of waiters.splice(0)) {
        clearTimeout(waiter.timer);
        waiter.fail(poolTimeout());
      }
      for (const kept of idle.slice()) drop(kept);
      if (all.size === 0) return;
      const cancelled: Promise<void>[] = [];
      const patience = setTimeout(() => {
        warn("closing connections that are still in use", { count: all.size });
        for (const kept of all.values()) {
          drop(kept);
          cancelled.push(kept.connection.cancel()); // a server does not notice at once that its client is gone
        }
      }, patienceMs);
      await new Promise<void>((resolve) => {
        whenEmpty = resolve;
      });
      clearTimeout(patience);
      await Promise.all(cancelled);
    },
  };
};

const preparedOn = (connections: Iterable<Connection>): Pick<PoolCounts, "prepared" | "preparedBytes"> => {
  let [prepared, preparedBytes] = [0, 0];
  for (const connection of connections) {
    prepared += connection.prepared.size;
    preparedBytes += connection.prepared.bytes;
  }
  return { prepared, preparedBytes };
};
