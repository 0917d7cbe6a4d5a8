/** Ends requests whose bodies arrive too slowly. The timeouts of Node measure no rate: `requestTimeout`
 *  ends a long upload that proceeds, and single bytes reset `socket.setTimeout`. */
import type { IncomingMessage } from "node:http";

export interface UploadWatch {
  /** Requires the remainder of the request to arrive in time from now on. Otherwise calls `late`, or closes the
   *  connection if there is no `late`. Call the returned function once the body is complete, so that the next check
   *  skips the request. */
  watch(request: IncomingMessage, late?: () => void): (() => void) | undefined;
  /** The number of requests that were ended since the start. */
  readonly closedCount: number;
  close(): void;
}

interface WatchedUpload {
  readonly request: IncomingMessage;
  readonly onLate: (() => void) | undefined;
  /** The time of the first check. The check sets this member and `bytesBefore`. */
  startedAtMs: number | undefined;
  bytesBefore: number | undefined;
}

/** The average rate at which a body may take any time. Connections on which people upload large bodies are faster. */
const MIN_BYTES_PER_SECOND = 8 * 1024;

const CHECK_MS = 1000;

/** Returns whether the request has ended. Node emits no event for a request that was answered before its body
 *  arrived. */
const hasEnded = (request: IncomingMessage): boolean =>
  request.complete || request.destroyed || request.socket.destroyed;

/** Creates the watch, with one timer for all requests, because most bodies arrive before the first check. @rule
 *  R-BND-4 */
export const createUploadWatch = (patienceMs: number): UploadWatch => {
  const entries = new Set<WatchedUpload>();
  let closed = 0;
  let timer: NodeJS.Timeout | undefined;

  const checkUpload = (entry: WatchedUpload, nowMs: number): void => {
    const { request, onLate } = entry;
    if (hasEnded(request)) return void entries.delete(entry);
    // The clock is not read for bodies that arrive before the first check.
    entry.startedAtMs ??= nowMs;
    entry.bytesBefore ??= request.socket.bytesRead;
    const tookMs = nowMs - entry.startedAtMs;
    if (tookMs < patienceMs || request.socket.bytesRead - entry.bytesBefore >= (MIN_BYTES_PER_SECOND * tookMs) / 1000)
      return;
    entries.delete(entry);
    closed++;
    if (onLate === undefined) request.socket.destroy();
    else onLate();
  };

  const checkAllUploads = (): void => {
    const nowMs = Date.now();
    for (const entry of entries) checkUpload(entry, nowMs);
    if (entries.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch: (request, late) => {
      if (hasEnded(request)) return undefined;
      const entry: WatchedUpload = { request, onLate: late, startedAtMs: undefined, bytesBefore: undefined };
      entries.add(entry);
      timer ??= setInterval(checkAllUploads, Math.min(CHECK_MS, patienceMs / 2)).unref();
      return () => void entries.delete(entry);
    },
    get closedCount() {
      return closed;
    },
    close: () => clearInterval(timer),
  };
};
