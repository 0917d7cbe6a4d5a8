/** Runs long work on the main thread in slices, between which requests and timers run. */

/** Work that yields wherever it may be interrupted. It should yield often, because only the clock decides whether it is
 *  interrupted. */
export type Pieces<Result> = Generator<void, Result, void>;

/** The length of a slice on an idle event loop, short enough to go unnoticed. */
const PIECE_MS = 5;
/** The length of a slice on a busy event loop. Each concurrent request waits for several slices, one per response of
 *  the database. */
const BUSY_PIECE_MS = 1;
/** A turn of the event loop that is shorter had no work. */
const IDLE_MS = 0.05;
/** Under constant load, other work gets this multiple of the time of one slice. */
const OTHERS_SHARE = 4;

/** Yields until the event loop is idle, or other work has had its share. Resolves with the time that the other work
 *  took. */
const giveWay = async (pieceMs: number): Promise<number> => {
  let othersMs = 0;
  for (;;) {
    const startMs = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    const turnMs = performance.now() - startMs;
    othersMs += turnMs;
    if (turnMs < IDLE_MS || othersMs > OTHERS_SHARE * pieceMs) return othersMs;
  }
};

/** Runs the work, and yields to the event loop after each slice. */
export const inPieces = async <Result>(work: Pieces<Result>): Promise<Result> => {
  let longMs = PIECE_MS;
  for (;;) {
    const startMs = performance.now();
    let tookMs: number;
    do {
      const { done, value } = work.next();
      if (done === true) return value;
      tookMs = performance.now() - startMs;
    } while (tookMs < longMs);
    longMs = (await giveWay(tookMs)) < IDLE_MS ? PIECE_MS : BUSY_PIECE_MS;
  }
};

/** Calls `take` for each item, in slices. */
export const eachInPieces = <Item>(items: Iterable<Item>, take: (item: Item) => void): Promise<void> =>
  inPieces(
    (function* (): Pieces<void> {
      for (const item of items) {
        take(item);
        yield;
      }
    })(),
  );

/** Runs the work without interruption, for callers that cannot wait. */
export const atOnce = <Result>(work: Pieces<Result>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
