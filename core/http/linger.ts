/** Closes connections after a response while the client still sends. The system resets a connection that is closed
 *  with unread bytes, and the client loses the response. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const LINGER_MS = 30_000;

/** Ends this side of the connection and discards incoming bytes, until the client ends its side or the timeout
 *  expires. */
export const endAndDiscard = (socket: Duplex, text?: string): void => {
  socket.end(text);
  const patience = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(patience));
};

/** Keeps the connection of a request with an incomplete body open, so that the client can read the response. Call this
 *  function before responding, because Node destroys the connection after the last response. @rule R-BND-10 */
export const lingerAfter = (request: IncomingMessage): void => {
  const { socket } = request;
  const { destroySoon } = socket;
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (request.complete) return socket.destroySoon();
    request.once("end", () => socket.destroySoon());
    endAndDiscard(socket);
  };
};
