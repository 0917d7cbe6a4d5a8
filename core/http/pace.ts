/** Requests whose bodies are still coming in: how fast they come. */
import type { IncomingMessage } from "node:http";

export interface Pace {
  /** From now on the rest of the request has to come in time. `late`: called when it does not, before anything else happens; absent: the connection is closed. */
  watch(request: IncomingMessage, late?: () => void): void;
  /** Requests that were given up, since the start. */
  readonly closed: number;
  close(): void;
}

interface Entry {
  readonly startedAtMs: number;
  readonly bytesBefore: number;
  readonly late: (() => void) | undefined;
}

/** What comes as fast as this on average may take as long as it is long: slower than any line that somebody would send a large body over. */
export const MIN_BYTES_PER_SECOND = 8 * 1024;

const LOOK_MS = 1000;

/** Of a request that was answered before it was there Node tells no end. */
const isOver = (request: IncomingMessage): boolean => request.complete || request.destroyed || request.socket.destroyed;

/** One timer for all: a body is mostly there before it looks. @rule R-BND-4 */
export const createPace = (patienceMs: number): Pace => {
  const entries = new Map<IncomingMessage, Entry>();
  let closed = 0;
  let timer: NodeJS.Timeout | undefined;

  const look = (): void => {
    const now = Date.now();
    for (const [request, { startedAtMs, bytesBefore, late }] of entries) {
      const tookMs = now - startedAtMs;
      if (isOver(request)) entries.delete(request);
      else if (tookMs >= patienceMs && request.socket.bytesRead - bytesBefore < (MIN_BYTES_PER_SECOND * tookMs) / 1000) {
        entries.delete(request);
        closed++;
        if (late === undefined) request.socket.destroy();
        else late();
      }
    }
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch: (request, late) => {
      if (isOver(request)) return;
      entries.set(request, { startedAtMs: Date.now(), bytesBefore: request.socket.bytesRead, late });
      timer ??= setInterval(look, Math.min(LOOK_MS, patienceMs / 2)).unref();
    },
    get closed() {
      return closed;
    },
    close: () => clearInterval(timer),
  };
};
