/** One line per answer on stdout, by the log level. */
import type { IncomingMessage } from "node:http";
import { definePlugin, lowestLogged, type Done, type OpenExchange } from "../../core/index.ts";
import type { SocketOperationSignal } from "../subscriptions/api.ts";
import { addressOf, createRequestFields } from "./request-fields.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `21/Nov/2026:14:31:02 +0000` */
const timeStamp = (): string => {
  const iso = new Date().toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
};

const quoted = (text: string | undefined): string => (text === undefined ? '""' : JSON.stringify(text));

/** One line per response, in the common log format of web servers. @rule R-ADM-3 */
const accessLine = (
  request: IncomingMessage,
  url: string,
  role: string | undefined,
  status: number,
  bytes: number,
): string =>
  `${addressOf(request.socket.remoteAddress) ?? "-"} - ${role ?? "-"} [${timeStamp()}] "${request.method} ${url} HTTP/${request.httpVersion}" ${status} ${bytes === 0 ? "-" : bytes} ${quoted(request.headers.referer)} ${quoted(request.headers["user-agent"])}`;

/** An operation of a socket has no status. */
const [OK, FAILED] = [200, 400];

/** @rule R-ADM-3 X-LOG-1 */
export const accessLog = definePlugin({
  name: "access-log",
  apply: (_hooks, context) => {
    const { logger } = context;
    const { logLevel, logger: ownLogger } = context.options;
    const lowest = ownLogger === undefined ? lowestLogged(logLevel) : 0;
    const { request: toFields } = logger;
    if (toFields !== undefined && lowest < Infinity) {
      const fields = createRequestFields(context);
      context.addStep({
        name: "access-log",
        after: (exchange, done) => {
          if (!exchange.isUnlogged && done.status >= lowest) toFields(fields.of(exchange, done), done.status);
        },
      });
      context.onSignal<SocketOperationSignal>("socket-operation", (operation) => {
        const status = operation.errorCode === undefined ? OK : FAILED;
        if (status >= lowest) toFields(fields.ofSocket(operation), status);
      });
      return;
    }
    const after = (exchange: OpenExchange, { status, bytes, durationMs, session }: Done): void => {
      const { request, isUnlogged } = exchange;
      if (isUnlogged || status < lowest) return;
      const url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? "/"; // set by Express
      const line = accessLine(request, url, session?.role, status, bytes);
      const { serverTraceHeader: name } = context.options;
      const more =
        name === undefined ? "" : ` ${JSON.stringify(exchange.header(name) ?? "")} ${(durationMs / 1000).toFixed(6)}`;
      logger.access(line + more, status);
    };
    context.addStep({ name: "access-log", after });
  },
});
