/** What is in force at the moment. */
import type { ResolvedOptions } from "../kernel/options.ts";
import type { Model } from "./model/model.ts";

/** Read with every request, so that looking at it is no call. */
export interface Current {
  /** Another object after each change. */
  options: ResolvedOptions;
  /** Undefined: none is loaded yet. */
  model: Model | undefined;
  /** What the next request waits for first; it is to be taken away when that is over. */
  gate?: (() => Promise<void>) | undefined;
}
