/** Accepts WebSocket upgrades on the GraphQL paths, and holds the resulting connections of every protocol. */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import {
  createOriginPolicyGetter,
  defineService,
  nameRejectionCounter,
  requireService,
  type PluginContext,
} from "../../../core/index.ts";
import { createHeartbeat } from "./heartbeat.ts";
import { liveQueriesService } from "../api.ts";
import { SocketConnection, type ClientConnection, type SocketProtocolHandler } from "./socket-connection.ts";
import { graphqlService } from "../../graphql/api.ts";
import { takeUpgradeHook, type Upgrade } from "../api.ts";

export interface SocketProtocol {
  /** The name of the subprotocol. */
  readonly name: string;
  /** Returns whether this protocol is used on the path when the client offers no subprotocol. @rule G-WS-19 */
  isDefaultOn(path: string): boolean;
  open(connection: ClientConnection): SocketProtocolHandler;
}

interface Sockets {
  add(protocol: SocketProtocol): void;
}

const socketsService = defineService<Sockets>("graphql-sockets");

const PATHS = ["/v1/graphql/ws", "/v1/graphql", "/v1alpha1/graphql"] as const;

/** A path, and the settings of its connections that SQL can read. */
type SocketPath = Pick<ClientConnection, "path" | "settings">;

/** The same objects serve all connections, to save memory. */
const SOCKET_PATHS: ReadonlyMap<string, SocketPath> = new Map(
  PATHS.map((path) => [
    path,
    {
      path,
      settings: [
        ["request.method", "GET"],
        ["request.path", path],
      ],
    },
  ]),
);

/** The message for a WebSocket on another path. @rule G-WS-17 */
const REJECTION = "only '/v1/graphql', '/v1alpha1/graphql', '/v1/graphql/ws' are supported on websockets";

/** Returns the sockets that the protocol plugins of a preset share. The first plugin creates them. */
export const getSockets = (context: PluginContext): Sockets => {
  const existingSockets = context.use(socketsService);
  if (existingSockets !== undefined) return existingSockets;
  const sockets = createSockets(context);
  context.offer(socketsService, sockets);
  return sockets;
};

/** The time that clients have to reply to the close frame. */
const CLOSE_PATIENCE_MS = 1000;

/** The pause between groups of sockets that are closed, so that clients reconnect spread over time. */
const SPREAD_STEP_MS = 50;

/** Frees the parsed headers, which are as large as the rest of the retained request. Node parses them again on
 *  access. */
const forgetHeaders = (request: IncomingMessage): void => {
  if (!Object.hasOwn(request, "headers")) Object.assign(request, { headers: undefined });
};

