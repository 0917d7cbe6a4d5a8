/** Token buckets: each key may spend what it has saved, and saves at a steady rate. */

interface Bucket {
  tokens: number;
  atMs: number;
}

/** A key that was idle for longest is forgotten, and starts with a full bucket again. */
const MAX_BUCKETS = 100_000;

export interface TokenBuckets {
  /** Takes a token. @returns 0, or the milliseconds until there will be one */
  take(key: string, perMinute: number, burst: number): number;
}

export const createTokenBuckets = (now: () => number = () => performance.now()): TokenBuckets => {
  const buckets = new Map<string, Bucket>();
  return {
    take: (key, perMinute, burst) => {
      const atMs = now();
      const known = buckets.get(key);
      const perMs = perMinute / 60_000;
      const tokens = known === undefined ? burst : Math.min(burst, known.tokens + (atMs - known.atMs) * perMs);
      const isEnough = tokens >= 1;
      const bucket = known ?? { tokens, atMs };
      bucket.tokens = isEnough ? tokens - 1 : tokens;
      bucket.atMs = atMs;
      // the order of a map is that of insertion
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value as string); // it has some
      return isEnough ? 0 : (1 - tokens) / perMs;
    },
  };
};
