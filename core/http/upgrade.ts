/** WebSocket upgrades on the servers that lead to the middleware, without any wiring by the application. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { repeatsHost } from "./request-headers.ts";

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer, path: string) => boolean;

export type AnyServer = Server | HttpsServer;

export interface Upgrades {
  /** `refusal`: body of the 404 for an upgrade that no handler takes. */
  add(handler: UpgradeHandler, refusal?: string): void;
  /** `mount`: the path that the api is below, where the server's listener does not show it. */
  attach(server: AnyServer, mount?: string): void;
  /** The server a request came in through. */
  attachTo(request: IncomingMessage): void;
  close(): void;
}

/** One api on a server that several may share. */
interface Guest {
  /** The rest of the path below each mount path of the api; undefined: the mount paths are unknown. */
  paths(path: string): readonly string[] | undefined;
  take(request: IncomingMessage, socket: Duplex, head: Buffer, path: string): boolean;
  refusal(): string;
}

/** One listener per server, for all its apis: separate listeners would take or refuse each other's upgrades. */
interface Door {
  readonly guests: Set<Guest>;
  close(): void;
}

const doors = new WeakMap<AnyServer, Door>();

const openDoor = (server: AnyServer): Door => {
  const all = new Set<Guest>();
  const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void =>
    receive(server, all, request, socket, head);
  server.on("upgrade", listener);
  return {
    guests: all,
    close: () => {
      doors.delete(server);
      server.off("upgrade", listener);
    },
  };
};

const letIn = (server: AnyServer, guest: Guest): (() => void) => {
  const door = doors.get(server) ?? openDoor(server);
  doors.set(server, door);
  door.guests.add(guest);
  return () => {
    if (door.guests.delete(guest) && door.guests.size === 0) door.close();
  };
};

