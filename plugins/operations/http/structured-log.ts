/** Logs every line as a JSON object, written by pino: `LOG_FORMAT=json`. */
import type { Logger as Pino, LoggerOptions } from "pino";
import { definePlugin, adaptFieldsFirstLogger, requirePackage } from "../../../core/index.ts";
import { logSettings } from "../settings.ts";

/** Loads a package on demand, and synchronously, because the first lines must not be delayed. @throws RelApiError
 *  `preset` if it is not installed */
const loadPackage = (name: string): unknown => requirePackage(name, "structured-log");

/** Creates a function that formats lines for reading. */
const loadPretty = (isTerminal: boolean): ((line: string) => string) => {
  const { prettyFactory } = loadPackage("pino-pretty") as typeof import("pino-pretty");
  return prettyFactory({ colorize: isTerminal, messageKey: MESSAGE, ignore: "pid" });
};

const MESSAGE = "message";

/** Creates a pino logger. `encode` transforms each line that pino writes. */
const createPino = (stream: NodeJS.WriteStream, encode = (line: string): string => line): Pino => {
  const { pino } = loadPackage("pino") as typeof import("pino");
  const { err } = pino.stdSerializers;
  const options: LoggerOptions = {
    level: "debug", // core filters the lines
    messageKey: MESSAGE,
    timestamp: pino.stdTimeFunctions.isoTime,
    base: { pid: process.pid },
    formatters: { level: (label) => ({ level: label }) },
    serializers: { cause: err, error: err },
  };
  return pino(options, { write: (line) => void stream.write(encode(line)) });
};

/** Logs messages to stderr and requests to stdout, as objects. A logger of the application takes precedence. @rule
 *  X-LOG-1 */
export const structuredLog = definePlugin({
  name: "structured-log",
  settings: logSettings,
  before: ["access-log", "request-ids"],
  apply: (_hooks, context) => {
    const { logger: appLogger, logLevel, logFormat } = context.options;
    if (appLogger !== undefined || logFormat === "text" || logLevel === "silent") return;
    const { stdout, stderr } = process;
    const isPretty = logFormat === "pretty";
    const messages = createPino(stderr, isPretty ? loadPretty(stderr.isTTY) : undefined);
    const requests = createPino(stdout, isPretty ? loadPretty(stdout.isTTY) : undefined);
    const { access, request } = adaptFieldsFirstLogger(requests);
    context.logTo({ ...adaptFieldsFirstLogger(messages), access, request });
  },
});
