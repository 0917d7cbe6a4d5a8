/** The `relapi` command as a function. */
import { runServer } from "./serve-command.ts";
import { formatError, printErrors, type Terminal } from "./terminal.ts";

/**
 * Runs a command to its end, or a server until a signal stops it. Commands release all resources; a failing server ends
 * with its process. @returns the exit code @rule C-CLI-1 C-CLI-4
 */
export const main = async (words: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    // Most containers pass no arguments, so the parser of command lines is not loaded.
    if (words.length === 0) return await runServer(terminal);
    const { runCommandLine: runWords } = await import("./command-line.ts");
    return await runWords(words, terminal);
  } catch (error) {
    await printErrors(terminal, formatError(error));
    return 1;
  }
};
