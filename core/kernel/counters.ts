/** Counters of an api, shown at `/metrics` (R-ADM-2). */

/** Names in use: `model-loads`, `model-load-failures`, `model-load-seconds` (of the last load); `pool-timeouts`,
 *  `pool-available`, `pool-waiting`, `pool-max`; those of each store of caches, `cache` and `jwt-cache`: `-requests`,
 *  `-hits`, `-evictions`, `-conflicts`, `-entries`, `-bytes`; `results-refused`, `unread-bytes`, `unread-closed`,
 *  `prepared-statements`, `prepared-bytes`, `body-bytes`, `bodies-refused`, `requests-late`,
 *  `requests-cut-off` (when the api closed); `refused-<limit>`, by the
 *  names of the limits; those of plugins. An unknown name reads 0. */
export interface Counters {
  add(name: string, by?: number): void;
  set(name: string, to: number): void;
  /** Read when it is shown. */
  watch(name: string, read: () => number): void;
  get(name: string): number;
}

export const createCounters = (): Counters => {
  const numbers = new Map<string, number>();
  const watched = new Map<string, () => number>();
  const get = (name: string): number => watched.get(name)?.() ?? numbers.get(name) ?? 0;
  return {
    add: (name, by = 1) => void numbers.set(name, (numbers.get(name) ?? 0) + by),
    set: (name, to) => void numbers.set(name, to),
    watch: (name, read) => void watched.set(name, read),
    get,
  };
};
