/** Where the bytes of a body go: as they are, or compressed. */
import type { ServerResponse } from "node:http";
import { createGzip } from "node:zlib";

/** If `write` returns false, the writer waits until `hasRoom` is called. */
export interface Sink {
  write(bytes: Buffer): boolean;
  end(bytes: Buffer | undefined): void;
  /** From now on everything is taken at once, and held as far as the client has not read it. */
  takeAll(): void;
}

export interface SinkParts {
  readonly response: ServerResponse;
  /** Hears that the client has not read all that was written. */
  readonly unread: () => void;
  readonly hasRoom: () => void;
}

export const plainSink = ({ response, unread, hasRoom }: SinkParts): Sink => {
  response.on("drain", hasRoom);
  return {
    write: (bytes) => {
      if (response.write(bytes)) return true;
      unread();
      return false;
    },
    end: (bytes) => void (bytes === undefined ? response.end() : response.end(bytes)),
    takeAll: () => undefined,
  };
};

/** Its chunks are written with their lengths, so that an answer without its end never looks complete. @rule R-STR-7 */
export const zippedSink = ({ response, unread, hasRoom }: SinkParts): Sink => {
  const gzip = createGzip({ level: 1 });
  let mayWait = true;
  gzip
    .on("data", (zipped: Buffer) => {
      if (response.write(zipped)) return;
      unread();
      if (mayWait) gzip.pause();
    })
    .on("drain", hasRoom)
    .on("end", () => response.end())
    .on("error", () => response.destroy());
  response.on("drain", () => gzip.resume()).once("close", () => gzip.destroy());
  return {
    write: (bytes) => gzip.write(bytes),
    end: (bytes) => void (bytes === undefined ? gzip.end() : gzip.end(bytes)),
    takeAll: () => {
      mayWait = false;
      gzip.resume();
    },
  };
};
