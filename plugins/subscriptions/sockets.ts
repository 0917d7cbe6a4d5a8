/** WebSocket upgrades on the GraphQL addresses, and the connections they become, whichever protocol is spoken on them.
 *  */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import {
  createOriginPolicies,
  faultFacts,
  type Execution,
  type PluginContext,
  type RelApiHooks,
  type Token,
} from "../../core/index.ts";
import { watchCredentials, type CredentialWatch } from "./credential-watch.ts";
import { createHeartbeat, type Heartbeat } from "./heartbeat.ts";
import type { LiveQueries, LiveQueriesService } from "./api.ts";
import { createOutbox, type Outbox } from "./outbox.ts";
import { dropHeartbeats } from "./drop-heartbeats.ts";
import type { GqlEngine, GraphqlService } from "../graphql/api.ts";
import type { TakeUpgrade, Upgrade } from "../upgrades/api.ts";

/** One connection, as a protocol sees it. */
export interface Connection {
  readonly path: string;
  /** The upgrade request. */
  readonly request: IncomingMessage;
  readonly context: PluginContext;
  readonly engine: GqlEngine;
  readonly live: LiveQueries;
  readonly heartbeat: Heartbeat;
  readonly credentialWatch: CredentialWatch;
  readonly outbox: Outbox;
  /** What SQL can read of the connection. @rule G-SES-10 */
  readonly settings: NonNullable<Execution["settings"]>;
  close(code: number, reason: string): void;
  /** Calls when the connection has ended. Returns how to forget it. */
  onGone(listener: () => void): () => void;
}

/** What a protocol does on one connection. */
export interface Conversation {
  /** Messages are taken one after the other: the next waits for the promise. @rule G-WS-16 */
  take(text: string): Promise<void> | void;
  /** Messages that ask for nothing (`dropHeartbeats`). */
  readonly idleTexts?: readonly Uint8Array[];
  /** The connection has ended. */
  ended(): void;
}

export interface SocketProtocol {
  /** Name of the subprotocol. */
  readonly name: string;
  /** Spoken on the path when the client offers no subprotocol. @rule G-WS-19 */
  isDefaultOn(path: string): boolean;
  open(connection: Connection): Conversation;
}

export interface Sockets {
  add(protocol: SocketProtocol): void;
}

type SocketsService = Token<"graphql-sockets", Sockets>;

const PATHS: ReadonlySet<string> = new Set(["/v1/graphql/ws", "/v1/graphql", "/v1alpha1/graphql"]);

/** @rule G-WS-17 */
const REFUSAL = "only '/v1/graphql', '/v1alpha1/graphql', '/v1/graphql/ws' are supported on websockets";

/** The one that the protocol plugins of a preset share, made by the first of them. */
export const socketsOf = (hooks: RelApiHooks, context: PluginContext): Sockets => {
  const known = context.service<SocketsService>("graphql-sockets");
  if (known !== undefined) return known;
  const sockets = createSockets(hooks, context);
  context.offer<SocketsService>("graphql-sockets", sockets);
  return sockets;
};

/** Messages that wait for an earlier one to finish, before reading stops. */
const MAX_WAITING = 16;
/** How long clients have to reply to the close. */
const CLOSE_PATIENCE_MS = 1000;

/** Sockets that are told to come back, a group at a time. */
const SPREAD_STEP_MS = 50;
const MAX_REASON_BYTES = 123;

