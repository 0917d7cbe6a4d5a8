/** The token buckets of one process. */
import type { TokenBuckets } from "./api.ts";

interface Bucket {
  tokens: number;
  atMs: number;
}

/** The largest number of buckets. Above it, the bucket that was idle for longest is removed, so its key starts with a
 *  full bucket again. */
const MAX_BUCKETS = 100_000;

export interface LocalTokenBuckets extends TokenBuckets<number> {
  /** Returns the number of whole tokens of the key. */
  countTokens(key: string, perMinute: number, burst: number): number;
  /** Empties the bucket for the time `waitMs`, because the shared counter has no token left. */
  drain(key: string, perMinute: number, waitMs: number): void;
}

export const createLocalTokenBuckets = (): LocalTokenBuckets => {
  const buckets = new Map<string, Bucket>();
  const storeTokens = (key: string, tokens: number): void => {
    const bucket = buckets.get(key) ?? { tokens, atMs: 0 };
    bucket.tokens = tokens;
    bucket.atMs = performance.now();
    // The key moves to the end of the map, which iterates in insertion order.
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value as string); // the map is not empty
  };
  const computeTokens = (key: string, perMinute: number, burst: number): number => {
    const bucket = buckets.get(key);
    return bucket === undefined
      ? burst
      : Math.min(burst, bucket.tokens + ((performance.now() - bucket.atMs) * perMinute) / 60_000);
  };
  return {
    countTokens: (key, perMinute, burst) => Math.max(0, Math.floor(computeTokens(key, perMinute, burst))),
    take: (key, perMinute, burst, isOwed = false) => {
      const perMs = perMinute / 60_000;
      const tokens = computeTokens(key, perMinute, burst);
      const isEnough = tokens >= 1;
      storeTokens(key, isEnough || isOwed ? Math.max(tokens - 1, -burst) : tokens);
      return isEnough ? 0 : (1 - tokens) / perMs;
    },
    drain: (key, perMinute, waitMs) => storeTokens(key, 1 - (waitMs * perMinute) / 60_000),
  };
};
