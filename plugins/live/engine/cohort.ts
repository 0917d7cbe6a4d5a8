/** Serves live queries with one statement: the queries have the same program, and the same caller or, if the program is proven, callers that differ only in claims and session variables. Identical
 *  queries share an entry, which is one row of the statement. */
import type { Signal } from "../../../core/index.ts";
import type { CohortCounts, LiveEvents, LiveResult, LiveQuery, LiveRun, LiveSource, Subscriber } from "../api.ts";
import type { IndexEntry } from "../changes/change-index.ts";
import type { Limiter, RunSpeed } from "./limiter.ts";
import { isUnavailable, isSharedFailure, isStatementTimeout } from "./failures.ts";
import { createSlowQueue, type RunHistory, type RunSpeedMeter } from "./run-speed.ts";
import { hashResult, SharingEndedError, type CohortProperties, type Runnable, type Runner } from "./runner.ts";

/** The open events of a subscription. */
export interface EventStream {
  /** Continues with the events of a new plan. Returns false if they are not the same. */
  replace(events: LiveEvents): boolean;
  close(): void;
}

/** One subscriber of an entry. */
export interface Subscription {
  readonly source: LiveSource;
  readonly subscriber: Subscriber;
  /** The hash of the last result that the subscriber received. */
  lastHash: string | undefined;
  /** The progress of the first result: not in a run yet, in the current run, or delivered. */
  stage: "waiting" | "running" | "served";
  entry: CohortEntry | undefined;
  /** The bytes that the subscription counts for once it has been placed in a cohort. */
  bytes: number;
  /** The end of the pause after a run that exceeded its time limit. Until then, no run serves only this
   *  subscription. */
  pausedUntilMs: number;
  /** The query of the subscription while it is planned. Undefined if planning took no time. */
  pendingPlan: Promise<LiveQuery | LiveEvents> | undefined;
  /** The open events of another service, in place of an entry. */
  events: EventStream | undefined;
}

export interface CohortEntry extends Runnable, RunHistory {
  readonly cohort: Cohort;
  readonly key: string;
  readonly subscriptions: Set<Subscription>;
  /** The hash of the result that the served subscribers have. */
  hash: string | undefined;
  /** The positions of the entry in the index of changes. */
  indexEntries: readonly IndexEntry<CohortEntry>[];
  /** True if a subscriber waits for its first result. */
  awaitsFirstResult: boolean;
  /** True if the entry failed in a run of its own. A faulty entry is excluded from batches until it succeeds. */
  isFaulty: boolean;
}

export interface Cohort {
  readonly properties: CohortProperties;
  readonly entries: Map<string, CohortEntry>;
  readonly counts: Readonly<CohortCounts>;
  /** The number of queries that are due, or are in a run that has not ended. */
  readonly dueCount: number;
  add(subscription: Subscription, query: LiveQuery, row: string | undefined, key: string): void;
  remove(subscription: Subscription): void;
  /** Handles a possible change of data that all queries of the cohort read. */
  handleChange(): void;
  /** Handles a possible change of data that the entry reads. */
  handleEntryChange(entry: CohortEntry): void;
  close(): void;
}

/** Tracks entries, to find those that a change concerns. */
export interface WatchedEntries {
  add(entry: CohortEntry): void;
  remove(entry: CohortEntry): void;
  /** Marks an entry that failed. Any row may be the cause, so every change concerns the entry until it succeeds. */
  markFailing(entry: CohortEntry): void;
  unmarkFailing(entry: CohortEntry): void;
}

interface CohortParts {
  readonly properties: CohortProperties;
  readonly runner: Runner;
  /** Delivers a result to the subscriber, and never throws. */
  readonly sendResult: (subscription: Subscription, result: LiveResult) => void;
  readonly limiter: Limiter;
  readonly meter: RunSpeedMeter;
  readonly batchSize: number;
  /** The signal that is emitted after each successful run. */
  readonly runSignal: Signal<LiveRun>;
  readonly whenEmpty: (cohort: Cohort) => void;
  readonly groups: WatchedEntries;
  /** Called when callers must no longer share the statement of the cohort. */
  readonly whenNoLongerShared: (cohort: Cohort) => void;
}

