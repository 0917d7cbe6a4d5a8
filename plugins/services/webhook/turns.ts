/** Limits the tasks that run at the same time. `http.Agent` has such a limit too, but a request that waits for its
 *  socket cannot be aborted. */

/** The tasks with one key. */
interface Line {
  runningCount: number;
  /** The functions that start the waiting tasks, in the order of their arrival. */
  readonly waiters: Set<() => void>;
}

/** Runs a task when fewer than the permitted number of tasks run for the same key. A task that waits is forgotten when
 *  the signal is aborted, and the promise rejects. */
type RunInTurn = <Result>(key: string, task: () => Promise<Result>, signal?: AbortSignal) => Promise<Result>;

const waitForTurn = ({ waiters }: Line, signal: AbortSignal | undefined): Promise<void> =>
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

/** Creates a function that runs at most `maxCount` tasks of one key at the same time. @rule X-HTTP-2a X-EVT-9 */
export const createTurns = (maxCount: number): RunInTurn => {
  const lines = new Map<string, Line>();
  return async (key, task, signal) => {
    signal?.throwIfAborted();
    const line = lines.get(key) ?? { runningCount: 0, waiters: new Set() };
    lines.set(key, line);
    if (line.runningCount < maxCount) line.runningCount++;
    else await waitForTurn(line, signal);
    try {
      return await task();
    } finally {
      const [next] = line.waiters;
      if (next === undefined) line.runningCount--;
      else {
        line.waiters.delete(next);
        next(); // the next task takes the place of this one
      }
      if (line.runningCount === 0) lines.delete(key);
    }
  };
};
