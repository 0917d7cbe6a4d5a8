/** Writes responses. */
import { ServerResponse, STATUS_CODES, type IncomingMessage } from "node:http";
import { VERSION } from "../kernel/version.ts";
import type { Answer, Headers } from "./exchange.ts";
import type { UnreadTracker } from "./unread-tracker.ts";

const SERVER = `relapi/${VERSION}`;

/** Builds a response whose body is JSON text. `furtherHeaders` follow the content type. */
export const buildJsonAnswer = (status: number, body: string, furtherHeaders: Headers = []): Answer => ({
  status,
  headers: [["Content-Type", "application/json; charset=utf-8"], ...furtherHeaders],
  body,
});

/** Writes a response and returns the length of its body. `extra` contains headers of the pipeline.
 *  Headers of the answer take precedence.
 *  Content-Length is always set here. The response to a HEAD request has no body. @throws Error from Node for headers
 *  that it rejects, before anything is written @rule R-HDR-2 R-HDR-12 R-HDR-13 */
export const writeAnswer = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  extra: Headers,
  watchUnread: UnreadTracker["watch"],
): number => {
  const { status, headers } = answer;
  // A 205 needs a length of 0.
  const answerBody = status === 205 ? undefined : answer.body;
  // Node takes three times as long to write a long string as bytes.
  const body =
    typeof answerBody === "string" && answerBody.length > MAX_TEXT_LENGTH ? Buffer.from(answerBody) : answerBody;
  const headerList: string[] = [];
  for (const [name, value] of headers) if (name !== "" && !isContentLength(name)) headerList.push(name, value);
  if (!hasHeader(headers, "server")) headerList.push("Server", SERVER);
  for (const [name, value] of extra) if (!hasHeader(headers, name.toLowerCase())) headerList.push(name, value);
  const hasNoBody = request.method === "HEAD" || status === 204 || status === 304 || status < 200;
  const bytes = body === undefined ? (answer.streamBytes ?? 0) : Buffer.byteLength(body);
  if (!hasNoBody && (answer.stream === undefined || answer.streamBytes !== undefined))
    headerList.push("Content-Length", String(bytes));
  const statusText = answer.statusText ?? STATUS_CODES[status] ?? "Unknown";
  writeHead(response, status, statusText, headerList);
  if (!hasNoBody && answer.stream !== undefined) {
    response.flushHeaders();
    answer.stream(response);
  } else if (hasNoBody || body === undefined) response.end();
  // Node writes headers, which are Latin-1, in the encoding of a string that is sent with them.
  else if (typeof body === "string" && bytes === body.length) response.end(body, "latin1");
  else
    response.end(
      typeof body === "string" && (HIGH_BYTE.test(statusText) || headerList.some((text) => HIGH_BYTE.test(text)))
        ? Buffer.from(body)
        : body,
    );
  if (response.writableLength > 0) watchUnread(response);
  return hasNoBody ? 0 : bytes;
};

/** Sets the headers one by one if middleware has replaced `writeHead` (`compression`, `express-session`, `morgan`).
 *  Such middleware expects headers that were set before, and some versions misread an array. */
const writeHead = (response: ServerResponse, status: number, statusText: string, flat: readonly string[]): void => {
  if (response.writeHead === ServerResponse.prototype.writeHead)
    return void response.writeHead(status, statusText, flat as string[]); // `writeHead` does not modify the array
  const writtenNames = new Set<string>();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [name, value] = [flat[i], flat[i + 1]] as [string, string]; // the index is within the length
    if (writtenNames.has(name.toLowerCase())) response.appendHeader(name, value);
    else response.setHeader(name, value);
    writtenNames.add(name.toLowerCase());
  }
  response.writeHead(status, statusText);
};

const MAX_TEXT_LENGTH = 64 * 1024;

const HIGH_BYTE = /[\x80-\xff]/;

const isContentLength = (name: string): boolean => name.length === 14 && name.toLowerCase() === "content-length";

export const hasHeader = (headers: Headers, lowerName: string): boolean => {
  for (const [name] of headers) if (name.length === lowerName.length && name.toLowerCase() === lowerName) return true;
  return false;
};
