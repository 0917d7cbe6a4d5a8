/** Reads the results of subscriptions. */
import { untilAborted } from "../../../shared/abort.ts";

export const isAsyncIterable = (value: object): value is AsyncIterable<unknown> => Symbol.asyncIterator in value;

/** Converts each result. The end of the reader is passed on at once, also while a result is awaited. */
export const mapResults = <From, To>(
  results: AsyncIterableIterator<From, undefined>,
  convert: (result: From) => To,
): AsyncIterableIterator<To, undefined> => {
  const mappedResults: AsyncIterableIterator<To, undefined> = {
    next: async () => {
      const { done, value } = await results.next();
      return done === true ? { done, value: undefined } : { done: false, value: convert(value) };
    },
    return: async () => {
      await results.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => mappedResults,
  };
  return mappedResults;
};

/** Handles results one after another, until there are no more or the signal is aborted. Only `signal` ends a generator
 *  that waits for its next result. */
export const readUntilAborted = async <Result>(
  results: AsyncIterable<Result>,
  signal: AbortSignal,
  handle: (result: Result) => Promise<void>,
): Promise<void> => {
  const iterator = results[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const result = await untilAborted(iterator.next(), signal);
    if (result?.done === true) return;
    if (result !== undefined && !signal.aborted) await handle(result.value);
  }
  Promise.resolve(iterator.return?.()).catch(() => undefined); // no reader awaits the error
};
