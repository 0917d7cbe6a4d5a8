/** Reads the event triggers of Hasura metadata, which send changes of tables to webhooks. */
import { isJsonObject, RelApiError, type Json, type JsonObject, type QualifiedName } from "../../../core/index.ts";
import type { MetadataEventTrigger } from "../../metadata/api.ts";
import type { WebhookClient } from "../api.ts";
import { MAX_RULES, type RetryRules } from "../queue/delivery.ts";
import {
  InvalidDefinition,
  readName,
  readOptionalObject,
  readRule,
  readTarget,
  rejectUnknownKeys,
} from "../queue/webhook-definition.ts";
import { OPERATIONS, type EventTrigger, type OperationColumns } from "./event-trigger.ts";
import { deliverToWebhook } from "./webhook-delivery.ts";

/** Reports an event trigger that is ignored. */
export type ReportProblem = (table: QualifiedName, name: string, reason: string) => void;

/** Returns the names of all triggers, including triggers that cannot be read. */
export const listNames = (entries: readonly MetadataEventTrigger[]): readonly string[] =>
  entries.map(({ raw: rawTrigger }) => readName(rawTrigger));

/** Returns the triggers that can be read, and reports the others. @rule X-EVT-13 X-EVT-13a X-EVT-13b X-EVT-14 */
export const readMetadataTriggers = (
  entries: readonly MetadataEventTrigger[],
  getClient: () => WebhookClient,
  report: ReportProblem,
): readonly EventTrigger[] =>
  entries.flatMap(({ table, raw: rawTrigger }) => {
    const object = isJsonObject(rawTrigger) ? rawTrigger : {};
    const name = readName(rawTrigger);
    try {
      return [readTrigger(table, name, object, getClient)];
    } catch (error) {
      if (!(error instanceof InvalidDefinition || error instanceof RelApiError)) throw error;
      report(table, name, error.message);
      return [];
    }
  });

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,41}$/; // `order_created`, as in Hasura

const TRIGGER_KEYS = new Set([
  "name",
  "definition",
  "retry_conf",
  "webhook",
  "webhook_from_env",
  "headers",
  "ordered",
  "request_transform",
  "response_transform",
]);
/** The keys that have no effect. `EVENTS_RETENTION` controls the deletion of events instead. */
const IGNORED_KEYS = new Set(["cleanup_config", "comment", "trigger_on_replication"]);
const DEFINITION_KEYS = new Set(["enable_manual", ...OPERATIONS]);
const RETRY_KEYS = new Set(["num_retries", "interval_sec", "timeout_sec", "tolerance_seconds"]);

const readTrigger = (
  table: QualifiedName,
  name: string,
  rawObject: JsonObject,
  getClient: () => WebhookClient,
): EventTrigger => {
  if (!NAME.test(name))
    throw new InvalidDefinition("its name has to begin with a letter, and to have at most 42 letters, digits, _ and -");
  rejectUnknownKeys(rawObject, new Set([...TRIGGER_KEYS, ...IGNORED_KEYS]), "");
  const definition = readOptionalObject(rawObject["definition"], "definition");
  rejectUnknownKeys(definition, DEFINITION_KEYS, "definition.");
  const operations = Object.fromEntries(
    OPERATIONS.flatMap((operation) => {
      const columns = definition[operation];
      if (columns === undefined || columns === null) return [];
      return [
        [
          operation,
          readColumns(operation === "update", readOptionalObject(columns, `definition.${operation}`), operation),
        ],
      ];
    }),
  );
  const allowsManual = definition["enable_manual"] ?? false;
  if (typeof allowsManual !== "boolean")
    throw new InvalidDefinition("definition.enable_manual is neither true nor false");
  if (Object.keys(operations).length === 0 && !allowsManual)
    throw new InvalidDefinition("definition has no insert, update, delete or enable_manual");
  const isOrdered = rawObject["ordered"] ?? false;
  if (typeof isOrdered !== "boolean") throw new InvalidDefinition("ordered is neither true nor false");
  const retry = readRetry(readOptionalObject(rawObject["retry_conf"], "retry_conf"));
  const target = readTarget(rawObject);
  return {
    name,
    table,
    operations,
    retry,
    isOrdered,
    allowsManual,
    deliver: (event, signal) => deliverToWebhook(getClient(), target, retry, event, signal),
  };
};

const readColumns = (isUpdate: boolean, rawObject: JsonObject, operation: string): OperationColumns => {
  const location = `definition.${operation}`;
  rejectUnknownKeys(rawObject, new Set(["columns", "payload"]), `${location}.`);
  const columns = readColumnList(rawObject["columns"], `${location}.columns`);
  const payload = readColumnList(rawObject["payload"], `${location}.payload`);
  if (isUpdate) {
    if (columns?.length === 0) throw new InvalidDefinition(`${location}.columns is empty`);
    return { ...(columns && { listenedColumns: columns }), ...(payload && { payload }) };
  }
  const payloadColumns = payload ?? columns;
  return payloadColumns === undefined ? {} : { payload: payloadColumns };
};

/** Returns undefined for `*`, which means all columns. */
const readColumnList = (rawValue: Json | undefined, location: string): readonly string[] | undefined => {
  if (rawValue === undefined || rawValue === null || rawValue === "*") return undefined;
  if (!Array.isArray(rawValue) || !rawValue.every((column): column is string => typeof column === "string"))
    throw new InvalidDefinition(`${location} is neither "*" nor a list of column names`);
  return rawValue;
};

const readRetry = (rawObject: JsonObject): RetryRules => {
  rejectUnknownKeys(rawObject, RETRY_KEYS, "retry_conf.");
  return {
    retryCount: readRule(rawObject, "num_retries", 0, 0, MAX_RULES.retryCount),
    intervalSeconds: readRule(rawObject, "interval_sec", 10, 0, MAX_RULES.intervalSeconds),
    timeoutSeconds: readRule(rawObject, "timeout_sec", 60, 1, MAX_RULES.timeoutSeconds),
  };
};
