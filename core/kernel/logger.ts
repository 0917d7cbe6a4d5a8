/** Writes messages to stderr and requests to stdout, each on one line, or passes them to the logger of the
 *  application. */
import { presetError } from "./errors.ts";
import type { AppLogger, FieldsFirstLogger, Logger, LogLevel } from "../settings/options.ts";

type LogFields = Readonly<Record<string, unknown>>;
type MessageLevel = Exclude<LogLevel, "silent">;

const LEVELS: readonly LogLevel[] = ["silent", "error", "warn", "info", "debug"];

/** Returns the lowest status that the access log includes. Without a level, the log includes no request. @rule R-ADM-3
 *  X-LOG-5 */
export const findLowestLoggedStatus = (level: LogLevel | undefined): number =>
  level === undefined ? Infinity : { debug: 0, info: 0, warn: 400, error: 500, silent: Infinity }[level];

/** Creates a logger that writes all lines as text. @rule R-ADM-3 */
export const createLogger = (): Logger => {
  const write = (level: MessageLevel) => (message: string, fields?: LogFields) => {
    const fieldsText = fields === undefined || Object.keys(fields).length === 0 ? "" : ` ${formatFields(fields)}`;
    process.stderr.write(`${new Date().toISOString()} ${level} ${message}${fieldsText}\n`);
  };
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line) => void process.stdout.write(`${line}\n`),
  };
};

const formatFields = (fields: LogFields): string => {
  try {
    return JSON.stringify(fields, (_, fieldValue: unknown) =>
      typeof fieldValue === "bigint" ? String(fieldValue) : fieldValue instanceof Error ? fieldValue.stack : fieldValue,
    );
  } catch {
    return "(fields that cannot be encoded)";
  }
};

/** The message of each request line. The fields contain everything else. */
const REQUEST = "request";

const chooseLevel = (status: number): "error" | "warn" | "info" =>
  status >= 500 ? "error" : status >= 400 ? "warn" : "info";

/** Adapts a logger that takes fields before the message, such as bunyan. The option `logger` recognises pino by itself.
 *  @rule X-LOG-2 */
export const adaptFieldsFirstLogger = (appLogger: FieldsFirstLogger): Logger => {
  const write =
    (level: MessageLevel) =>
    (message: string, fields: LogFields = {}): void =>
      appLogger[level](fields, message);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    access: (line, status) => appLogger[chooseLevel(status)]({}, line),
    request: (fields, status) => appLogger[chooseLevel(status)](fields, REQUEST),
  };
};

/** Returns fields that any logger can write: errors as their stack, and no undefined values. */
const simplifyFields = (fields: object): LogFields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]: [string, unknown]) =>
      field === undefined ? [] : [[name, field instanceof Error ? (field.stack ?? field.message) : field]],
    ),
  );

/** Adapts the logger of an application. pino, which has `bindings`, takes the fields before the message; all others
 *  take them after it. @throws RelApiError `preset` if a method is missing @rule X-LOG-2 */
const adaptLogger = (appLogger: Logger | AppLogger): Logger => {
  // The code below checks the members.
  const members = appLogger as unknown as Readonly<Record<string, (...line: unknown[]) => unknown>>;
  for (const level of ["error", "warn", "info", "debug"] as const)
    if (typeof members[level] !== "function")
      throw presetError(
        `option logger has no method ${level}: pass pino, winston, console, or an object with error, warn, info and debug`,
      );
  const takesFieldsFirst = typeof members.bindings === "function";
  if (!takesFieldsFirst && typeof members.access === "function") return appLogger as Logger;
  const write = (level: MessageLevel) => (fields: object, message: string) => {
    const simple = simplifyFields(fields);
    if (takesFieldsFirst) members[level]?.(simple, message);
    else if (Object.keys(simple).length === 0) members[level]?.(message);
    else members[level]?.(message, simple);
  };
  return adaptFieldsFirstLogger({
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
  });
};

/** The lines of an api: the messages up to `level`, with the name of the api if it has one. */
interface LogLines {
  readonly logger: Logger;
  /** Replaces the target of the lines. */
  readonly forwardTo: (target: Logger | AppLogger) => void;
}

/** Returns a logger that forwards to a target. @rule X-LOG-5 X-LOG-6 */
export const createForwardingLogger = (
  first: Logger | AppLogger,
  { level = "warn", name }: { readonly level?: LogLevel | undefined; readonly name?: string | undefined },
): LogLines => {
  let target = adaptLogger(first);
  const addName = (fields: LogFields | undefined): LogFields | undefined =>
    name === undefined ? fields : { api: name, ...fields };
  const write = (messageLevel: MessageLevel): Logger["error"] =>
    LEVELS.indexOf(messageLevel) > LEVELS.indexOf(level)
      ? () => {}
      : (message, fields) => void target[messageLevel](message, addName(fields));
  return {
    logger: {
      error: write("error"),
      warn: write("warn"),
      info: write("info"),
      debug: write("debug"),
      access: (line, status) =>
        target.access(name === undefined ? line : `${line} ${JSON.stringify(`api=${name}`)}`, status),
      get request() {
        const { request } = target;
        if (request === undefined || name === undefined) return request;
        return (fields: LogFields, status: number) => request({ api: name, ...fields }, status);
      },
    },
    forwardTo: (next) => {
      target = adaptLogger(next);
    },
  };
};
