/** Limits concurrency, so that requests always find free connections in the pool, and slow statements do not block
 *  fast ones. */

/** The speed of a statement. `fast` means that the statement was fast at least once, `slow` that its last run was
 *  slow. */
export type RunSpeed = "fast" | "unknown" | "slow";

export interface Limiter {
  /** Runs a task as soon as the limit allows it. Tasks of one speed start in order of arrival. */
  run<Result>(speed: RunSpeed, task: () => Promise<Result>): Promise<Result>;
}

/** Creates a limiter. Slow tasks may use half of the limit. Slow and unknown tasks together may use all of it except
 *  one. @rule G-SUB-17 */
export const createLimiter = (maxCount: number): Limiter => {
  /** The waiting runs, in order of arrival. */
  const waitingRuns: { readonly speed: RunSpeed; readonly start: () => void }[] = [];
  const runningCounts: Record<RunSpeed, number> = { fast: 0, unknown: 0, slow: 0 };
  const maxSlow = Math.max(1, maxCount >> 1);
  const maxNotFast = Math.max(1, maxCount - 1);

  const mayStart = (speed: RunSpeed): boolean => {
    const notFastCount = runningCounts.unknown + runningCounts.slow;
    if (runningCounts.fast + notFastCount >= maxCount) return false;
    return speed === "fast" || (notFastCount < maxNotFast && (speed === "unknown" || runningCounts.slow < maxSlow));
  };

  const startNext = (): void => {
    const next = waitingRuns.find(({ speed }) => mayStart(speed));
    if (next === undefined) return;
    waitingRuns.splice(waitingRuns.indexOf(next), 1);
    runningCounts[next.speed]++;
    next.start();
  };

  return {
    run: async (speed, task) => {
      if (mayStart(speed) && waitingRuns.every((run) => run.speed !== speed)) runningCounts[speed]++;
      else await new Promise<void>((start) => waitingRuns.push({ speed, start }));
      try {
        return await task();
      } finally {
        runningCounts[speed]--;
        startNext();
      }
    },
  };
};
