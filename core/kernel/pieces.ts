/** Long work of the main thread in pieces, between which requests and timers get their turn. */

/** Work that says by `yield` where it may be interrupted: often, since only the clock decides whether it is. */
export type Pieces<Result> = Generator<void, Result, void>;

/** Nobody notices that long. */
const PIECE_MS = 5;

/** Gives way after each piece. */
export const inPieces = async <Result>(work: Pieces<Result>): Promise<Result> => {
  for (;;) {
    const endMs = performance.now() + PIECE_MS;
    do {
      const { done, value } = work.next();
      if (done === true) return value;
    } while (performance.now() < endMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** Each of many, in turn. */
export const eachInPieces = <Item>(items: Iterable<Item>, take: (item: Item) => void): Promise<void> =>
  inPieces(
    (function* (): Pieces<void> {
      for (const item of items) {
        take(item);
        yield;
      }
    })(),
  );

/** Where nothing can wait. */
export const atOnce = <Result>(work: Pieces<Result>): Result => {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
};
