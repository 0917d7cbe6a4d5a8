/** Serves the protocol `graphql-ws` of older clients (the package `subscriptions-transport-ws`):
 *  `{"id":"1","type":"start","payload":{"query":"subscription { album { id } }"}}`. @rule G-WSL-1 … G-WSL-10 */
import { definePlugin, type Json } from "../../../core/index.ts";
import { rejectInvalidHeaders } from "../engine/credentials.ts";
import { startFailed, operationCountExceeded } from "../engine/errors.ts";
import { encodePayload } from "./live-directive.ts";
import { startOperation } from "./operation.ts";
import { encodeFrame } from "./send-queue.ts";
import type { ClientConnection, SocketProtocolHandler } from "./socket-connection.ts";
import { SocketSession, type OperationMessages } from "./socket-session.ts";
import { getSockets } from "./sockets.ts";
import { socketSettings } from "../settings.ts";
import { corsAllowedOrigins, dbTxEnd } from "../../shared/settings.ts";

const LEGACY_PATH = "/v1alpha1/graphql";

/** Serves the WebSocket protocol `graphql-ws` of older clients. */
export const legacyWebsocket = definePlugin({
  name: "legacy-websocket",
  settings: [...socketSettings, corsAllowedOrigins, dbTxEnd],
  requires: ["graphql", "live-queries", "upgrades"],
  apply: (_hooks, context) =>
    getSockets(context).add({
      name: "graphql-ws",
      isDefaultOn: (path) => path !== "/v1/graphql/ws",
      open: openProtocolHandler,
    }),
});

const KEEP_ALIVE = encodeFrame('{"type":"ka"}');

const encodeData = (id: string, payload: string): string =>
  `{"type":"data","id":${JSON.stringify(id)},"payload":${payload}}`;

interface GqlError {
  readonly message: string;
  readonly extensions: { readonly path: string; readonly code: string; readonly internal?: Json };
}

