/** `LOG_FORMAT=json`: each line of the log is an object, written by pino. */
import { createRequire } from "node:module";
import type { DestinationStream, Logger as Pino, LoggerOptions } from "pino";
import { createLineWriter, definePlugin, fieldsLogger, presetError, type LogLevel } from "../../core/index.ts";
import { logSettings } from "./settings.ts";

/** Loaded where it is used, and at once: the first lines must not wait. */
const load = createRequire(import.meta.url);

const PRETTY = "pino-pretty";

const write = (stream: NodeJS.WriteStream): DestinationStream => ({ write: (line) => void stream.write(line) });

/** @throws RelApiError `preset` where it is not installed */
const prettyInto = (target: DestinationStream, isTerminal: boolean): DestinationStream => {
  let prettyFactory: typeof import("pino-pretty").prettyFactory;
  try {
    ({ prettyFactory } = load("pino-pretty") as typeof import("pino-pretty"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw presetError(`LOG_FORMAT is "pretty", which needs ${PRETTY}: npm install ${PRETTY}, or choose json or text`);
  }
  const prettify = prettyFactory({ colorize: isTerminal, messageKey: MESSAGE, ignore: "pid" });
  return { write: (line) => target.write(prettify(line)) };
};

const MESSAGE = "message";

const create = (level: LogLevel, target: DestinationStream): Pino => {
  const { pino } = load("pino") as typeof import("pino");
  const { err } = pino.stdSerializers;
  const options: LoggerOptions = {
    level,
    messageKey: MESSAGE,
    timestamp: createClock(),
    base: { pid: process.pid },
    formatters: { level: (label) => ({ level: label }) },
    serializers: { cause: err, error: err },
  };
  return pino(options, target);
};

const SECOND = 1000;

/** `,"time":"2026-11-22T23:31:39.123Z"`: a date is formatted once a second. */
const createClock = (): (() => string) => {
  let second = -1;
  let text = "";
  return () => {
    const now = Date.now();
    const milliseconds = now % SECOND;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      text = `,"time":"${new Date(second).toISOString().slice(0, -4)}`;
    }
    return `${text}${String(milliseconds).padStart(3, "0")}Z"`;
  };
};

/** Messages to stderr and requests to stdout, as objects. A logger of the application's own stays. @rule X-LOG-1 */
export const structuredLog = definePlugin({
  name: "structured-log",
  settings: logSettings,
  before: ["access-log", "request-ids"],
  apply: (_hooks, context) => {
    const { logger: own, logLevel, logFormat } = context.options;
    if (own !== undefined || logFormat === "text" || logLevel === "silent") return;
    const isPretty = logFormat === "pretty";
    const to = (target: DestinationStream, { isTTY }: NodeJS.WriteStream): Pino =>
      create(logLevel, isPretty ? prettyInto(target, isTTY) : target);
    const messages = fieldsLogger(to(write(process.stderr), process.stderr));
    // as informative as it was told to be: which requests are logged is not a matter of the line's level
    const requests = fieldsLogger(to({ write: createLineWriter() }, process.stdout));
    context.logTo({ ...messages, access: requests.access, request: requests.request });
  },
});
