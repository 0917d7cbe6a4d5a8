/** What was planned for a request, kept for those that say the same. */
import { createCache, type Cache, type Model } from "../../core/index.ts";

/** Bounded in number and length, and gone with the model. */
export interface Kept<Planned> {
  /** `parts`: everything beside the model that the plan depends on. */
  get(model: Model, parts: readonly string[], plan: () => Planned): Planned;
}

/** Nobody asks for longer ones twice. */
const MAX_KEY_LENGTH = 8000;

export const createKept = <Planned>(maxEntries: number): Kept<Planned> => {
  const caches = new WeakMap<Model, Cache<Planned>>();
  return {
    get: (model, parts, plan) => {
      const key = parts.join("\u0000");
      // a NUL within a part would make two lists one
      if (key.length > MAX_KEY_LENGTH || parts.some((part) => part.includes("\u0000"))) return plan();
      let cache = caches.get(model);
      if (cache === undefined) {
        cache = createCache(maxEntries);
        caches.set(model, cache);
      }
      const known = cache.get(key);
      if (known !== undefined) return known;
      const planned = plan();
      cache.set(key, planned);
      return planned;
    },
  };
};
