/** Schedules in TypeScript: `schedules({ "0 3 * * *": async ({ scheduledAt }) => … })`. */
import { definePlugin, defineService, type Json, type Plugin } from "../../../core/index.ts";
import { DEFAULT_RULES, MAX_RULES, readRules } from "../queue/delivery.ts";
import { InvalidCron, parseCron, type ListTimes } from "./cron.ts";
import { scheduleInvalid } from "./errors.ts";
import {
  DEFAULT_TOLERANCE_SECONDS,
  MAX_TOLERANCE_SECONDS,
  type Schedule,
  type ScheduledEvent,
  type ScheduleRules,
} from "./schedule.ts";

/** A run of a schedule, as a function receives it. Each run arrives at least once, so a function that must not act
 *  twice has to store the `id`. @rule X-SCH-6 @experimental */
export interface ScheduledRun {
  /** A UUID that is the same in each attempt. */
  readonly id: string;
  /** The name of the schedule, or its cron expression if it has no name. */
  readonly name: string;
  /** The time of the schedule, which is earlier than the call if processes were down. */
  readonly scheduledAt: Date;
  /** The payload of the schedule. */
  readonly payload: Json;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The signal that is aborted when the time limit of the attempt has passed, or when the process ends. */
  readonly signal: AbortSignal;
}

/** Receives a run. The run has succeeded when the promise resolves, and is tried again when the promise rejects.
 *  @experimental */
export type ScheduleHandler = (run: ScheduledRun) => unknown;

/** A schedule with its rules. @rule X-SCH-1 @experimental */
export interface ScheduleOptions {
  /** The times in UTC, such as `0 3 * * *`. */
  readonly cron: string;
  readonly handle: ScheduleHandler;
  /** The payload of each run; by default null. */
  readonly payload?: Json;
  /** The number of attempts after the first one; by default 10. */
  readonly retryCount?: number;
  /** The time between two attempts; by default 10 seconds. */
  readonly intervalSeconds?: number;
  /** The time limit of one attempt; by default 60 seconds. */
  readonly timeoutSeconds?: number;
  /** The delay after which a run is dropped; by default 6 hours. */
  readonly toleranceSeconds?: number;
}

/** The schedules of `schedules`, for the plugin `scheduled-events`. */
export const schedulesService = defineService<readonly Schedule[]>("schedules");

/** Calls functions of the application at the times of cron expressions, in UTC. A key is a cron expression with a
 *  function, or a name with options. @throws RelApiError `preset` for an expression or an option that is not valid
 *  @rule X-SCH-1 @experimental */
export const schedules = (on: Readonly<Record<string, ScheduleHandler | ScheduleOptions>>): Plugin => {
  if (typeof on !== "object" || on === null)
    throw scheduleInvalid("the argument", "is not an object whose keys are cron expressions or names");
  const read = Object.entries(on).map(([key, schedule]) => readSchedule(key, schedule));
  return definePlugin({
    name: "schedules",
    requires: ["scheduled-events"],
    apply: (_hooks, context) => context.offer(schedulesService, read),
  });
};

const DEFAULTS: ScheduleRules = { ...DEFAULT_RULES, toleranceSeconds: DEFAULT_TOLERANCE_SECONDS };
const LIMITS: ScheduleRules = { ...MAX_RULES, toleranceSeconds: MAX_TOLERANCE_SECONDS };

const MAX_NAME_LENGTH = 100;

const readSchedule = (name: string, schedule: ScheduleHandler | ScheduleOptions): Schedule => {
  const location = `"${name}"`;
  const handlerInvalid = (reason: string): Error => scheduleInvalid(location, reason);
  const options = typeof schedule === "function" ? { cron: name, handle: schedule } : schedule;
  if (typeof options !== "object" || options === null || typeof options.handle !== "function")
    throw handlerInvalid("is neither a function nor an object with the function handle");
  if (name === "" || name.length > MAX_NAME_LENGTH)
    throw handlerInvalid(`is not a name of 1 to ${MAX_NAME_LENGTH} characters`);
  if (name.includes("\u0000")) throw handlerInvalid("has the character NUL, which PostgreSQL cannot store");
  const { cron, handle, payload = null, ...rules } = options;
  if (typeof cron !== "string") throw handlerInvalid('has no cron, such as "0 3 * * *"');
  return {
    name,
    cron,
    listTimes: readCron(cron, handlerInvalid),
    retry: readRules(rules, DEFAULTS, LIMITS, handlerInvalid),
    payload: writePayload(payload, handlerInvalid),
    comment: null,
    deliver: async (event, signal) => {
      await handle(buildRun(event, name, signal));
      return {};
    },
  };
};

const readCron = (cron: string, fail: (reason: string) => Error): ListTimes => {
  try {
    return parseCron(cron);
  } catch (error) {
    if (!(error instanceof InvalidCron)) throw error;
    throw fail(`has no valid times: ${error.message}`);
  }
};

const writePayload = (payload: Json, fail: (reason: string) => Error): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(payload) as string | undefined; // `JSON.stringify` returns undefined for a function
  } catch {
    text = undefined;
  }
  if (text === undefined) throw fail("has a payload that is not a JSON value");
  return text;
};

const buildRun = (event: ScheduledEvent, name: string, signal: AbortSignal): ScheduledRun => ({
  id: event.id,
  name,
  scheduledAt: event.scheduledAt,
  payload: JSON.parse(event.payload) as Json, // the database has checked the text
  attempt: event.tries + 1,
  signal,
});
