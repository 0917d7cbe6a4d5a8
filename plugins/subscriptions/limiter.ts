/** Limits concurrency, in order of arrival, so that requests always find connections in the pool. */
export interface Limiter {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
}

export const createLimiter = (maxCount: number): Limiter => {
  const waiting: (() => void)[] = [];
  let runningCount = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) runningCount--;
    else next();
  };
  return {
    run: async (task) => {
      if (runningCount >= maxCount) await new Promise<void>((resolve) => waiting.push(resolve));
      else runningCount++;
      try {
        return await task();
      } finally {
        leave();
      }
    },
  };
};
