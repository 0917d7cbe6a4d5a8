/** Promises that the abort of a signal settles. */

/** Returns the result of the promise, or undefined as soon as the signal is aborted. `Promise.race` would keep a
 *  reaction in memory for each call until the signal is aborted. */
export const untilAborted = <Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result | undefined> =>
  new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const forget = (): void => signal.removeEventListener("abort", stop);
    promise.then(
      (result) => {
        forget();
        resolve(result);
      },
      (error: unknown) => {
        forget();
        reject(error as Error);
      },
    );
  });
