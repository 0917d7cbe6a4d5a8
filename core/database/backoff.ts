/** The pauses between attempts: one second, doubling to 32. @rule R-SC-4 R-SC-5 */
interface Backoff {
  /** Returns the milliseconds to wait now. The next pause is longer. */
  next(): number;
  reset(): void;
}

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 32_000;

/** Creates a series of pauses that grow with each attempt. */
export const createBackoff = (): Backoff => {
  let pauseMs = FIRST_PAUSE_MS;
  return {
    next: () => {
      const delayMs = pauseMs;
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
      return delayMs;
    },
    reset: () => {
      pauseMs = FIRST_PAUSE_MS;
    },
  };
};
