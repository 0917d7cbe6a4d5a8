/** Declares schedules: the times at which a function or a webhook is called. */
import type { Delivery, RetryRules } from "../queue/delivery.ts";
import type { ListTimes } from "./cron.ts";

/** The rules of attempts of a scheduled event. */
export interface ScheduleRules extends RetryRules {
  /** The delay after which an event is dropped. */
  readonly toleranceSeconds: number;
}

export interface Schedule {
  /** The name, which is unique in a database. Events refer to it. */
  readonly name: string;
  /** The cron expression as it is written. */
  readonly cron: string;
  readonly listTimes: ListTimes;
  readonly retry: ScheduleRules;
  /** The payload of each event as JSON text. */
  readonly payload: string;
  readonly comment: string | null;
  /** Delivers an event. The signal ends the attempt. @throws Error if the attempt failed without a response */
  readonly deliver: (event: ScheduledEvent, signal: AbortSignal) => Promise<Delivery>;
}

/** A scheduled event as the database stores it. */
export interface ScheduledEvent {
  readonly id: string;
  /** The name of the schedule. Null for an event that an administrator created. */
  readonly name: string | null;
  readonly scheduledAt: Date;
  /** The payload as JSON text, with all digits of its numbers. */
  readonly payload: string;
  readonly comment: string | null;
  readonly createdAt: Date;
  /** The number of failed attempts. */
  readonly tries: number;
  /** The time since `scheduledAt`, by the clock of the database. */
  readonly ageSeconds: number;
}

export const DEFAULT_TOLERANCE_SECONDS = 21_600;
export const MAX_TOLERANCE_SECONDS = 86_400 * 30;

/** The rules of metadata without `retry_conf`. */
export const DEFAULT_METADATA_RULES: ScheduleRules = {
  retryCount: 0,
  intervalSeconds: 10,
  timeoutSeconds: 60,
  toleranceSeconds: DEFAULT_TOLERANCE_SECONDS,
};
