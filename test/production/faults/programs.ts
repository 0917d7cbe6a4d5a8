/** Restarts of programs between the processes, and between them and the database. */
import { startHaproxy } from "../haproxy.ts";
import { startPgBouncer, type Pooler } from "../pgbouncer.ts";
import { startNats, startRedis } from "../processes.ts";
import { startStandalone, type Standalone } from "../standalone.ts";
import { until } from "../../support/until.ts";
import { freePort, type Program } from "../support.ts";
import { fault, type Fault, type Scene } from "./fault.ts";
import { buildEnvironment, follow, oneServer, startShelf, type Followers, type OneServer } from "./scenes.ts";

interface PoolerScene extends OneServer {
  pooler: Pooler;
}

export const poolerRestarted = fault<PoolerScene>({
  name: "PgBouncer in transaction mode is killed, and started again after 3 s",
  needs: ["pgbouncer"],
  durationMs: 3000,
  arrange: async () => {
    const database = await startShelf();
    const pooler = await startPgBouncer(database.url);
    const scene = await oneServer({ DATABASE_DIRECT_URL: database.url }, database, pooler.through(database.url));
    return { ...scene, pooler };
  },
  inject: ({ pooler }) => pooler.stop("SIGKILL"),
  remove: async (scene) => {
    scene.pooler = await startPgBouncer(scene.database.url, { port: scene.pooler.port });
  },
});

interface OnBus extends Scene {
  servers: readonly [Standalone, Standalone];
  readonly database: OneServer["database"];
  readonly followers: Followers;
  readonly port: number;
  bus: Program | undefined;
  problem: string | undefined;
}

const READERS = "select slot_name from pg_replication_slots where active";

/** The process that reads the changes for all. Its slot's name contains the process number. */
const findReader = async ({ database }: Pick<OnBus, "database">): Promise<number | undefined> => {
  const slots = await database.query<{ slot_name: string }>(READERS);
  const [pid] = slots.map(({ slot_name }) => Number(/^relapi_(\d+)_/.exec(slot_name)?.[1]));
  return pid;
};

/** Two processes behind HAProxy, with live queries on both. */
const onBus = async (scheme?: "nats" | "redis"): Promise<OnBus> => {
  const database = await startShelf();
  const port = await freePort();
  const bus = scheme === undefined ? undefined : await { nats: startNats, redis: startRedis }[scheme](port);
  const environment = {
    ...buildEnvironment(database.url),
    ...(scheme === undefined ? {} : { BUS_URL: `${scheme}://127.0.0.1:${port}` }),
  };
  const servers = [await startStandalone(environment), await startStandalone(environment)] as const;
  const balancer = await startHaproxy(servers);
  const followers = await follow(servers.map(({ url }) => url));
  const scene = {
    url: balancer.url,
    database,
    servers: [...servers] as const,
    followers,
    port,
    bus,
    problem: undefined,
  };
  await until(async () => (await findReader(scene)) !== undefined, "a process reads the changes");
  return scene;
};

const busRestarted = (name: string, program: string, scheme: "nats" | "redis"): Fault =>
  fault<OnBus>({
    name: `${name}, which passes changes on between two processes, is killed, and started again after 3 s`,
    needs: ["haproxy", program],
    durationMs: 3000,
    arrange: () => onBus(scheme),
    inject: ({ bus }) => bus?.stop("SIGKILL"),
    remove: async (scene) => {
      scene.bus = await { nats: startNats, redis: startRedis }[scheme](scene.port);
    },
    check: ({ followers, database }) => followers.caughtUp(database),
  });

export const natsRestarted = busRestarted("NATS", "nats-server", "nats");
export const redisRestarted = busRestarted("Redis", "redis-server", "redis");

const TAKEN_OVER_MS = 5000;

export const leaderKilled = fault<OnBus>({
  name: "of two processes behind HAProxy the one that reads the changes is killed (SIGKILL)",
  needs: ["haproxy"],
  arrange: () => onBus(),
  inject: async (scene) => {
    const reader = await findReader(scene);
    const server = scene.servers.find(({ pid }) => pid === reader);
    await server?.stop("SIGKILL");
    const startedAtMs = performance.now();
    await until(
      async () => ![undefined, reader].includes(await findReader(scene)),
      "another process reads the changes",
    );
    const tookMs = performance.now() - startedAtMs;
    if (tookMs > TAKEN_OVER_MS) scene.problem = `another process read the changes only after ${Math.round(tookMs)} ms`;
  },
  remove: async (scene) => {
    const reader = await findReader(scene);
    const [first, second] = scene.servers;
    const [stoppedServer, otherServer] = first.pid === reader ? [second, first] : [first, second];
    scene.servers = [otherServer, await startStandalone(buildEnvironment(scene.database.url), stoppedServer)];
  },
  check: async ({ problem, followers, database }) => problem ?? followers.caughtUp(database),
});
