
/** The key of a plan: plans hold no bound values, so its JSON is one already. Plans are built in a fixed key order by the surfaces. */
export const planKey = (plan: object): string => JSON.stringify(plan);

/** A bounded map that forgets what was used longest ago. */
export interface Cache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  clear(): void;
  readonly size: number;
}

export const createCache = <Value>(maxEntries: number): Cache<Value> => {
  const entries = new Map<string, Value>();
  return {
    get: (key) => {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      // re-inserting makes it the youngest; skipped while the cache is half empty, since nothing is at risk then
      if (entries.size * 2 > maxEntries) {
        entries.delete(key);
        entries.set(key, found);
      }
      return found;
    },
    set: (key, value) => {
      entries.set(key, value);
      if (entries.size <= maxEntries) return;
      const oldest = entries.keys().next();
      if (!oldest.done) entries.delete(oldest.value);
    },
    delete: (key) => {
      entries.delete(key);
    },
    clear: () => entries.clear(),
    get size() {
      return entries.size;
    },
  };
};

