/** The HTTP servers that send requests to the api. */
import type { Server } from "node:http";
import type { Server as HttpsServer } from "node:https";

/** A server of `node:http` or `node:https`. */
export type AnyServer = Server | HttpsServer;

interface Servers {
  /** Adds a server; a second call has no effect on its listeners. */
  add(server: AnyServer): void;
  has(server: AnyServer): boolean;
  onServer(listener: (server: AnyServer) => void): void;
}

/** Node's default timeout for headers. */
const HEADERS_MS = 60_000;

/** Creates the list of servers. `headersMs` is the time within which headers must arrive. @rule R-BND-4 */
export const createServers = (headersMs: number): Servers => {
  const knownServers = new WeakSet<AnyServer>();
  const listeners: ((server: AnyServer) => void)[] = [];
  return {
    add: (server) => {
      if (knownServers.has(server)) return;
      knownServers.add(server);
      // Node itself applies the timeout; a timeout that the application has set remains.
      if (server.headersTimeout === HEADERS_MS) server.headersTimeout = headersMs;
      for (const listener of listeners) listener(server);
    },
    has: (server) => knownServers.has(server),
    onServer: (listener) => {
      listeners.push(listener);
    },
  };
};
