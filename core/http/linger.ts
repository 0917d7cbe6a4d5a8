/** Connections that close after an answer while the client still sends: closing a socket whose bytes are unread resets
 *  the connection, and the client loses the answer. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

const LINGER_MS = 30_000;

/** Ends its side and discards what arrives, until the client ends its own or the time is over. */
export const endAndDiscard = (socket: Duplex, text?: string): void => {
  socket.end(text);
  const patience = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(patience));
};

/** Call it before the answer to a request whose body has not arrived. Node destroys the socket when such an answer is
 *  the last of its connection. @rule R-BND-10 */
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
