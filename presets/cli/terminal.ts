/** The input and output of a command, which belong to the process or to a caller inside the process. */
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { RelApiError } from "../../core/index.ts";
import type { Environment } from "../server/environment.ts";

/** The output of the server, which reads no input. */
export interface Outputs {
  /** The settings. The driver reads libpq variables such as `PGHOST` from the process instead. */
  readonly env: Environment;
  readonly stdout: Writable;
  readonly stderr: Writable;
}

export interface Terminal extends Outputs {
  /** Standard input, opened on first access. */
  readonly stdin: Readable;
}

const isClosedPipe = (error: NodeJS.ErrnoException): boolean =>
  error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED";

/**
 * Writes the text and waits until it was accepted. A closed pipe is not an error: `relapi schema | head`. @rule C-CLI-4
 */
export const write = (stream: Writable, output: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => (isClosedPipe(error) ? resolve() : reject(error));
    stream.once("error", fail);
    stream.write(output, (error) => {
      if (error) return fail(error); // the stream also emits the error as an event
      stream.off("error", fail);
      resolve();
    });
  });

/** Writes the text with a line feed at its end. */
export const print = ({ stdout }: Outputs, output: string): Promise<void> =>
  write(stdout, output.endsWith("\n") ? output : `${output}\n`);

export const readStdin = ({ stdin }: Terminal): Promise<string> => text(stdin);

/** Returns whether the operating system reported the error. Such errors, as for an unreadable folder, need no
 *  explanation. */
const isSystemError = (error: Error): boolean => typeof (error as NodeJS.ErrnoException).code === "string";

/** Formats an error: only the message for wrong settings and system errors, otherwise with the stack trace. */
export const formatError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error instanceof RelApiError || isSystemError(error) ? error.message : (error.stack ?? error.message);
};

/** Prints the text on stderr. @rule C-CLI-4 */
export const printErrors = ({ stderr }: Outputs, text: string): Promise<void> => {
  const lines = text.split("\n");
  return write(stderr, lines.map((line) => `relapi: ${line}\n`).join(""));
};
