/** Writes messages to stderr and requests to stdout, each on one line. */
import type { FieldsFirstLogger, Logger, LogLevel } from "./options.ts";

const LEVELS: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug"];

/** Returns whether the log writes messages of level `of`. */
const isLogged = (level: LogLevel, of: LogLevel): boolean => LEVELS.indexOf(of) <= LEVELS.indexOf(level);

/** Returns the lowest status that the access log includes. @rule R-ADM-3 */
export const findLowestLoggedStatus = (level: LogLevel): number =>
  ({ debug: 0, info: 0, warn: 400, error: 500, silent: Infinity })[level];

/** @rule R-ADM-3 */
export const createLogger = (level: LogLevel): Logger => {
  const write = (of: LogLevel) => {
    if (!isLogged(level, of)) return () => {};
    return (message: string, facts?: Readonly<Record<string, unknown>>): void => {
      const fieldsText = facts === undefined || Object.keys(facts).length === 0 ? "" : ` ${formatFields(facts)}`;
      process.stderr.write(`${new Date().toISOString()} ${of} ${message}${fieldsText}\n`);
    };
  };
  const lowest = findLowestLoggedStatus(level);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line, status) => {
      if (status >= lowest) process.stdout.write(`${line}\n`);
    },
  };
};

const formatFields = (facts: Readonly<Record<string, unknown>>): string => {
  try {
    return JSON.stringify(facts, (_, fact: unknown) =>
      typeof fact === "bigint" ? String(fact) : fact instanceof Error ? fact.stack : fact,
    );
  } catch {
    return "(facts that cannot be written)";
  }
};

// --- application loggers --------------------------------------------------------------------------------------------

/** The message of each request line. The fields say everything else. */
const REQUEST = "request";

const chooseLevel = (status: number): "error" | "warn" | "info" =>
  status >= 500 ? "error" : status >= 400 ? "warn" : "info";

/** Adapts the logger of an application, such as pino: `relApi(fullCompat({ logger: fieldsLogger(pino()) }))`. The given
 *  logger decides which levels it writes. @rule X-LOG-2 */
export const createFieldsLogger = (given: FieldsFirstLogger): Logger => {
  const write =
    (of: Exclude<LogLevel, "silent">) =>
    (message: string, facts: Readonly<Record<string, unknown>> = {}): void =>
      given[of](facts, message);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line, status) => given[chooseLevel(status)]({}, line),
    request: (fields, status) => given[chooseLevel(status)](fields, REQUEST),
  };
};

/** Returns a logger that forwards to a target, which `forwardTo` replaces. */
export const createForwardingLogger = (
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
    },
    forwardTo: (next) => {
      target = next;
    },
  };
};
