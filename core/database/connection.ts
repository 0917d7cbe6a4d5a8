/** Defines the interface of connections to PostgreSQL, and opens one connection. */
import type { Duplex } from "node:stream";
import type { Cleaner, CleaningKind } from "./cleaning.ts";
import type { LongRows } from "./long-row.ts";
import type { PlanOwner, PreparedStatements } from "./prepared-statements.ts";
import type { Backend } from "./sharing.ts";
import type { WirePlan, WireResult } from "./wire.ts";

/** The address of one server: a URL for pg, or streams. */
export type Address =
  | { readonly url: string }
  | {
      readonly stream: () => Duplex;
      readonly ready: Promise<void> | undefined;
      /** Returns the channels to which the cleaning listens again, because all connections share one backend. */
      readonly channels: () => readonly string[];
    };

/** An open connection to the database. @experimental */
export interface Connection {
  readonly prepared: PreparedStatements;
  /** The facts about the backend. They are read when the connection is opened, and again after the connection has lost
   *  prepared statements. */
  backend: Backend;
  /** The role for which functions have planned statements on the connection. The database session keeps those plans for
   *  the next caller. Undefined if there are no such plans. @rule R-TX-14 */
  planOwner: PlanOwner | undefined;
  /** Sends one batch. Send the next batch after the result has arrived. `cleaning` follows the batch and removes the
   *  batch's traces. `long` reads rows that are too long for memory. */
  run(plan: WirePlan, cleaning?: CleaningKind, long?: LongRows): Promise<WireResult>;
  /** The cleaner of the connection, which shows when the last cleaning has ended. */
  readonly cleaner: Pick<Cleaner, "lastCleaning">;
  /** Runs an ordinary query, with values parsed by their types. */
  query<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Runs any number of statements. Returns the result of each, with values as text. */
  script(text: string): Promise<readonly ScriptResult[]>;
  /** Starts a copy in both directions, which continues until the connection ends. Rejects if the server rejects or ends
   *  the copy. */
  copyBoth(text: string, take: (bytes: Buffer) => void): Promise<void>;
  /** Sends data of the client within such a copy. */
  sendCopy(bytes: Buffer): void;
  /** Asks the server to cancel the running statement. Resolves when the server has received the request, so that it
   *  cannot affect a later statement. */
  cancel(): Promise<void>;
  /** Registers a listener for each `NOTIFY` of the channels that the connection listens to. */
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Registers a listener that is called once when either side ends the connection. */
  onEnd(listener: () => void): void;
  readonly isEnded: boolean;
  /** Returns whether a statement was sent whose response is incomplete. */
  isAwaitingResponse(): boolean;
  getReceivedBytes(): number;
  /** The process id of the backend, or the id that a pooler reports. */
  readonly processId: number | null;
  readonly hostAndPort: string;
  /** Opens another connection to the same server. @throws the error of connecting */
  reopen(timeoutMs: number): Promise<Connection>;
  /** Ends the connection immediately. Running statements fail with the error. */
  kill(error: Error): void;
  /** Returns the current state of the server. Undefined if the server does not report it. */
  getServerState(): { readonly isStandby: boolean; readonly isReadOnly: boolean } | undefined;
  end(): Promise<void>;
}

/** The result of one statement of a script. @experimental */
export interface ScriptResult {
  /** The command of the statement, such as `SELECT` or `CREATE`. */
  readonly command: string;
  /** The names of the columns. The list is empty if the statement returns no rows. */
  readonly columns: readonly string[];
  /** The values in PostgreSQL's text format. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface ConnectionOptions {
  /** The purpose of a connection that serves no requests, as part of its `application_name`. */
  readonly purpose?: string;
  /** True if the connection also accepts commands of the replication protocol. */
  readonly replicates?: boolean;
  /** The limit in bytes for the result of one batch. A larger result ends the connection. */
  readonly maxResultBytes?: number;
  /** Called for each result that exceeds the limit. */
  readonly onRejected?: () => void;
}

/** A server on which transactions run. */
export interface DatabaseServer {
  /** The maximum number of connections. Undefined if the size of the pool is the only limit. */
  readonly maxCount: number | undefined;
  /** Opens a connection to the server. @throws RelApiError `connection-failed` */
  open(limits: Pick<ConnectionOptions, "maxResultBytes" | "onRejected">): Promise<Connection>;
  /** Resolves with whether a connection that has lost prepared statements leads to a pooler. @rule R-TX-15 */
  isPooled(connection: Connection): Promise<boolean>;
  /** Detects dead connections of a pool. Returns a function that stops the detection. */
  watch(pool: WatchedPool): () => void;
}

export interface WatchedPool {
  readonly connections: () => Iterable<Connection>;
  /** Called if a connection is dead, because other connections may be dead too. With `isUnreachable`, the server
   *  accepts no new connection either. */
  readonly onLost: (isUnreachable: boolean) => void;
}

/** Opens a connection to the address. @throws the error of connecting */
export const openConnection = async (
  address: Address,
  timeoutMs: number,
  kind: ConnectionOptions,
): Promise<Connection> => {
  // This import also loads pg, which is not needed before the first connection.
  const [{ createClient, wrapClient: wrap }] = await Promise.all([
    import("./client.ts"),
    "stream" in address ? address.ready : undefined,
  ]);
  const client = createClient(address, timeoutMs, kind);
  const connection = wrap(client, "stream" in address ? address.channels : undefined, kind, (limitMs) =>
    openConnection(address, limitMs, kind),
  );
  await client.connect();
  return connection;
};
