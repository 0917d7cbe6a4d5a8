/** Which statements are slow beside the others. Where all are, the database is busy, and none of them is to blame. */

export interface PaceMeter {
  /** Of a statement that has taken so long. Once slow, it is so until it takes no longer than a quick one may. */
  isSlow(tookMs: number, wasSlow: boolean): boolean;
}

const SLOW_MS = 300;
/** Slower than the quickest of late. */
const TIMES = 5;
const LATE_COUNT = 8;

export const createPaceMeter = (): PaceMeter => {
  const late: number[] = [];
  return {
    isSlow: (tookMs, wasSlow) => {
      const isSlow = tookMs > SLOW_MS && (wasSlow || late.length === 0 || tookMs > TIMES * Math.min(...late));
      late.push(tookMs);
      if (late.length > LATE_COUNT) late.shift();
      return isSlow;
    },
  };
};

/** Of a cohort's entry. */
export interface Paced {
  /** It was in a slow batch, or raised an error: it runs beside the others, in a batch of so many; undefined: with
   *  them. */
  share: number | undefined;
}

/** The slow and the faulty entries of a cohort, which the others do not wait for. @rule G-SUB-17 */
export interface SlowLane<Entry extends Paced> {
  /** Runs those of the list that are slow; one that still runs has another run afterwards. Returns the others. */
  take(list: readonly Entry[], size: number, run: (batch: readonly Entry[]) => Promise<void>): readonly Entry[];
}

/** `batchesOf`: no larger than `size`. `again`: these have become due while they ran. */
export const createSlowLane = <Entry extends Paced>(
  batchesOf: (list: readonly Entry[], size: number) => readonly (readonly Entry[])[],
  again: (entries: readonly Entry[]) => void,
): SlowLane<Entry> => {
  /** Whether it is due again. */
  const running = new Map<Entry, boolean>();
  return {
    take: (list, size, run) => {
      if (running.size === 0 && list.every(({ share }) => share === undefined)) return list;
      for (const entry of list) if (running.has(entry)) running.set(entry, true);
      const free = list.filter((entry) => !running.has(entry));
      const slow = free.filter(({ share }) => share !== undefined);
      for (const entry of slow) running.set(entry, false);
      for (const batch of batchesOf(slow, Math.min(size, ...slow.map(({ share = 1 }) => share))))
        void run(batch).then(() => {
          const due = batch.filter((entry) => running.get(entry) === true);
          for (const entry of batch) running.delete(entry);
          again(due);
        });
      return slow.length === 0 ? free : free.filter(({ share }) => share === undefined);
    },
  };
};
