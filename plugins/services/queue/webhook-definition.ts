/** Reads the parts that event triggers and cron triggers of Hasura metadata share. */
import { isJsonObject, getNumberText, type Json, type JsonObject } from "../../../core/index.ts";
import { readObjectOrEmpty, readText } from "../../shared/json-values.ts";
import { expandHeaders, expandTemplate, readHeaderTemplates, readVariable } from "../webhook/templates.ts";
import { readTransforms, type Transforms } from "../webhook/transform.ts";

/** A part of the metadata that cannot be served. The message contains the location of that part. */
export class InvalidDefinition extends Error {}

/** The webhook of a definition. */
export interface WebhookTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly transforms: Transforms;
}

/** Returns the name of a definition, or an empty text if it has none. */
export const readName = (rawValue: Json): string => readText(readObjectOrEmpty(rawValue)["name"]) ?? "";

const isEmpty = (rawValue: Json | undefined): boolean =>
  rawValue === undefined ||
  rawValue === null ||
  (Array.isArray(rawValue) && rawValue.length === 0) ||
  (isJsonObject(rawValue) && Object.keys(rawValue).length === 0);

/** `location` ends with a dot unless it is empty. @throws InvalidDefinition */
export const rejectUnknownKeys = (rawObject: JsonObject, knownKeys: ReadonlySet<string>, location: string): void => {
  for (const [key, value] of Object.entries(rawObject))
    if (!knownKeys.has(key) && !isEmpty(value)) throw new InvalidDefinition(`${location}${key} is not supported`);
};

/** Returns an object of the metadata, or an empty object if it is missing. @throws InvalidDefinition */
export const readOptionalObject = (rawValue: Json | undefined, location: string): JsonObject => {
  if (rawValue === undefined || rawValue === null) return {};
  if (!isJsonObject(rawValue)) throw new InvalidDefinition(`${location} is not an object`);
  return rawValue;
};

/** Reads a number of `retry_conf`. @throws InvalidDefinition */
export const readRule = (rawObject: JsonObject, key: string, byDefault: number, min: number, max: number): number => {
  const rawNumber = rawObject[key];
  if (rawNumber === undefined || rawNumber === null) return byDefault;
  const number = Number(getNumberText(rawNumber) ?? Number.NaN);
  if (!Number.isInteger(number) || number < min || number > max)
    throw new InvalidDefinition(`retry_conf.${key} is not a whole number from ${min} to ${max}`);
  return number;
};

/** Reads `webhook`, `webhook_from_env`, `headers` and the transforms, with the values of environment variables. @throws
 *  InvalidDefinition, RelApiError `webhook-variable-missing` */
export const readTarget = (rawObject: JsonObject): WebhookTarget => ({
  url: readUrl(rawObject),
  headers: expandHeaders(readHeaderTemplates(rawObject["headers"], createError)),
  transforms: readTransforms(rawObject, createError),
});

const createError = (reason: string): InvalidDefinition => new InvalidDefinition(reason);

const readUrl = ({ webhook, webhook_from_env: variable }: JsonObject): string => {
  const isGiven = typeof webhook === "string" && webhook !== "";
  const isNamed = typeof variable === "string" && variable !== "";
  if (isGiven === isNamed) throw new InvalidDefinition("it needs either webhook or webhook_from_env");
  // Without `webhook_from_env`, the check above requires `webhook`.
  const url = isNamed ? readVariable(variable) : expandTemplate(webhook as string);
  // The URL may contain a secret.
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new InvalidDefinition(`${isNamed ? "webhook_from_env" : "webhook"} is not an http or https URL`);
  return url;
};
