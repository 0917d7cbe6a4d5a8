/** What limits say to other plugins: types and tokens. */
import { defineService, type Execution, type RelApiError, type Session } from "../../core/index.ts";

/** @rule G-LIM-8 */
export interface ApiLimits {
  /** How long an operation of the caller may take; undefined: as long as anybody's. */
  secondsOf(session: Session): number | undefined;
  timeExceeded(seconds: number): RelApiError;
}

/** `current`: those in force since the last load of the schema; undefined: there are none. */
export const apiLimitsService = defineService<{ current(): ApiLimits | undefined }>("api-limits");

/** @rule R-LIM-8 G-LIM-11 */
export interface CostLimits {
  /** Undefined: nothing limits the caller. Rejects with the refusal where the planner expects too much. */
  check(execution: Execution): Promise<void> | undefined;
}

/** For those that run statements of their own making over the callers' ones. `current`: undefined: there are none. */
export const costLimitsService = defineService<{ current(): CostLimits | undefined }>("cost-limits");

/** Token buckets that several processes share. */
export interface SharedBuckets {
  /** Takes a token. @returns 0, or the milliseconds until there will be one; undefined: nobody can tell now. `isOwed`: one
   *  that is not there is owed, because the request runs all the same */
  take(key: string, perMinute: number, burst: number, isOwed?: boolean): Promise<number | undefined>;
}

/** Of all machines: offered by `redis-limits`. `open`: there are limits, and the schema is loaded. */
export const redisBucketsService = defineService<SharedBuckets & { open(): void }>("redis-buckets");

/** Of the workers of one machine: offered by `worker-limits`. */
export const workerBucketsService = defineService<SharedBuckets>("worker-buckets");
