/** Faults of the network and of a stopped process. */
import { setTimeout as sleep } from "node:timers/promises";
import { startProxy, type Proxy } from "../../support/proxy.ts";
import { fault } from "./fault.ts";
import { oneServer, startShelf, type OneServer } from "./scenes.ts";

export const packetsSwallowed = fault<OneServer & { readonly network: Proxy }>({
  name: "the network to the database swallows all packets for 5 s",
  arrange: async () => {
    const database = await startShelf();
    const network = await startProxy(database.port);
    const url = `postgres://postgres@${network.place}/postgres`;
    return { ...(await oneServer({}, database, url)), network };
  },
  inject: ({ network }) => network.swallow(),
  remove: ({ network }) => network.heal(),
});

export const processStopped = fault<OneServer>({
  name: "the process stands still for 3 s, as with a blocked event loop",
  durationMs: 3000,
  arrange: () => oneServer(),
  inject: ({ server }) => process.kill(server.pid, "SIGSTOP"),
  remove: ({ server }) => process.kill(server.pid, "SIGCONT"),
});

export const connectionsTaken = fault<OneServer>({
  name: "the database is too busy: all its connections are taken for 3 s",
  durationMs: 3000,
  arrange: async () => oneServer({}, await startShelf(["max_connections = 30"])),
  inject: async ({ database }) => {
    // The statements sleep and occupy their connections; relapi keeps its own.
    for (let i = 0; i < 22; i++) void database.query("select pg_sleep(3)").catch(() => undefined);
    await sleep(200);
  },
  remove: () => undefined,
});
