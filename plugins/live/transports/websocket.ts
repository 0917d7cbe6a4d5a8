/** Serves the protocol `graphql-transport-ws`: `{"id":"1","type":"subscribe","payload":{"query":"subscription { album {
 *  id } }"}}`. @rule G-WS-1 … G-WS-21 */
import { validateMessage } from "graphql-ws";
import { definePlugin, RelApiError, type Json } from "../../../core/index.ts";
import type { LivePatcher, LiveResult } from "../api.ts";
import { rejectInvalidHeaders } from "../engine/credentials.ts";
import { encodePayload } from "./live-directive.ts";
import { startOperation } from "./operation.ts";
import { operationCountExceeded } from "../engine/errors.ts";
import { encodeFrame } from "./send-queue.ts";
import type { ClientConnection, SocketProtocolHandler } from "./socket-connection.ts";
import { buildForbiddenReason, SocketSession, type OperationMessages } from "./socket-session.ts";
import { getSockets, type SocketProtocol } from "./sockets.ts";
import { socketSettings } from "../settings.ts";
import { corsAllowedOrigins, dbTxEnd } from "../../shared/settings.ts";

/** The time that a client has for `connection_init` after the connection is open. @rule G-WS-11 */
const INIT_MS = 3000;

const PING = encodeFrame('{"type":"ping","payload":{"message":"keepalive"}}');

/** Serves the WebSocket protocol `graphql-transport-ws`. */
export const websocketTransport = definePlugin({
  name: "websocket-transport",
  settings: [...socketSettings, corsAllowedOrigins, dbTxEnd],
  requires: ["graphql", "live-queries", "upgrades"],
  before: ["legacy-websocket"],
  apply: (_hooks, context) => getSockets(context).add(createProtocol()),
});

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: Json;
}

const createProtocol = (): SocketProtocol => {
  // Equal results with equal ids are encoded once, because many subscribers of one row use the same id.
  let lastId = "";
  let lastText = "";
  let lastIsError = false;
  let lastFrame: Uint8Array | undefined;
  const encodeNext: EncodeNext = (id, text, isError) => {
    if (lastFrame !== undefined && text === lastText && id === lastId && isError === lastIsError) return lastFrame;
    const frame = encodeFrame(encodeNextResult(id, text, isError));
    if (frame.length > MAX_CACHED_BYTES) return frame;
    lastId = id;
    lastText = text;
    lastIsError = isError;
    lastFrame = frame;
    return frame;
  };
  return {
    name: "graphql-transport-ws",
    isDefaultOn: (path) => path === "/v1/graphql/ws",
    open: (connection) => new WebsocketProtocolHandler(connection, encodeNext),
  };
};

const MAX_CACHED_BYTES = 1024 * 1024;

/** Encodes a result, whose body is inserted as the database wrote it. */
const encodeNextResult = (id: string, text: string, isError: boolean): string =>
  encodeNextMessage(id, isError ? text : `{"data":${text}}`);

const encodeNextMessage = (id: string, payload: string): string =>
  `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`;

type EncodeNext = (id: string, text: string, isError: boolean) => Uint8Array;

/** The protocol's part of a connection. It is a class to save memory, because there are many thousands of
 *  connections. */
class WebsocketProtocolHandler implements SocketProtocolHandler, OperationMessages {
  readonly #connection: ClientConnection;
  readonly #encodeNext: EncodeNext;
  readonly #socketSession: SocketSession;
  #isInitReceived = false;
  #initTimer: NodeJS.Timeout | undefined;

  constructor(connection: ClientConnection, encodeNext: EncodeNext) {
    this.#connection = connection;
    this.#encodeNext = encodeNext;
    this.#socketSession = new SocketSession(connection, this, PING);
    this.#initTimer = setTimeout(() => connection.close(4408, "Connection initialisation timeout"), INIT_MS);
  }

  encodeLiveResult(id: string, result: LiveResult, patcher: LivePatcher | undefined): Uint8Array {
    return patcher === undefined
      ? this.#encodeNext(id, result.text, result.isError)
      : encodeFrame(encodeNextMessage(id, encodePayload(result, patcher)));
  }