const createSockets = (hooks: RelApiHooks, context: PluginContext): Sockets => {
  const { logger } = context;
  const protocols: SocketProtocol[] = [];
  const heartbeat = createHeartbeat();
  const credentialWatch = watchCredentials(context);
  const cors = createOriginPolicies(() => context.options.corsAllowedOrigins);
  const open = new Set<WebSocket>();
  context.counters.watch("sockets", () => open.size);
  let isClosing = false;
  let agreed: string | false = false;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: context.options.maxSocketMessageBytes,
    handleProtocols: () => agreed,
  });

  const upgrade = ({ request, socket, head, path }: Upgrade): true | undefined => {
    if (!PATHS.has(path)) return undefined;
    const { origin } = request.headers;
    if (origin !== undefined && !cors().isOpen && !cors().allows(origin)) {
      refuse(
        socket,
        400,
        '{"path":"$","error":"received origin header does not match configured CORS domains","code":"access-denied"}',
      );
      return true;
    }
    if (isClosing || open.size >= context.options.maxSockets) {
      refuse(socket, 503, '{"path":"$","error":"too many connections","code":"unexpected"}', "Retry-After: 1\r\n");
      return true;
    }
    const offered = (request.headers["sec-websocket-protocol"] ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const protocol =
      offered.length === 0
        ? (protocols.find((each) => each.isDefaultOn(path)) ?? protocols[0])
        : protocols.find((each) => offered.includes(each.name));
    // a client sees the close code only when its offer was taken
    agreed = offered.length === 0 ? false : (protocol?.name ?? offered[0] ?? false);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      if (protocol === undefined) return void webSocket.on("error", () => undefined).close(1002);
      open.add(webSocket);
      webSocket.on("close", () => open.delete(webSocket));
      converse(webSocket, socket, request, path, protocol);
    });
    return true;
  };

  const converse = (
    webSocket: WebSocket,
    socket: Duplex,
    request: IncomingMessage,
    path: string,
    protocol: SocketProtocol,
  ): void => {
    const engine = context.service<GraphqlService>("graphql");
    const live = context.service<LiveQueriesService>("live-queries");
    if (engine === undefined || live === undefined)
      throw new Error("a socket protocol was applied without the plugins it requires");
    const goneListeners = new Set<() => void>();
    const waiting: string[] = [];
    let isBusy = false;

    const outbox = createOutbox(
      socket,
      () => webSocket.readyState === webSocket.OPEN,
      () => context.watchUnread(socket),
      () => next(),
    );
    const conversation = protocol.open({
      path,
      request,
      context,
      engine,
      live,
      heartbeat,
      credentialWatch,
      outbox,
      settings: [
        ["request.method", "GET"],
        ["request.path", path],
      ],
      close: (code, reason) => webSocket.close(code, cutReason(reason)),
      onGone: (listener) => {
        goneListeners.add(listener);
        return () => goneListeners.delete(listener);
      },
    });

    const failed = (fault: unknown): void => {
      logger.error("unhandled error while handling a socket message", faultFacts(fault));
      webSocket.close(1011, "internal error");
    };

    /** A slow client gets no further replies to pile up. */
    const next = (): void => {
      while (!isBusy && !outbox.isSlow) {
        const text = waiting.shift();
        if (text === undefined) break;
        if (webSocket.readyState !== webSocket.OPEN) return;
        try {
          const taken = conversation.take(text);
          if (taken === undefined) continue;
          isBusy = true;
          taken.catch(failed).finally(() => {
            isBusy = false;
            next();
          });
        } catch (fault) {
          failed(fault);
        }
      }
      if (webSocket.isPaused && waiting.length < MAX_WAITING) webSocket.resume();
    };

    webSocket.on("message", (data: Buffer) => {
      waiting.push(data.toString());
      next();
      if (waiting.length >= MAX_WAITING) webSocket.pause();
    });
    if (conversation.idleTexts !== undefined) dropHeartbeats(socket, conversation.idleTexts);
    webSocket.on("error", () => undefined); // the close that follows says why
    webSocket.on("close", () => {
      waiting.length = 0;
      conversation.ended();
      for (const listener of goneListeners) listener();
    });
  };

  hooks.use<TakeUpgrade>("takeUpgrade").tap({ name: "graphql-sockets", refusal: REFUSAL }, upgrade);
  context.onClose(async () => {
    isClosing = true;
    heartbeat.close();
    if (open.size === 0) return;
    const all = [...open];
    const closed = Promise.all(
      all.map((webSocket) => new Promise<void>((resolve) => webSocket.once("close", () => resolve()))),
    );
    // all at once would come back at once
    const spreadMs = Math.min(all.length, (context.options.shutdownGrace * 1000) / 2);
    const atOnce = Math.ceil((all.length * SPREAD_STEP_MS) / Math.max(spreadMs, SPREAD_STEP_MS));
    for (let i = 0; i < all.length; i++) {
      const webSocket = all[i] as WebSocket; // i is within its length
      webSocket.resume(); // a paused one would not read the client's close
      webSocket.close(1001);
      if (i % atOnce === atOnce - 1 && i + 1 < all.length)
        await new Promise((resolve) => setTimeout(resolve, SPREAD_STEP_MS));
    }
    const patience = setTimeout(() => {
      for (const webSocket of open) webSocket.terminate();
    }, CLOSE_PATIENCE_MS);
    await closed;
    clearTimeout(patience);
  });

  return {
    add: (protocol) => {
      protocols.push(protocol);
    },
  };
};

const cutReason = (reason: string): string => {
  let text = reason;
  while (Buffer.byteLength(text) > MAX_REASON_BYTES) text = text.slice(0, -1);
  return text;
};

const refuse = (socket: Duplex, status: number, body: string, headers = ""): void => {
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}Connection: close\r\n\r\n${body}`,
  );
};
