/** One line per response, in the common log format of web servers. */
import type { IncomingMessage } from "node:http";
import { addressOf } from "./request-fields.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `21/Nov/2026:14:31:02 +0000` */
const timeStamp = (): string => {
  const iso = new Date().toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
};

const quoted = (text: string | undefined): string => (text === undefined ? '""' : JSON.stringify(text));

/** @rule R-ADM-3 */
export const accessLine = (
  request: IncomingMessage,
  url: string,
  role: string | undefined,
  status: number,
  bytes: number,
): string =>
  `${addressOf(request.socket.remoteAddress) ?? "-"} - ${role ?? "-"} [${timeStamp()}] "${request.method} ${url} HTTP/${request.httpVersion}" ${status} ${bytes === 0 ? "-" : bytes} ${quoted(request.headers.referer)} ${quoted(request.headers["user-agent"])}`;
