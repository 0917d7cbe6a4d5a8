/** Tracks responses that clients have not read yet: the bytes in memory, and the time without progress. */
import { once } from "node:events";
import type { OutgoingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** A response, or the socket of a connection. */
export type ClientStream = OutgoingMessage | Duplex;

export interface UnreadTracker {
  /** Tracks a response of which the system did not accept all bytes, until the response has drained or is closed. Call
   *  this function again after writing more. */
  watch(stream: ClientStream): void;
  /** The waiting bytes of all tracked responses. */
  readonly bytes: number;
  /** The number of connections closed since the start. */
  readonly closedCount: number;
  close(): void;
}

interface WatchedClient {
  readonly stream: ClientStream;
  bytes: number;
  /** The bytes that the socket has yet to pass to the system. The number changes with every byte that the client
   *  takes. */
  queuedBytes: number;
  progressAtMs: number;
  readonly forget: () => void;
}

/** The time between two checks, which is also the resolution at which progress is measured. */
const CHECK_MS = 500;

/** Returns the bytes in the handle's write queue. Node reports a write only when all bytes have been sent, so only the
 *  handle knows the progress. */
const readQueuedBytes = (stream: ClientStream): number => {
  const socket = "socket" in stream ? stream.socket : stream;
  return (
    (socket as { readonly _handle?: { readonly writeQueueSize?: number } | null } | null)?._handle?.writeQueueSize ?? 0
  );
};

/** Creates the tracker, which closes connections. Beyond `maxBytes`, it begins with the connection that has made no
 *  progress for longest, and spares the newest. It also closes a connection after `patienceMs` without progress. @rule
 *  R-BND-2 */
export const createUnreadTracker = (maxBytes: number, patienceMs: number): UnreadTracker => {
  const entries = new Map<ClientStream, WatchedClient>();
  let total = 0;
  let closed = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Updates the entry and returns whether it still has waiting bytes. */
  const updateClient = (entry: WatchedClient, nowMs: number): boolean => {
    const { stream } = entry;
    const bytes = stream.writableLength;
    const queuedBytes = readQueuedBytes(stream);
    if (bytes !== entry.bytes || queuedBytes !== entry.queuedBytes) entry.progressAtMs = nowMs;
    total += bytes - entry.bytes;
    entry.bytes = bytes;
    entry.queuedBytes = queuedBytes;
    if (bytes > 0 && !stream.destroyed) return true;
    forget(entry);
    return false;
  };

  const forget = (entry: WatchedClient): void => {
    if (!entries.delete(entry.stream)) return;
    total -= entry.bytes;
    entry.stream.off("close", entry.forget).off("drain", entry.forget);
  };

  const closeConnection = (entry: WatchedClient): void => {
    forget(entry);
    closed++;
    entry.stream.destroy();
  };

  const checkAll = (): void => {
    const nowMs = Date.now();
    for (const entry of entries.values())
      if (updateClient(entry, nowMs) && nowMs - entry.progressAtMs >= patienceMs) closeConnection(entry);
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const closeStalledClients = (newest: WatchedClient): void => {
    const nowMs = Date.now();
    for (const entry of entries.values()) updateClient(entry, nowMs);
    if (total <= maxBytes) return;
    for (const entry of [...entries.values()].sort((a, b) => a.progressAtMs - b.progressAtMs)) {
      if (entry !== newest) closeConnection(entry);
      if (total <= maxBytes) return;
    }
  };

  return {
    watch: (stream) => {
      let entry = entries.get(stream);
      if (entry === undefined) {
        const client: WatchedClient = {
          stream,
          bytes: 0,
          queuedBytes: readQueuedBytes(stream),
          progressAtMs: Date.now(),
          forget: () => forget(client),
        };
        entries.set(stream, client);
        stream.on("close", client.forget).on("drain", client.forget);
        entry = client;
      }
      const bytes = stream.writableLength;
      total += bytes - entry.bytes;
      entry.bytes = bytes;
      if (total > maxBytes) closeStalledClients(entry);
      timer ??= setInterval(checkAll, Math.min(CHECK_MS, patienceMs / 2)).unref();
    },
    get bytes() {
      return total;
    },
    get closedCount() {
      return closed;
    },
    close: () => clearInterval(timer),
  };
};

/** Writes a part of a body. Waits until the client has read that part, or has disconnected. */
export const writePart = async (
  response: ServerResponse,
  part: string,
  watchUnread: UnreadTracker["watch"],
): Promise<void> => {
  if (response.destroyed || response.write(part)) return;
  watchUnread(response);
  const closeController = new AbortController();
  const abortWait = (): void => closeController.abort();
  response.once("close", abortWait);
  try {
    await once(response, "drain", { signal: closeController.signal });
  } catch (error) {
    if (!closeController.signal.aborted) throw error;
  } finally {
    response.off("close", abortWait);
  }
};
