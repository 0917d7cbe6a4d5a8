/** Rewrites clients' protocol messages so that many clients can share one backend. */
import { createHash } from "node:crypto";
import { serialize } from "pg-protocol";

/** Messages that are passed to the backend in one call: up to a Sync, Query or FunctionCall (`isSynced`), or up to a
 *  Flush. `end` is the offset after the last byte. */
interface Group {
  readonly end: number;
  readonly isSynced: boolean;
}

/** Groups of one client, adjacent in one buffer that can be transferred to the thread. */
export interface Batch {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly groups: readonly Group[];
}

const MESSAGE_TYPES = {
  bind: 0x42,
  close: 0x43,
  copyData: 0x64,
  copyDone: 0x63,
  copyFail: 0x66,
  describe: 0x44,
  execute: 0x45,
  flush: 0x48,
  functionCall: 0x46,
  parse: 0x50,
  query: 0x51,
  sync: 0x53,
  terminate: 0x58,
} as const;

const STATEMENT_KIND = 0x53; // "S" in Describe and Close; "P" names a portal
const MAX_NAME_BYTES = 63;
const MAX_MESSAGE_BYTES = 0x3fffffff; // the limit of PostgreSQL itself

/** Follows each statement. The message ends a `COPY ... FROM STDIN`, which would make the backend read from a missing
 *  socket. PostgreSQL ignores the message if no copy runs. */
const COPY_FAIL_MESSAGE = serialize.copyFail("the embedded database does not support COPY FROM STDIN");

/** Reads a client's messages, and makes its statement names unique. */
interface MessageReader {
  /** Accepts bytes split anywhere. @throws Error on bytes that are not a message */
  write(chunk: Uint8Array): void;
  /** Returns all complete groups that have arrived, or undefined without any. */
  take(): Batch | undefined;
  readonly hasGroups: boolean;
  /** True if the client has sent Terminate. All later bytes are ignored. */
  readonly isTerminated: boolean;
  /** Returns a batch that restores the initial state of the shared session. `inTransaction` says that the client ended
   *  inside a transaction. */
  buildCleanup(inTransaction: boolean): Batch;
}

/** Reads the messages of one client. `prefix` is unique among clients, and put before statement names, which would
 *  collide in the shared backend. */
