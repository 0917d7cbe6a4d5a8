/** Reads the changes of committed transactions by logical replication. It uses a temporary slot with the output plugin
 *  `test_decoding`, which is part of PostgreSQL and needs neither publications nor triggers. For a table without a
 *  primary key, the feed has no old versions of rows, unless the table has `REPLICA IDENTITY FULL`. */
import { randomBytes } from "node:crypto";
import { getErrorMessage, type PluginContext, type ReplicationConnection } from "../../../core/index.ts";
import { trustedSql, quoteIdentifier, sql } from "../../../core/sql/fragment.ts";
import type { ChangeFeed, ChangeFeedHandlers, TableChanges } from "../api.ts";
import { createChangeCollector, extractKeys } from "./changed-rows.ts";
import { parseNames, parseRow } from "./test-decoding.ts";

/** The callbacks of a feed inside this plugin. */
export interface ChangeHandlers extends Omit<ChangeFeedHandlers, "committed" | "keyColumn"> {
  /** Reports a committed transaction, possibly before other sessions see it. `xid` is the low 32 bits of its id.
   *  @see ChangeFeedHandlers */
  committed(xid: number, changes: TableChanges, lagMs?: number): void;
  /** Returns the columns whose values are needed from changed rows of the relation. Without columns, only the name of
   *  the relation is reported. */
  columns(relation: string): readonly string[];
}

/** The period of status messages. The server disconnects a receiver that is silent for `wal_sender_timeout`, usually a
 *  minute. Until then the server retains the WAL. */
const STATUS_MS = 3000;
/** The number of status messages without a reply after which the connection counts as lost. Each status message asks
 *  for a reply. */
const MAX_UNANSWERED = 3;
/** The period of status messages of a feed with a lock. It limits how long another process waits for the lock of a
 *  machine that has vanished. */
const LOCKED_STATUS_MS = 1000;
const LOCKED_TIMEOUT = sql`set wal_sender_timeout = ${trustedSql("'3500ms'")}`;

/** Opens a feed without a lock. @throws RelApiError if connecting fails, or if the server rejects */
export const openChangeFeed = async (context: PluginContext, handlers: ChangeHandlers): Promise<ChangeFeed> =>
  startFeed(await context.openReplication(), handlers, STATUS_MS);

/** Adapts the handlers of another plugin, which receive only the keys of changed rows. @rule X-REP-2 */
export const withKeysOnly = ({ committed: onCommit, keyColumn, lost: onLost }: ChangeFeedHandlers): ChangeHandlers => ({
  committed: (xid, changes, lagMs) => onCommit(xid, extractKeys(changes), lagMs),
  columns: (relation) => {
    const column = keyColumn(relation);
    return column === undefined ? [] : [column];
  },
  lost: onLost,
});

export interface LockedFeed {
  readonly feed: ChangeFeed;
  /** The time when the lock was acquired, by the clock of the database. The later of two such times belongs to the
   *  current owner of the lock. */
  readonly sinceMs: number;
}

/** Opens the only feed of all processes that use this advisory lock, which lasts as long as the connection of the feed.
 *  Returns undefined if another process owns the lock. @throws RelApiError like `openChangeFeed` */
export const openLockedFeed = async (
  context: PluginContext,
  handlers: ChangeHandlers,
  lock: bigint,
): Promise<LockedFeed | undefined> => {
  const connection = await context.openReplication();
  try {
    const lockQuery = sql`select pg_catalog.pg_try_advisory_lock(${trustedSql(`${lock}`)}) as locked, (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint::text as since`;
    const [row] = await connection.command<{ readonly locked: boolean; readonly since: string }>(lockQuery);
    if (row?.locked !== true) return void (await connection.end());
    await connection.command(LOCKED_TIMEOUT);
    return { feed: await startFeed(connection, handlers, LOCKED_STATUS_MS), sinceMs: Number(row.since) };
  } catch (error) {
    void connection.end();
    throw error;
  }
};

const startFeed = async (
  connection: ReplicationConnection,
  handlers: ChangeHandlers,
  statusMs: number,
): Promise<ChangeFeed> => {
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
  const close = (): Promise<void> => {
    isEnded = true;
    clearInterval(timer);
    return connection.end();
  };
  const reportEnd = (reason: string): void => {
    if (isEnded) return;
    void close();
    handlers.lost(reason);
  };
  const slot = quoteIdentifier(`relapi_${process.pid}_${randomBytes(6).toString("hex")}`);
  try {
    await connection.command(sql`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL test_decoding NOEXPORT_SNAPSHOT`);
  } catch (error) {
    void close();
    throw error;
  }
  const reader = createReader(handlers, connection.send);
  let silentCount = 0;
  timer = setInterval(() => {
    if (++silentCount > MAX_UNANSWERED) return reportEnd("the database does not respond");
    reader.sendStatus(true);
  }, statusMs);
  connection.onEnd(() => reportEnd("the connection was lost"));
  const start = sql`START_REPLICATION SLOT ${slot} LOGICAL 0/0 (${quoteIdentifier("include-xids")} ${trustedSql("'1'")}, ${quoteIdentifier("include-timestamp")} ${trustedSql("'1'")}, ${quoteIdentifier("skip-empty-xacts")} ${trustedSql("'1'")})`;
  connection
    .copy(start, (bytes) => {
      silentCount = 0;
      reader.readMessage(bytes);
    })
    .catch((error: unknown) => reportEnd(getErrorMessage(error)));
  return { end: close };
};

