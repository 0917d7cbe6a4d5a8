/** A steady stream of commits, each of which changes one subscriber's row. */
import pg from "pg";
import { nowMs, type Arrivals, type Swarm } from "./live-swarm.ts";
import type { Place } from "./live-scenes.ts";

const PER_SECOND = 1000;
const WARM_SECONDS = 2;
const SECONDS = 10;
/** The number of connections, whose commits share disk flushes. */
const CONNECTIONS = 16;
const STEP_MS = 5;
/** The time to wait after the last commit. */
const LAST_MS = 3000;
const GOAL_MS = 100;

interface Commits {
  readonly ids: number[];
  /** The time of each commit. Its index is the value. */
  readonly atMs: number[];
  readonly seconds: number;
}

const commit = async (databaseUrl: string, count: number, from: number, seconds: number): Promise<Commits> => {
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      return client;
    }),
  );
  const ids: number[] = [];
  const atMs: number[] = [];
  const idle = [...connections];
  const running = new Set<Promise<unknown>>();
  const startedAtMs = nowMs();
  while (ids.length < PER_SECOND * seconds) {
    const due = Math.min(PER_SECOND * seconds, ((nowMs() - startedAtMs) / 1000) * PER_SECOND);
    while (ids.length < due && idle.length > 0) {
      const client = idle.pop() as pg.Client; // the condition has checked that a connection is idle
      // The rows take turns, so that no two statements change the same row at once.
      const id = ((from + ids.length) % count) + 1;
      ids.push(id);
      atMs.push(nowMs());
      const update = client
        .query({ name: "change", text: "update seat set n = $1 where id = $2", values: [from + ids.length, id] })
        .then(() => {
          idle.push(client);
          running.delete(update);
        });
      running.add(update);
    }
    if (idle.length === 0) await Promise.race(running);
    else await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  await Promise.all(running);
  const tookSeconds = (nowMs() - startedAtMs) / 1000;
  await Promise.all(connections.map((client) => client.end()));
  return { ids, atMs, seconds: tookSeconds };
};

/** The time until a subscriber has a value at least as new. Commits without such a value are lost. */
const latencies = ({ ids, atMs }: Commits, from: number, arrivals: Arrivals): readonly number[] => {
  const byId = new Map<number, (readonly [n: number, atMs: number])[]>();
  arrivals.ids.forEach((id, i) => {
    const arrivalsOfSeat = byId.get(id);
    const arrival = [arrivals.ns[i] ?? 0, arrivals.atMs[i] ?? 0] as const;
    if (arrivalsOfSeat === undefined) byId.set(id, [arrival]);
    else arrivalsOfSeat.push(arrival);
  });
  const latenciesMs: number[] = [];
  ids.forEach((id, i) => {
    const arrival = byId.get(id)?.find(([n]) => n > from + i);
    if (arrival !== undefined) latenciesMs.push(arrival[1] - (atMs[i] ?? 0));
  });
  return latenciesMs;
};

const FIRST_N = 1_000_000_000;

export const measureStream = async (place: Place, swarm: Swarm, count: number, cpuMs: () => number): Promise<void> => {
  const { database, databaseUrl } = place;
  const transactions = async (): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, 1200)); // backends report their statistics once a second
    const { rows } = await database.query<{ count: string }>(
      "select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()",
    );
    return Number(rows[0]?.count);
  };
  await swarm.record();
  await commit(databaseUrl, count, FIRST_N, WARM_SECONDS);
  const before = await transactions();
  await swarm.record();
  const cpuBefore = cpuMs();
  const from = FIRST_N + PER_SECOND * WARM_SECONDS;
  const commits = await commit(databaseUrl, count, from, SECONDS);
  const cpuUsed = cpuMs() - cpuBefore;
  const after = await transactions();
  await new Promise((resolve) => setTimeout(resolve, LAST_MS));
  const arrivals = await swarm.readArrivals();
  const timesMs = latencies(commits, from, arrivals);
  place.latency("a stream of commits", timesMs, {
    subscribers: count,
    lost: commits.ids.length - timesMs.length,
    cpuMs: cpuUsed / commits.ids.length,
    goalMs: GOAL_MS,
  });
  place.figure("commits a second", commits.ids.length / commits.seconds, "");
  place.figure("statements a second for them", (after - before - commits.ids.length) / commits.seconds, "");
  place.figure("CPU of the server", (cpuUsed / commits.seconds / 1000) * 100, "% of a core");
};
