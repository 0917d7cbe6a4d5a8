/** Handles WebSocket upgrades on the servers that use the middleware, without any wiring by the application. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import {
  definePlugin,
  buildErrorFields,
  createPathReader,
  memoize,
  repeatsHost,
  type AnyServer,
} from "../../../core/index.ts";
import { takeUpgradeHook, type Upgrade } from "../api.ts";
import { removeMountPath, listSuffixes, findPathsBelowMounts } from "./mounts.ts";

/** The upgrade handler of one api. Several apis may share a server. */
interface Handler {
  /** Returns the rest of the path below each mount path of the api. Undefined if the mount paths are unknown. */
  paths(path: string): readonly string[] | undefined;
  take(upgrade: Upgrade): boolean;
  rejection(): string;
}

/** Returns the only upgrade listener of a server, for all its apis. Separate listeners would accept or reject each
 *  other's upgrades. */
const getUpgradeListener = memoize((server: AnyServer) => {
  const handlers = new Set<Handler>();
  const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    receiveUpgrade(server, handlers, request, socket, head);
  return { handlers, listener };
});

const addHandler = (server: AnyServer, handler: Handler): (() => void) => {
  const { handlers, listener } = getUpgradeListener(server);
  if (handlers.size === 0) server.on("upgrade", listener);
  handlers.add(handler);
  return () => {
    if (handlers.delete(handler) && handlers.size === 0) server.off("upgrade", listener);
  };
};

const receiveUpgrade = (
  server: AnyServer,
  handlers: ReadonlySet<Handler>,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void => {
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return void serveAsRequest(server, request, socket, head);
  if (repeatsHost(request.rawHeaders))
    return rejectUpgradeInText(socket, 400, "The request has more than one Host header");
  // The method `split` always returns at least one item.
  const requestPath = (request.url ?? "/").split("?", 1)[0] as string;
  const offerUpgrade = (handler: Handler, paths: readonly string[]): boolean =>
    paths.some((path) => handler.take({ request, socket, head, path }));
  const unmountedHandlers: Handler[] = [];
  for (const handler of handlers) {
    const handlerPaths = handler.paths(requestPath);
    if (handlerPaths === undefined) unmountedHandlers.push(handler);
    else if (offerUpgrade(handler, handlerPaths)) return;
  }
  for (const handler of unmountedHandlers) if (offerUpgrade(handler, listSuffixes(requestPath))) return;
  if (server.listenerCount("upgrade") > 1) return; // another listener may accept the upgrade
  rejectUpgradeInText(
    socket,
    404,
    [...handlers].map((handler) => handler.rejection()).find((text) => text !== "") ?? "",
  );
};

/** The diagnostics channel of accepted connections. Node publishes each one before it reads from the connection. */
const ACCEPT_CHANNEL = "net.server.socket";

/** Accepts WebSocket upgrades on the servers that use the middleware. @rule X-UPG-1 */
export const upgrades = definePlugin({
  name: "upgrades",
  apply: (_hooks, context) => {
    const takeUpgrade = context.use(takeUpgradeHook);
    const mounts = new Map<AnyServer, string>();
    const detach: (() => void)[] = [];

    const readPath = createPathReader(context.options);

    const take = (upgrade: Upgrade): boolean => {
      try {
        return takeUpgrade.call({ ...upgrade, path: readPath(upgrade.path) }) === true;
      } catch (error) {
        context.logger.error("a plugin failed", buildErrorFields(error));
        // The tap may have used the socket, so no other handler may accept it.
        upgrade.socket.destroy();
        return true;
      }
    };

    context.onServer((server) => {
      // Without a tap, the server should keep treating upgrades as plain requests.
      if (takeUpgrade.taps.length === 0) return;
      const paths: Handler["paths"] = (path) => {
        const mountPath = mounts.get(server);
        return mountPath === undefined
          ? findPathsBelowMounts(context.isApi, server, path)
          : removeMountPath(mountPath, path);
      };
      const rejection = (): string =>
        takeUpgrade.taps.map((tap) => (tap as { readonly rejection?: string }).rejection).find(Boolean) ?? "";
      detach.push(addHandler(server, { paths, take, rejection }));
    });

    context.addMethod("attach", (server, mount) => {
      if (mount !== undefined) mounts.set(server, mount);
      context.addServer(server);
    });

    // A WebSocket client may send the first request to a server. Node publishes on this channel that a connection was
    // accepted, before it reads from it. So there is time to find out whether the server uses this api.
    const onConnection = (message: unknown): void => {
      const server = (message as { readonly socket?: { readonly server?: unknown } }).socket?.server as
        | AnyServer
        | undefined;
      if (server === undefined || context.hasServer(server)) return;
      if (findPathsBelowMounts(context.isApi, server, "/") !== undefined) context.addServer(server);
    };
    subscribe(ACCEPT_CHANNEL, onConnection);

    context.onClose(() => {
      unsubscribe(ACCEPT_CHANNEL, onConnection);
      for (const undo of detach) undo();
    });
  },
});

const rejectUpgradeInText = (socket: Duplex, status: number, text: string): void => {
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
};

const UPGRADE_HEADERS: ReadonlySet<string> = new Set(["upgrade", "connection", "http2-settings"]);

/** Node passes every request with an Upgrade header to upgrade listeners. A request for another protocol than WebSocket
 *  must be served as an ordinary request; some clients offer `h2c` with each first request. So the connection is
 *  emitted again, without the upgrade headers. */
const serveAsRequest = (server: AnyServer, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  if (server.listenerCount("upgrade") > 1) return; // another listener may accept the request
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string; // the index is less than the length of the list
    if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
};
