/** The HTTP servers whose requests come here. */
import type { Server } from "node:http";
import type { Server as HttpsServer } from "node:https";

export type AnyServer = Server | HttpsServer;

export interface Servers {
  /** Once per server. */
  add(server: AnyServer): void;
  has(server: AnyServer): boolean;
  /** The one that was added last: mostly there is no other. */
  readonly last: AnyServer | undefined;
  onServer(listener: (server: AnyServer) => void): void;
}

/** Node's default timeout for headers. */
const HEADERS_MS = 60_000;

/** `headersMs`: what headers are given to arrive on these servers. @rule R-BND-4 */
export const createServers = (headersMs: number): Servers => {
  const known = new WeakSet<AnyServer>();
  const listeners: ((server: AnyServer) => void)[] = [];
  const add = (server: AnyServer): void => {
    servers.last = server;
    if (known.has(server)) return;
    known.add(server);
    // the server itself times out slow headers; a limit that the application set stays
    if (server.headersTimeout === HEADERS_MS) server.headersTimeout = headersMs;
    for (const listener of listeners) listener(server);
  };
  const servers: Servers & { last: AnyServer | undefined } = {
    last: undefined,
    add,
    has: (server) => known.has(server),
    onServer: (listener) => {
      listeners.push(listener);
    },
  };
  return servers;
};