const createSockets = (context: PluginContext): Sockets => {
  const protocols: SocketProtocol[] = [];
  const heartbeat = createHeartbeat(context.options.websocketKeepalive * 1000);
  const cors = createOriginPolicyGetter(() => context.options.corsAllowedOrigins);
  const openConnections = new Map<WebSocket, SocketConnection>();
  context.counters.watch("sockets", () => openConnections.size);
  let isClosing = false;
  let acceptedProtocol: string | false = false;
  let server: WebSocketServer | undefined;
  /** Loads the package `ws`, when the first socket is opened. */
  const openServer = async (): Promise<WebSocketServer> => {
    const { WebSocketServer } = await import("ws");
    return (server ??= new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: context.options.maxSocketMessageBytes,
      handleProtocols: () => acceptedProtocol,
    }));
  };

  const upgrade = ({ request, socket, head, path }: Upgrade): true | undefined => {
    const socketPath = SOCKET_PATHS.get(path);
    if (socketPath === undefined) return undefined;
    const { origin } = request.headers;
    if (origin !== undefined && !cors().isOpen && !cors().allows(origin)) {
      rejectUpgradeInJson(
        socket,
        400,
        '{"path":"$","error":"received origin header does not match configured CORS domains","code":"access-denied"}',
      );
      return true;
    }
    if (server === undefined) {
      const ignoreError = (): void => undefined; // without a listener, an error would end the process
      socket.on("error", ignoreError);
      openServer().then(
        (socketServer) => {
          accept(socketServer, socketPath, { request, socket, head, path });
          socket.off("error", ignoreError);
        },
        (error: unknown) => {
          context.logger.error("the package ws cannot be loaded", { cause: error });
          socket.destroy();
        },
      );
    } else accept(server, socketPath, { request, socket, head, path });
    return true;
  };

  const accept = (
    socketServer: WebSocketServer,
    socketPath: SocketPath,
    { request, socket, head, path }: Upgrade,
  ): void => {
    const isFull = openConnections.size >= context.options.maxSockets;
    if (isFull) context.counters.add(nameRejectionCounter("maxSockets"));
    if (isClosing || isFull)
      return rejectUpgradeInJson(
        socket,
        503,
        '{"path":"$","error":"too many connections","code":"unexpected"}',
        "Retry-After: 1\r\n",
      );
    const offeredProtocols = (request.headers["sec-websocket-protocol"] ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const protocol =
      offeredProtocols.length === 0
        ? (protocols.find((socketProtocol) => socketProtocol.isDefaultOn(path)) ?? protocols[0])
        : protocols.find((socketProtocol) => offeredProtocols.includes(socketProtocol.name));
    // A client sees the close code only if its subprotocol was accepted.
    acceptedProtocol = offeredProtocols.length === 0 ? false : (protocol?.name ?? offeredProtocols[0] ?? false);
    socketServer.handleUpgrade(request, socket, head, (webSocket) => {
      if (protocol === undefined) return void webSocket.on("error", () => undefined).close(1002);
      forgetHeaders(request);
      const connection = new SocketConnection(
        { ...getConnectionParts(), ...socketPath, request, webSocket, socket },
        protocol.open,
      );
      openConnections.set(webSocket, connection);
      webSocket.on("message", onMessage).on("error", onError).on("close", onClose);
    });
  };

  const getConnectionParts = () => ({
    context,
    engine: requireService(context, graphqlService),
    live: requireService(context, liveQueriesService),
    heartbeat,
  });

  // All sockets share the listeners, because listeners for each socket would take most of its memory.
  const onMessage = function (this: WebSocket, data: Buffer): void {
    openConnections.get(this)?.handleMessage(data.toString());
  };
  /** The close event that follows gives the reason of the error. */
  const onError = ({ code }: NodeJS.ErrnoException): void => {
    if (code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH")
      context.counters.add(nameRejectionCounter("maxSocketMessageBytes"));
  };
  const onClose = function (this: WebSocket): void {
    const connection = openConnections.get(this);
    openConnections.delete(this);
    connection?.handleEnd();
  };

  context.use(takeUpgradeHook).tap({ name: "graphql-sockets", rejection: REJECTION }, upgrade);
  context.onClose(async () => {
    isClosing = true;
    heartbeat.close();
    if (openConnections.size === 0) return;
    const webSockets = [...openConnections.keys()];
    const closed = Promise.all(
      webSockets.map((webSocket) => new Promise<void>((resolve) => webSocket.once("close", () => resolve()))),
    );
    // Clients that are closed together would also reconnect together.
    const spreadMs = Math.min(webSockets.length, (context.options.shutdownGrace * 1000) / 2);
    const groupSize = Math.ceil((webSockets.length * SPREAD_STEP_MS) / Math.max(spreadMs, SPREAD_STEP_MS));
    for (let i = 0; i < webSockets.length; i++) {
      const webSocket = webSockets[i] as WebSocket; // the index is less than the length of the list
      webSocket.resume(); // a paused socket would not read the client's close frame
      webSocket.close(1001);
      if (i % groupSize === groupSize - 1 && i + 1 < webSockets.length)
        await new Promise((resolve) => setTimeout(resolve, SPREAD_STEP_MS));
    }
    const patience = setTimeout(() => {
      for (const webSocket of openConnections.keys()) webSocket.terminate();
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

const rejectUpgradeInJson = (socket: Duplex, status: number, body: string, headers = ""): void => {
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}Connection: close\r\n\r\n${body}`,
  );
};
