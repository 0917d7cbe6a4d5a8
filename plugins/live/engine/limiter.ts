/** Limits concurrency, so that requests always find free connections in the pool, and slow statements do not block
 *  quick ones. */

/** The speed of a statement. `quick` means that the statement was quick at least once, `slow` that its last run was
 *  slow. */
export type RunSpeed = "quick" | "unknown" | "slow";

export interface Limiter {
  /** Runs a task as soon as the limit allows it. Tasks of one speed start in order of arrival. */
  run<Result>(speed: RunSpeed, task: () => Promise<Result>): Promise<Result>;
}

interface WaitingRun {
  readonly number: number;
  readonly start: () => void;
}

const RUN_SPEEDS: readonly RunSpeed[] = ["quick", "unknown", "slow"];

/** Creates a limiter. Slow tasks may use half of the limit. Slow and unknown tasks together may use all of it except
 *  one. @rule G-SUB-17 */
export const createLimiter = (maxCount: number): Limiter => {
  const waiting: Readonly<Record<RunSpeed, WaitingRun[]>> = { quick: [], unknown: [], slow: [] };
  const running: Record<RunSpeed, number> = { quick: 0, unknown: 0, slow: 0 };
  const maxSlow = Math.max(1, maxCount >> 1);
  const maxUnsure = Math.max(1, maxCount - 1);
  let lastNumber = 0;

  const mayStart = (speed: RunSpeed): boolean => {
    const unsure = running.unknown + running.slow;
    if (running.quick + unsure >= maxCount) return false;
    return speed === "quick" || (unsure < maxUnsure && (speed === "unknown" || running.slow < maxSlow));
  };

  const startNext = (): void => {
    let next: RunSpeed | undefined;
    for (const speed of RUN_SPEEDS) {
      const [first] = waiting[speed];
      if (first === undefined || !mayStart(speed)) continue;
      // This list is not empty, because the loop chooses no empty list.
      if (next === undefined || first.number < (waiting[next][0] as WaitingRun).number) next = speed;
    }
    if (next === undefined) return;
    running[next]++;
    waiting[next].shift()?.start();
  };

  return {
    run: async (speed, task) => {
      if (mayStart(speed) && waiting[speed].length === 0) running[speed]++;
      else await new Promise<void>((start) => waiting[speed].push({ number: ++lastNumber, start }));
      try {
        return await task();
      } finally {
        running[speed]--;
        startNext();
      }
    },
  };
};
