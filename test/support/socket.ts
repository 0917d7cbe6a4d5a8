/** A WebSocket client that stores every message until the test reads it. */
import { WebSocket, type RawData } from "ws";
import { adminSecret } from "./tokens.ts";
import type { TestApi } from "./api.ts";

export interface SocketOptions {
  /** The path, by default `/v1/graphql/ws`. */
  readonly path?: string;
  /** The offered subprotocols, by default `graphql-transport-ws`. */
  readonly protocols?: readonly string[];
  /** The headers of the upgrade request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestSocket {
  readonly socket: WebSocket;
  /** Sends a message: objects as JSON, strings unchanged. */
  send(message: unknown): void;
  /**
   * The next message for which `matches` returns true, by default any except keep-alives. Earlier ones are dropped. @throws after 120
   * s
   */
  next(matches?: (message: any) => boolean): Promise<any>;
  /** The messages that have arrived and that the test has not read, without keep-alives. */
  takeMessages(): any[];
  /** Sends `connection_init` as administrator, or with the given payload, and waits for the acknowledgement. */
  init(payload?: unknown): Promise<void>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(): Promise<void>;
}

const isKeepAlive = (message: any): boolean =>
  message?.type === "ping" || message?.type === "pong" || message?.type === "ka";

/** The time after which a hanging test fails. */
const DEADLINE_MS = 120_000;

/** Opens a WebSocket. @throws Error `rejected with <status>: <body>` if the upgrade is rejected */
export const openSocket = async (api: Pick<TestApi, "wsUrl">, options: SocketOptions = {}): Promise<TestSocket> => {
  const { path = "/v1/graphql/ws", protocols = ["graphql-transport-ws"], headers = {} } = options;
  const socket = new WebSocket(`${api.wsUrl}${path}`, [...protocols], { headers: { ...headers } });
  const unreadMessages: any[] = [];
  const listeners = new Set<() => void>();
  socket.on("message", (data: RawData) => {
    const text = data.toString();
    unreadMessages.push(JSON.parse(text));
    for (const listener of listeners) listener();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => reject(new Error(`rejected with ${response.statusCode}: ${body}`)));
    });
  });
  socket.on("error", () => {}); // the close event after it informs the test

  const next: TestSocket["next"] = (matches = (message) => !isKeepAlive(message)) =>
    new Promise((resolve, reject) => {
      const take = (): boolean => {
        const index = unreadMessages.findIndex(matches);
        if (index < 0) return false;
        const message = unreadMessages[index];
        unreadMessages.splice(0, index + 1);
        listeners.delete(listener);
        clearTimeout(timer);
        resolve(message);
        return true;
      };
      const listener = (): void => void take();
      const timer = setTimeout(() => {
        listeners.delete(listener);
        reject(new Error(`no such message within ${DEADLINE_MS} ms; waiting: ${JSON.stringify(unreadMessages)}`));
      }, DEADLINE_MS);
      if (!take()) listeners.add(listener);
    });

  const takeMessages: TestSocket["takeMessages"] = () =>
    unreadMessages.splice(0).filter((message) => !isKeepAlive(message));

  return {
    socket,
    send: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
    next,
    takeMessages,
    init: async (payload = { headers: { "X-Session-Admin-Secret": adminSecret } }) => {
      socket.send(JSON.stringify({ type: "connection_init", payload }));
      await next((message) => message.type === "connection_ack");
    },
    closed,
    close: async () => {
      socket.close();
      await closed;
    },
  };
};