  sendData(id: string, data: string): void {
    this.#connection.sendQueue.send(encodeNextResult(id, data, false));
  }

  sendComplete(id: string): void {
    this.#connection.sendQueue.send(`{"id":${JSON.stringify(id)},"type":"complete"}`);
  }

  sendRejection(id: string, error: unknown): void {
    const { sendQueue, engine } = this.#connection;
    const { body } = engine.encodeErrors(error, this.#socketSession.caller?.session);
    sendQueue.send(`{"id":${JSON.stringify(id)},"type":"error","payload":${extractErrors(body)}}`);
  }

  sendFailure(id: string, error: unknown): void {
    this.sendRejection(id, error);
  }

  receive(text: string): Promise<void> | void {
    const connection = this.#connection;
    let message: Message;
    try {
      message = parseMessage(connection.engine.parseJson(text));
    } catch (error) {
      return connection.close(
        4400,
        `Parsing client message failed: ${error instanceof Error ? error.message : "no message"}`,
      );
    }
    const { type, id, payload } = message;
    switch (type) {
      case "connection_init":
        return this.#init(payload);
      case "ping":
        return this.#pong(text, payload);
      case "subscribe":
        return this.#subscribe(id ?? "", payload ?? null);
      case "complete":
        return this.#socketSession.stop(id ?? "");
    }
  }

  receiveUrgent(text: string, isNext: boolean): boolean {
    if (!URGENT_MESSAGE.test(text)) return false;
    let message: Message;
    try {
      message = parseMessage(this.#connection.engine.parseJson(text));
    } catch {
      return false;
    }
    const { type, id = "", payload } = message;
    if (type === "complete") return isNext && this.#socketSession.stopRunning(id);
    if (type !== "ping") return false;
    this.#pong(text, payload);
    return true;
  }

  #pong(text: string, payload: Json | undefined): void {
    this.#connection.sendQueue.send(
      payload === undefined
        ? '{"type":"pong"}'
        : JSON.stringify({ type: "pong", payload: (JSON.parse(text) as Message).payload }),
    );
  }

  handleEnd(): void {
    this.#endInit();
    this.#socketSession.end();
  }

  #endInit(): void {
    clearTimeout(this.#initTimer);
    this.#initTimer = undefined;
  }

  async #init(payload: Json | undefined): Promise<void> {
    const connection = this.#connection;
    if (this.#isInitReceived) return connection.close(4429, "Too many initialisation requests");
    this.#isInitReceived = true;
    this.#endInit();
    try {
      await this.#socketSession.authorize(payload);
    } catch (error) {
      if (error instanceof RelApiError && error.status < 500)
        connection.close(4403, buildForbiddenReason(connection.engine, error));
      else connection.close(4500, "Internal server error");
    }
  }

  #subscribe(id: string, payload: Json): Promise<void> | void {
    const connection = this.#connection;
    const { caller, runningQueries } = this.#socketSession;
    if (caller === undefined) return connection.close(4401, "Unauthorized");
    if (runningQueries.has(id)) return connection.close(4409, `Subscriber for ${id} already exists`);
    const limit = connection.context.options.maxSocketOperations;
    if (runningQueries.size >= limit) return this.sendRejection(id, operationCountExceeded(limit));
    return startOperation(this.#socketSession, caller, id, payload);
  }
}

const URGENT_MESSAGE = /"(?:ping|complete)"/;

const CLIENT_MESSAGES: ReadonlySet<string> = new Set(["connection_init", "ping", "pong", "subscribe", "complete"]);

/** Parses a message of the client. @throws Error with the reason @rule G-WS-1 G-WS-8 */
const parseMessage = (value: Json): Message => {
  // The package's union type has the same shapes as `Message`.
  const message = validateMessage(value) as unknown as Message;
  if (!CLIENT_MESSAGES.has(message.type)) throw new Error(`Message of type '${message.type}' is not one of a client`);
  if (message.type === "connection_init") rejectInvalidHeaders(message.payload);
  return message;
};

/** Extracts `[…]` from `{"errors":[…]}`. */
const extractErrors = (body: string): string => body.slice('{"errors":'.length, -1);
