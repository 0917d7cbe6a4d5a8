/** The interface of limits for other plugins: types and services. */
import { defineService, type Execution, type RelApiError, type Session } from "../../core/index.ts";

/** The limits of GraphQL operations, for the surface. @rule G-LIM-8 @experimental */
export interface ApiLimits {
  /** Returns the seconds that an operation of the caller may take. Undefined if the caller's role has no such limit. */
  findTimeLimitSeconds(session: Session): number | undefined;
  createTimeExceededError(seconds: number): RelApiError;
}

/** The service by which the GraphQL surface finds time limits. `current` returns the limits as of the last load of the
 *  model, or undefined without limits. @experimental */
export const apiLimitsService = defineService<{ current(): ApiLimits | undefined }>("api-limits");

/** The check of estimated costs, for plugins that run statements of their own. @rule R-LIM-8 G-LIM-11 @experimental */
export interface CostLimits {
  /** Checks the estimated cost of an execution. Returns undefined if the caller has no such limit. Rejects if the
   *  estimate exceeds a limit. */
  check(execution: Execution): Promise<void> | undefined;
}

/** The service by which plugins check statements that they run for a caller. `current` returns undefined if there are
 *  no limits. @experimental */
export const costLimitsService = defineService<{ current(): CostLimits | undefined }>("cost-limits");

/** Token buckets: each key gains tokens at a steady rate, and can spend saved ones at once. @experimental */
export interface TokenBuckets<Wait> {
  /** Takes a token. With `isOwed` a missing token is owed, because the request runs anyway. @returns 0, or the
   *  milliseconds until the next token */
  take(key: string, perMinute: number, burst: number, isOwed?: boolean): Wait;
}

/** Buckets that several processes share. `take` resolves to undefined if the shared counter cannot be reached.
 *  @experimental */
export type SharedTokenBuckets = TokenBuckets<Promise<number | undefined>>;

/** The buckets that all machines share, provided by `redis-limits`. `open` is called once there are limits and the
 *  model is loaded. @experimental */
export const redisBucketsService = defineService<SharedTokenBuckets & { open(): void }>("redis-buckets");

/** The buckets that the workers of one machine share, provided by `worker-limits`. They are not used if
 *  `redisBucketsService` is offered. @experimental */
export const workerBucketsService = defineService<SharedTokenBuckets>("worker-buckets");
