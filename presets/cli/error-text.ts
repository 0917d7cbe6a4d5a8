/** Prints the reasons why a command cannot continue, one per line, on stderr. */
import { RelApiError } from "../../core/index.ts";
import { write, type Outputs } from "./terminal.ts";

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
