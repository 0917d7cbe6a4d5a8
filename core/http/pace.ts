/** The bodies of all requests together: how fast those arrive that are not there yet, and how many bytes the process holds
 *  of requests that are not answered yet. */
import type { IncomingMessage } from "node:http";

export interface Pace {
  /** From now on what is missing of the request has to arrive in time. `late`: called if it does not, before anything else
   *  happens; absent: the connection is closed. Call the returned function when the body is complete, so that it is not
   *  held until the next check. */
  watch(request: IncomingMessage, late?: () => void): (() => void) | undefined;
  /** Requests that were given up, since the start. */
  readonly closed: number;
  close(): void;
}

interface Entry {
  readonly request: IncomingMessage;
  readonly late: (() => void) | undefined;
  /** Both of the first look. */
  startedAtMs: number | undefined;
  bytesBefore: number | undefined;
}

/** A body that arrives at this average rate may take any time; it is slower than any line that one would send a large
 *  body over. */
export const MIN_BYTES_PER_SECOND = 8 * 1024;

const LOOK_MS = 1000;

/** Node emits no end for a request that got its response before its body arrived. */
const isOver = (request: IncomingMessage): boolean => request.complete || request.destroyed || request.socket.destroyed;

/** One timer for all: a body is mostly there before it looks. @rule R-BND-4 */
export const createPace = (patienceMs: number): Pace => {
  const entries = new Set<Entry>();
  let closed = 0;
  let timer: NodeJS.Timeout | undefined;

  const lookAt = (entry: Entry, now: number): void => {
    const { request, late } = entry;
    if (isOver(request)) return void entries.delete(entry);
    // bodies that arrive before the first check cost no clock reading
    entry.startedAtMs ??= now;
    entry.bytesBefore ??= request.socket.bytesRead;
    const tookMs = now - entry.startedAtMs;
    if (tookMs < patienceMs || request.socket.bytesRead - entry.bytesBefore >= (MIN_BYTES_PER_SECOND * tookMs) / 1000)
      return;
    entries.delete(entry);
    closed++;
    if (late === undefined) request.socket.destroy();
    else late();
  };

  const look = (): void => {
    const now = Date.now();
    for (const entry of entries) lookAt(entry, now);
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch: (request, late) => {
      if (isOver(request)) return undefined;
      const entry: Entry = { request, late, startedAtMs: undefined, bytesBefore: undefined };
      entries.add(entry);
      timer ??= setInterval(look, Math.min(LOOK_MS, patienceMs / 2)).unref();
      return () => void entries.delete(entry);
    },
    get closed() {
      return closed;
    },
    close: () => clearInterval(timer),
  };
};

// --- bytes that are held --------------------------------------------------------------------------------------------

export interface HeldBodies {
  /** Of one request. */
  open(): HeldBody;
  /** Of all requests together. */
  readonly bytes: number;
}

export interface HeldBody {
  /** It has grown by so many bytes. False: there is no room for it. */
  grow(bytes: number): boolean;
  /** The request is answered. */
  release(): void;
}

/** A body up to this size is always taken, so that large ones cannot shut out the others. */
const SMALL_BYTES = 64 * 1024;

/** A body on its own is taken whatever `maxBytes` is. @rule R-BND-7 */
export const createHeldBodies = (maxBytes: number): HeldBodies => {
  let total = 0;
  return {
    open: () => {
      let own = 0;
      return {
        grow: (bytes) => {
          own += bytes;
          total += bytes;
          return own <= SMALL_BYTES || total <= maxBytes || total === own;
        },
        release: () => {
          total -= own;
          own = 0;
        },
      };
    },
    get bytes() {
      return total;
    },
  };
};
