/** WebSocket upgrades on the servers that the middleware is reached through, without a word from the application. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer, path: string) => boolean;

export type AnyServer = Server | HttpsServer;

export interface Upgrades {
  /** `refusal`: text of the 404 for an upgrade that nobody takes. */
  add(handler: UpgradeHandler, refusal?: string): void;
  attach(server: AnyServer): void;
  /** The server a request came in through. */
  attachTo(request: IncomingMessage): void;
  close(): void;
}

/** @param serves whether a request listener of a server leads to this api */
export const createUpgrades = (serves: (listener: unknown) => boolean): Upgrades => {
  const handlers: UpgradeHandler[] = [];
  const servers = new WeakSet<AnyServer>();
  const foreign = new WeakSet<AnyServer>();
  const detach: (() => void)[] = [];
  let refusal = "";

  const take = (server: AnyServer, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (request.headers.upgrade?.toLowerCase() !== "websocket") return void readmit(server, request, socket, head);
    for (const path of pathsOf(request.url ?? "/")) if (handlers.some((handler) => handler(request, socket, head, path))) return;
    if (server.listenerCount("upgrade") > 1) return; // somebody else's, perhaps
    refuse(socket, 404, refusal);
  };

  const attach = (server: AnyServer): void => {
    // without a handler upgrades are nobody's, and the server should go on treating them as plain requests
    if (handlers.length === 0 || servers.has(server)) return;
    servers.add(server);
    const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void => take(server, request, socket, head);
    server.on("upgrade", listener);
    detach.push(() => server.off("upgrade", listener));
  };

  // A WebSocket client may be the first to come. Node says on this channel that a connection was accepted, before it reads from
  // it: time enough to look whether the server leads here, once per server.
  const accepted = (message: unknown): void => {
    const server = (message as { readonly socket?: { readonly server?: unknown } }).socket?.server as AnyServer | undefined;
    if (server === undefined || servers.has(server) || foreign.has(server)) return;
    if (server.listeners("request").some(serves)) attach(server);
    else foreign.add(server);
  };
  subscribe(ACCEPTED, accepted);

  return {
    add: (handler, text) => {
      handlers.push(handler);
      refusal ||= text ?? "";
    },
    attach,
    attachTo: (request) => {
      const { server } = request.socket as Socket & { readonly server?: AnyServer };
      if (server !== undefined && !servers.has(server)) attach(server);
    },
    close: () => {
      unsubscribe(ACCEPTED, accepted);
      for (const undo of detach) undo();
    },
  };
};

const ACCEPTED = "net.server.socket";

/** The path, then what is left of it below each possible mount. */
const pathsOf = (url: string): readonly string[] => {
  const path = url.split("?", 1)[0] as string; // split never answers nothing
  const paths = [path];
  for (let slash = path.indexOf("/", 1); slash !== -1; slash = path.indexOf("/", slash + 1)) paths.push(path.slice(slash));
  return paths;
};

const refuse = (socket: Duplex, status: number, text: string): void => {
  socket.on("error", () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
};

const UPGRADING: ReadonlySet<string> = new Set(["upgrade", "connection", "http2-settings"]);

/** Node hands every request with an Upgrade header to upgrade listeners. One to anything but WebSocket (`h2c`, which some clients offer
 *  with each first request) is an ordinary request to a server that does not upgrade: it goes back in without the offer. */
const readmit = (server: AnyServer, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  if (server.listenerCount("upgrade") > 1) return; // somebody else's, perhaps
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string; // i is within its length
    if (!UPGRADING.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
};

/** Whether a request listener is `api`, or an Express application or router with it somewhere in its stack. */
export const leadsTo = (api: unknown, listener: unknown, depth = 0): boolean => {
  if (listener === api) return true;
  if (typeof listener !== "function" || depth > 8) return false;
  const { stack, router } = listener as { readonly stack?: unknown; readonly router?: unknown };
  if (typeof router === "function" && router !== listener && leadsTo(api, router, depth + 1)) return true;
  return Array.isArray(stack) && stack.some((layer: unknown) => leadsTo(api, (layer as { readonly handle?: unknown } | null)?.handle, depth + 1));
};
