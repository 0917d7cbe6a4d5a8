/** `{"id":"1","type":"subscribe","payload":{"query":"subscription { album { id } }"}}`: the protocol
 *  `graphql-transport-ws`. @rule G-WS-1 … G-WS-21 */
import { validateMessage } from "graphql-ws";
import { definePlugin, isRelApiError, type Json, type Session } from "../../core/index.ts";
import { socketCredentials } from "./credentials.ts";
import { payloadOf } from "./asked.ts";
import { EXPIRED, forbidden } from "./expiry.ts";
import { startOperation, tooManyOperations, type OperationSink } from "./operation.ts";
import { encodeFrame } from "./outbox.ts";
import { socketsOf, type Connection, type Conversation, type SocketProtocol } from "./sockets.ts";
import { socketSettings } from "./settings.ts";
import { corsAllowedOrigins, dbTxEnd } from "../settings.ts";

/** After the connection is open. @rule G-WS-11 */
const INIT_MS = 3000;

const PING = encodeFrame('{"type":"ping","payload":{"message":"keepalive"}}');
/** What most clients reply with. */
const USUAL_PONGS = ['{"type":"pong"}', '{"type":"pong","payload":{"message":"keepalive"}}'].map((text) =>
  Buffer.from(text),
);

export const websocketTransport = definePlugin({
  name: "websocket-transport",
  settings: [...socketSettings, corsAllowedOrigins, dbTxEnd],
  requires: ["graphql", "live-queries", "upgrades"],
  before: ["legacy-websocket"],
  apply: (hooks, context) => socketsOf(hooks, context).add(transport()),
});

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: Json;
}

const transport = (): SocketProtocol => {
  // equal results with equal ids are encoded once, because many subscribers of one row use the same id
  let lastId = "";
  let lastText = "";
  let lastIsError = false;
  let lastFrame: Uint8Array | undefined;
  const encodeNext = (id: string, text: string, isError: boolean): Uint8Array => {
    if (lastFrame !== undefined && text === lastText && id === lastId && isError === lastIsError) return lastFrame;
    const frame = encodeFrame(nextText(id, text, isError));
    if (frame.length > MAX_KEPT_BYTES) return frame;
    lastId = id;
    lastText = text;
    lastIsError = isError;
    lastFrame = frame;
    return frame;
  };
  return {
    name: "graphql-transport-ws",
    isDefaultOn: (path) => path === "/v1/graphql/ws",
    open: (connection) => converse(connection, encodeNext),
  };
};

const MAX_KEPT_BYTES = 1024 * 1024;

/** Bodies go in as the database wrote them. */
const nextText = (id: string, text: string, isError: boolean): string =>
  nextMessage(id, isError ? text : `{"data":${text}}`);

const nextMessage = (id: string, payload: string): string =>
  `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`;

const converse = (
  connection: Connection,
  encodeNext: (id: string, text: string, isError: boolean) => Uint8Array,
): Conversation => {
  const { outbox, context, engine, heartbeat, credentialWatch } = connection;
  const running = new Map<string, () => void>();
  let session: Session | undefined;
  let isInitAsked = false;
  let leaveHeartbeat: (() => void) | undefined;
  let forgetCredentials: (() => void) | undefined;
  let hasEnded = false;
  const initTimer = setTimeout(() => connection.close(4408, "Connection initialisation timeout"), INIT_MS);

  const ping = (): void => {
    // the client gets our next message soon enough
    if (!outbox.isSlow) outbox.sendFrame(PING);
  };

  const init = async (payload: Json | undefined): Promise<void> => {
    if (isInitAsked) return connection.close(4429, "Too many initialisation requests");
    isInitAsked = true;
    clearTimeout(initTimer);
    const credentials = socketCredentials(connection.request, payload, engine);
    let found: Session;
    try {
      found = await context.authorize(credentials);
    } catch (error) {
      const isRefused = isRelApiError(error) && error.status < 500;
      return isRefused
        ? connection.close(4403, forbidden(engine, error))
        : connection.close(4500, "Internal server error");
    }
    if (hasEnded) return;
    session = found;
    outbox.send('{"type":"connection_ack"}');
    leaveHeartbeat = heartbeat.join(ping);
    forgetCredentials = credentialWatch.join(found, credentials, (refusal) =>
      connection.close(4403, refusal === undefined ? EXPIRED : forbidden(engine, refusal)),
    );
  };

  const sendError = (id: string, error: unknown): void => {
    const { body } = engine.encodeErrors(error, session);
    outbox.send(`{"id":${JSON.stringify(id)},"type":"error","payload":${errorsOf(body)}}`);
  };

  const stop = (id: string): void => {
    running.get(id)?.();
    running.delete(id);
    outbox.forget(id);
  };

  const subscribe = (id: string, payload: Json): Promise<void> | void => {
    if (session === undefined) return connection.close(4401, "Unauthorized");
    if (running.has(id)) return connection.close(4409, `Subscriber for ${id} already exists`);
    const limit = context.options.maxSocketOperations;
    if (running.size >= limit) return sendError(id, tooManyOperations(limit));
    const refused = (error: unknown): void => sendError(id, error);
    const sink: OperationSink = {
      refused,
      failed: refused,
      done: (data) => {
        outbox.send(nextText(id, data, false));
        outbox.send(`{"id":${JSON.stringify(id)},"type":"complete"}`);
      },
      live: (answer, patcher) => {
        const { hash, text, isError } = answer;
        outbox.offer(id, hash, () =>
          patcher === undefined
            ? encodeNext(id, text, isError)
            : encodeFrame(nextMessage(id, payloadOf(answer, patcher))),
        );
      },
      liveEnded: (error) => {
        stop(id);
        sendError(id, error);
      },
    };
    const started = startOperation(connection, session, () => engine.readRequest(payload), sink);
    if (typeof started !== "function") return started;
    running.set(id, started);
  };

  const take = (text: string): Promise<void> | void => {
    let message: Message;
    try {
      message = readMessage(engine.parseJson(text));
    } catch (error) {
      return connection.close(
        4400,
        `Parsing client message failed: ${error instanceof Error ? error.message : "no message"}`,
      );
    }
    const { type, id, payload } = message;
    switch (type) {
      case "connection_init":
        return init(payload);
      case "ping":
        return outbox.send(
          payload === undefined
            ? '{"type":"pong"}'
            : JSON.stringify({ type: "pong", payload: (JSON.parse(text) as Message).payload }),
        );
      case "subscribe":
        return subscribe(id ?? "", payload ?? null);
      case "complete":
        return stop(id ?? "");
    }
  };

  return {
    take,
    idleTexts: USUAL_PONGS,
    ended: () => {
      hasEnded = true;
      clearTimeout(initTimer);
      leaveHeartbeat?.();
      forgetCredentials?.();
      for (const id of running.keys()) stop(id);
    },
  };
};

const OF_CLIENTS: ReadonlySet<string> = new Set(["connection_init", "ping", "pong", "subscribe", "complete"]);

/** @throws Error with the reason @rule G-WS-8 */
const readMessage = (value: Json): Message => {
  const message = validateMessage(value) as unknown as Message; // the package's union of the same shapes
  if (!OF_CLIENTS.has(message.type)) throw new Error(`Message of type '${message.type}' is not one of a client`);
  return message;
};

/** `[…]` of `{"errors":[…]}`. */
const errorsOf = (body: string): string => body.slice('{"errors":'.length, -1);
