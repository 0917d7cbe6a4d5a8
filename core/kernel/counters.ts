/** The counters of an api, shown at `/metrics` (R-ADM-2). */

/** Counts events by name, for metrics. The names in use are `model-loads`, `model-load-failures` and
 *  `model-load-seconds` (of the last load); `pool-timeouts`, `pool-available`, `pool-waiting` and `pool-max`. The
 *  caches `cache` and `jwt-cache` have `-requests`, `-hits`, `-evictions`, `-conflicts`, `-entries` and `-bytes`.
 *  Others are `results-refused`, `unread-bytes`, `unread-closed`, `prepared-statements`, `prepared-bytes`,
 *  `body-bytes`, `bodies-refused`, `requests-late` and `requests-cut-off` (when the api closed). Each limit has
 *  `refused-<limit>`. Plugins add their own. An unknown name reads 0. @experimental */
export interface Counters {
  add(name: string, increment?: number): void;
  set(name: string, to: number): void;
  /** Adds a counter whose value `read` returns whenever the counter is shown. */
  watch(name: string, read: () => number): void;
  get(name: string): number;
}

/** Creates the counters of one api. */
export const createCounters = (): Counters => {
  const numbers = new Map<string, number>();
  const readers = new Map<string, () => number>();
  const get = (name: string): number => readers.get(name)?.() ?? numbers.get(name) ?? 0;
  return {
    add: (name, increment = 1) => void numbers.set(name, (numbers.get(name) ?? 0) + increment),
    set: (name, to) => void numbers.set(name, to),
    watch: (name, read) => void readers.set(name, read),
    get,
  };
};
