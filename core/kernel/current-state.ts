/** The current state of an api. */
import type { ResolvedOptions } from "../settings/options.ts";
import type { Model } from "../model/model.ts";

/** The state is a plain object, because every request reads it, and a property costs no call. */
export interface CurrentState {
  /** A new object replaces the options after each change. */
  options: ResolvedOptions;
  /** Undefined until the first model is loaded. */
  model: Model | undefined;
  /** Returns a promise that each new request awaits first. The code that sets the gate must also remove it. */
  gate?: (() => Promise<void>) | undefined;
}
