/** Reads the results of subscriptions. */

export const isAsyncIterable = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

/** Converts each result. The end of the reader is passed on at once, also while a result is awaited. */
export const mapResults = <From, To>(
  results: AsyncIterableIterator<From, undefined>,
  convert: (result: From) => To,
): AsyncIterableIterator<To, undefined> => {
  const mapped: AsyncIterableIterator<To, undefined> = {
    next: async () => {
      const { done, value } = await results.next();
      return done === true ? { done, value: undefined } : { done: false, value: convert(value) };
    },
    return: async () => {
      await results.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => mapped,
  };
  return mapped;
};

/** Handles results one after another, until there are no more or the signal is aborted. Only `signal` ends a generator
 *  that waits for its next result. */
export const readUntilAborted = async <Result>(
  results: AsyncIterable<Result>,
  signal: AbortSignal,
  handle: (result: Result) => Promise<void>,
): Promise<void> => {
  const iterator = results[Symbol.asyncIterator]();
  const close = (): void => void Promise.resolve(iterator.return?.()).catch(() => undefined); // after the abort, no reader waits for the error
  let stop: () => void = () => undefined;
  const aborted = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const next = iterator.next();
      next.catch(() => undefined); // an error after the abort has no reader
      const result = await Promise.race([next, aborted]);
      if (result === undefined || signal.aborted) return close();
      if (result.done === true) return;
      await handle(result.value);
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
};
