/** Detects statements that are slow in comparison to the others. If all statements are slow, the cause is a busy
 *  database. */

export interface RunSpeedMeter {
  /** Returns whether the duration of a statement counts as slow. A slow statement stays slow until its duration is
   *  below the limit for fast ones. */
  isSlow(tookMs: number, wasSlow: boolean): boolean;
}

const SLOW_MS = 300;
/** The factor by which a slow statement takes longer than the fastest recent one. */
const SLOW_FACTOR = 5;
const RECENT_COUNT = 8;

export const createRunSpeedMeter = (): RunSpeedMeter => {
  const recentMs: number[] = [];
  return {
    isSlow: (tookMs, wasSlow) => {
      const isSlow =
        tookMs > SLOW_MS && (wasSlow || recentMs.length === 0 || tookMs > SLOW_FACTOR * Math.min(...recentMs));
      recentMs.push(tookMs);
      if (recentMs.length > RECENT_COUNT) recentMs.shift();
      return isSlow;
    },
  };
};

/** The results of earlier runs of an entry. */
export interface RunHistory {
  /** The size of the batches in which an entry runs in the slow queue. It is set if the entry was in a slow batch or
   *  raised an error. Undefined if the entry runs with the others. */
  slowBatchSize: number | undefined;
}

/** The slow and the faulty entries of a cohort, which run without delaying the others. @rule G-SUB-17 */
interface SlowQueue<Entry extends RunHistory> {
  /** Starts the slow entries of the list and returns the others. An entry that is still running is reported to
   *  `onDueAgain` afterwards. */
  startSlowEntries(
    list: readonly Entry[],
    size: number,
    run: (batch: readonly Entry[]) => Promise<void>,
  ): readonly Entry[];
}

/** Creates a slow queue. `splitIntoBatches` returns batches of at most `size` entries. `onDueAgain` receives the
 *  entries that became due while they ran. */
export const createSlowQueue = <Entry extends RunHistory>(
  splitIntoBatches: (list: readonly Entry[], size: number) => readonly (readonly Entry[])[],
  onDueAgain: (entries: readonly Entry[]) => void,
): SlowQueue<Entry> => {
  /** The running entries, with a flag for entries that became due again. */
  const runningEntries = new Map<Entry, boolean>();
  return {
    startSlowEntries: (list, size, run) => {
      if (runningEntries.size === 0 && list.every(({ slowBatchSize }) => slowBatchSize === undefined)) return list;
      for (const entry of list) if (runningEntries.has(entry)) runningEntries.set(entry, true);
      const idleEntries = list.filter((entry) => !runningEntries.has(entry));
      const slowEntries = idleEntries.filter(({ slowBatchSize }) => slowBatchSize !== undefined);
      for (const entry of slowEntries) runningEntries.set(entry, false);
      for (const batch of splitIntoBatches(
        slowEntries,
        Math.min(size, ...slowEntries.map(({ slowBatchSize = 1 }) => slowBatchSize)),
      ))
        void run(batch).then(() => {
          const dueEntries = batch.filter((entry) => runningEntries.get(entry) === true);
          for (const entry of batch) runningEntries.delete(entry);
          onDueAgain(dueEntries);
        });
      return slowEntries.length === 0
        ? idleEntries
        : idleEntries.filter(({ slowBatchSize }) => slowBatchSize === undefined);
    },
  };
};
