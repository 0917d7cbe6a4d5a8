/** Two processes behind HAProxy, which checks `/ready`. */
import { startHaproxy, type Balancer } from "../haproxy.ts";
import { startStandalone, type Standalone } from "../standalone.ts";
import { until } from "../../support/until.ts";
import { fault, type Scene } from "./fault.ts";
import { buildEnvironment, startShelf } from "./scenes.ts";

interface TwoServers extends Scene {
  readonly balancer: Balancer;
  servers: readonly [Standalone, Standalone];
  readonly restart: (server: Standalone) => Promise<Standalone>;
}

const twoServers = async (): Promise<TwoServers> => {
  const database = await startShelf();
  const environment = buildEnvironment(database.url);
  const servers = [await startStandalone(environment), await startStandalone(environment)] as const;
  const balancer = await startHaproxy(servers);
  return {
    url: balancer.url,
    database,
    balancer,
    servers: [...servers],
    restart: async (server) => {
      const newServer = await startStandalone(environment, server);
      await until(async () => (await balancer.upCount()) === 2, "HAProxy considers both servers ready");
      return newServer;
    },
  };
};

export const rollingRestart = fault<TwoServers>({
  name: "both processes behind HAProxy are restarted in turn",
  needs: ["haproxy"],
  durationMs: 0,
  arrange: twoServers,
  inject: async (scene) => {
    for (let i = 0; i < 2; i++) {
      const [oldest, otherServer] = scene.servers;
      await oldest.stop();
      scene.servers = [otherServer, await scene.restart(oldest)];
    }
  },
  remove: () => undefined,
});

/** The process disappears without notice, so HAProxy has to detect it. */
export const machineLost = fault<TwoServers>({
  name: "one of two processes behind HAProxy stands still for 5 s, as with a machine that is lost",
  needs: ["haproxy"],
  arrange: twoServers,
  inject: ({ servers: [first] }) => process.kill(first.pid, "SIGSTOP"),
  remove: ({ servers: [first] }) => process.kill(first.pid, "SIGCONT"),
});

export const processKilled = fault<TwoServers>({
  name: "one of two processes behind HAProxy is killed (SIGKILL)",
  needs: ["haproxy"],
  durationMs: 3000,
  arrange: twoServers,
  inject: ({ servers: [first] }) => first.stop("SIGKILL"),
  remove: async (scene) => {
    const [first, otherServer] = scene.servers;
    scene.servers = [otherServer, await scene.restart(first)];
  },
});
