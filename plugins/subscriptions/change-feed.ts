/** Which tables committed transactions have changed, by logical replication: a temporary slot with the output plugin
 *  `test_decoding`, which is part of PostgreSQL and needs neither publications nor triggers. Only names are read from
 *  its output. */
import { randomBytes } from "node:crypto";
import type { PluginContext, ReplicationConnection } from "../../core/index.ts";
import { catalogText, ident, sql } from "../../core/engine/sql/fragment.ts";
import type { ChangeFeed, ChangeFeedHandlers } from "./api.ts";

/** The server disconnects a receiver that is silent for `wal_sender_timeout`, usually a minute, and keeps the log until
 *  it hears from it. */
const STATUS_MS = 3000;
/** Each status asks for an answer; when so many have had none, the network swallows what is sent. */
const MAX_SILENT = 3;
/** Whoever waits for the lock of a machine that has vanished waits no longer than this. */
const LOCKED_STATUS_MS = 1000;
const LOCKED_TIMEOUT = sql`set wal_sender_timeout = ${catalogText("'3500ms'")}`;

/** @throws RelApiError of connecting, or of the server when it refuses */
export const openChangeFeed = async (context: PluginContext, handlers: ChangeFeedHandlers): Promise<ChangeFeed> =>
  startFeed(await context.openReplication(), handlers, STATUS_MS);

export interface LockedFeed {
  readonly feed: ChangeFeed;
  /** When the lock was got, by the clock of the database: a later one is held, an earlier one is not any more. */
  readonly sinceMs: number;
}

/** One for all who know of the advisory lock: it lasts as long as the feed's connection. Undefined: somebody has it.
 *  @throws RelApiError as `openChangeFeed` */
export const openLockedFeed = async (
  context: PluginContext,
  handlers: ChangeFeedHandlers,
  lock: bigint,
): Promise<LockedFeed | undefined> => {
  const connection = await context.openReplication();
  try {
    const wanted = sql`select pg_catalog.pg_try_advisory_lock(${catalogText(`${lock}`)}) as locked, (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint::text as since`;
    const [row] = await connection.command<{ readonly locked: boolean; readonly since: string }>(wanted);
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
  handlers: ChangeFeedHandlers,
  statusMs: number,
): Promise<ChangeFeed> => {
  let isEnded = false;
  let timer: NodeJS.Timeout | undefined;
  const close = (): Promise<void> => {
    isEnded = true;
    clearInterval(timer);
    return connection.end();
  };
  const ended = (reason: string): void => {
    if (isEnded) return;
    void close();
    handlers.lost(reason);
  };
  const slot = ident(`relapi_${process.pid}_${randomBytes(6).toString("hex")}`);
  try {
    await connection.command(sql`CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL test_decoding NOEXPORT_SNAPSHOT`);
  } catch (error) {
    void close();
    throw error;
  }
  const reader = createReader(handlers, connection.send);
  let silentCount = 0;
  timer = setInterval(() => {
    if (++silentCount > MAX_SILENT) return ended("the database does not answer");
    reader.status(true);
  }, statusMs);
  connection.onEnd(() => ended("the connection was lost"));
  const start = sql`START_REPLICATION SLOT ${slot} LOGICAL 0/0 (${ident("include-xids")} ${catalogText("'1'")}, ${ident("skip-empty-xacts")} ${catalogText("'1'")})`;
  connection
    .copy(start, (bytes) => {
      silentCount = 0;
      reader.take(bytes);
    })
    .catch((error: unknown) => ended(error instanceof Error ? error.message : String(error)));
  return { end: close };
};

const XLOG_DATA = 0x77;
const KEEPALIVE = 0x6b;
/** Of the header of a message with data: type, start, end, time. */
const DATA_AT = 25;
/** Names come first, and the longest two with all their quotes are shorter than this; of a TRUNCATE there may be more.
 *  */
const NAMES_BYTES = 600;
/** Of a longer row only the names are read: putting it together as a text costs more than running what reads the
 *  relation. */
const MAX_ROW_BYTES = 1024 * 1024;
/** Microseconds from 1970 to 2000, where PostgreSQL's clock starts. */
const EPOCH_US = 946_684_800_000_000n;

/** Of one transaction and relation; from there on it is any row. */
const MAX_KEYS = 10_000;

interface Reader {
  take(bytes: Buffer): void;
  /** `isAsking`: the server is to answer. */
  status(isAsking?: boolean): void;
}

const createReader = ({ committed, keyColumn }: ChangeFeedHandlers, send: (bytes: Buffer) => void): Reader => {
  let position = 0n;
  let changes = new Map<string, Set<string> | undefined>();

  const status = (isAsking = false): void => {
    const bytes = Buffer.alloc(34);
    bytes[0] = 0x72;
    for (const at of [1, 9, 17]) bytes.writeBigUInt64BE(position, at);
    bytes.writeBigInt64BE(BigInt(Date.now()) * 1000n - EPOCH_US, 25);
    bytes[33] = isAsking ? 1 : 0;
    send(bytes);
  };

  /** `BEGIN 731`, `table public.album: UPDATE: id[integer]:1 …`, `COMMIT 731`. */
  const line = (bytes: Buffer): void => {
    const text = bytes.toString("utf8", DATA_AT, Math.min(bytes.length, DATA_AT + NAMES_BYTES));
    if (text.startsWith("table ")) {
      const names = readNames(text, "table ".length);
      // the list is longer than the part that was read
      const all = names.isWhole ? names : readNames(bytes.toString("utf8", DATA_AT), "table ".length);
      const [only, ...others] = all.names;
      const column =
        only === undefined || others.length > 0 || bytes.length > MAX_ROW_BYTES ? undefined : keyColumn(only);
      if (column === undefined) for (const name of all.names) changes.set(name, undefined);
      else addKeys(only as string, column, text, all.end, bytes); // checked above
    } else if (text.startsWith("COMMIT")) {
      const changed = changes;
      changes = new Map();
      if (changed.size > 0) committed(Number(text.slice("COMMIT ".length)) >>> 0, changed);
    } else if (text.startsWith("BEGIN")) {
      changes = new Map();
    }
  };

  const addKeys = (relation: string, column: string, text: string, from: number, bytes: Buffer): void => {
    if (changes.has(relation) && changes.get(relation) === undefined) return; // any row already
    const isCut = bytes.length > DATA_AT + NAMES_BYTES;
    const keys =
      readColumn(text, from, column, isCut) ??
      (isCut ? readColumn(bytes.toString("utf8", DATA_AT), from, column, false) : undefined);
    const known = changes.get(relation) ?? new Set<string>();
    for (const key of keys ?? []) known.add(key);
    changes.set(relation, keys === undefined || known.size > MAX_KEYS ? undefined : known);
  };

  return {
    take: (bytes) => {
      if (bytes[0] === XLOG_DATA) {
        const at = bytes.readBigUInt64BE(9);
        if (at > position) position = at;
        line(bytes);
      } else if (bytes[0] === KEEPALIVE) {
        const at = bytes.readBigUInt64BE(1);
        if (at > position) position = at;
        if (bytes[17] === 1) status();
      }
    },
    status,
  };
};

/** `public.album: UPDATE`, `"my ""odd"" schema".crates, public.b: TRUNCATE`. Names come as `schema.name` without
 *  quotes. */
const readNames = (
  text: string,
  from: number,
): { readonly names: readonly string[]; readonly isWhole: boolean; readonly end: number } => {
  const names: string[] = [];
  let name = "";
  let at = from;
  while (at < text.length) {
    const character = text[at] as string; // at is within its length
    if (character === '"') {
      const end = endOfQuoted(text, at + 1);
      name += text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
    } else if (character === ":" || character === ",") {
      names.push(name);
      name = "";
      if (character === ":") return { names, isWhole: true, end: at + 1 };
      at += 2; // the blank too
    } else {
      name += character;
      at++;
    }
  }
  return { names, isWhole: false, end: at };
};

const endOfQuoted = (text: string, from: number): number => {
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    if (text[quote + 1] !== '"') return quote;
    at = quote + 2;
  }
};

