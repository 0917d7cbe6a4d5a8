/** Token buckets: each key may spend what it has saved, and saves at a steady rate. */

interface Bucket {
  tokens: number;
  atMs: number;
}

/** A key that was idle for longest is forgotten, and starts with a full bucket again. */
const MAX_BUCKETS = 100_000;

export interface TokenBuckets {
  /** Takes a token. @returns 0, or the milliseconds until there will be one. `isOwed`: one that is not there is owed */
  take(key: string, perMinute: number, burst: number, isOwed?: boolean): number;
  /** The number of whole tokens of the key. */
  left(key: string, perMinute: number, burst: number): number;
  /** Whoever counts for all says that there will be none for so long. */
  drain(key: string, perMinute: number, waitMs: number): void;
}

export const createTokenBuckets = (now: () => number = () => performance.now()): TokenBuckets => {
  const buckets = new Map<string, Bucket>();
  const put = (key: string, tokens: number): void => {
    const bucket = buckets.get(key) ?? { tokens, atMs: 0 };
    bucket.tokens = tokens;
    bucket.atMs = now();
    // the order of a map is that of insertion
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value as string); // it has some
  };
  const tokensOf = (key: string, perMinute: number, burst: number): number => {
    const known = buckets.get(key);
    return known === undefined ? burst : Math.min(burst, known.tokens + ((now() - known.atMs) * perMinute) / 60_000);
  };
  return {
    left: (key, perMinute, burst) => Math.max(0, Math.floor(tokensOf(key, perMinute, burst))),
    take: (key, perMinute, burst, isOwed = false) => {
      const perMs = perMinute / 60_000;
      const tokens = tokensOf(key, perMinute, burst);
      const isEnough = tokens >= 1;
      put(key, isEnough || isOwed ? Math.max(tokens - 1, -burst) : tokens);
      return isEnough ? 0 : (1 - tokens) / perMs;
    },
    drain: (key, perMinute, waitMs) => put(key, 1 - (waitMs * perMinute) / 60_000),
  };
};
