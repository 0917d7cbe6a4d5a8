/** Opens WebSockets to other servers. @rule X-HTTP-9 */
import { WebSocket, type ClientOptions } from "ws";
import { RelApiError } from "../../../core/index.ts";
import type { WebhookSocket, WebhookSocketRequest } from "../api.ts";
import { describeFailure, webhookConnectionFailed } from "./errors.ts";

export const openSocket = (
  url: URL,
  { protocol, onOpen, onMessage, onEnd }: WebhookSocketRequest,
  options: ClientOptions,
): WebhookSocket => {
  const address = new URL(url);
  address.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address, [protocol], { ...options, perMessageDeflate: false });
  let isEnded = false;
  const end = (reason: number | RelApiError): void => {
    if (isEnded) return;
    isEnded = true;
    onEnd(reason);
  };
  socket.on("open", onOpen);
  socket.on("message", (data) => {
    if (!isEnded) onMessage(String(data));
  });
  socket.on("unexpected-response", (request, { statusCode = 0 }) => {
    end(webhookConnectionFailed(`status ${statusCode}`));
    request.destroy();
  });
  socket.on("error", (error) =>
    end(error instanceof RelApiError ? error : webhookConnectionFailed(describeFailure(error))),
  );
  socket.on("close", (code) => end(code));
  const resume = (): void => {
    if (socket.isPaused) socket.resume();
  };
  return {
    send: (text) => {
      if (socket.readyState === socket.OPEN) socket.send(text);
    },
    pause: () => socket.pause(),
    resume,
    close: () => {
      isEnded = true;
      resume(); // a paused socket would not receive the close frame of the server
      socket.close(1000);
    },
  };
};
