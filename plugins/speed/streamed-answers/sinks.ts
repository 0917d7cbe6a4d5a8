/** Writes the bytes of a body to a response, plain or compressed. */
import type { ServerResponse } from "node:http";
import { createGzip } from "node:zlib";

/** The output of a body. If `write` returns false, the writer waits until `onDrain` is called. */
export interface Sink {
  write(bytes: Buffer): boolean;
  end(bytes: Buffer | undefined): void;
  /** Makes `write` accept everything from now on. The sink holds unread bytes in memory. */
  disableBackpressure(): void;
}

interface SinkParts {
  readonly response: ServerResponse;
  /** Called when the client has not read everything that was written. */
  readonly onUnread: () => void;
  readonly onDrain: () => void;
}

/** Creates a sink that writes the body without compression. */
export const createPlainSink = ({ response, onUnread, onDrain }: SinkParts): Sink => {
  response.on("drain", onDrain);
  return {
    write: (bytes) => {
      if (response.write(bytes)) return true;
      onUnread();
      return false;
    },
    end: (bytes) => void (bytes === undefined ? response.end() : response.end(bytes)),
    disableBackpressure: () => undefined,
  };
};

/** Creates a sink that compresses. The response has no Content-Length, so its chunks have their lengths, and a broken
 *  response never looks complete. @rule R-STR-7 */
export const createGzipSink = ({ response, onUnread, onDrain }: SinkParts): Sink => {
  const gzip = createGzip({ level: 1 });
  let mayWait = true;
  gzip
    .on("data", (chunk: Buffer) => {
      if (response.write(chunk)) return;
      onUnread();
      if (mayWait) gzip.pause();
    })
    .on("drain", onDrain)
    .on("end", () => response.end())
    .on("error", () => response.destroy());
  response.on("drain", () => gzip.resume()).once("close", () => gzip.destroy());
  return {
    write: (bytes) => gzip.write(bytes),
    end: (bytes) => void (bytes === undefined ? gzip.end() : gzip.end(bytes)),
    disableBackpressure: () => {
      mayWait = false;
      gzip.resume();
    },
  };
};
