/** The log: messages to stderr, requests to stdout, each one line. */
import type { Logger, LogLevel } from "./options.ts";

const LEVELS: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug"];

/** Whether a message of that level is written. */
export const logs = (level: LogLevel, of: LogLevel): boolean => LEVELS.indexOf(of) <= LEVELS.indexOf(level);

/** The lowest status that the access log includes. @rule R-ADM-3 */
export const lowestLogged = (level: LogLevel): number =>
  ({ debug: 0, info: 0, warn: 400, error: 500, silent: Infinity })[level];

/** @rule R-ADM-3 */
export const createLogger = (level: LogLevel): Logger => {
  const write = (of: LogLevel) => {
    if (!logs(level, of)) return () => {};
    return (message: string, facts?: Readonly<Record<string, unknown>>): void => {
      const told = facts === undefined || Object.keys(facts).length === 0 ? "" : ` ${tellFacts(facts)}`;
      process.stderr.write(`${new Date().toISOString()} ${of} ${message}${told}\n`);
    };
  };
  // one write per turn of the event loop: a write per request costs as much as a small response
  let lines = "";
  const lowest = lowestLogged(level);
  const flush = (): void => {
    const text = lines;
    lines = "";
    process.stdout.write(text);
  };
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line, status) => {
      if (status < lowest) return;
      if (lines === "") setImmediate(flush);
      lines += `${line}\n`;
    },
  };
};

const tellFacts = (facts: Readonly<Record<string, unknown>>): string => {
  try {
    return JSON.stringify(facts, (_, fact: unknown) =>
      typeof fact === "bigint" ? String(fact) : fact instanceof Error ? fact.stack : fact,
    );
  } catch {
    return "(facts that cannot be written)";
  }
};
