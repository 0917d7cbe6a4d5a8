/** What several machines would do, from what one was measured to need: no process is started. */

/** Milliseconds of CPU: of a request, and of an answer to a subscriber; here and in the database. */
export interface Costs {
  readonly requestMs: number;
  readonly requestDatabaseMs: number;
  readonly answerMs: number;
  readonly answerDatabaseMs: number;
}

/** The arrangement that is inferred: machines of four cores with four workers each, a database of 32 cores. */
const WORKERS = 4;
const DATABASE_CORES = 32;
/** Of each machine; nothing runs well when it is full. */
const LOAD = 0.7;
const SUBSCRIBERS_PER_WORKER = 2500;
/** Commits a second, each of which changes one row in a hundred. */
const CHANGES_PER_S = [20, 500];
const PART_OF_ROWS = 0.01;
/** Rows of one statement, and how many statements a process runs at a time. */
const BATCH = 100;
const AT_A_TIME = 4;
/** From the leader to a follower: gathering, and the bus. */
const PASSING_ON_MS = 6;
/** As plugins/subscriptions/cohort.ts: a cohort rests as long as it ran, and no longer than this. */
const LONGEST_GAP_MS = 100;
const SECONDS = 60;

/** Jobs are served in the order in which they come by whatever is free first. */
class Servers {
  readonly #freeAtMs: number[];
  busyMs = 0;
  constructor(count: number) {
    this.#freeAtMs = Array.from({ length: count }, () => 0);
  }
  /** When a job ends that comes at a time. */
  serve(atMs: number, workMs: number): number {
    let first = 0;
    for (let i = 1; i < this.#freeAtMs.length; i++) if (this.#freeAtMs[i]! < this.#freeAtMs[first]!) first = i;
    const endMs = Math.max(atMs, this.#freeAtMs[first]!) + workMs;
    this.#freeAtMs[first] = endMs;
    this.busyMs += workMs;
    return endMs;
  }
}

/** The same numbers each time. */
const createRandom = (): (() => number) => {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** Each commit becomes a job of every process: statements of a batch each on the database, then the answers in the
 *  process. A process that is still busy with one takes the next commits together. */
const liveTimes = (machines: number, changesPerS: number, costs: Costs) => {
  const random = createRandom();
  const database = new Servers(DATABASE_CORES);
  const processes = Array.from({ length: machines * WORKERS }, () => ({ freeAtMs: 0, waiting: [] as number[] }));
  const times: number[] = [];
  const run = (each: (typeof processes)[number], startMs: number): void => {
    const commits = each.waiting.splice(0);
    const answers = Math.min(SUBSCRIBERS_PER_WORKER, commits.length * SUBSCRIBERS_PER_WORKER * PART_OF_ROWS);
    const lanes = Array.from({ length: AT_A_TIME }, () => startMs);
    let endMs = startMs;
    for (let left = answers; left > 0; left -= BATCH) {
      const size = Math.min(BATCH, left);
      const lane = lanes.indexOf(Math.min(...lanes));
      lanes[lane] = database.serve(lanes[lane]!, size * costs.answerDatabaseMs);
      endMs = Math.max(endMs, lanes[lane]!) + size * costs.answerMs;
    }
    each.freeAtMs = endMs + Math.min(endMs - startMs, LONGEST_GAP_MS);
    for (const atMs of commits) times.push(endMs - atMs);
  };
  let atMs = 0;
  while (atMs < SECONDS * 1000) {
    atMs += (-Math.log(1 - random()) * 1000) / changesPerS;
    const heardMs = atMs + PASSING_ON_MS;
    // what has been waiting comes first, in the order of time
    const late = processes.filter(({ waiting, freeAtMs }) => waiting.length > 0 && freeAtMs <= heardMs);
    for (const each of late.sort((a, b) => a.freeAtMs - b.freeAtMs)) run(each, each.freeAtMs);
    for (const each of processes) {
      each.waiting.push(atMs);
      if (each.freeAtMs <= heardMs) run(each, heardMs);
    }
  }
  times.sort((a, b) => a - b);
  return {
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    busy: database.busyMs / (atMs * DATABASE_CORES),
  };
};

export const simulate = (costs: Costs): readonly (readonly (string | number)[])[] =>
  [1, 2, 5, 10].flatMap((machines) => {
    const ours = (machines * WORKERS * LOAD * 1000) / costs.requestMs;
    const databases = (DATABASE_CORES * LOAD * 1000) / costs.requestDatabaseMs;
    return CHANGES_PER_S.map((changesPerS) => {
      const { p50, p99, busy } = liveTimes(machines, changesPerS, costs);
      return [
        machines,
        Math.round(Math.min(ours, databases) / 100) * 100,
        ours < databases ? "relapi" : "the database",
        machines * WORKERS * SUBSCRIBERS_PER_WORKER,
        changesPerS,
        p50.toFixed(0),
        p99.toFixed(0),
        `${(busy * 100).toFixed(0)} %`,
      ];
    });
  });
