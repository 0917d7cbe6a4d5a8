/** The log: messages to stderr, requests to stdout, each one line. */
import type { FieldsFirstLogger, Logger, LogLevel } from "./options.ts";

const LEVELS: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug"];

/** Whether a message of that level is written. */
export const logs = (level: LogLevel, of: LogLevel): boolean => LEVELS.indexOf(of) <= LEVELS.indexOf(level);

/** The lowest status that the access log includes. @rule R-ADM-3 */
export const lowestLogged = (level: LogLevel): number =>
  ({ debug: 0, info: 0, warn: 400, error: 500, silent: Infinity })[level];

const FLUSH_MS = 20;
const FLUSH_COUNT = 64;

/** Lines that are not written yet, of all writers: what a process has said must be there when it has ended. */
const waiting = new Set<() => void>();
const flushAll = (): void => {
  for (const flush of waiting) flush();
};

/** One write to stdout for all lines of a moment: a write per request costs as much as a small response. They are made
 *  only then, too: a function that runs once in a request costs many times what it costs in a loop. `toText`: with the end
 *  of the line. */
export const createLineWriter = <Line>(toText: (line: Line) => string): ((line: Line) => void) => {
  let lines: Line[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    const ready = lines;
    lines = [];
    clearTimeout(timer);
    timer = undefined;
    waiting.delete(flush);
    let text = "";
    for (const line of ready) text += toText(line);
    if (text !== "") process.stdout.write(text);
  };
  return (line) => {
    lines.push(line);
    if (lines.length >= FLUSH_COUNT) return flush();
    if (timer !== undefined) return;
    timer = setTimeout(flush, FLUSH_MS);
    if (!process.listeners("exit").includes(flushAll)) process.on("exit", flushAll);
    waiting.add(flush);
  };
};

/** @rule R-ADM-3 */
export const createLogger = (level: LogLevel): Logger => {
  const write = (of: LogLevel) => {
    if (!logs(level, of)) return () => {};
    return (message: string, facts?: Readonly<Record<string, unknown>>): void => {
      const told = facts === undefined || Object.keys(facts).length === 0 ? "" : ` ${tellFacts(facts)}`;
      process.stderr.write(`${new Date().toISOString()} ${of} ${message}${told}\n`);
    };
  };
  const writeLine = createLineWriter((line: string) => `${line}\n`);
  const lowest = lowestLogged(level);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line, status) => {
      if (status >= lowest) writeLine(line);
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

// --- loggers of others -----------------------------------------------------------------------------------------------

/** The fields of a request say all; the message is for the eye. */
export const REQUEST = "request";

/** Of a request's line. */
export const levelOf = (status: number): "error" | "warn" | "info" =>
  status >= 500 ? "error" : status >= 400 ? "warn" : "info";

/** The logger of an application that has one of pino, or of its kind: `relApi(fullCompat({ logger: fieldsLogger(pino())
 *  }))`. What it writes is its own matter. @rule X-LOG-2 */
export const fieldsLogger = (given: FieldsFirstLogger): Logger => {
  const write =
    (of: Exclude<LogLevel, "silent">) =>
    (message: string, facts: Readonly<Record<string, unknown>> = {}): void =>
      given[of](facts, message);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line, status) => given[levelOf(status)]({}, line),
    request: (fields, status) => given[levelOf(status)](fields, REQUEST),
  };
};

/** One logger for all, whose lines go where the last of its targets writes them. */
export const createForwarding = (
  first: Logger,
): { readonly logger: Logger; readonly forwardTo: (target: Logger) => void } => {
  let target = first;
  return {
    logger: {
      error: (message, facts) => target.error(message, facts),
      warn: (message, facts) => target.warn(message, facts),
      info: (message, facts) => target.info(message, facts),
      debug: (message, facts) => target.debug(message, facts),
      access: (line, status) => target.access(line, status),
      get request() {
        return target.request;
      },
      get requestLater() {
        return target.requestLater;
      },
    },
    forwardTo: (next) => {
      target = next;
    },
  };
};