/** Values of a column in ` UPDATE: old-key: id[integer]:1 new-tuple: id[integer]:2 name[text]:'x'`; undefined: it is
 *  not reported, or may lie beyond the end of a text that `isCut`. */
const readColumn = (text: string, from: number, column: string, isCut: boolean): readonly string[] | undefined => {
  const action = text.indexOf(": ", from);
  if (action === -1) return undefined;
  const found: string[] = [];
  let at = action + 2;
  // the old key is reported if it has changed; the new row follows it
  let wanted = 1;
  if (text.startsWith("old-key: ", at)) {
    wanted = 2;
    at += "old-key: ".length;
  }
  while (at < text.length) {
    if (text.startsWith("new-tuple: ", at)) {
      // the key was not among the old values
      if (found.length === 0) return undefined;
      at += "new-tuple: ".length;
    }
    const isQuoted = text[at] === '"';
    const nameEnd = isQuoted ? endOfQuoted(text, at + 1) + 1 : text.indexOf("[", at);
    if (nameEnd === -1 || text[nameEnd] !== "[") return undefined;
    const name = isQuoted ? text.slice(at + 1, nameEnd - 1).replaceAll('""', '"') : text.slice(at, nameEnd);
    const valueAt = endOfType(text, nameEnd) + 2;
    const valueEnd = endOfValue(text, valueAt);
    if (valueEnd >= text.length && isCut) return undefined;
    if (name === column) {
      const value = text.slice(valueAt, valueEnd);
      if (value === "unchanged-toast-datum") return undefined;
      found.push(value.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value);
      if (found.length === wanted) return found;
    }
    at = valueEnd + 1;
  }
  return undefined;
};

/** `[integer]`, `[character varying]`, `[integer[]]`, `["odd]type"]`: the closing bracket. */
const endOfType = (text: string, from: number): number => {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfQuoted(text, at + 1);
    else if (character === "[") depth++;
    else if (character === "]" && --depth === 0) return at;
  }
  return text.length;
};

/** `5`, `null`, `'it''s'`, `B'101'`: the blank after it, or the end. */
const endOfValue = (text: string, from: number): number => {
  const quote = text[from] === "'" ? from : text[from] === "B" && text[from + 1] === "'" ? from + 1 : -1;
  if (quote === -1) {
    const blank = text.indexOf(" ", from);
    return blank === -1 ? text.length : blank;
  }
  let at = quote + 1;
  for (;;) {
    const next = text.indexOf("'", at);
    if (next === -1) return text.length;
    if (text[next + 1] !== "'") return next + 1;
    at = next + 2;
  }
};
