/** What a command says that cannot go on: one line per fault on stderr. */
import { isRelApiError } from "../../core/index.ts";
import { write, type Outputs } from "./terminal.ts";

/** Errors of the system (a folder that may not be read) speak for themselves. */
const isPlain = (error: Error): boolean => typeof (error as NodeJS.ErrnoException).code === "string";

/** Wrong settings and the system's errors are their message; anything else has a stack trace. */
export const faultText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return isRelApiError(error) || isPlain(error) ? error.message : (error.stack ?? error.message);
};

/** @rule C-CLI-4 */
export const tellFaults = ({ stderr }: Outputs, text: string): Promise<void> => {
  const lines = text.split("\n");
  return write(stderr, lines.map((line) => `relapi: ${line}\n`).join(""));
};
