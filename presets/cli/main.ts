/** `relapi` as a function. */
import { faultText, tellFaults } from "./faults.ts";
import { runServer } from "./serve-command.ts";
import type { Terminal } from "./terminal.ts";

/** Runs a command line to its end, or a server until a signal ends it. Commands leave nothing open; a server that fails
 *  ends with its process. @returns the exit code @rule C-CLI-1 C-CLI-4 */
export const main = async (words: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    // what reads command lines is not loaded where there is nothing to read, as in most containers
    if (words.length === 0) return await runServer(terminal);
    const { runWords } = await import("./program.ts");
    return await runWords(words, terminal);
  } catch (error) {
    await tellFaults(terminal, faultText(error));
    return 1;
  }
};
