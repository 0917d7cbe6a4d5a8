/** Reads the cron triggers of Hasura metadata, and the definitions of events that administrators create. */
import { isJsonObject, RelApiError, writeJson, type Json, type JsonObject } from "../../../core/index.ts";
import type { WebhookClient } from "../api.ts";
import { MAX_RULES } from "../queue/delivery.ts";
import {
  InvalidDefinition,
  readName,
  readOptionalObject,
  readRule,
  readTarget,
  rejectUnknownKeys,
} from "../queue/webhook-definition.ts";
import { InvalidCron, parseCron } from "./cron.ts";
import { DEFAULT_METADATA_RULES, MAX_TOLERANCE_SECONDS, type Schedule, type ScheduleRules } from "./schedule.ts";
import { deliverToWebhook } from "./webhook-delivery.ts";

/** Reports a cron trigger that is ignored. */
export type ReportProblem = (name: string, reason: string) => void;

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/; // `end_of_day`

const DEFINITION_KEYS = [
  "webhook",
  "webhook_from_env",
  "headers",
  "payload",
  "retry_conf",
  "comment",
  "request_transform",
  "response_transform",
];
const TRIGGER_KEYS = new Set([...DEFINITION_KEYS, "name", "schedule", "include_in_metadata"]);
const EVENT_KEYS = new Set([...DEFINITION_KEYS, "schedule_at"]);
const RETRY_KEYS = new Set(["num_retries", "retry_interval_seconds", "timeout_seconds", "tolerance_seconds"]);

/** Returns the cron triggers that can be read, and reports the others. @rule X-SCH-8 X-SCH-9 */
export const readCronTriggers = (
  entries: readonly Json[],
  getClient: () => WebhookClient,
  report: ReportProblem,
): readonly Schedule[] =>
  entries.flatMap((rawEntry) => {
    const name = readName(rawEntry);
    try {
      return [readTrigger(name, isJsonObject(rawEntry) ? rawEntry : {}, getClient)];
    } catch (error) {
      if (!(error instanceof InvalidDefinition || error instanceof InvalidCron || error instanceof RelApiError))
        throw error;
      report(name, error instanceof InvalidCron ? `schedule: ${error.message}` : error.message);
      return [];
    }
  });

const readTrigger = (name: string, rawObject: JsonObject, getClient: () => WebhookClient): Schedule => {
  if (!NAME.test(name))
    throw new InvalidDefinition(
      "its name has to begin with a letter, and to have at most 100 letters, digits, _ and -",
    );
  rejectUnknownKeys(rawObject, TRIGGER_KEYS, "");
  const { schedule: cron } = rawObject;
  if (typeof cron !== "string") throw new InvalidDefinition("schedule is not a cron expression");
  return { name, cron, listTimes: parseCron(cron), ...readDefinition(rawObject, getClient) };
};

/** Reads an event that an administrator created. @throws InvalidDefinition, RelApiError `webhook-variable-missing`
 *  @rule X-SCH-12 */
export const readEventDefinition = (
  rawObject: JsonObject,
  getClient: () => WebhookClient,
): Pick<Schedule, "retry" | "payload" | "comment" | "deliver"> => {
  rejectUnknownKeys(rawObject, EVENT_KEYS, "");
  return readDefinition(rawObject, getClient);
};

const readDefinition = (
  rawObject: JsonObject,
  getClient: () => WebhookClient,
): Pick<Schedule, "retry" | "payload" | "comment" | "deliver"> => {
  const { payload = null, comment = null } = rawObject;
  if (comment !== null && typeof comment !== "string") throw new InvalidDefinition("comment is not a string");
  const retry = readRetry(readOptionalObject(rawObject["retry_conf"], "retry_conf"));
  const target = readTarget(rawObject);
  return {
    retry,
    payload: writeJson(payload),
    comment,
    deliver: (event, signal) => deliverToWebhook(getClient(), target, retry, event, signal),
  };
};

const readRetry = (rawObject: JsonObject): ScheduleRules => {
  rejectUnknownKeys(rawObject, RETRY_KEYS, "retry_conf.");
  const { retryCount, intervalSeconds, timeoutSeconds, toleranceSeconds } = DEFAULT_METADATA_RULES;
  return {
    retryCount: readRule(rawObject, "num_retries", retryCount, 0, MAX_RULES.retryCount),
    intervalSeconds: readRule(rawObject, "retry_interval_seconds", intervalSeconds, 0, MAX_RULES.intervalSeconds),
    timeoutSeconds: readRule(rawObject, "timeout_seconds", timeoutSeconds, 1, MAX_RULES.timeoutSeconds),
    toleranceSeconds: readRule(rawObject, "tolerance_seconds", toleranceSeconds, 0, MAX_TOLERANCE_SECONDS),
  };
};