const openProtocolHandler = (connection: ClientConnection): SocketProtocolHandler => {
  const { sendQueue, context, engine, path } = connection;
  /** The message of a rejected `connection_init`. */
  let initError: string | undefined;

  const encodeError = (error: unknown): GqlError =>
    (
      JSON.parse(engine.encodeErrors(error, socketSession.caller?.session).body) as {
        readonly errors: readonly [GqlError];
      }
    ).errors[0];

  /** Encodes one error in the format of the path. @rule G-WSL-4 G-WSL-7 */
  const encodeOneError = (error: unknown): Json => {
    const errorBody = encodeError(error);
    // The body was parsed from JSON, so it is a JSON value.
    return path === LEGACY_PATH ? encodeLegacyError(errorBody) : (errorBody as unknown as Json);
  };

  /** Encodes an error as an object with a list of errors. @rule G-WSL-5 */
  const encodeErrorsText = (error: unknown): string => JSON.stringify({ errors: [encodeOneError(error)] });

  /** Encodes an error in the form that the path of the socket requires. @rule G-WSL-4 */
  const encodeErrorPayload = (error: unknown): string =>
    path === LEGACY_PATH ? JSON.stringify(encodeOneError(error)) : encodeErrorsText(error);

  const complete = (id: string): void => sendQueue.send(`{"type":"complete","id":${JSON.stringify(id)}}`);

  const sendError = (id: string, payload: string): void => {
    sendQueue.send(`{"type":"error","id":${JSON.stringify(id)},"payload":${payload}}`);
    complete(id);
  };

  const messages: OperationMessages = {
    encodeLiveResult: (id, result, patcher) => {
      const text = encodePayload(result, patcher);
      return encodeFrame(encodeData(id, result.isError && path === LEGACY_PATH ? encodeLegacyErrors(text) : text));
    },
    sendData: (id, data) => sendQueue.send(encodeData(id, `{"data":${data}}`)),
    sendComplete: complete,
    sendRejection: (id, error) => sendError(id, encodeErrorPayload(error)),
    sendFailure: (id, error) => {
      sendQueue.send(encodeData(id, encodeErrorsText(error)));
      complete(id);
    },
  };
  const socketSession = new SocketSession(connection, messages, KEEP_ALIVE);
  const { runningQueries } = socketSession;

  const init = async (payload: Json | undefined): Promise<void> => {
    if (socketSession.caller !== undefined || initError !== undefined) return;
    try {
      await socketSession.authorize(payload);
    } catch (error) {
      initError = encodeError(error).message;
      sendQueue.send(JSON.stringify({ type: "connection_error", payload: initError }));
      connection.close(4400, `Connection initialization failed: ${initError}`);
    }
  };

  const start = (id: string, payload: Json): Promise<void> | void => {
    const { caller } = socketSession;
    const limit = context.options.maxSocketOperations;
    const reason =
      initError !== undefined
        ? startFailed(`cannot start as connection_init failed with: ${initError}`)
        : caller === undefined
          ? startFailed("start received before the connection is initialised")
          : runningQueries.has(id)
            ? startFailed(`an operation already exists with this id: ${id}`)
            : runningQueries.size >= limit
              ? operationCountExceeded(limit)
              : undefined;
    if (reason !== undefined || caller === undefined) return sendError(id, JSON.stringify(encodeOneError(reason)));
    return startOperation(socketSession, caller, id, payload);
  };

  const take = (text: string): Promise<void> | void => {
    let message: Message;
    try {
      message = parseMessage(engine.parseJson(text));
    } catch (error) {
      const detail = error instanceof Error ? error.message : "no message";
      return sendQueue.send(
        JSON.stringify({ type: "connection_error", payload: `parsing ClientMessage failed, ${detail}` }),
      );
    }
    const { type, id, payload } = message;
    switch (type) {
      case "connection_init":
        return init(payload);
      case "start":
        return start(id, payload ?? null);
      case "stop":
        return socketSession.stop(id);
      case "connection_terminate":
        return connection.close(1000, "");
    }
  };

  const stopAtOnce = (text: string): boolean => {
    if (!text.includes('"stop"')) return false;
    try {
      const { type, id } = parseMessage(engine.parseJson(text));
      return type === "stop" && socketSession.stopRunning(id);
    } catch {
      return false;
    }
  };

  return {
    receive: take,
    receiveUrgent: (text, isNext) => isNext && stopAtOnce(text),
    handleEnd: () => socketSession.end(),
  };
};

/** Encodes the errors of the body `{"errors":[…]}`. */
const encodeLegacyErrors = (body: string): string => {
  const { errors } = JSON.parse(body) as { readonly errors: readonly GqlError[] };
  return JSON.stringify({ errors: errors.map(encodeLegacyError) });
};

const encodeLegacyError = ({ message, extensions: { path, code, internal } }: GqlError): Json => ({
  path,
  error: message,
  code,
  ...(internal === undefined ? {} : { internal }),
});

interface Message {
  readonly type: "connection_init" | "start" | "stop" | "connection_terminate";
  /** The id of the operation. Empty if messages of this type have no id. */
  readonly id: string;
  readonly payload?: Json;
}

/** Returns the message that a JSON value represents. @throws Error with the reason @rule G-WSL-8 */
const parseMessage = (value: Json): Message => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("expected an object");
  const { type, id, payload } = value as Readonly<Record<string, Json>>;
  switch (type) {
    case "connection_init":
      rejectInvalidHeaders(payload);
      return { type, id: "", ...(payload === undefined ? {} : { payload }) };
    case "connection_terminate":
      return { type, id: "", ...(payload === undefined ? {} : { payload }) };
    case "start":
    case "stop":
      if (typeof id !== "string") throw new Error("the key 'id' was not present");
      return { type, id, ...(payload === undefined ? {} : { payload }) };
    default:
      throw new Error(
        type === undefined
          ? "the key 'type' was not present"
          : `unexpected type ${JSON.stringify(type)} for ClientMessage`,
      );
  }
};
