/** Limits the tasks that run at the same time. `http.Agent` has such a limit too, but a request that waits for its
 *  socket cannot be aborted. */

/** The tasks with one key. */
interface KeyState {
  runningCount: number;
  /** The functions that start the waiting tasks, in the order of their arrival. */
  readonly waiters: Set<() => void>;
}

/** Runs a task when fewer than the permitted number of tasks run for the same key. A task that waits is forgotten when
 *  the signal is aborted, and the promise rejects. */
type RunLimited = <Result>(key: string, task: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

const waitForStart = ({ waiters }: KeyState, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const start = (): void => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const stop = (): void => {
      waiters.delete(start);
      reject(signal?.reason as Error);
    };
    waiters.add(start);
    signal?.addEventListener("abort", stop, { once: true });
  });

/** Creates a limit on the concurrent tasks of each key. @rule X-HTTP-2a X-EVT-9 */
export const createConcurrencyLimit = (maxCount: number): RunLimited => {
  const statesByKey = new Map<string, KeyState>();
  return async (key, task, signal) => {
    signal?.throwIfAborted();
    const keyState = statesByKey.get(key) ?? { runningCount: 0, waiters: new Set() };
    statesByKey.set(key, keyState);
    if (keyState.runningCount < maxCount) keyState.runningCount++;
    else await waitForStart(keyState, signal);
    try {
      return await task();
    } finally {
      const [next] = keyState.waiters;
      if (next === undefined) keyState.runningCount--;
      else {
        keyState.waiters.delete(next);
        next(); // the next task takes the place of this one
      }
      if (keyState.runningCount === 0) statesByKey.delete(key);
    }
  };
};
