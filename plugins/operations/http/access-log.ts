/** Logs one line for each response to stdout, if the log level includes its status. */
import {
  definePlugin,
  findLowestLoggedStatus,
  requestEndedSignal,
  type Logger,
  type PluginContext,
  type RequestRecord,
} from "../../../core/index.ts";
import { formatAddress, createRequestFields } from "./request-fields.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Formats the current time, for example `21/Nov/2026:14:31:02 +0000`. */
const formatTime = (): string => {
  const iso = new Date().toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
};

const quote = (text: string | undefined): string => (text === undefined ? '""' : JSON.stringify(text));

/** Formats a response in the common log format of web servers. @rule R-ADM-3 */
const formatAccessLine = ({ request, status, bytes, session }: RequestRecord): string => {
  // Express removes the mount path from `url`, and sets `originalUrl`.
  const url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? "/";
  return `${formatAddress(request.socket.remoteAddress) ?? "-"} - ${session?.role ?? "-"} [${formatTime()}] "${request.method} ${url} HTTP/${request.httpVersion}" ${status} ${bytes === 0 ? "-" : bytes} ${quote(request.headers.referer)} ${quote(request.headers["user-agent"])}`;
};

type WriteLine = (record: RequestRecord) => void;

const createFieldsWriter = (context: PluginContext, request: NonNullable<Logger["request"]>): WriteLine => {
  const buildFields = createRequestFields(context);
  return (record) => request(buildFields(record), record.status);
};

const createLineWriter =
  (context: PluginContext): WriteLine =>
  (record) => {
    const { exchange, status, durationMs } = record;
    if (exchange === undefined) return; // the common log format has no line for an operation of a WebSocket
    const { serverTraceHeader: name } = context.options;
    const traceText =
      name === undefined ? "" : ` ${JSON.stringify(exchange.header(name) ?? "")} ${(durationMs / 1000).toFixed(6)}`;
    context.logger.access(formatAccessLine(record) + traceText, status);
  };

/** Logs a line for each response whose status the log level includes. @rule R-ADM-3 X-LOG-1 */
export const accessLog = definePlugin({
  name: "access-log",
  apply: (_hooks, context) => {
    const { logger } = context;
    const lowest = findLowestLoggedStatus(context.options.logLevel);
    if (lowest === Infinity) return;
    const write =
      logger.request === undefined ? createLineWriter(context) : createFieldsWriter(context, logger.request);
    context.use(requestEndedSignal).listen((record) => {
      if (record.status >= lowest) write(record);
    });
  },
});
