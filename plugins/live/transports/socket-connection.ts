/** Implements one WebSocket connection, independent of its protocol. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { buildErrorFields, type Execution, type PluginContext } from "../../../core/index.ts";
import type { LiveQueries } from "../api.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { SendQueue, type SendQueueOwner } from "./send-queue.ts";
import type { GqlEngine } from "../../graphql/api.ts";

/** The connection as a protocol sees it. */
export interface ClientConnection {
  readonly path: string;
  /** The request by which the client opened the connection. */
  readonly request: IncomingMessage;
  readonly context: PluginContext;
  readonly engine: GqlEngine;
  readonly live: LiveQueries;
  readonly heartbeat: Heartbeat;
  readonly sendQueue: SendQueue;
  /** The settings of the connection that SQL can read. @rule G-SES-10 */
  readonly settings: NonNullable<Execution["settings"]>;
  isOpen(): boolean;
  close(code: number, reason: string): void;
  /** Registers a listener for the end of the connection. Returns a function that removes it. */
  onDisconnect(listener: () => void): () => void;
}

/** The protocol's part of a connection. */
export interface SocketProtocolHandler {
  /** Takes one message. The next message waits until the promise is settled. @rule G-WS-16 */
  receive(text: string): Promise<void> | void;
  /** Takes a message while an earlier one is handled. `isNext` is true if no other message waits. Returns false if the
   *  message has to wait. @rule G-WS-16a */
  receiveUrgent(text: string, isNext: boolean): boolean;
  /** Called when the connection has ended. */
  handleEnd(): void;
}

/** The number of messages that may wait for an earlier message to finish. Beyond this number, the socket is paused. */
const MAX_WAITING = 16;
const MAX_REASON_BYTES = 123;
/** The maximum length of a message that is handled before earlier messages. */
const MAX_URGENT_LENGTH = 1024;

interface ConnectionParts extends Pick<
  ClientConnection,
  "request" | "context" | "engine" | "live" | "heartbeat" | "path" | "settings"
> {
  readonly webSocket: WebSocket;
  readonly socket: Duplex;
}

/** A connection. It is a class, because closures for each of many thousands of connections would take most of their
 *  memory. */
export class SocketConnection implements ClientConnection, SendQueueOwner {
  readonly request: IncomingMessage;
  readonly context: PluginContext;
  readonly engine: GqlEngine;
  readonly live: LiveQueries;
  readonly heartbeat: Heartbeat;
  readonly path: string;
  readonly settings: ClientConnection["settings"];
  readonly sendQueue: SendQueue;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #protocolHandler: SocketProtocolHandler;
  #disconnectListeners: Set<() => void> | undefined;
  /** The messages that the protocol has not received yet. */
  #waiting: string[] | undefined;
  #isBusy = false;

  constructor(parts: ConnectionParts, open: (connection: ClientConnection) => SocketProtocolHandler) {
    this.request = parts.request;
    this.context = parts.context;
    this.engine = parts.engine;
    this.live = parts.live;
    this.heartbeat = parts.heartbeat;
    this.path = parts.path;
    this.settings = parts.settings;
    this.#webSocket = parts.webSocket;
    this.#socket = parts.socket;
    this.sendQueue = new SendQueue(parts.socket, this);
    this.#protocolHandler = open(this);
  }

  isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  whenSlow(): void {
    this.context.watchUnread(this.#socket);
  }

  whenFast(): void {
    this.#next();
  }

  close(code: number, reason: string): void {
    this.#webSocket.close(code, truncateReason(reason));
  }

  onDisconnect(listener: () => void): () => void {
    const listeners = (this.#disconnectListeners ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  handleMessage(text: string): void {
    if (this.#isBusy && this.isOpen() && !this.sendQueue.isSlow && text.length <= MAX_URGENT_LENGTH) {
      if (this.#protocolHandler.receiveUrgent(text, this.#waiting === undefined)) return;
    }
    (this.#waiting ??= []).push(text);
    this.#next();
    if ((this.#waiting?.length ?? 0) >= MAX_WAITING) this.#webSocket.pause();
  }

  handleEnd(): void {
    this.#waiting = undefined;
    this.#protocolHandler.handleEnd();
    for (const listener of this.#disconnectListeners ?? []) listener();
  }

  #failed(error: unknown): void {
    this.context.logger.error("unhandled error while handling a socket message", buildErrorFields(error));
    this.#webSocket.close(1011, "internal error");
  }

  /** Takes messages while the client reads its replies, so that replies to a slow client do not accumulate. */
  #next(): void {
    while (!this.#isBusy && !this.sendQueue.isSlow) {
      const text = this.#waiting?.shift();
      if (text === undefined) break;
      if (!this.isOpen()) return;
      try {
        const handlingPromise = this.#protocolHandler.receive(text);
        if (handlingPromise === undefined) continue;
        this.#isBusy = true;
        handlingPromise
          .catch((error: unknown) => this.#failed(error))
          .finally(() => {
            this.#isBusy = false;
            this.#next();
          });
      } catch (error) {
        this.#failed(error);
      }
    }
    const waitingCount = this.#waiting?.length ?? 0;
    if (waitingCount === 0) this.#waiting = undefined;
    if (this.#webSocket.isPaused && waitingCount < MAX_WAITING) this.#webSocket.resume();
  }
}

const truncateReason = (reason: string): string => {
  let text = reason;
  while (Buffer.byteLength(text) > MAX_REASON_BYTES) text = text.slice(0, -1);
  return text;
};
