/** Declares the rules for attempts, and the outcome of an attempt. */

/** The rules for the attempts to deliver an event. */
export interface RetryRules {
  /** The number of attempts after the first one. */
  readonly retryCount: number;
  /** The time between two attempts. */
  readonly intervalSeconds: number;
  /** The time limit of one attempt. */
  readonly timeoutSeconds: number;
}

/** The rules of handlers in TypeScript. */
export const DEFAULT_RULES: RetryRules = { retryCount: 10, intervalSeconds: 10, timeoutSeconds: 60 };

/** The limits of the rules, which metadata has too. */
export const MAX_RULES: RetryRules = { retryCount: 10_000, intervalSeconds: 86_400 * 30, timeoutSeconds: 3600 };

/** The outcome of an attempt. */
export interface Delivery {
  /** The reason of a failed attempt. Undefined if the event is delivered. */
  readonly error?: string;
  /** True if the event gets no other attempt. */
  readonly isDropped?: boolean;
  /** The status and the beginning of the body of a webhook's response. */
  readonly status?: number;
  readonly response?: string;
  /** The time after which the receiver wants the next attempt (`Retry-After`). */
  readonly retryAfterSeconds?: number;
}

/** Reads the rules of a handler in TypeScript. Rules that are not given have the defaults. `fail` creates the error
 *  for a reason. @rule X-EVT-2 X-SCH-1 */
export const readRules = <Rules extends RetryRules>(
  options: Readonly<Record<string, unknown>>,
  defaults: Rules,
  limits: Rules,
  fail: (reason: string) => Error,
): Rules => {
  for (const [rule, number] of Object.entries(options)) {
    if (!Object.hasOwn(limits, rule)) throw fail(`has an unknown option "${rule}"`);
    const max = limits[rule as keyof Rules] as number; // the limits have every rule
    const min = rule === "retryCount" ? 0 : 1;
    if (number !== undefined && !(Number.isInteger(number) && Number(number) >= min && Number(number) <= max))
      throw fail(`has ${rule}, which is not a whole number from ${min} to ${max}`);
  }
  return { ...defaults, ...Object.fromEntries(Object.entries(options).filter(([, rule]) => rule !== undefined)) };
};
