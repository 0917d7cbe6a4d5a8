/** Reads the event triggers of Hasura metadata: which changes of a table go to which webhook. */
import {
  isJsonObject,
  numberText,
  RelApiError,
  type Json,
  type JsonObject,
  type QualifiedName,
} from "../../../core/index.ts";
import type { MetadataEventTrigger } from "../../metadata/api.ts";
import type { WebhookClient } from "../api.ts";
import { expandHeaders, expandTemplate, readHeaderTemplates, readVariable } from "../webhook/templates.ts";
import { readTransforms } from "../webhook/transform.ts";
import { MAX_RULES } from "./handlers.ts";
import { OPERATIONS, type EventTrigger, type OperationColumns, type RetryRules } from "./event-trigger.ts";
import { deliverToWebhook } from "./webhook-delivery.ts";

/** Reports an event trigger that is ignored. */
export type ReportProblem = (table: QualifiedName, name: string, reason: string) => void;

const readName = (raw: Json): string => {
  const name = isJsonObject(raw) ? raw["name"] : undefined;
  return typeof name === "string" ? name : "";
};

/** Returns the names of all triggers, with those that cannot be read. */
export const listNames = (entries: readonly MetadataEventTrigger[]): readonly string[] =>
  entries.map(({ raw }) => readName(raw));

/** Returns the triggers that can be read, and reports each other one. @rule X-EVT-13 X-EVT-13a X-EVT-13b
 *  X-EVT-14 */
export const readMetadataTriggers = (
  entries: readonly MetadataEventTrigger[],
  getClient: () => WebhookClient,
  report: ReportProblem,
): readonly EventTrigger[] =>
  entries.flatMap(({ table, raw }) => {
    const object = isJsonObject(raw) ? raw : {};
    const name = readName(raw);
    try {
      return [readTrigger(table, name, object, getClient)];
    } catch (error) {
      if (!(error instanceof InvalidTrigger || error instanceof RelApiError)) throw error;
      report(table, name, error.message);
      return [];
    }
  });

/** A part of the metadata that cannot be served. */
class InvalidTrigger extends Error {}

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
/** Keys without an effect. `EVENTS_RETENTION` cleans. */
const IGNORED_KEYS = new Set(["cleanup_config", "comment", "trigger_on_replication"]);
const DEFINITION_KEYS = new Set(["enable_manual", ...OPERATIONS]);
const RETRY_KEYS = new Set(["num_retries", "interval_sec", "timeout_sec", "tolerance_seconds"]);

const isEmpty = (raw: Json | undefined): boolean =>
  raw === undefined ||
  raw === null ||
  (Array.isArray(raw) && raw.length === 0) ||
  (isJsonObject(raw) && Object.keys(raw).length === 0);

const rejectUnknownKeys = (raw: JsonObject, known: ReadonlySet<string>, location: string): void => {
  for (const [key, value] of Object.entries(raw))
    if (!known.has(key) && !isEmpty(value)) throw new InvalidTrigger(`${location}${key} is not supported`);
};

const readObject = (raw: Json | undefined, location: string): JsonObject => {
  if (raw === undefined || raw === null) return {};
  if (!isJsonObject(raw)) throw new InvalidTrigger(`${location} is not an object`);
  return raw;
};

const readTrigger = (
  table: QualifiedName,
  name: string,
  raw: JsonObject,
  getClient: () => WebhookClient,
): EventTrigger => {
  if (!NAME.test(name))
    throw new InvalidTrigger("its name has to begin with a letter, and to have at most 42 letters, digits, _ and -");
  rejectUnknownKeys(raw, new Set([...TRIGGER_KEYS, ...IGNORED_KEYS]), "");
  const definition = readObject(raw["definition"], "definition");
  rejectUnknownKeys(definition, DEFINITION_KEYS, "definition.");
  const operations = Object.fromEntries(
    OPERATIONS.flatMap((operation) => {
      const columns = definition[operation];
      if (columns === undefined || columns === null) return [];
      return [
        [operation, readColumns(operation === "update", readObject(columns, `definition.${operation}`), operation)],
      ];
    }),
  );
  const allowsManual = definition["enable_manual"] === true;
  if (Object.keys(operations).length === 0 && !allowsManual)
    throw new InvalidTrigger("definition has no insert, update, delete or enable_manual");
  const isOrdered = raw["ordered"] ?? false;
  if (typeof isOrdered !== "boolean") throw new InvalidTrigger("ordered is neither true nor false");
  const retry = readRetry(readObject(raw["retry_conf"], "retry_conf"));
  const url = readUrl(raw);
  const createError = (reason: string): Error => new InvalidTrigger(reason);
  const headers = expandHeaders(readHeaderTemplates(raw["headers"], createError));
  const target = { url, headers, retry, transforms: readTransforms(raw, createError) };
  return {
    name,
    table,
    operations,
    retry,
    isOrdered,
    allowsManual,
    deliver: (event, signal) => deliverToWebhook(getClient(), target, event, signal),
  };
};

const readColumns = (isUpdate: boolean, raw: JsonObject, operation: string): OperationColumns => {
  const location = `definition.${operation}`;
  rejectUnknownKeys(raw, new Set(["columns", "payload"]), `${location}.`);
  const columns = readColumnList(raw["columns"], `${location}.columns`);
  const payload = readColumnList(raw["payload"], `${location}.payload`);
  if (isUpdate) {
    if (columns?.length === 0) throw new InvalidTrigger(`${location}.columns is empty`);
    return { ...(columns && { listened: columns }), ...(payload && { payload }) };
  }
  const shown = payload ?? columns;
  return shown === undefined ? {} : { payload: shown };
};

/** Returns undefined for `*`, which means all columns. */
const readColumnList = (raw: Json | undefined, location: string): readonly string[] | undefined => {
  if (raw === undefined || raw === null || raw === "*") return undefined;
  if (!Array.isArray(raw) || !raw.every((column): column is string => typeof column === "string"))
    throw new InvalidTrigger(`${location} is neither "*" nor a list of column names`);
  return raw;
};

const readRetry = (raw: JsonObject): RetryRules => {
  rejectUnknownKeys(raw, RETRY_KEYS, "retry_conf.");
  const read = (key: string, byDefault: number, min: number, max: number): number => {
    const given = raw[key];
    if (given === undefined || given === null) return byDefault;
    const number = Number(numberText(given) ?? Number.NaN);
    if (!Number.isInteger(number) || number < min || number > max)
      throw new InvalidTrigger(`retry_conf.${key} is no whole number from ${min} to ${max}`);
    return number;
  };
  return {
    retryCount: read("num_retries", 0, 0, MAX_RULES.retryCount),
    intervalSeconds: read("interval_sec", 10, 0, MAX_RULES.intervalSeconds),
    timeoutSeconds: read("timeout_sec", 60, 1, MAX_RULES.timeoutSeconds),
  };
};

/** @throws RelApiError `webhook-variable-missing` */
const readUrl = ({ webhook, webhook_from_env: variable }: JsonObject): string => {
  const isGiven = typeof webhook === "string" && webhook !== "";
  const isNamed = typeof variable === "string" && variable !== "";
  if (isGiven === isNamed) throw new InvalidTrigger("it needs either webhook or webhook_from_env");
  const url = isNamed ? readVariable(variable) : expandTemplate(webhook as string); // checked above
  // the URL may contain a secret
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new InvalidTrigger(`${isNamed ? "webhook_from_env" : "webhook"} is not an http or https URL`);
  return url;
};
