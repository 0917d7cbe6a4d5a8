/** A TCP proxy in front of a server that simulates network failures. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { TestDatabase } from "./database.ts";
import { atFileEnd } from "./file-end.ts";

export interface Proxy {
  /** The address, such as `127.0.0.1:5433`. */
  readonly place: string;
  /** Drops all traffic without closing connections. New connections are accepted but not forwarded. */
  swallow(): void;
  /** The number of connections opened while traffic is dropped. */
  readonly swallowedCount: number;
  /** Lets new connections work. Earlier ones stay dead, as after an outage with lost packets and expired state. */
  heal(): void;
  /** Delays all traffic by this time in each direction. */
  delay(ms: number): void;
  /** Breaks a connection once the server has sent this many bytes through it. */
  breakAfter(bytes: number): void;
  /** Breaks open connections and forwards new ones to another server. */
  leadTo(port: number): void;
}

export const startProxy = async (firstPort: number): Promise<Proxy> => {
  let port = firstPort;
  let delayMs = 0;
  let isSwallowing = false;
  let swallowedCount = 0;
  let maxBytes = Number.POSITIVE_INFINITY;
  const sockets = new Set<Socket>();
  const deadSockets = new WeakSet<Socket>();
  const forward = (from: Socket, to: Socket): void => {
    from.on("data", (bytes: Buffer) => {
      const send = (): void => {
        if (!isSwallowing && !deadSockets.has(from) && !to.destroyed) to.write(bytes);
      };
      if (delayMs === 0) send();
      else setTimeout(send, delayMs);
    });
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      if (!isSwallowing && !deadSockets.has(from)) to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket);
    if (isSwallowing) {
      swallowedCount++;
      for (const socket of [client, upstream]) deadSockets.add(socket);
    }
    forward(client, upstream);
    forward(upstream, client);
    upstream.on("data", () => {
      if (upstream.bytesRead >= maxBytes) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`, // the proxy listens on TCP
    swallow: () => {
      isSwallowing = true;
      for (const socket of sockets) deadSockets.add(socket);
    },
    get swallowedCount() {
      return swallowedCount;
    },
    heal: () => {
      isSwallowing = false;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    breakAfter: (bytes) => {
      maxBytes = bytes;
    },
    leadTo: (next) => {
      port = next;
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** Starts a proxy in front of a database server. `url` is the connection string through it. */
export const startDatabaseProxy = async (database: TestDatabase): Promise<Proxy & { readonly url: string }> => {
  const url = new URL(database.urlAs("postgres"));
  const proxy = await startProxy(Number(url.port));
  url.host = proxy.place;
  return Object.assign(Object.create(proxy) as Proxy, { url: url.href });
};
