/** Faults with standbys, one of which is promoted or serves reads. */
import { startStandby, type Server } from "../../support/postgres-server.ts";
import { startProxy, type Proxy } from "../../support/proxy.ts";
import { fault } from "./fault.ts";
import { follow, oneServer, startShelf, type Followers, type OneServer } from "./scenes.ts";

interface Failover extends OneServer {
  readonly standby: Server;
  readonly followers: Followers;
}

/** Writes wait for the standby, so no acknowledged write is lost with the primary. */
export const primaryLost = fault<Failover>({
  name: "the primary is lost; after 5 s its standby is promoted",
  recoversWithinMs: 2000,
  arrange: async () => {
    const primary = await startShelf(["synchronous_commit = on"]);
    const standby = await startStandby(primary, "s1");
    await primary.query("alter system set synchronous_standby_names = 'FIRST 1 (s1)'");
    await primary.reload();
    const url = `postgres://postgres@${primary.place},${standby.place}/postgres?target_session_attrs=read-write`;
    const scene = await oneServer({}, primary, url);
    const followers = await follow([scene.url]);
    // The rows are checked on the server that must have them.
    return { ...scene, database: { ...primary, query: standby.query }, standby, followers };
  },
  inject: ({ database }) => database.kill(),
  remove: ({ standby }) => standby.promote(),
  check: ({ followers, standby }) => followers.caughtUp(standby),
});

interface WithReplicas extends OneServer {
  readonly replicas: readonly [Server, Server];
  readonly network: Proxy;
}

const withReplicas = async (): Promise<WithReplicas> => {
  const primary = await startShelf();
  const replicas = [await startStandby(primary, "s1"), await startStandby(primary, "s2")] as const;
  const network = await startProxy(replicas[1].port);
  const scene = await oneServer(
    {
      DATABASE_REPLICA_URLS: `${replicas[0].url},postgres://postgres@${network.place}/postgres`,
      DATABASE_REPLICA_MAX_LAG: "1",
      LOG_LEVEL: "warn",
      LOG_FORMAT: "json",
    },
    primary,
  );
  return { ...scene, replicas, network };
};

/** Describes the problem. @returns undefined if the replica was left out and is used again */
const isBack = async ({ server }: WithReplicas, number: number): Promise<string | undefined> => {
  if (!server.output().includes("a replica is left out of reads")) return "the log does not mention the replica";
  const places = new Set<unknown>();
  for (let i = 0; i < 10; i++) places.add(await (await fetch(`${server.url}/api/rpc/place`)).json());
  return places.size === 2 ? undefined : `replica ${number} does not answer again`;
};

const PLACE = "create function place() returns text language sql stable as $$ select current_setting('port') $$";

const arrangeReplicas = async (): Promise<WithReplicas> => {
  const scene = await withReplicas();
  await scene.database.query(PLACE);
  await scene.database.query("notify pgrst");
  return scene;
};

export const replicaLost = fault<WithReplicas>({
  name: "one of two replicas is lost, and comes back after 5 s",
  arrange: arrangeReplicas,
  inject: ({ replicas }) => replicas[0].kill(),
  remove: ({ replicas }) => replicas[0].start(),
  check: (scene) => isBack(scene, 1),
});

export const replicaBehind = fault<WithReplicas>({
  name: "one of two replicas falls behind for 5 s",
  arrange: arrangeReplicas,
  inject: ({ replicas }) => replicas[0].query("select pg_wal_replay_pause()"),
  remove: ({ replicas }) => replicas[0].query("select pg_wal_replay_resume()"),
  check: (scene) => isBack(scene, 1),
});

export const replicaUnreachable = fault<WithReplicas>({
  name: "the network to one of two replicas swallows all packets for 5 s",
  arrange: arrangeReplicas,
  inject: ({ network }) => network.swallow(),
  remove: ({ network }) => network.heal(),
  check: (scene) => isBack(scene, 2),
});
