/** Long work of the main thread in pieces, between which requests and timers get their turn. */

/** Work that says by `yield` where it may be interrupted: often, since only the clock decides whether it is. */
export type Pieces<Result> = Generator<void, Result, void>;

/** Nobody notices that long. */
const PIECE_MS = 5;
/** While others are busy: each of their requests waits for several pieces, one whenever the database answers. */
const BUSY_PIECE_MS = 1;
/** A turn of the event loop that took less had nothing to do. */
const IDLE_MS = 0.05;
/** While nobody is ever idle, others get so many times the time of a piece. */
const OTHERS_SHARE = 4;

/** Until nobody has anything to do, or the others have had their share. Resolves with the time that they took. */
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

/** Gives way after each piece. */
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
