/** What a command reads and writes: that of the process, or of a caller in it. */
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Environment } from "../environment.ts";

/** Of the server, which reads nothing. */
export interface Outputs {
  /** The settings. Variables of libpq (`PGHOST`) are read by the driver, from the process. */
  readonly env: Environment;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

export interface Terminal extends Outputs {
  /** Opened when it is read. */
  readonly stdin: Readable;
}

const isGone = (error: NodeJS.ErrnoException): boolean =>
  error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";

/** Resolves once the text has been taken. A reader that has closed the pipe is no fault: `relapi schema | head`.
 *  @rule C-CLI-4 */
export const write = (stream: Writable, given: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => (isGone(error) ? resolve() : reject(error));
    stream.once("error", fail);
    stream.write(given, (error) => {
      if (error) return fail(error); // the stream tells it again, as an event
      stream.off("error", fail);
      resolve();
    });
  });

/** With a line feed at its end. */
export const print = ({ stdout }: Outputs, given: string): Promise<void> =>
  write(stdout, given.endsWith("\n") ? given : `${given}\n`);

export const readStdin = ({ stdin }: Terminal): Promise<string> => text(stdin);