const XLOG_DATA = 0x77;
const KEEPALIVE = 0x6b;
/** The length of the header of a data message: type, start, end and time. */
const DATA_AT = 25;
/** The number of bytes that are read to find the names of relations, which come first. The longest two with quotation
 *  marks are shorter; only a `TRUNCATE` can list more. */
const NAMES_BYTES = 600;
/** The largest size of a row that is parsed. Only the relation name is read of a longer row, because decoding the row
 *  costs more than running the live queries again. */
const MAX_ROW_BYTES = 1024 * 1024;
/** The microseconds from 1970 to 2000. The epoch of PostgreSQL begins in 2000. */
const EPOCH_US = 946_684_800_000_000n;

interface Reader {
  readMessage(bytes: Buffer): void;
  /** Sends the position that was read. `isAsking` requests a reply from the server. */
  sendStatus(isAsking?: boolean): void;
}

const createReader = ({ committed: onCommit, columns }: ChangeHandlers, send: (bytes: Buffer) => void): Reader => {
  let position = 0n;
  let changes = createChangeCollector();

  const sendStatusMessage = (isAsking = false): void => {
    const bytes = Buffer.alloc(34);
    bytes[0] = 0x72;
    for (const at of [1, 9, 17]) bytes.writeBigUInt64BE(position, at);
    bytes.writeBigInt64BE(BigInt(Date.now()) * 1000n - EPOCH_US, 25);
    bytes[33] = isAsking ? 1 : 0;
    send(bytes);
  };

  /** Handles one line: `BEGIN 731`, `table public.album: UPDATE: id[integer]:1 …`,
   *  `COMMIT 731 (at 2026-01-31 12:00:00.5+00)`. */
  const readLine = (bytes: Buffer): void => {
    const text = bytes.toString("utf8", DATA_AT, Math.min(bytes.length, DATA_AT + NAMES_BYTES));
    if (text.startsWith("table ")) {
      const names = parseNames(text, "table ".length);
      // The list of names is longer than the part of the message that was read.
      const completeNames = names.isWhole ? names : parseNames(bytes.toString("utf8", DATA_AT), "table ".length);
      const [relation, ...otherNames] = completeNames.names;
      const neededColumns =
        relation === undefined || otherNames.length > 0 || bytes.length > MAX_ROW_BYTES ? [] : columns(relation);
      if (relation === undefined || neededColumns.length === 0)
        for (const name of completeNames.names) changes.addAny(name);
      else if (!changes.isAny(relation)) addRow(relation, neededColumns, text, completeNames.end, bytes);
    } else if (text.startsWith("COMMIT")) {
      const committedChanges = changes;
      changes = createChangeCollector();
      if (committedChanges.tables.size > 0)
        onCommit(
          Number.parseInt(text.slice("COMMIT ".length), 10) >>> 0,
          committedChanges.tables,
          computeLagMs(text, bytes),
        );
    } else if (text.startsWith("BEGIN")) {
      changes = createChangeCollector();
    }
  };

  const addRow = (
    relation: string,
    neededColumns: readonly string[],
    text: string,
    from: number,
    bytes: Buffer,
  ): void => {
    const isCut = bytes.length > DATA_AT + NAMES_BYTES;
    const row =
      parseRow(text, from, neededColumns, isCut) ??
      (isCut ? parseRow(bytes.toString("utf8", DATA_AT), from, neededColumns, false) : undefined);
    if (row === undefined) changes.addAny(relation);
    else changes.add(relation, { columns: neededColumns, rows: [row] });
  };

  return {
    readMessage: (bytes) => {
      if (bytes[0] === XLOG_DATA) {
        const at = bytes.readBigUInt64BE(9);
        if (at > position) position = at;
        readLine(bytes);
      } else if (bytes[0] === KEEPALIVE) {
        const at = bytes.readBigUInt64BE(1);
        if (at > position) position = at;
        if (bytes[17] === 1) sendStatusMessage();
      }
    },
    sendStatus: sendStatusMessage,
  };
};

// This expression matches, for example, `(at 2026-01-31 12:00:00.123456+00)`.
const COMMITTED_AT = /\(at (\S+) ([\d:.]+)([+-]\d\d)(:\d\d)?/;
/** The position of the send time in the header of a data message. */
const SENT_AT = 17;

/** Computes the lag from two times of the database's clock, so that the clock of this process does not matter. */
const computeLagMs = (commit: string, message: Buffer): number => {
  const [, day = "", time = "", hours = "", minutes = ":00"] = COMMITTED_AT.exec(commit) ?? [];
  const sentMs = Number(message.readBigInt64BE(SENT_AT) + EPOCH_US) / 1000;
  return Math.max(0, sentMs - Date.parse(`${day}T${time}${hours}${minutes}`)) || 0;
};
