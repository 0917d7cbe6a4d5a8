/** Results that subscribers have, for as long as the next one may be told as a change of them. @rule X-PAT-8 */
import type { ResolvedOptions } from "../../core/index.ts";
import type { LiveResult } from "../subscriptions/api.ts";

export interface Kept {
  readonly text: string;
  readonly bytes: number;
  /** How many subscribers have it. */
  users: number;
}

export interface Keeper {
  /** All that is kept, each result once. */
  readonly bytes: number;
  /** Undefined: it is too large, by itself or with the others. Each one is to be released. */
  keep(result: LiveResult): Kept | undefined;
  release(kept: Kept | undefined): void;
}

type Limits = Pick<ResolvedOptions, "maxLivePatchBytes" | "maxLivePatchTotalBytes">;

export const createKeeper = (limits: () => Limits): Keeper => {
  const byResult = new WeakMap<LiveResult, Kept>();
  let total = 0;

  /** A text of its own: that of the result is a part of the answer for many. */
  const copyOf = ({ text }: LiveResult): Kept | undefined => {
    const { maxLivePatchBytes } = limits();
    if (text.length > maxLivePatchBytes) return undefined;
    const bytes = Buffer.from(text);
    return bytes.length > maxLivePatchBytes ? undefined : { text: bytes.toString(), bytes: bytes.length, users: 0 };
  };

  return {
    get bytes() {
      return total;
    },
    keep: (result) => {
      const kept = byResult.get(result) ?? copyOf(result);
      if (kept === undefined) return undefined;
      byResult.set(result, kept);
      if (kept.users === 0) {
        if (total + kept.bytes > limits().maxLivePatchTotalBytes) return undefined;
        total += kept.bytes;
      }
      kept.users++;
      return kept;
    },
    release: (kept) => {
      if (kept !== undefined && --kept.users === 0) total -= kept.bytes;
    },
  };
};
