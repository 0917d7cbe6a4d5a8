/** A network that can be broken: a TCP proxy in front of a server. */
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { TestDatabase } from "./database.ts";
import { atFileEnd } from "./file-end.ts";

export interface Proxy {
  /** `127.0.0.1:5433` */
  readonly place: string;
  /** From now on nothing goes through, and nobody hears of it. New connections are taken and led nowhere. */
  swallow(): void;
  /** Connections that were opened while it swallows. */
  readonly swallowedCount: number;
  /** What was opened before stays dead: the packets of the outage are lost, and whoever kept its state has forgotten
   *  it. New connections work. */
  heal(): void;
  /** Everything takes so much longer, in each direction. */
  delay(ms: number): void;
  /** A connection breaks as soon as the server has sent this many bytes through it. */
  breakAfter(bytes: number): void;
  /** Breaks what is open. New connections lead to another server. */
  leadTo(port: number): void;
}

export const startProxy = async (firstPort: number): Promise<Proxy> => {
  let port = firstPort;
  let delayMs = 0;
  let isSwallowing = false;
  let swallowedCount = 0;
  let mostBytes = Number.POSITIVE_INFINITY;
  const sockets = new Set<Socket>();
  const dead = new WeakSet<Socket>();
  const passes = (from: Socket, to: Socket): void => {
    from.on("data", (bytes: Buffer) => {
      const send = (): void => {
        if (!isSwallowing && !dead.has(from) && !to.destroyed) to.write(bytes);
      };
      if (delayMs === 0) send();
      else setTimeout(send, delayMs);
    });
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      if (!isSwallowing && !dead.has(from)) to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket);
    if (isSwallowing) {
      swallowedCount++;
      for (const socket of [client, upstream]) dead.add(socket);
    }
    passes(client, upstream);
    passes(upstream, client);
    upstream.on("data", () => {
      if (upstream.bytesRead >= mostBytes) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atFileEnd(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    place: `127.0.0.1:${(server.address() as AddressInfo).port}`, // listening on TCP
    swallow: () => {
      isSwallowing = true;
      for (const socket of sockets) dead.add(socket);
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
      mostBytes = bytes;
    },
    leadTo: (next) => {
      port = next;
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** A proxy in front of the server of a database. `url`: the connection string that leads through it. */
export const startDatabaseProxy = async (database: TestDatabase): Promise<Proxy & { readonly url: string }> => {
  const url = new URL(database.urlAs("postgres"));
  const proxy = await startProxy(Number(url.port));
  url.host = proxy.place;
  return Object.assign(Object.create(proxy) as Proxy, { url: url.href });
};
