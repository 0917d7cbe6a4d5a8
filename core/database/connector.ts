/** Defines the interface of the plugin that connects to PostgreSQL. Core pools the connections and runs transactions on
 *  them. */
import type { Logger, ResolvedOptions } from "../settings/options.ts";
import type { Sql } from "../sql/fragment.ts";
import type { DatabaseServer } from "./connection.ts";
import type { Pool } from "./pool.ts";

/** The parts of core that the plugin receives. */
export interface ConnectorParts {
  readonly options: ResolvedOptions;
  readonly logger: Logger;
  /** Returns whether the schema was loaded. The loader logs connection errors until then. */
  readonly isLoaded: () => boolean;
}

export interface Connector {
  readonly primary: DatabaseServer;
  /** Opens a pool for each replica. Returns undefined if there are no replicas. */
  openReplicas(openPool: (replica: DatabaseServer) => Pool): Replicas | undefined;
  /** Listens to notifications. Returns a function that stops listening. `onMissed` is called when notifications may
   *  have been lost. `onFailure` is called when no notification can arrive until `onMissed` is called. */
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    onMissed?: (reason: MissedReason) => void,
    onFailure?: () => void,
  ): () => void;
  /** Resolves after the first attempt to listen, after the timeout of a connection, or immediately if there are no
   *  listeners. */
  waitForListening(): Promise<void>;
  /** Opens a connection outside the pool for commands of the replication protocol. `isPooled` is true if the primary
   *  server is probably a pooler. @throws RelApiError */
  openReplication(isPooled: boolean): Promise<ReplicationConnection>;
  /** Finds a server that accepts connections, and returns a connection string with that host only. Undefined for
   *  an embedded database. @throws RelApiError `connection-failed` */
  findDatabaseUrl(): Promise<string | undefined>;
  /** Closes the connections outside the pools, and ends the checks of replicas. */
  close(): Promise<void>;
}

export interface Replicas {
  /** Resolves when each replica was checked once, or a time limit has expired. */
  readonly firstCheck: Promise<void>;
  /** Returns the pool of the next replica in turn. `position` is a write position that the replica must have reached.
   *  Returns undefined if the primary has to answer. */
  choose(position?: string): Pool | undefined;
  /** Starts the periodic checks of the replicas. */
  start(): void;
}

/** The reason why notifications may be missing: the listener existed before its `LISTEN`, or the connection was
 *  lost. */
export type MissedReason = "late" | "lost";

/** A connection that belongs to a plugin, which must close it. @experimental */
export interface ReplicationConnection {
  /** Runs `CREATE_REPLICATION_SLOT …`, or plain SQL, and returns its rows. @throws RelApiError of the server */
  command<Row = unknown>(command: Sql): Promise<readonly Row[]>;
  /** Runs `START_REPLICATION …`: a copy in both directions, which continues until the connection ends. Rejects if the
   *  server rejects or ends the copy. */
  copy(command: Sql, onBytes: (bytes: Buffer) => void): Promise<void>;
  /** Sends data of the client within that copy. */
  send(bytes: Buffer): void;
  /** Registers a listener that is called once when either side ends the connection. */
  onEnd(listener: () => void): void;
  end(): Promise<void>;
}
