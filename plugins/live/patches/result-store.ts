/** Stores the results that subscribers have, as long as the next result may be sent as a patch. @rule X-PAT-8 */
import { memoize, type ResolvedOptions } from "../../../core/index.ts";
import type { LiveResult } from "../api.ts";

export interface StoredResult {
  readonly text: string;
  readonly bytes: number;
  subscriberCount: number;
}

export interface ResultStore {
  /** The size of all stored results; each result counts once. */
  readonly bytes: number;
  /** Stores a result. Undefined if the result is too large, by itself or together with the others. Each stored result
   *  must be released. */
  store(result: LiveResult): StoredResult | undefined;
  release(storedResult: StoredResult | undefined): void;
}

type StoreLimits = Pick<ResolvedOptions, "maxLivePatchBytes" | "maxLivePatchTotalBytes">;

/** Creates the store of the last results, whose size is limited. */
export const createResultStore = (limits: () => StoreLimits): ResultStore => {
  let total = 0;

  /** Copies the text, because the text of a result shares the memory of the response for many subscribers. */
  const copyResult = memoize(({ text }: LiveResult): StoredResult => {
    const bytes = Buffer.from(text);
    return { text: bytes.toString(), bytes: bytes.length, subscriberCount: 0 };
  });

  return {
    get bytes() {
      return total;
    },
    store: (result) => {
      const { maxLivePatchBytes, maxLivePatchTotalBytes } = limits();
      if (result.text.length > maxLivePatchBytes) return undefined;
      const storedResult = copyResult(result);
      if (storedResult.subscriberCount === 0) {
        const { bytes } = storedResult;
        if (bytes > maxLivePatchBytes || total + bytes > maxLivePatchTotalBytes) return undefined;
        total += bytes;
      }
      storedResult.subscriberCount++;
      return storedResult;
    },
    release: (storedResult) => {
      if (storedResult !== undefined && --storedResult.subscriberCount === 0) total -= storedResult.bytes;
    },
  };
};
