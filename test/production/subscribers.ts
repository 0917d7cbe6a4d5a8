/** Clients of live queries that reconnect on request: with 1001, the server is stopping. */
import { WebSocket } from "ws";

export interface Subscribers {
  /** The number of requested reconnects and lost connections. */
  readonly returns: () => number;
  /** Unexpected close codes, rejections, and errors as results. */
  readonly faults: () => readonly string[];
  /** The last result of each client. */
  readonly last: () => readonly (string | undefined)[];
  stop(): void;
}

const GOING_AWAY = 1001;
/** The approximate pause before clients reconnect. */
const RETURN_MS = 200;

/** Starts the clients. With `isFaultOk`, ends other than 1001 are no faults, because a killed program sends nothing. */
export const startSubscribers = (url: string, count: number, query: string, isFaultOk = false): Subscribers => {
  const last: (string | undefined)[] = Array.from({ length: count });
  const faults: string[] = [];
  let returns = 0;
  let isOver = false;
  const sockets = new Set<WebSocket>();

  const open = (i: number): void => {
    if (isOver) return;
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/graphql/ws`, ["graphql-transport-ws"]);
    sockets.add(socket);
    const fault = (message: string): void => void (isOver || isFaultOk || faults.push(message));
    socket.on("open", () => socket.send(JSON.stringify({ type: "connection_init" })));
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as { readonly type: string; readonly payload?: unknown };
      if (message.type === "connection_ack")
        socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query } }));
      else if (message.type === "ping") socket.send(JSON.stringify({ type: "pong" }));
      else if (message.type === "next") {
        const text = JSON.stringify(message.payload);
        if (text.includes('"errors"')) fault(text);
        else last[i] = text;
      } else if (message.type === "error") fault(JSON.stringify(message.payload));
    });
    socket.on("error", (error) => fault(error.message));
    socket.on("close", (code, reason) => {
      sockets.delete(socket);
      if (isOver) return;
      if (code !== GOING_AWAY) fault(`closed with ${code} ${String(reason)}`);
      returns++;
      setTimeout(() => open(i), RETURN_MS * (0.5 + i / count)); // the reconnects are distributed over time
    });
  };
  for (let i = 0; i < count; i++) open(i);
  return {
    returns: () => returns,
    faults: () => faults,
    last: () => last,
    stop: () => {
      isOver = true;
      for (const socket of sockets) socket.terminate();
    },
  };
};
