/** Loggers for tests. */
import type { Logger } from "../../core/index.ts";

const drop = (): void => undefined;

/** Creates a logger that drops the lines of all other levels. */
export const createLogger = (levels: Partial<Logger>): Logger => ({
  error: drop,
  warn: drop,
  info: drop,
  debug: drop,
  access: drop,
  ...levels,
});

type Level = "error" | "warn" | "info" | "debug" | "access";

interface CollectedLog {
  readonly logger: Logger;
  /** The lines so far. */
  readonly lines: string[];
}

const collect = (
  levels: readonly Level[],
  format: (message: string, fields?: Readonly<Record<string, unknown>>) => string,
): CollectedLog => {
  const lines: string[] = [];
  const take = (message: string, fields?: Readonly<Record<string, unknown>>): void =>
    void lines.push(format(message, fields));
  return { logger: createLogger(Object.fromEntries(levels.map((level) => [level, take]))), lines };
};

/** Creates a logger that collects the messages of these levels, without their fields. */
export const collectMessages = (...levels: readonly Level[]): CollectedLog => collect(levels, (message) => message);

/** Creates a logger that collects the messages of these levels, each with its fields as JSON. */
export const collectLines = (...levels: readonly Level[]): CollectedLog =>
  collect(levels, (message, fields) => `${message} ${JSON.stringify(fields)}`);

/** Creates a logger that collects internal errors, each with its cause. */
export const collectErrors = (): CollectedLog =>
  collect(["error"], (message, fields) => `${message} ${String(fields?.["cause"])}`);