const receive = (
  server: AnyServer,
  all: ReadonlySet<Guest>,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void => {
  if (request.headers.upgrade?.toLowerCase() !== "websocket") return void readmit(server, request, socket, head);
  if (repeatsHost(request.rawHeaders)) return refuse(socket, 400, "The request has more than one Host header");
  const path = (request.url ?? "/").split("?", 1)[0] as string; // split always returns at least one item
  const hidden: Guest[] = [];
  for (const guest of all) {
    const below = guest.paths(path);
    if (below === undefined) hidden.push(guest);
    else if (below.some((rest) => guest.take(request, socket, head, rest))) return;
  }
  for (const guest of hidden) if (pathsOf(path).some((rest) => guest.take(request, socket, head, rest))) return;
  if (server.listenerCount("upgrade") > 1) return; // another listener may take it
  refuse(socket, 404, [...all].map((guest) => guest.refusal()).find((text) => text !== "") ?? "");
};

/** Node's default timeout for headers. */
const HEADERS_MS = 60_000;

/** The server itself times out slow headers. Node's default timeout is shortened; one that the application set stays.
 *  @rule R-BND-4 */
const limitHeaders = (server: AnyServer, headersMs: number): void => {
  if (server.headersTimeout === HEADERS_MS) server.headersTimeout = headersMs;
};

/** `headersMs`: what headers are given to arrive on these servers. */
export const createUpgrades = (api: () => unknown, headersMs: number): Upgrades => {
  const handlers: UpgradeHandler[] = [];
  const servers = new WeakSet<AnyServer>();
  const mounts = new WeakMap<AnyServer, string>();
  const foreign = new WeakSet<AnyServer>();
  const detach: (() => void)[] = [];
  let refusal = "";

  const attach = (server: AnyServer, mount?: string): void => {
    if (mount !== undefined) mounts.set(server, mount);
    limitHeaders(server, headersMs);
    // without a handler, the server should keep treating upgrades as plain requests
    if (handlers.length === 0 || servers.has(server)) return;
    servers.add(server);
    const guest: Guest = {
      paths: (path) => {
        const told = mounts.get(server);
        return told === undefined ? pathsTo(api(), server, path) : pathBelow(told, path);
      },
      take: (request, socket, head, path) => handlers.some((handler) => handler(request, socket, head, path)),
      refusal: () => refusal,
    };
    detach.push(letIn(server, guest));
  };

  // A WebSocket client may be the first to come. Node says on this channel that a connection was accepted, before it
  // reads from
  // it: time enough to look whether the server leads here, once per server.
  const accepted = (message: unknown): void => {
    const server = (message as { readonly socket?: { readonly server?: unknown } }).socket?.server as
      AnyServer | undefined;
    if (server === undefined || servers.has(server) || foreign.has(server)) return;
    if (pathsTo(api(), server, "/") !== undefined) attach(server);
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
const pathsOf = (path: string): readonly string[] => {
  const paths = [path];
  for (let slash = path.indexOf("/", 1); slash !== -1; slash = path.indexOf("/", slash + 1))
    paths.push(path.slice(slash));
  return paths;
};

/** `/v1/graphql` of `/db/v1/graphql` below `/db`. */
const pathBelow = (mount: string, path: string): readonly string[] => {
  const prefix = mount.replace(/\/+$/, "");
  if (prefix === "") return [path];
  return path.toLowerCase().startsWith(`${prefix.toLowerCase()}/`) ? [path.slice(prefix.length)] : [];
};

const refuse = (socket: Duplex, status: number, text: string): void => {
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
};

const UPGRADING: ReadonlySet<string> = new Set(["upgrade", "connection", "http2-settings"]);

/** Node hands every request with an Upgrade header to upgrade listeners. One to anything but WebSocket (`h2c`, which
 *  some clients offer with each first request) is an ordinary request to a server that does not upgrade: it goes back
 *  in without the offer. */
const readmit = (server: AnyServer, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  if (server.listenerCount("upgrade") > 1) return; // another listener may take it
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let i = 0; i + 1 < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i] as string; // i is within its length
    if (!UPGRADING.has(name.toLowerCase())) lines.push(`${name}: ${request.rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
};

const DEEPEST = 8;

/** An entry of the stack of an Express router, or of a connect application. */
interface Layer {
  readonly handle?: unknown;
  /** Express: whether the layer is for the path. */
  readonly match?: unknown;
  readonly path?: unknown;
  /** connect: the mount. */
  readonly route?: unknown;
}

/** What is left of the path where the server's listeners are `api`, or an Express application, a router or a connect
 *  application with it in its stack; undefined: it is nowhere in view. */
const pathsTo = (api: unknown, server: AnyServer, path: string): readonly string[] | undefined => {
  const found: string[] = [];
  const visit = (listener: unknown, rests: readonly string[], depth: number): boolean => {
    if (listener === api) {
      found.push(...rests);
      return true;
    }
    if (typeof listener !== "function" || depth > DEEPEST) return false;
    const router = memberOf(listener, "router") ?? memberOf(listener, "_router");
    let isThere = typeof router === "function" && router !== listener && visit(router, rests, depth + 1);
    const stack = memberOf(listener, "stack");
    if (Array.isArray(stack))
      for (const layer of stack as readonly (Layer | null)[])
        if (
          layer !== null &&
          visit(
            layer.handle,
            rests.flatMap((rest) => restOf(layer, rest)),
            depth + 1,
          )
        )
          isThere = true;
    return isThere;
  };
  return server.listeners("request").filter((listener) => visit(listener, [path], 0)).length > 0 ? found : undefined;
};

/** Express 4 throws when its router is read. */
const memberOf = (of: object, name: string): unknown => {
  try {
    return (of as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
};

/** As the router does. Newer routers return what they matched; older ones store it on the layer, where the next match
 *  overwrites it. */
const restOf = (layer: Layer, path: string): readonly string[] => {
  if (typeof layer.route === "string") return pathBelow(layer.route, path);
  if (typeof layer.match !== "function") return [path];
  let found: unknown;
  try {
    found = layer.match(path);
  } catch {
    return []; // malformed percent-escape
  }
  if (found === false || found === undefined || found === null) return [];
  const matched = found === true ? layer.path : (found as { readonly path?: unknown }).path;
  const rest = path.slice(typeof matched === "string" ? matched.replace(/\/$/, "").length : 0);
  return rest === "" ? ["/"] : rest.startsWith("/") ? [rest] : [];
};
