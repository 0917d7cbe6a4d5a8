/** Live queries that one statement serves: the same program, run as the same caller. Identical queries share an entry,
 *  which is one row of the statement. */
import type { Signal } from "../../core/index.ts";
import type { CohortCounts, LiveResult, LiveQuery, LiveRun, LiveSource, Subscriber } from "./api.ts";
import type { Mark } from "./change-index.ts";
import type { Limiter, Pace } from "./limiter.ts";
import { isLost, isOfAll, isOverTime } from "./failures.ts";
import { createSlowLane, type Paced, type PaceMeter } from "./pace.ts";
import { hashOf, NoLongerShared, type CohortFacts, type Runnable, type Runner } from "./runner.ts";

/** One subscriber of an entry. */
export interface Subscription {
  readonly source: LiveSource;
  readonly subscriber: Subscriber;
  /** Hash of the last result that it received. */
  lastHash: string | undefined;
  /** Progress of its first result: not in a run yet, in the current run, delivered. */
  stage: "waiting" | "running" | "served";
  entry: Entry | undefined;
  /** That it counts for, once it is placed. */
  bytes: number;
  /** The end of the pause after a run that exceeded its time limit. Until then, no run serves only this subscription. */
  restsUntilMs: number;
}

export interface Entry extends Runnable, Paced {
  readonly cohort: Cohort;
  readonly key: string;
  readonly subscriptions: Set<Subscription>;
  /** Hash of the result that its served subscribers have. */
  hash: string | undefined;
  /** Where the index of changes has it. */
  marks: readonly Mark<Entry>[];
  /** A subscriber waits for its first result. */
  isWanted: boolean;
  /** It failed when run alone: excluded from batches until it succeeds. */
  isFaulty: boolean;
}

export interface Cohort {
  readonly facts: CohortFacts;
  readonly entries: Map<string, Entry>;
  readonly counts: Readonly<CohortCounts>;
  /** Queries that are to run, and those in runs that have not ended. */
  readonly dueCount: number;
  add(subscription: Subscription, query: LiveQuery, row: string | undefined, key: string): void;
  remove(subscription: Subscription): void;
  /** Something that all of its queries read may have changed. */
  changed(): void;
  /** Something that this one reads may have changed. */
  touch(entry: Entry): void;
  close(): void;
}

/** Hears of entries, and so knows which of them a change concerns. */
export interface EntryWatcher {
  place(entry: Entry): void;
  remove(entry: Entry): void;
  /** What it reads may raise because of any row, so any change concerns it until it succeeds. */
  fails(entry: Entry): void;
  succeeds(entry: Entry): void;
}

export interface CohortParts {
  readonly facts: CohortFacts;
  readonly runner: Runner;
  /** Tells the subscriber. Never fails. */
  readonly answer: (subscription: Subscription, result: LiveResult) => void;
  readonly limiter: Limiter;
  readonly meter: PaceMeter;
  readonly batchSize: number;
  /** Hears of each run that succeeds. */
  readonly ran: Signal<LiveRun>;
  readonly whenEmpty: (cohort: Cohort) => void;
  readonly groups: EntryWatcher;
  /** Its callers must no longer share a statement. */
  readonly whenNoLongerShared: (cohort: Cohort) => void;
}

/** Subscribers that come within this time share a run. */
const GATHER_MS = 3;
/** Longest pause between runs of a cohort, so that a burst of changes causes one run; at least the duration of the last
 *  run. */
const LONGEST_GAP_MS = 100;
/** After a run that exceeded its time limit, the pause lasts this many times the duration of the run. */
const REST_TIMES = 5;
const NO_MARKS: readonly Mark<Entry>[] = [];
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 3000;
/** Failed runs after which subscribers without a result get the error. */
const FAILURES_TO_TELL = 3;

/** The last run for its subscribers exceeded its time limit. @rule G-SUB-17 */
const isResting = ({ subscriptions }: Entry, nowMs: number): boolean => {
  for (const { restsUntilMs } of subscriptions) if (restsUntilMs <= nowMs) return false;
  return subscriptions.size > 0;
};

/** Nobody would get the result of another run yet. @rule G-SUB-17 */
const isUnread = ({ subscriptions }: Entry): boolean => {
  for (const { stage, subscriber } of subscriptions)
    if (stage !== "served" || subscriber.isSlow?.() !== true) return false;
  return subscriptions.size > 0;
};

