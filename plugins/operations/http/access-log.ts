/** Logs one line per response to stdout, depending on the log level. */
import {
  definePlugin,
  lowestLogged,
  requestSignal,
  type Logger,
  type PluginContext,
  type RequestRecord,
} from "../../../core/index.ts";
import { addressOf, createRequestFields } from "./request-fields.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** For example `21/Nov/2026:14:31:02 +0000`. */
const timeStamp = (): string => {
  const iso = new Date().toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
};

const quoted = (text: string | undefined): string => (text === undefined ? '""' : JSON.stringify(text));

/** Formats a response in the common log format of web servers. @rule R-ADM-3 */
const accessLine = ({ request, status, bytes, session }: RequestRecord): string => {
  const url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? "/"; // Express sets it
  return `${addressOf(request.socket.remoteAddress) ?? "-"} - ${session?.role ?? "-"} [${timeStamp()}] "${request.method} ${url} HTTP/${request.httpVersion}" ${status} ${bytes === 0 ? "-" : bytes} ${quoted(request.headers.referer)} ${quoted(request.headers["user-agent"])}`;
};

type Write = (record: RequestRecord) => void;

const createFields = (context: PluginContext, request: NonNullable<Logger["request"]>): Write => {
  const fieldsOf = createRequestFields(context);
  return (record) => request(fieldsOf(record), record.status);
};

const createLines =
  (context: PluginContext): Write =>
  (record) => {
    const { exchange, status, durationMs } = record;
    if (exchange === undefined) return; // this format has no line for an operation of a WebSocket
    const { serverTraceHeader: name } = context.options;
    const more =
      name === undefined ? "" : ` ${JSON.stringify(exchange.header(name) ?? "")} ${(durationMs / 1000).toFixed(6)}`;
    context.logger.access(accessLine(record) + more, status);
  };

/** @rule R-ADM-3 X-LOG-1 */
export const accessLog = definePlugin({
  name: "access-log",
  apply: (_hooks, context) => {
    const { logger } = context;
    const { logLevel, logger: ownLogger } = context.options;
    const lowest = ownLogger === undefined ? lowestLogged(logLevel) : 0;
    if (lowest === Infinity) return;
    const write = logger.request === undefined ? createLines(context) : createFields(context, logger.request);
    context.use(requestSignal).listen((record) => {
      if (record.status >= lowest) write(record);
    });
  },
});
