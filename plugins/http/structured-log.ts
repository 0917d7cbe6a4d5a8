/** `LOG_FORMAT=json`: each line of the log is an object, written by pino. */
import { createRequire } from "node:module";
import type { DestinationStream, Logger as Pino, LoggerOptions } from "pino";
import {
  createLineWriter,
  definePlugin,
  fieldsLogger,
  levelOf,
  presetError,
  REQUEST,
  type LogLevel,
} from "../../core/index.ts";
import { logSettings } from "./settings.ts";

/** Loaded where it is used, and at once: the first lines must not wait. */
const load = createRequire(import.meta.url);

const PRETTY = "pino-pretty";

/** Lines for the eye. @throws RelApiError `preset` where it is not installed */
const loadPretty = (isTerminal: boolean): ((line: string) => string) => {
  let prettyFactory: typeof import("pino-pretty").prettyFactory;
  try {
    ({ prettyFactory } = load("pino-pretty") as typeof import("pino-pretty"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw presetError(`LOG_FORMAT is "pretty", which needs ${PRETTY}: npm install ${PRETTY}, or choose json or text`);
  }
  return prettyFactory({ colorize: isTerminal, messageKey: MESSAGE, ignore: "pid" });
};

const MESSAGE = "message";

const create = (level: LogLevel, target: DestinationStream): Pino => {
  const { pino } = load("pino") as typeof import("pino");
  const { err } = pino.stdSerializers;
  const timeOf = createClock();
  const options: LoggerOptions = {
    level,
    messageKey: MESSAGE,
    timestamp: () => timeOf(Date.now()),
    base: { pid: process.pid },
    formatters: { level: (label) => ({ level: label }) },
    serializers: { cause: err, error: err },
  };
  return pino(options, target);
};

const SECOND = 1000;

/** `,"time":"2026-11-22T23:31:39.123Z"`: a date is formatted once a second. */
const createClock = (): ((ms: number) => string) => {
  let second = -1;
  let text = "";
  return (ms) => {
    const milliseconds = ms % SECOND;
    if (ms - milliseconds !== second) {
      second = ms - milliseconds;
      text = `,"time":"${new Date(second).toISOString().slice(0, -4)}`;
    }
    return `${text}${String(milliseconds).padStart(3, "0")}Z"`;
  };
};

type Fields = Readonly<Record<string, unknown>>;

const NONE = (): Fields => ({});

/** A line about a request, until it is made. */
interface Noted {
  readonly fields: () => Fields;
  readonly message: string;
  readonly status: number;
  readonly atMs: number;
}

/** In the shape of pino's lines. Its look at each field takes twice as long as `JSON.stringify` of all of them. */
const createLines = (): ((noted: Noted) => string) => {
  const timeOf = createClock();
  return ({ fields, message, status, atMs }) => {
    const told = JSON.stringify(fields()).slice(1, -1);
    const head = `{"level":"${levelOf(status)}"${timeOf(atMs)},"pid":${process.pid},`;
    return `${head}${told}${told === "" ? "" : ","}"message":${JSON.stringify(message)}}\n`;
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
    const { stdout, stderr } = process;
    const prettify = isPretty ? loadPretty(stderr.isTTY) : undefined;
    const messages = create(logLevel, {
      write: (line) => void stderr.write(prettify === undefined ? line : prettify(line)),
    });
    const toLine = createLines();
    const prettyRequest = isPretty ? loadPretty(stdout.isTTY) : undefined;
    const note = createLineWriter(
      prettyRequest === undefined ? toLine : (noted: Noted) => prettyRequest(toLine(noted)),
    );
    context.logTo({
      ...fieldsLogger(messages),
      access: (line, status) => note({ fields: NONE, message: line, status, atMs: Date.now() }),
      request: (fields, status) => note({ fields: () => fields, message: REQUEST, status, atMs: Date.now() }),
      requestLater: (fields, status) => note({ fields, message: REQUEST, status, atMs: Date.now() }),
    });
  },
});