export function createMessageReader(prefix: string): MessageReader {
  const statements = new Set<string>();
  let unreadChunks: Uint8Array[] = [];
  let unreadBytes = 0;
  let neededBytes = 5;
  let parts: Uint8Array[] = [];
  let groups: { parts: Uint8Array[]; isSynced: boolean }[] = [];
  let isTerminated = false;

  const buildOwnName = (name: Uint8Array): Uint8Array => {
    const prefixedName = Buffer.concat([Buffer.from(prefix), name]);
    if (prefixedName.length <= MAX_NAME_BYTES) return prefixedName;
    return Buffer.from(prefix + createHash("sha256").update(name).digest("base64url"));
  };

  /** Returns the message with its statement name replaced. `start` is the offset of the name. */
  const renameStatement = (message: Uint8Array, start: number): Uint8Array => {
    const end = message.indexOf(0, start);
    if (end <= start) return message; // the unnamed statement lives within one group
    const name = buildOwnName(message.subarray(start, end));
    const key = Buffer.from(name).toString("utf8");
    if (message[0] === MESSAGE_TYPES.close) statements.delete(key);
    else statements.add(key);
    const copy = new Uint8Array(message.length + name.length - (end - start));
    copy.set(message.subarray(0, start));
    copy.set(name, start);
    copy.set(message.subarray(end), start + name.length);
    new DataView(copy.buffer).setInt32(1, copy.length - 1);
    return copy;
  };

  const endGroup = (isSynced: boolean): void => {
    groups.push({ parts, isSynced });
    parts = [];
  };

  const readMessage = (message: Uint8Array): void => {
    switch (message[0]) {
      case MESSAGE_TYPES.terminate:
        isTerminated = true;
        return;
      case MESSAGE_TYPES.copyData:
      case MESSAGE_TYPES.copyDone:
      case MESSAGE_TYPES.copyFail:
        return; // the copy was rejected already
      case MESSAGE_TYPES.parse:
        parts.push(renameStatement(message, 5));
        return;
      case MESSAGE_TYPES.bind:
        parts.push(renameStatement(message, message.indexOf(0, 5) + 1)); // the portal's name comes first
        return;
      case MESSAGE_TYPES.describe:
      case MESSAGE_TYPES.close:
        parts.push(message[5] === STATEMENT_KIND ? renameStatement(message, 6) : message);
        return;
      case MESSAGE_TYPES.execute:
        parts.push(message, COPY_FAIL_MESSAGE);
        return;
      case MESSAGE_TYPES.query:
        parts.push(message, COPY_FAIL_MESSAGE);
        endGroup(true);
        return;
      case MESSAGE_TYPES.sync:
      case MESSAGE_TYPES.functionCall:
        parts.push(message);
        endGroup(true);
        return;
      case MESSAGE_TYPES.flush:
        parts.push(message);
        endGroup(false);
        return;
      default:
        parts.push(message);
    }
  };

  const write = (chunk: Uint8Array): void => {
    unreadChunks.push(chunk);
    unreadBytes += chunk.length;
    if (unreadBytes < neededBytes) return; // a long message in many chunks is joined once
    const bytes = unreadChunks.length === 1 ? chunk : Buffer.concat(unreadChunks, unreadBytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let start = 0;
    neededBytes = 5;
    while (start + 5 <= bytes.length && !isTerminated) {
      const messageBytes = view.getInt32(start + 1) + 1;
      if (messageBytes < 5 || messageBytes > MAX_MESSAGE_BYTES) throw new Error("not a PostgreSQL protocol message");
      if (start + messageBytes > bytes.length) {
        neededBytes = messageBytes;
        break;
      }
      readMessage(bytes.subarray(start, start + messageBytes));
      start += messageBytes;
    }
    unreadChunks = start < bytes.length ? [bytes.subarray(start)] : [];
    unreadBytes = bytes.length - start;
  };

  const take = (): Batch | undefined => {
    if (groups.length === 0) return undefined;
    const batch = buildBatch(groups);
    groups = [];
    return batch;
  };

  const buildCleanup = (inTransaction: boolean): Batch => {
    const closes = [...statements].map((name) => serialize.close({ type: "S", name }));
    statements.clear();
    // The Sync ends the open state between messages. Temporary tables and session settings stay, because all clients
    // share them.
    const buildSyncedGroup = (...parts: Uint8Array[]) => ({ parts, isSynced: true });
    return buildBatch([
      buildSyncedGroup(serialize.sync()),
      ...(inTransaction ? [buildSyncedGroup(serialize.query("rollback"))] : []),
      buildSyncedGroup(serialize.query("set session authorization postgres; reset role")),
      buildSyncedGroup(...closes, serialize.sync()),
    ]);
  };

  return {
    write,
    take,
    buildCleanup,
    get hasGroups() {
      return groups.length > 0;
    },
    get isTerminated() {
      return isTerminated;
    },
  };
}

/** Encodes an ErrorResponse as PostgreSQL sends it. */
export function encodeError(code: string, message: string): Uint8Array {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0M${message}\0\0`);
  const head = Buffer.from("E\0\0\0\0");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

function buildBatch(groups: readonly { readonly parts: readonly Uint8Array[]; readonly isSynced: boolean }[]): Batch {
  let end = 0;
  const ends = groups.map(({ parts, isSynced }) => {
    for (const { length } of parts) end += length;
    return { end, isSynced };
  });
  // A Buffer in a shared pool cannot be transferred.
  const bytes = new Uint8Array(Buffer.concat(groups.flatMap(({ parts }) => parts)));
  return { bytes, groups: ends };
}

/** Builds a batch with one simple query. */
export function buildQuery(text: string): Batch {
  return buildBatch([{ parts: [serialize.query(text)], isSynced: true }]);
}

/** Reads a client's first message: protocol 3 startup, a request for encryption, or a cancel request. Returns undefined
 *  if the message is incomplete. @throws Error on other bytes */
export function readOpening(
  bytes: Uint8Array,
): { readonly kind: "startup" | "encryption" | "cancel"; readonly bytes: number } | undefined {
  if (bytes.length < 8) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = view.getInt32(0);
  if (length < 8 || length > 10_000) throw new Error("not a PostgreSQL startup packet");
  if (bytes.length < length) return undefined;
  const code = view.getInt32(4);
  if (code === 80877103 || code === 80877104) return { kind: "encryption", bytes: length };
  if (code === 80877102) return { kind: "cancel", bytes: length };
  if (code >> 16 !== 3) throw new Error("the embedded database supports only version 3 of the PostgreSQL protocol");
  return { kind: "startup", bytes: length };
}

/** The startup packet that the thread sends once. Every client gets the response to it. */
export const STARTUP_PACKET: Uint8Array = serialize.startup({ user: "postgres", database: "postgres" });
