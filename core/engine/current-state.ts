/** The current state of an api. */
import type { ResolvedOptions } from "../kernel/options.ts";
import type { Model } from "./model/model.ts";

/** A plain object, because it is read with every request and a property costs no call. */
export interface CurrentState {
  /** Replaced by a new object after each change. */
  options: ResolvedOptions;
  /** Undefined until the first model is loaded. */
  model: Model | undefined;
  /** A promise that each new request awaits first. It must be removed afterwards. */
  gate?: (() => Promise<void>) | undefined;
}
