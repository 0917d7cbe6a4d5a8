/** How a command ends that cannot go on: one line per fault on stderr, exit code 1. */
import { isRelApiError } from "../../core/index.ts";

/** Errors of the system (a folder that may not be read) speak for themselves. */
const isPlain = (error: Error): boolean => typeof (error as NodeJS.ErrnoException).code === "string";

/** Wrong settings and the system's errors are their message; anything else has a stack trace. */
export const faultText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return isRelApiError(error) || isPlain(error) ? error.message : (error.stack ?? error.message);
};

/** A reader that has seen enough: `relapi schema | head`. @rule C-CLI-4 */
export const endWithReader = (error: NodeJS.ErrnoException): void => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
};

/** The exit code is 1 once everything is printed. @rule C-CLI-4 */
export const tellFaults = (text: string): void => {
  const lines = text.split("\n");
  process.stderr.write(lines.map((line) => `relapi: ${line}\n`).join(""));
  process.exitCode = 1;
};

/** @rule C-CLI-4 */
export const giveUp = (error: unknown): never => {
  tellFaults(faultText(error));
  process.exit(1);
};