/** The time within which new subscribers join the same run. */
const BATCH_MS = 3;
/** The longest pause between runs of a cohort, so that a burst of changes causes one run. A pause is otherwise as long
 *  as the last run. */
const MAX_PAUSE_MS = 100;
/** The pause after a run that exceeded its time limit, as a multiple of the duration of the run. */
const PAUSE_FACTOR = 5;
const NO_INDEX_ENTRIES: readonly IndexEntry<CohortEntry>[] = [];
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 3000;
/** The number of failed runs after which subscribers without a result receive the error. */
const FAILURES_BEFORE_ERROR = 3;

/** Returns whether all subscribers of the entry pause after a run that exceeded its time limit. @rule G-SUB-17 */
const isPaused = ({ subscriptions }: CohortEntry, nowMs: number): boolean => {
  for (const { pausedUntilMs } of subscriptions) if (pausedUntilMs <= nowMs) return false;
  return subscriptions.size > 0;
};

/** Returns whether all subscribers of the entry are too slow to receive another result now. @rule G-SUB-17 */
const areClientsSlow = ({ subscriptions }: CohortEntry): boolean => {
  for (const { stage, subscriber } of subscriptions)
    if (stage !== "served" || subscriber.isSlow?.() !== true) return false;
  return subscriptions.size > 0;
};

