/** Reads the server's messages before pg does. Each message starts with its length, so one that is too long is never
 *  assembled. */
import type { Duplex } from "node:stream";
import { resultTooLarge } from "../../kernel/errors.ts";

export interface Watch {
  /** From now on: bytes that messages up to the next ReadyForQuery may have together. */
  limit: number;
}

/** Of a single message, whatever it belongs to. A text of twice the length still fits into a string of JavaScript, half
 *  a gigabyte. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

const HEADER_BYTES = 5;
const READY_FOR_QUERY = 0x5a;

/** Call it after pg has added its listeners to the stream and before the first byte arrives. What pg throws while
 *  reading ends the connection instead of the process, since nothing else could catch it. `refused`: called for each
 *  result that was too large. */
export const watchAnswers = (stream: Duplex, refused: () => void): Watch => {
  const readers = stream.listeners("data") as ((chunk: Buffer) => void)[]; // `on("data")` takes no others
  const watch: Watch = { limit: MAX_MESSAGE_BYTES };
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let bodyBytes = 0;
  let total = 0;
  let isOver = false;

  /** Whether the message may come. */
  const begin = (from: Buffer, at: number): boolean => {
    const bytes = from.readUInt32BE(at + 1) + 1;
    total += bytes;
    bodyBytes = bytes - HEADER_BYTES;
    if (bytes > MAX_MESSAGE_BYTES || total > watch.limit) return false;
    if (from[at] === READY_FOR_QUERY) total = 0;
    return true;
  };

  const isWithin = (chunk: Buffer): boolean => {
    let at = 0;
    while (at < chunk.length) {
      if (bodyBytes > 0) {
        const skipped = Math.min(bodyBytes, chunk.length - at);
        bodyBytes -= skipped;
        at += skipped;
      } else if (headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        if (!begin(chunk, at)) return false;
        at += HEADER_BYTES;
      } else {
        header[headerBytes++] = chunk[at++] as number; // at is within its length
        if (headerBytes < HEADER_BYTES) continue;
        headerBytes = 0;
        if (!begin(header, 0)) return false;
      }
    }
    return true;
  };

  stream.removeAllListeners("data");
  stream.on("data", (chunk: Buffer) => {
    if (isOver) return;
    try {
      if (isWithin(chunk)) {
        for (const read of readers) read(chunk);
        return;
      }
      refused();
      isOver = true;
      stream.destroy(resultTooLarge(Math.min(watch.limit, MAX_MESSAGE_BYTES)));
    } catch (error) {
      isOver = true;
      stream.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  return watch;
};
