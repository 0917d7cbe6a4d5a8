/** A connection to PostgreSQL: what it can do. The one file that imports pg. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import pg from "pg";
import { wantedChannels } from "./channels.ts";
import { createCleaner, type Cleaner, type Cleaning, type CleaningTraits } from "./cleaning.ts";
import { fromConnecting, isFatal, isPgError } from "./pg-errors.ts";
import { PreparedStatements, type PlanOwner } from "./prepared.ts";
import { BACKEND_QUESTION, backendOf, expectedProcessId, type Backend, type PoolerMode } from "./sharing.ts";
import { MAX_MESSAGE_BYTES, watchAnswers, type Watch } from "./watch.ts";
import { CopyBoth, FollowingBatch, WireBatch, type WirePlan, type WireResult } from "./wire.ts";

/** Where connections lead. */
export type Target =
  | { readonly url: string; readonly pooler: PoolerMode }
  | { readonly stream: () => Duplex; readonly ready?: Promise<void> };

export interface Connection {
  readonly prepared: PreparedStatements;
  readonly backend: Backend;
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
  /** A statement was sent and is not answered in full. */
  isAwaiting(): boolean;
  /** Received so far. */
  heardBytes(): number;
  /** Of the backend, or what a pooler says instead. */
  readonly processId: number | null;
  /** Where it leads. */
  readonly place: string;
  /** Another one to the same server. @throws what connecting throws */
  reopen(timeoutMs: number): Promise<Connection>;
  /** Ends it at once; what runs on it fails with the error. */
  kill(error: Error): void;
  /** What the server says of it, now; undefined: it does not say. */
  session(): { readonly isStandby: boolean; readonly isReadOnly: boolean } | undefined;
  end(): Promise<void>;
}

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
  readonly readyForQuery?: boolean;
  readonly secretKey: number | null;
  readonly ssl: unknown;
  readonly host: string;
  readonly port: number;
  readonly connection: {
    readonly stream: Duplex;
    on(event: "connect" | "sslconnect", listener: () => void): void;
    on(
      event: "parameterStatus",
      listener: (parameter: { readonly parameterName: string; readonly parameterValue: string }) => void,
    ): void;
    sendCopyFromChunk(bytes: Buffer): void;
  };
};

/** The system's own delay is two hours. */
const KEEP_ALIVE_MS = 10_000;

/** pg's types leave `replication` out. */
const clientConfig = (target: Target, url: string, timeoutMs: number): pg.ClientConfig & { replication?: string } => {
  const common = {
    fallback_application_name: "relapi",
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
  if ("stream" in target)
    return { ...common, stream: target.stream as () => any, user: "postgres", database: "postgres", ssl: false }; // pg's types want a net.Socket
  return { ...common, connectionString: url };
};

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
  try {
    if ("stream" in target) {
      await target.ready;
      return await connect(target, "", timeoutMs, kind);
    }
    const { openOneOf } = await import("./open-host.ts");
    return await openOneOf(target, timeoutMs, (url, limitMs) => connect(target, url, limitMs, kind));
  } catch (error) {
    throw fromConnecting(error);
  }
};

/** `url`: of one host; none for a stream. @throws what connecting throws */
const connect = async (target: Target, url: string, timeoutMs: number, kind: ConnectionKind): Promise<Connection> => {
  const { replicates = false } = kind;
  const config = clientConfig(target, url, timeoutMs);
  const client = new pg.Client(replicates ? { ...config, replication: "database" } : config) as Client;
  const wantedHere = "stream" in target ? () => wantedChannels(target.stream) : undefined;
  const connection = wrap(client, wantedHere, kind, (limitMs) => connect(target, url, limitMs, kind));
  if ("stream" in target) {
    await client.connect();
    return connection;
  }
  // pg's own limit ends when the server has let us in
  const limit = setTimeout(() => client.connection.stream.destroy(new Error("timeout expired")), timeoutMs);
  try {
    await client.connect();
    if (replicates) return connection;
    const expected = expectedProcessId(target.pooler, client.processID);
    // a server that does not know the question goes on with what it has
    const answer = await client.query(BACKEND_QUESTION, [expected]).catch((error: unknown) => {
      if (connection.isEnded || !isPgError(error) || isFatal(error)) throw error;
    });
    connection.backend = backendOf(answer?.rows[0], target.pooler);
    return connection;
  } finally {
    clearTimeout(limit);
  }
};

const wrap = (
  client: Client,
  wantedHere: CleaningTraits["wantedChannels"],
  { maxResultBytes = MAX_MESSAGE_BYTES, refused = () => undefined }: ConnectionKind,
  reopen: Connection["reopen"],
): Connection & { backend: Backend } => {
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
  const parameters = new Map<string, string>();
  client.connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
    parameters.set(parameterName, parameterValue);
  });
  const limit = (bytes: number): void => {
    if (watch !== undefined) watch.limit = bytes;
  };
  const enqueue = (follower: FollowingBatch): void => void client.query(follower);
  const traits: CleaningTraits = {
    wantedChannels: wantedHere,
    get hasNoJit() {
      return connection.backend.hasNoJit;
    },
  };
  const cleaner = createCleaner(traits, async (text) => lastRows(await client.query(text)));
  const send = (plan: WirePlan, cleaning: Cleaning | undefined): Promise<WireResult> =>
    new Promise((resolve) => {
      if (watch !== undefined) watch.limit = maxResultBytes;
      const follower = cleaning === undefined ? undefined : cleaner.follow(cleaning, client.user ?? "");
      client.query(new WireBatch(plan, resolve, follower, enqueue) as WireBatch & pg.Submittable); // pg's types ask for its own Connection in submit
    });
  const connection: Connection & { isEnded: boolean; backend: Backend } = {
    prepared: new PreparedStatements(),
    backend: backendOf(undefined, "session"),
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
    cancel: () => (wantedHere !== undefined ? Promise.resolve() : sendCancel(client)),
    onNotification: (listener) => {
      client.on("notification", ({ channel, payload }) => listener(channel, payload ?? ""));
    },
    onEnd: (listener) => {
      endListeners.push(listener);
    },
    isEnded: false,
    isAwaiting: () => client.readyForQuery === false,
    heardBytes: () => (client.connection.stream as Partial<Socket>).bytesRead ?? 0,
    get processId() {
      return client.processID;
    },
    place: `${client.host}:${client.port}`,
    reopen,
    kill: (error) => void client.connection.stream.destroy(error),
    session: () => {
      const standby = parameters.get("in_hot_standby");
      const readOnly = parameters.get("default_transaction_read_only");
      return standby === undefined || readOnly === undefined
        ? undefined
        : { isStandby: standby === "on", isReadOnly: readOnly === "on" };
    },
    end: async () => {
      // a network that swallows packets never confirms it
      const patience = setTimeout(() => client.connection.stream.destroy(), END_PATIENCE_MS);
      patience.unref();
      await client.end().catch(() => undefined); // it is gone either way
      clearTimeout(patience);
      ended();
    },
  };
  return connection;
};

/** pg's types know no text of several statements, which has a result for each. */
const lastRows = <Row>(result: unknown): readonly Row[] =>
  (Array.isArray(result) ? result.at(-1) : result).rows as readonly Row[];

const CANCEL_PATIENCE_MS = 5000;
const END_PATIENCE_MS = 2000;

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
