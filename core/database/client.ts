/** Wraps pg's client as a connection that sends batches, returns results and limits their size. This is the only file of core that imports pg. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import Pg from "pg";
import { resultTooLarge } from "../kernel/errors.ts";
import { createCleaner, type CleaningKind } from "./cleaning.ts";
import type { Address, Connection, ConnectionOptions, ScriptResult } from "./connection.ts";
import { CopyBoth } from "./copy-both.ts";
import type { LongRow, LongRows, RowReader } from "./long-row.ts";
import { PreparedStatements } from "./prepared-statements.ts";
import { EMBEDDED_BACKEND, UNKNOWN_BACKEND } from "./sharing.ts";
import { FollowingBatch, WireBatch, type WirePlan, type WireResult } from "./wire.ts";

interface RawConnection {
  connect(portOrPath: number | string, host?: string): void;
  on(event: string, listener: (...parts: any[]) => void): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  readonly stream: Duplex;
}

/** Adds the members that pg's types omit. */
type Client = Pg.Client & {
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

/** The delay of TCP keep-alive. The system's default of two hours would detect dead connections too late. */
const KEEP_ALIVE_MS = 10_000;

/** Returns the configuration of pg's client, with `replication`, which pg's types omit. */
const buildClientConfig = (
  address: Address,
  timeoutMs: number,
  purpose: ConnectionOptions["purpose"],
): Pg.ClientConfig & { replication?: string } => {
  const common = {
    fallback_application_name: purpose === undefined ? "relapi" : `relapi ${purpose}`,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
  if ("stream" in address)
    // The types of pg require a net.Socket, but pg works with any stream.
    return { ...common, stream: address.stream as () => any, user: "postgres", database: "postgres", ssl: false };
  return { ...common, connectionString: address.url };
};

/** Creates a client. The connection string and `PGAPPNAME` override the client's `application_name`. @rule R-ADM-5 */
export const createClient = (
  address: Address,
  timeoutMs: number,
  { replicates = false, purpose }: ConnectionOptions,
): Client => {
  const config = buildClientConfig(address, timeoutMs, purpose);
  return new Pg.Client(replicates ? { ...config, replication: "database" } : config) as Client;
};

/** Wraps a client that is not yet connected. `getChannels` returns the channels of an embedded database,
 *  to which the cleaning listens again. A result beyond `maxResultBytes` ends the connection. */
export const wrapClient = (
  client: Client,
  getChannels: (() => readonly string[]) | undefined,
  { maxResultBytes = MAX_MESSAGE_BYTES, onRejected = () => undefined }: ConnectionOptions,
  reopen: Connection["reopen"],
): Connection => {
  const endListeners: (() => void)[] = [];
  let hasEnded = false;
  const notifyEnd = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    for (const listener of endListeners) listener();
  };
  // Without a listener, an error would end the process, although it also rejects the running statement.
  client.on("error", notifyEnd);
  client.on("end", notifyEnd);
  let watch: ResultWatch | undefined;
  const watchStream = (): void => {
    watch = watchResults(client.connection.stream, onRejected);
  };
  // Before TLS only one byte arrives, which pg reads itself.
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
  const preparedStatements = new PreparedStatements();
  const cleaner = createCleaner(() => connection.backend, getChannels ?? (() => []));
  const send = (plan: WirePlan, cleaning?: CleaningKind, long?: LongRows): Promise<WireResult> =>
    new Promise((resolve) => {
      if (watch !== undefined) {
        watch.limit = maxResultBytes;
        watch.long = long;
        watch.doneCount = 0;
      }
      const follower = cleaning === undefined ? undefined : cleaner.createFollowingBatch(cleaning);
      // The types of pg require its own Connection in `submit`.
      client.query(new WireBatch(plan, resolve, follower, enqueue) as WireBatch & Pg.Submittable);
    });
  /** Resolves when the last query has ended. The next query waits for it, because the driver accepts only one query at
   *  a time. */
  let lastQuery: Promise<unknown> = Promise.resolve();
  const connection: Connection = {
    prepared: preparedStatements,
    backend: getChannels === undefined ? UNKNOWN_BACKEND : EMBEDDED_BACKEND,
    planOwner: undefined,
    // A batch follows a failed cleaning too: after a failed statement in an open transaction, the cleaning fails as
    // well.
    run: (plan, cleaning, long) =>
      cleaner.lastCleaning === undefined
        ? send(plan, cleaning, long)
        : cleaner.lastCleaning.then(() => send(plan, cleaning, long)),
    cleaner,
    query: async <Row>(text: string, values: readonly unknown[]) => {
      // Only core sends these statements: the catalog may be of any size, and notifications never end.
      limit(Number.POSITIVE_INFINITY);
      const result = lastQuery.then(() => client.query(text, values as unknown[]));
      lastQuery = result.catch(() => undefined); // the caller gets the error
      return getRowsOfLastStatement<Row>(await result);
    },
    script: async (text) => {
      limit(maxResultBytes);
      const results: unknown = await client.query({ text, rowMode: "array", types: AS_TEXT });
      return (Array.isArray(results) ? results : [results]).map(buildScriptResult);
    },
    copyBoth: (text, take) =>
      new Promise((_resolve, reject) => {
        limit(Number.POSITIVE_INFINITY); // the result of a copy has no end
        // The types of pg require its own Connection in `submit`.
        client.query(new CopyBoth(text, take, reject) as Pg.Submittable);
      }),
    sendCopy: (bytes) => client.connection.sendCopyFromChunk(bytes),
    cancel: () => (getChannels !== undefined ? Promise.resolve() : sendCancel(client)),
    onNotification: (listener) => {
      client.on("notification", ({ channel, payload }) => listener(channel, payload ?? ""));
    },
    onEnd: (listener) => {
      endListeners.push(listener);
    },
    // The stream is checked too, because pg reports later that the server has closed its side.
    get isEnded() {
      return hasEnded || !client.connection.stream.writable;
    },
    // A paused stream does not count, because the server then waits for the client.
    isAwaitingResponse: () => client.readyForQuery === false && !client.connection.stream.isPaused(),
    getReceivedBytes: () => (client.connection.stream as Partial<Socket>).bytesRead ?? 0,
    get processId() {
      return client.processID;
    },
    hostAndPort: `${client.host}:${client.port}`,
    reopen,
    kill: (error) => void client.connection.stream.destroy(error),
    getServerState: () => {
      const standby = parameters.get("in_hot_standby");
      const readOnly = parameters.get("default_transaction_read_only");
      return standby === undefined || readOnly === undefined
        ? undefined
        : { isStandby: standby === "on", isReadOnly: readOnly === "on" };
    },
    end: async () => {
      // A time limit is needed, because a network that drops packets never confirms the end.
      const patience = setTimeout(() => client.connection.stream.destroy(), END_PATIENCE_MS);
      patience.unref();
      await client.end().catch(() => undefined); // the connection has ended in either case
      clearTimeout(patience);
      notifyEnd();
    },
  };
  return connection;
};

/** Returns the rows of the last statement, because pg's types omit the list of results of a text with several
 *  statements. */
const getRowsOfLastStatement = <Row>(result: unknown): readonly Row[] =>
  (Array.isArray(result) ? result.at(-1) : result).rows as readonly Row[];

const keepText = (text: unknown): unknown => text;
// The types of pg have overloads for each format, but every value arrives as text.
const AS_TEXT = { getTypeParser: () => keepText } as unknown as Pg.CustomTypesConfig;

const buildScriptResult = ({ command, fields, rows }: Pg.QueryArrayResult<(string | null)[]>): ScriptResult => ({
  // The result of an empty text has no command.
  command: command ?? "",
  columns: fields.map(({ name }) => name),
  rows,
});

const CANCEL_PATIENCE_MS = 5000;
const END_PATIENCE_MS = 2000;

/** Sends a cancel request on a separate connection, which the server closes after it has sent the signal. */
const sendCancel = (client: Client): Promise<void> =>
  new Promise((resolve) => {
    const { processID, secretKey, ssl, host, port } = client;
    if (processID === null || secretKey === null) return resolve();
    // The types of pg omit the members of RawConnection.
    const raw = new Pg.Connection({ ssl } as any) as unknown as RawConnection;
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

interface ResultWatch {
  /** The largest total size in bytes of the messages up to the next ReadyForQuery. */
  limit: number;
  /** The reader of long rows. Undefined if rows are not inspected. */
  long: LongRows | undefined;
  /** The number of completed statements, counted while `long` is defined. */
  doneCount: number;
}

/** The limit of a single message. Twice this length still fits into a JavaScript string, which has at most half a
 *  gigabyte. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

const HEADER_BYTES = 5;
const READY_FOR_QUERY = 0x5a;
const DATA_ROW = 0x44;
/** The types of messages that complete a statement: CommandComplete and EmptyQueryResponse. */
const COMPLETION_MESSAGES: readonly (number | undefined)[] = [0x43, 0x49];

/** Reads the server's messages before pg does. Each message starts with its length, so a message beyond the limit is
 *  never assembled, and a long row is streamed. Call this function after pg has added listeners to the stream, and
 *  before the first byte arrives. Exceptions of pg while it reads end the connection instead of the process, because no
 *  other code could catch these exceptions. `onRejected` is called for each result that exceeds the limit. */
const watchResults = (stream: Duplex, onRejected: () => void): ResultWatch => {
  // Every listener of "data" takes a chunk.
  const readers = stream.listeners("data") as ((chunk: Buffer) => void)[];
  const watch: ResultWatch = { limit: MAX_MESSAGE_BYTES, long: undefined, doneCount: 0 };
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let bodyBytes = 0;
  let total = 0;
  let hasFailed = false;
  let row: LongRow | undefined;

  const forwardToPg = (bytes: Buffer): void => {
    for (const read of readers) read(bytes);
  };

  const reader: RowReader = {
    forwardToPg,
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    kill: (error) => stream.destroy(error),
  };

  /** Begins a message. Returns false if the message exceeds a limit. */
  const begin = (source: Buffer, offset: number): boolean => {
    const bytes = source.readUInt32BE(offset + 1) + 1;
    total += bytes;
    bodyBytes = bytes - HEADER_BYTES;
    if (bytes > MAX_MESSAGE_BYTES || total > watch.limit) return false;
    if (source[offset] === READY_FOR_QUERY) {
      total = 0;
      watch.long = undefined;
    } else if (watch.long !== undefined) {
      if (COMPLETION_MESSAGES.includes(source[offset])) watch.doneCount++;
      if (source[offset] === DATA_ROW && bytes > watch.long.aboveBytes)
        row = watch.long.open(watch.doneCount, bodyBytes, reader);
    }
    return true;
  };

  /** Forwards a chunk to pg, except incomplete headers and long rows. Returns false if a message in the chunk exceeds a
   *  limit. */
  const forwardChunk = (chunk: Buffer): boolean => {
    let offset = 0;
    let passedBytes = 0;
    while (offset < chunk.length) {
      if (row !== undefined) {
        offset += row.readChunk(chunk, offset);
        passedBytes = offset;
        if (row.remainingBytes === undefined) continue;
        bodyBytes = row.remainingBytes;
        row = undefined;
      } else if (bodyBytes > 0) {
        const skippedBytes = Math.min(bodyBytes, chunk.length - offset);
        bodyBytes -= skippedBytes;
        offset += skippedBytes;
      } else if (headerBytes === 0 && chunk.length - offset >= HEADER_BYTES) {
        if (!begin(chunk, offset)) return false;
        if (row !== undefined && offset > passedBytes) forwardToPg(chunk.subarray(passedBytes, offset));
        offset += HEADER_BYTES;
        if (row !== undefined) passedBytes = offset;
      } else {
        if (headerBytes === 0 && offset > passedBytes) forwardToPg(chunk.subarray(passedBytes, offset));
        // The index is within the chunk.
        header[headerBytes++] = chunk[offset++] as number;
        passedBytes = offset;
        if (headerBytes < HEADER_BYTES) continue;
        headerBytes = 0;
        if (!begin(header, 0)) return false;
        if (row === undefined) forwardToPg(Buffer.from(header));
      }
    }
    if (passedBytes === 0) forwardToPg(chunk);
    else if (passedBytes < chunk.length) forwardToPg(chunk.subarray(passedBytes));
    return true;
  };

  stream.removeAllListeners("data");
  stream.on("data", (chunk: Buffer) => {
    if (hasFailed) return;
    try {
      if (forwardChunk(chunk)) return;
      onRejected();
      hasFailed = true;
      stream.destroy(resultTooLarge(Math.min(watch.limit, MAX_MESSAGE_BYTES)));
    } catch (error) {
      hasFailed = true;
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stream.on("close", () => row?.fail());
  return watch;
};
