/** `server.on("clientError", answerClientError)`: responds to requests that Node cannot parse. */
import { STATUS_CODES, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { endAndDiscard } from "../../core/index.ts";

interface ClientError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

const describeError = ({ code = "", message }: NodeJS.ErrnoException): ClientError => {
  if (code === "HPE_HEADER_OVERFLOW")
    return {
      status: 431,
      code: "PGRST100",
      message: "The URL and the headers of the request are too long",
      hint: "The limit is the setting maxUrlBytes for the URL, and the same number of bytes for the headers.",
    };
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return { status: 408, code: "PGRST102", message: "The headers of the request arrived too slowly", hint: null };
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW")
    return { status: 413, code: "PGRST102", message: "The chunk extensions of the request are too long", hint: null };
  return { status: 400, code: "PGRST102", message: `The request cannot be read: ${message}`, hint: null };
};

const answeredSockets = new WeakSet<Duplex>();

/** Node keeps the current response of a connection in this property. */
interface BusySocket {
  readonly _httpMessage?: ServerResponse | null;
}

/** Responds with an error object, where Node would send no body. @rule R-BND-10a R-BND-10b */
export const answerClientError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  // Node emits an error for every later packet of such a request.
  if (answeredSockets.has(socket)) return;
  answeredSockets.add(socket);
  sendError(error, socket);
};

const sendError = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  const { _httpMessage: response } = socket as BusySocket;
  // Node has assigned the next response, if there is one, before this event.
  if (response?.req.complete === true) return void response.once("close", () => sendError(error, socket));
  if (response?.headersSent === true) return void socket.destroy();
  const { status, code, message, hint } = describeError(error);
  const body = JSON.stringify({ code, details: null, hint, message });
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
  if (response === undefined || response === null) return endAndDiscard(socket, text);
  // The error informs the code that awaits the body.
  socket.write(text);
  socket.destroy();
};