/** Creates a cohort without subscribers. */
export const createCohort = ({
  properties,
  runner,
  sendResult,
  limiter,
  meter,
  batchSize,
  runSignal,
  whenEmpty,
  groups,
  whenNoLongerShared,
}: CohortParts): Cohort => {
  const entries = new Map<string, CohortEntry>();
  /** The entries that must run even if the rest of the cohort does not. They have new subscribers or changed rows, or
   *  lost their run with a connection. */
  const dueEntries = new Set<CohortEntry>();
  const counts: CohortCounts = { runs: 0, rows: 0, deliveries: 0, skipped: 0, lagMs: undefined };
  let hasBeenFast = false;
  /** True if the last error affects all subscribers. */
  let hasFailedForAll = false;
  let isDirty = false;
  /** True if a change arrived since the last run began. */
  let hasChanged = false;
  let isRunning = false;
  /** The entries in batches that are running or waiting for a connection. */
  const runningEntries = new Set<CohortEntry>();
  let isClosed = false;
  let notBeforeMs = 0;
  let failureCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = 0;
  /** The time when the first unanswered change was noticed. It is only set if `live-run` has listeners. */
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

  /** Delivers a result to the subscribers of the entry, and returns the number of subscribers that received it. */
  const deliver = (entry: CohortEntry, result: LiveResult): number => {
    let count = 0;
    entry.hash = result.hash;
    for (const subscription of entry.subscriptions) {
      // Subscribers that joined after the statement was sent get the result of the next run.
      if (subscription.stage === "waiting") continue;
      subscription.stage = "served";
      if (subscription.lastHash === result.hash) continue;
      subscription.lastHash = result.hash;
      sendResult(subscription, result);
      count++;
    }
    return count;
  };

  const deliverError = (entry: CohortEntry, error: unknown, isForNewAlone = false): void => {
    for (const subscription of entry.subscriptions) {
      if (subscription.stage === "waiting" || (isForNewAlone && subscription.lastHash !== undefined)) continue;
      const text = subscription.source.encodeError(error);
      const hash = `error ${hashResult(text)}`;
      subscription.stage = "served";
      if (subscription.lastHash === hash) continue;
      subscription.lastHash = hash;
      sendResult(subscription, { hash, text, isError: true });
    }
    // After an error, any result counts as different.
    entry.hash = undefined;
    groups.markFailing(entry);
  };

  /** Returns the subscriptions of a failed run to the waiting stage. */
  const requeue = (batch: readonly CohortEntry[]): void => {
    for (const entry of batch) {
      for (const subscription of entry.subscriptions) {
        if (subscription.stage !== "running") continue;
        subscription.stage = "waiting";
        entry.awaitsFirstResult = true;
      }
    }
  };

  const runBatch = async (batch: readonly CohortEntry[], since?: number): Promise<void> => {
    const activeEntries = batch.filter((entry) => entry.subscriptions.size > 0);
    if (activeEntries.length === 0 || isClosed) return;
    const hashes = activeEntries.map((entry) => {
      const { awaitsFirstResult: isWanted } = entry;
      if (isWanted) {
        entry.awaitsFirstResult = false;
        for (const subscription of entry.subscriptions)
          if (subscription.stage === "waiting") subscription.stage = "running";
      }
      return isWanted ? undefined : entry.hash;
    });
    let results: readonly (LiveResult | undefined)[];
    const startedAtMs = performance.now();
    try {
      results = await runner.run(properties, activeEntries, hashes);
      recordRun(activeEntries, performance.now() - startedAtMs);
    } catch (error) {
      recordRun(activeEntries, performance.now() - startedAtMs);
      // The length of the list was checked, so the entry exists.
      if (activeEntries.length === 1 && isStatementTimeout(error))
        startPause(activeEntries[0] as CohortEntry, performance.now() - startedAtMs);
      if (!(error instanceof SharingEndedError)) return handleFailedRun(activeEntries, error, since);
      if (!isClosed) whenNoLongerShared(cohort);
      return;
    }
    // The subscriptions of a closed cohort already belong to other cohorts.
    if (isClosed) return;
    failureCount = 0;
    hasFailedForAll = false;
    const ranAtMs = runSignal.hasListeners ? performance.now() : 0;
    let deliveries = 0;
    let bytes = 0;
    activeEntries.forEach((entry, i) => {
      entry.isFaulty = false;
      groups.unmarkFailing(entry);
      const result = results[i];
      if (result === undefined) return;
      deliveries += deliver(entry, result);
      bytes += result.text.length;
    });
    counts.runs++;
    counts.rows += activeEntries.length;
    counts.deliveries += deliveries;
    if (!runSignal.hasListeners) return;
    const endedAtMs = performance.now();
    if (since !== undefined) counts.lagMs = endedAtMs - since;
    runSignal.emit({
      session: properties.session,
      changedAtMs: since,
      startedAtMs,
      ranAtMs,
      endedAtMs,
      queries: activeEntries.length,
      deliveries,
      bytes,
    });
  };

  const startPause = (entry: CohortEntry, tookMs: number): void => {
    for (const subscription of entry.subscriptions)
      subscription.pausedUntilMs = performance.now() + PAUSE_FACTOR * tookMs;
  };

  /** Records the duration of a run. A slow batch is halved until each slow entry runs in a batch of its own. */
  const recordRun = (batch: readonly CohortEntry[], tookMs: number): void => {
    const isSlow = meter.isSlow(tookMs, batch[0]?.slowBatchSize !== undefined);
    if (!isSlow) hasBeenFast = true;
    for (const entry of batch) entry.slowBatchSize = isSlow ? Math.ceil(batch.length / 2) : undefined;
  };

  const handleFailedRun = async (batch: readonly CohortEntry[], error: unknown, since?: number): Promise<void> => {
    if (isClosed) return;
    if (isUnavailable(error)) {
      failureCount++;
      if (failureCount > FAILURES_BEFORE_ERROR) for (const entry of batch) deliverError(entry, error, true);
      requeue(batch);
      for (const entry of batch) if (entry.subscriptions.size > 0) dueEntries.add(entry);
      return;
    }
    hasFailedForAll = isSharedFailure(error);
    if (batch.length === 1 || hasFailedForAll) {
      for (const entry of batch) {
        entry.isFaulty = batch.length === 1;
        // A faulty entry runs in the slow queue, so that the other entries do not wait for it.
        if (entry.isFaulty) entry.slowBatchSize ??= batchSize;
        deliverError(entry, error);
      }
      return;
    }
    // One entry is the cause. Halving the batch finds that entry, and the others get their results.
    requeue(batch);
    const half = batch.length >> 1;
    await runBatch(batch.slice(0, half), since);
    await runBatch(batch.slice(half), since);
  };

  const runWhenFree = async (speed: RunSpeed, batch: readonly CohortEntry[], since?: number): Promise<void> => {
    for (const entry of batch) runningEntries.add(entry);
    await limiter.run(speed, () => runBatch(batch, since));
    for (const entry of batch) runningEntries.delete(entry);
  };

  const splitIntoBatches = (list: readonly CohortEntry[], size: number): readonly (readonly CohortEntry[])[] => {
    const batches: (readonly CohortEntry[])[] = list.filter((entry) => entry.isFaulty).map((entry) => [entry]);
    const healthyEntries = list.filter((entry) => !entry.isFaulty);
    for (let i = 0; i < healthyEntries.length; i += size) batches.push(healthyEntries.slice(i, i + size));
    return batches;
  };

  const slowQueue = createSlowQueue(splitIntoBatches, (dueAgain) => {
    for (const entry of dueAgain) if (entry.subscriptions.size > 0) dueEntries.add(entry);
    if (dueEntries.size > 0) schedule(MAX_PAUSE_MS);
  });

  const run = async (): Promise<void> => {
    timer = undefined;
    if (isClosed) return;
    isRunning = true;
    const startedAtMs = performance.now();
    const list: CohortEntry[] = [];
    const postponedEntries: CohortEntry[] = [];
    for (const entry of isDirty ? entries.values() : dueEntries)
      (areClientsSlow(entry) || isPaused(entry, startedAtMs) ? postponedEntries : list).push(entry);
    if (hasChanged) counts.skipped += entries.size - list.length - postponedEntries.length;
    hasChanged = false;
    isDirty = false;
    dueEntries.clear();
    const since = changedAtMs;
    changedAtMs = undefined;
    const fastEntries = slowQueue.startSlowEntries(list, batchSize, (batch) => runWhenFree("slow", batch, since));
    const speed = hasBeenFast ? "fast" : "unknown";
    await Promise.all(splitIntoBatches(fastEntries, batchSize).map((batch) => runWhenFree(speed, batch, since)));
    isRunning = false;
    const endedAtMs = performance.now();
    if (failureCount > 0) notBeforeMs = endedAtMs + Math.min(FIRST_RETRY_MS * 2 ** (failureCount - 1), MAX_RETRY_MS);
    else notBeforeMs = endedAtMs + (hasFailedForAll ? MAX_PAUSE_MS : Math.min(endedAtMs - startedAtMs, MAX_PAUSE_MS));
    if (isDirty || dueEntries.size > 0) schedule(0);
    if (postponedEntries.length > 0) schedule(MAX_PAUSE_MS);
    for (const entry of postponedEntries) if (entry.subscriptions.size > 0) dueEntries.add(entry);
  };

  const onChange = (): void => {
    hasChanged = true;
    if (runSignal.hasListeners) changedAtMs ??= performance.now();
    schedule(0);
  };

  const cohort: Cohort = {
    properties,
    entries,
    counts,
    get dueCount() {
      // A query may become due again while it runs.
      return isDirty ? entries.size : new Set([...runningEntries, ...dueEntries]).size;
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
          indexEntries: NO_INDEX_ENTRIES,
          awaitsFirstResult: true,
          isFaulty: false,
          slowBatchSize: undefined,
        };
        entries.set(key, entry);
        groups.add(entry);
      }
      entry.awaitsFirstResult = true;
      entry.subscriptions.add(subscription);
      subscription.entry = entry;
      subscription.stage = "waiting";
      dueEntries.add(entry);
      schedule(BATCH_MS);
    },
    remove: (subscription) => {
      const { entry } = subscription;
      if (entry === undefined || !entry.subscriptions.delete(subscription)) return;
      subscription.entry = undefined;
      if (entry.subscriptions.size > 0) return;
      entries.delete(entry.key);
      dueEntries.delete(entry);
      groups.remove(entry);
      if (entries.size === 0) whenEmpty(cohort);
    },
    handleChange: () => {
      if (isDirty) return;
      isDirty = true;
      onChange();
    },
    handleEntryChange: (entry) => {
      if (isDirty) return;
      dueEntries.add(entry);
      onChange();
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
  return cohort;
};