export const createCohort = ({
  facts,
  runner,
  answer: tell,
  limiter,
  meter,
  batchSize,
  ran,
  whenEmpty,
  groups,
  whenNoLongerShared,
}: CohortParts): Cohort => {
  const entries = new Map<string, Entry>();
  /** Entries to run although not all are due: new subscribers, changed rows, losses of a broken connection. */
  const due = new Set<Entry>();
  const counts: CohortCounts = { runs: 0, rows: 0, deliveries: 0, skipped: 0, lagMs: undefined };
  let wasQuick = false;
  /** The last error was everybody's. */
  let isRefused = false;
  let isDirty = false;
  /** A change came since the last run began. */
  let hasChanged = false;
  let isRunning = false;
  /** In batches that run, or wait for a connection. */
  let runningCount = 0;
  let isClosed = false;
  let notBeforeMs = 0;
  let failureCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = 0;
  /** When the first change was noticed that no run has answered; where somebody wants to know. */
  let changedAtMs: number | undefined;

  const schedule = (delayMs: number): void => {
    if (isRunning || isClosed) return;
    const atMs = Math.max(performance.now() + delayMs, notBeforeMs);
    if (timer !== undefined) {
      if (timerAtMs <= atMs) return;
      clearTimeout(timer);
    }
    timerAtMs = atMs;
    timer = setTimeout(() => void run(), Math.max(0, atMs - performance.now()));
  };

  /** To how many. */
  const deliver = (entry: Entry, answer: LiveResult): number => {
    let count = 0;
    entry.hash = answer.hash;
    for (const subscription of entry.subscriptions) {
      // subscribers that joined after the statement was sent get the result of the next run
      if (subscription.stage === "waiting") continue;
      subscription.stage = "served";
      if (subscription.lastHash === answer.hash) continue;
      subscription.lastHash = answer.hash;
      tell(subscription, answer);
      count++;
    }
    return count;
  };

  const deliverError = (entry: Entry, error: unknown, isForNewAlone = false): void => {
    for (const subscription of entry.subscriptions) {
      if (subscription.stage === "waiting" || (isForNewAlone && subscription.lastHash !== undefined)) continue;
      const text = subscription.source.encodeError(error);
      const hash = `error ${hashOf(text)}`;
      subscription.stage = "served";
      if (subscription.lastHash === hash) continue;
      subscription.lastHash = hash;
      tell(subscription, { hash, text, isError: true });
    }
    // whatever comes next differs from it
    entry.hash = undefined;
    groups.fails(entry);
  };

  /** Those in the run wait again. */
  const putBack = (batch: readonly Entry[]): void => {
    for (const entry of batch) {
      for (const subscription of entry.subscriptions) {
        if (subscription.stage !== "running") continue;
        subscription.stage = "waiting";
        entry.isWanted = true;
      }
    }
  };

  const runBatch = async (batch: readonly Entry[], since?: number): Promise<void> => {
    const alive = batch.filter((entry) => entry.subscriptions.size > 0);
    if (alive.length === 0 || isClosed) return;
    const hashes = alive.map((entry) => {
      const { isWanted } = entry;
      if (isWanted) {
        entry.isWanted = false;
        for (const subscription of entry.subscriptions)
          if (subscription.stage === "waiting") subscription.stage = "running";
      }
      return isWanted ? undefined : entry.hash;
    });
    let answers: readonly (LiveResult | undefined)[];
    const startedAtMs = performance.now();
    try {
      answers = await runner.run(facts, alive, hashes);
      measured(alive, performance.now() - startedAtMs);
    } catch (error) {
      measured(alive, performance.now() - startedAtMs);
      if (alive.length === 1 && isOverTime(error)) rest(alive[0] as Entry, performance.now() - startedAtMs); // its only one
      if (!(error instanceof NoLongerShared)) return runFailed(alive, error, since);
      if (!isClosed) whenNoLongerShared(cohort);
      return;
    }
    // its subscriptions have been placed anew, under what holds now
    if (isClosed) return;
    failureCount = 0;
    isRefused = false;
    const ranAtMs = ran.isHeard ? performance.now() : 0;
    let deliveries = 0;
    let bytes = 0;
    alive.forEach((entry, i) => {
      entry.isFaulty = false;
      groups.succeeds(entry);
      const answer = answers[i];
      if (answer === undefined) return;
      deliveries += deliver(entry, answer);
      bytes += answer.text.length;
    });
    counts.runs++;
    counts.rows += alive.length;
    counts.deliveries += deliveries;
    if (!ran.isHeard) return;
    const endedAtMs = performance.now();
    if (since !== undefined) counts.lagMs = endedAtMs - since;
    ran.emit({
      session: facts.session,
      changedAtMs: since,
      startedAtMs,
      ranAtMs,
      endedAtMs,
      queries: alive.length,
      deliveries,
      bytes,
    });
  };

  const rest = (entry: Entry, tookMs: number): void => {
    for (const subscription of entry.subscriptions) subscription.restsUntilMs = performance.now() + REST_TIMES * tookMs;
  };

  /** A slow batch is halved until the slow ones among it are alone. */
  const measured = (batch: readonly Entry[], tookMs: number): void => {
    const isSlow = meter.isSlow(tookMs, batch[0]?.share !== undefined);
    if (!isSlow) wasQuick = true;
    for (const entry of batch) entry.share = isSlow ? Math.ceil(batch.length / 2) : undefined;
  };

  const runFailed = async (batch: readonly Entry[], error: unknown, since?: number): Promise<void> => {
    if (isClosed) return;
    if (isLost(error)) {
      failureCount++;
      if (failureCount > FAILURES_TO_TELL) for (const entry of batch) deliverError(entry, error, true);
      putBack(batch);
      for (const entry of batch) if (entry.subscriptions.size > 0) due.add(entry);
      return;
    }
    isRefused = isOfAll(error);
    if (batch.length === 1 || isRefused) {
      for (const entry of batch) {
        entry.isFaulty = batch.length === 1;
        // the others do not wait for it
        if (entry.isFaulty) entry.share ??= batchSize;
        deliverError(entry, error);
      }
      return;
    }
    // one of them is to blame: the others must not suffer
    putBack(batch);
    const half = batch.length >> 1;
    await runBatch(batch.slice(0, half), since);
    await runBatch(batch.slice(half), since);
  };

  const runWhenFree = async (pace: Pace, batch: readonly Entry[], since?: number): Promise<void> => {
    runningCount += batch.length;
    await limiter.run(pace, () => runBatch(batch, since));
    runningCount -= batch.length;
  };

  const batchesOf = (list: readonly Entry[], size: number): readonly (readonly Entry[])[] => {
    const batches: (readonly Entry[])[] = list.filter((entry) => entry.isFaulty).map((entry) => [entry]);
    const sound = list.filter((entry) => !entry.isFaulty);
    for (let i = 0; i < sound.length; i += size) batches.push(sound.slice(i, i + size));
    return batches;
  };

  const slowLane = createSlowLane(batchesOf, (again) => {
    for (const entry of again) if (entry.subscriptions.size > 0) due.add(entry);
    if (due.size > 0) schedule(LONGEST_GAP_MS);
  });

  const run = async (): Promise<void> => {
    timer = undefined;
    if (isClosed) return;
    isRunning = true;
    const startedAtMs = performance.now();
    const list: Entry[] = [];
    const held: Entry[] = [];
    for (const entry of isDirty ? entries.values() : due)
      (isUnread(entry) || isResting(entry, startedAtMs) ? held : list).push(entry);
    if (hasChanged) counts.skipped += entries.size - list.length - held.length;
    hasChanged = false;
    isDirty = false;
    due.clear();
    const since = changedAtMs;
    changedAtMs = undefined;
    const quick = slowLane.take(list, batchSize, (batch) => runWhenFree("slow", batch, since));
    const pace = wasQuick ? "quick" : "unknown";
    await Promise.all(batchesOf(quick, batchSize).map((batch) => runWhenFree(pace, batch, since)));
    isRunning = false;
    const endedAtMs = performance.now();
    if (failureCount > 0)
      notBeforeMs = endedAtMs + Math.min(FIRST_RETRY_MS * 2 ** (failureCount - 1), LONGEST_RETRY_MS);
    else notBeforeMs = endedAtMs + (isRefused ? LONGEST_GAP_MS : Math.min(endedAtMs - startedAtMs, LONGEST_GAP_MS));
    if (isDirty || due.size > 0) schedule(0);
    if (held.length > 0) schedule(LONGEST_GAP_MS);
    for (const entry of held) if (entry.subscriptions.size > 0) due.add(entry);
  };

  const noticed = (): void => {
    hasChanged = true;
    if (ran.isHeard) changedAtMs ??= performance.now();
    schedule(0);
  };

  const cohort: Cohort = {
    facts,
    entries,
    counts,
    get dueCount() {
      return runningCount + (isDirty ? entries.size : due.size);
    },
    add: (subscription, query, row, key) => {
      let entry = entries.get(key);
      if (entry === undefined) {
        entry = {
          cohort,
          key,
          query,
          row,
          subscriptions: new Set(),
          hash: undefined,
          marks: NO_MARKS,
          isWanted: true,
          isFaulty: false,
          share: undefined,
        };
        entries.set(key, entry);
        groups.place(entry);
      }
      entry.isWanted = true;
      entry.subscriptions.add(subscription);
      subscription.entry = entry;
      subscription.stage = "waiting";
      due.add(entry);
      schedule(GATHER_MS);
    },
    remove: (subscription) => {
      const { entry } = subscription;
      if (entry === undefined || !entry.subscriptions.delete(subscription)) return;
      subscription.entry = undefined;
      if (entry.subscriptions.size > 0) return;
      entries.delete(entry.key);
      due.delete(entry);
      groups.remove(entry);
      if (entries.size === 0) whenEmpty(cohort);
    },
    changed: () => {
      if (isDirty) return;
      isDirty = true;
      noticed();
    },
    touch: (entry) => {
      if (isDirty) return;
      due.add(entry);
      noticed();
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
  return cohort;
};
