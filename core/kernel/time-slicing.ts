/** Runs long work on the main thread in slices, between which requests and timers run. */

/** Work that yields wherever other work may interrupt it. The work should yield often, because only the clock decides
 *  about an interruption. @experimental */
export type Slices<Result> = Generator<void, Result, void>;

/** The length of a slice on an idle event loop, short enough to go unnoticed. */
const SLICE_MS = 5;
/** The length of a slice on a busy event loop. Each concurrent request waits for several slices, one per response of
 *  the database. */
const BUSY_SLICE_MS = 1;
/** The time below which a turn of the event loop had no work. */
const IDLE_MS = 0.05;
/** Under constant load, other work gets this multiple of the time of one slice. */
const OTHER_WORK_SHARE = 4;

/** Yields until the event loop is idle, or other work has had its share. Resolves with the time that the other work
 *  took. */
const yieldToEventLoop = async (sliceMs: number): Promise<number> => {
  let othersMs = 0;
  for (;;) {
    const startMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    const turnMs = performance.now() - startMs;
    othersMs += turnMs;
    if (turnMs < IDLE_MS || othersMs > OTHER_WORK_SHARE * sliceMs) return othersMs;
  }
};

/** Runs the work, and yields to the event loop after each slice. */
export const runSliced = async <Result>(work: Slices<Result>): Promise<Result> => {
  let longMs = SLICE_MS;
  for (;;) {
    const startMs = performance.now();
    let tookMs: number;
    do {
      const { done, value } = work.next();
      if (done === true) return value;
      tookMs = performance.now() - startMs;
    } while (tookMs < longMs);
    longMs = (await yieldToEventLoop(tookMs)) < IDLE_MS ? SLICE_MS : BUSY_SLICE_MS;
  }
};

/** Calls `take` for each item, in slices. */
export const forEachSliced = <Item>(items: Iterable<Item>, take: (item: Item) => void): Promise<void> =>
  runSliced(
    (function* (): Slices<void> {
      for (const item of items) {
        take(item);
        yield;
      }
    })(),
  );

/** Runs the work without interruption, for callers that cannot wait. */
export const runToEnd = <Result>(work: Slices<Result>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
